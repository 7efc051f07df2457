//! Random cases: a scheme, a randomizer, and two neighbouring datasets.

use crate::divergence::Experiment;
use crate::dominating::Round;
use crate::protocol::{Row, view_laws};
use crate::randomizers::{self, Channel};
use crate::rng::Rng;
use shuffledp_accounting::scheme::{Participation, Scheme};
use std::fmt;

/// Two neighbouring datasets in one round: all others hold the same, the victim's record is
/// replaced.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) channel: Channel,
    pub(crate) scheme: Scheme,
    pub(crate) others: Vec<Row>,
    pub(crate) victim: [Row; 2],
}

impl Case {
    /// The server's view in both worlds.
    pub(crate) fn truth(&self) -> Experiment {
        Experiment::new(view_laws(&self.scheme, &self.others, [&self.victim[0], &self.victim[1]]))
    }

    /// The round that the bounds are asked about.
    pub(crate) fn round(&self) -> Round {
        Round { scheme: self.scheme, randomizer: self.channel.randomizer }
    }

    /// Randomizer and scheme, for the record.
    pub(crate) fn class(&self) -> String {
        format!("{}, {}", self.channel.name, scheme_name(&self.scheme))
    }

    /// The same protocol and randomizer on other datasets.
    pub(crate) fn redraw(&self, rng: &mut Rng) -> Self {
        draw(self.channel.clone(), self.scheme, rng)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, scheme, others, victim } = self;
        write!(f, "{} {:?} {scheme:?} victim {victim:?} others {others:?}", channel.name, channel.randomizer)
    }
}

pub(crate) fn scheme_name(scheme: &Scheme) -> &'static str {
    match scheme.participation() {
        Participation::Everyone => "shuffle",
        Participation::FixedSize { .. } => "k of n",
        Participation::CheckIn { .. } => "check-in",
    }
}

/// A scheme of `least..=most` clients.
pub(crate) fn random_scheme(least: usize, most: usize, rng: &mut Rng) -> Scheme {
    let clients = (least + rng.below(most - least + 1)) as u64;
    match rng.below(3) {
        0 => Scheme::shuffle(clients),
        1 => Scheme::subsampled(clients, 1 + rng.below(clients as usize) as u64),
        _ => {
            let drop_out = if rng.chance(0.5) { 0.0 } else { rng.between(0.0, 0.8) };
            Scheme::check_in(clients, rng.between(0.02, 1.0), drop_out)
        }
    }
    .expect("a valid scheme")
}

/// ε0 between 0.05 and 4, small ones as often as large ones.
pub(crate) fn random_local_epsilon(rng: &mut Rng) -> f64 {
    rng.between(f64::ln(0.05), f64::ln(4.0)).exp()
}

/// A randomizer that the two-level row covers.
pub(crate) fn random_two_level(local_epsilon: f64, rng: &mut Rng) -> Channel {
    match rng.below(7) {
        0 => randomizers::binary_response(local_epsilon),
        1 | 2 => randomizers::response(local_epsilon, 2 + rng.below(4)),
        3 => randomizers::r_inf(local_epsilon, rng),
        4 => randomizers::r_one(local_epsilon, rng),
        5 => {
            let (outputs, high) = [(4, 1), (5, 2), (6, 2), (6, 3), (7, 3), (8, 3), (8, 1)][rng.below(7)];
            randomizers::cap(local_epsilon, outputs, high, rng)
        }
        _ => randomizers::uneven_cap(local_epsilon),
    }
}

/// A randomizer of which nothing is told but that it is ε0-LDP.
pub(crate) fn random_any(local_epsilon: f64, rng: &mut Rng) -> Channel {
    match rng.below(8) {
        0..3 => randomizers::staircase(local_epsilon, rng),
        3 => {
            let inputs = 3 + rng.below(2);
            randomizers::rotated_staircase(local_epsilon, inputs, rng)
        }
        4 => randomizers::garbled(local_epsilon, rng),
        5 => randomizers::tilted(local_epsilon, rng),
        6 => randomizers::response(local_epsilon, 3).forget(),
        _ => random_two_level(local_epsilon, rng).forget(),
    }
}

/// Two neighbouring datasets for a randomizer: extreme and interior records, equal and unequal
/// others.
pub(crate) fn draw(channel: Channel, scheme: Scheme, rng: &mut Rng) -> Case {
    let inputs = channel.rows.len();
    let any_input = |rng: &mut Rng| {
        if rng.chance(0.25) { channel.mixture(rng) } else { channel.rows[rng.below(inputs)].clone() }
    };
    let first = rng.below(inputs);
    let second = (first + 1 + rng.below(inputs - 1)) % inputs;
    let mut victim = [channel.rows[first].clone(), channel.rows[second].clone()];
    if rng.chance(0.15) {
        victim[1] = channel.mixture(rng);
    }
    let count = scheme.clients() as usize - 1;
    let style = rng.below(5);
    let common = any_input(rng);
    let others = (0..count)
        .map(|i| match style {
            0 => victim[0].clone(),
            1 => common.clone(),
            2 if i % 2 == 0 => victim[1].clone(),
            _ => any_input(rng),
        })
        .collect();
    Case { channel, scheme, others, victim }
}
