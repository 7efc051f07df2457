//! The dominating pairs of the rigorous rows once more, summed cell by cell from their formulas.
//!
//! Independent of the crate and only for the few clients of these tests: it says what the crate's
//! own pairs must be, and builds the pairs that are wrong on purpose.

use crate::divergence::Experiment;
use crate::dominating::{Randomizer, Round};
use shuffledp_accounting::scheme::Mechanism;

/// The pair that dominates `round`.
pub(crate) fn dominating_pair(round: &Round) -> Experiment {
    use Mechanism::*;
    let two_level = match round.randomizer {
        Randomizer::TwoLevel { local_epsilon, high_mass } => Some((local_epsilon, high_mass)),
        Randomizer::Named(spec) => match spec.mechanism() {
            Rr { local_epsilon } | RInf { local_epsilon } | R1 { local_epsilon } => Some((local_epsilon, 0.5)),
            Krr { local_epsilon, categories } => Some((local_epsilon, 1.0 / categories as f64)),
            Any { .. } => None,
            other => panic!("no brute force for {other:?}"),
        },
    };
    let clients = round.scheme.clients();
    match (two_level, round.scheme.fixed_size(), round.scheme.check_in_rate()) {
        (Some((local_epsilon, high_mass)), Some(sampled), _) => {
            two_level_pair(local_epsilon, high_mass, sampled, sampled as f64 / clients as f64)
        }
        // Absence is one more message that everybody may send: still two-level, over all clients.
        (Some((local_epsilon, high_mass)), None, Some(rate)) => {
            let blanket = 1.0 / (1.0 + local_epsilon.exp_m1() * high_mass);
            let high_mass = rate * blanket * high_mass / (rate * blanket + 1.0 - rate);
            two_level_pair(local_epsilon, high_mass, clients, 1.0)
        }
        (None, Some(sampled), _) => any_ldp_pair(local_epsilon(round), sampled, sampled as f64 / clients as f64),
        (None, None, Some(rate)) => {
            mixed_over_speakers(clients, rate, |k| any_ldp_pair(local_epsilon(round), k, k as f64 / clients as f64))
        }
        (_, None, None) => unreachable!("a scheme has a fixed size or a check-in rate"),
    }
}

fn local_epsilon(round: &Round) -> f64 {
    match round.randomizer {
        Randomizer::TwoLevel { local_epsilon, .. } => local_epsilon,
        Randomizer::Named(spec) => spec.pure_epsilon().expect("an ε0-LDP randomizer"),
    }
}

/// The mixture of `pair(k)` over the number `k ~ Bin(clients, rate)` of participants, which the
/// server sees.
pub(crate) fn mixed_over_speakers(clients: u64, rate: f64, pair: impl Fn(u64) -> Experiment) -> Experiment {
    let mut mixture = Experiment::default();
    for k in 0..=clients {
        let weight = multinomial(&[k, clients - k]) * rate.powi(k as i32) * (1.0 - rate).powi((clients - k) as i32);
        if weight > 0.0 {
            mixture.extend_scaled(&pair(k), weight);
        }
    }
    mixture
}

/// `N ~ Bin(speakers, γ)` draws from the blanket, `γ = 1/(1 + (E − 1)q)`; given `N`, `(a, b, c)`
/// with probabilities `(q, q, 1 − 2q)`; density `1 − rate + rate·(N + (E − 1)a)/speakers`, in the
/// second world with `b`.
pub(crate) fn two_level_pair(local_epsilon: f64, high_mass: f64, speakers: u64, rate: f64) -> Experiment {
    assert!(high_mass <= 0.5, "disjoint high sets");
    let excess = local_epsilon.exp_m1();
    let blanket = 1.0 / (1.0 + excess * high_mass);
    let each = [blanket * high_mass, blanket * high_mass, blanket * (1.0 - 2.0 * high_mass), 1.0 - blanket];
    linear_pair(each, speakers, rate, |[a, b, c]| {
        let draws = (a + b + c) as f64;
        (draws + excess * a as f64, draws + excess * b as f64)
    })
}

/// `a`, `b` each `e^(−ε0)/2` of the participants; density `1 − rate + rate·κ(E·a + b)/speakers`,
/// `κ = 2E/(E + 1)`.
pub(crate) fn any_ldp_pair(local_epsilon: f64, speakers: u64, rate: f64) -> Experiment {
    let e = local_epsilon.exp();
    clone_pair(e, 1.0 / (2.0 * e), speakers, rate)
}

/// The clone pair whose two clones each have probability `clone`; density
/// `1 − rate + rate·(E·a + b)/((E + 1)·clone)` per participant. `clone = e^(−ε0)/2` is proven for
/// all ε0-LDP randomizers.
pub(crate) fn clone_pair(e: f64, clone: f64, speakers: u64, rate: f64) -> Experiment {
    let kappa = 1.0 / ((e + 1.0) * clone);
    linear_pair([clone, clone, 0.0, (1.0 - 2.0 * clone).max(0.0)], speakers, rate, |[a, b, _]| {
        (kappa * (e * a as f64 + b as f64), kappa * (a as f64 + e * b as f64))
    })
}

/// Counts `(a, b, c, rest) ~ Multinomial(speakers; cells)` with densities
/// `1 − rate + rate·sum/speakers`.
fn linear_pair(cells: [f64; 4], speakers: u64, rate: f64, sums: impl Fn([u64; 3]) -> (f64, f64)) -> Experiment {
    if speakers == 0 {
        return Experiment::new([vec![1.0], vec![1.0]]);
    }
    let mut pair = Experiment::default();
    for a in 0..=speakers {
        for b in 0..=speakers - a {
            for c in 0..=speakers - a - b {
                let counts = [a, b, c, speakers - a - b - c];
                let powers: f64 = cells.iter().zip(counts).map(|(cell, count)| cell.powi(count as i32)).product();
                let weight = multinomial(&counts) * powers;
                let (p, q) = sums([a, b, c]);
                if weight > 0.0 {
                    pair.p.push(weight * (1.0 - rate + rate * p / speakers as f64));
                    pair.q.push(weight * (1.0 - rate + rate * q / speakers as f64));
                }
            }
        }
    }
    pair
}

/// `(Σ counts)! / Π counts!`
pub(crate) fn multinomial(counts: &[u64]) -> f64 {
    let factorial = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
    factorial(counts.iter().sum()) / counts.iter().map(|&c| factorial(c)).product::<f64>()
}
