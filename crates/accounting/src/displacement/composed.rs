//! Rounds of several kinds together, and outputs that are not shuffled.

use super::{Displacement, Fineness, Known, Order};
use crate::error::{AccountingError, Result};
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::{exp, ln};
use crate::numerics::led_bisection::smallest_safe_led;
use crate::pair::{LinearPair, Resolution, upper};
use crate::pld::{LossDistribution, LossLattice, Rounds, cache};
use crate::profile::LocalProfile;
use crate::scheme::{LocalStructure, Output, RandomizerSpec, Release, Round};
use std::sync::Arc;

/// Everything that happened to the records of the same clients, ready to be asked for ε or δ.
///
/// How small δ is decides how far the tail of every round is resolved, so the loss of a round is
/// computed when a question comes, and remembered for the next.
#[derive(Default)]
pub(crate) struct Composed {
    rounds: Vec<(Bounded, u64)>,
    /// Outputs that are not shuffled, Gaussian ones apart.
    releases: Vec<(Release, u64)>,
    /// Whether there were rounds whose noise is so small that nothing is known to hide it.
    is_open: bool,
    /// Σ μ² over all Gaussian outputs, rounded up: together they are one with the square root of
    /// this.
    gaussian: f64,
}

/// The bound on one round.
enum Bounded {
    Displaced(Displacement),
    /// Two-level randomizers: displacement, or the pair of their blanket.
    Either(Displacement, LinearPair),
    /// Where a report may depend on those before it in the same round.
    Clones(LinearPair),
}

/// The share of δ, spread over the rounds, that their curves need not resolve.
const UNRESOLVED: f64 = 1e-4;

/// A δ that is asked for is thought to be at least this at first.
const FIRST_GUESS: f64 = 1e-15;

/// No δ below it is resolved.
const SMALLEST: f64 = 1e-300;

/// No larger ε is an answer.
const LARGEST: f64 = 600.0;

/// Lattice points to a standard deviation of a pair, and of an output that is not shuffled.
const PER_DEVIATION: f64 = 128.0;

/// The same for a single one, where nothing else costs time.
const PER_DEVIATION_SINGLE: f64 = 512.0;

impl Composed {
    /// These rounds, all of one kind.
    pub(super) fn of(displacement: Displacement, count: u64) -> Self {
        Self { rounds: vec![(Bounded::Displaced(displacement), count)], ..Self::default() }
    }

    /// `round` happens `count` times; all that is known of its randomizer is used.
    pub(crate) fn add(&mut self, round: &Round, count: u64) -> Result<()> {
        let known = all_that_is_known(&round.randomizer);
        if known.profile().pure_epsilon().is_none() && known.check().is_err() {
            self.is_open = true;
        } else {
            self.rounds.push((Bounded::new(round)?, count));
        }
        Ok(())
    }

    /// `release` happens `count` times.
    pub(crate) fn add_release(&mut self, release: &Release, count: u64) {
        match release.output() {
            Output::Gaussian { mu } => {
                self.gaussian = add_up(self.gaussian, mul_up(mul_up(mu, mu), count as f64));
            }
            _ => self.releases.push((*release, count)),
        }
    }

    /// At least ε at `delta`, strictly between 0 and 1.
    pub(crate) fn epsilon(&self, delta: f64) -> Result<f64> {
        match self.single() {
            _ if self.is_open => Ok(f64::INFINITY),
            Some(round) => self.worst(|order| epsilon_of_one(round, delta, floor(delta, 1), order)),
            None => self.worst(|order| self.together(floor(delta, self.count()), order)?.epsilon(delta)),
        }
    }

    /// At least δ at `epsilon` ≥ 0.
    pub(crate) fn delta(&self, epsilon: f64) -> Result<f64> {
        if self.is_open {
            return Ok(1.0);
        }
        delta_by_floor(self.count(), |floor| match self.single() {
            Some(round) => self.worst(|order| Ok(round.delta_upper(epsilon, floor, f64::INFINITY, order))),
            None => self.worst(|order| self.together(floor, order)?.delta(epsilon)),
        })
    }

    /// The largest answer of all orders of two neighbours. The same one comes first in all rounds.
    fn worst(&self, ask: impl Fn(Order) -> Result<f64>) -> Result<f64> {
        let mut worst = ask(Order::RecordFirst)?;
        if self.rounds.iter().any(|(round, _)| round.has_orders()) {
            worst = worst.max(ask(Order::ZeroFirst)?);
        }
        Ok(worst)
    }

    /// The loss of everything, for other programs: good for any δ that they can resolve.
    pub(crate) fn loss_distribution(&self) -> Result<LossDistribution> {
        if self.is_open {
            return Ok(LossDistribution { losses: vec![0.0], probabilities: vec![0.0], infinity: 1.0 });
        }
        // Rounds that are added one by one have one order.
        self.together(floor(FIRST_GUESS, self.count()), Order::RecordFirst)?.distribution()
    }

    /// The only thing that happened, if it is one round. It needs no lattice: its bound itself is
    /// solved for ε.
    fn single(&self) -> Option<&Displacement> {
        match self.rounds.as_slice() {
            [(Bounded::Displaced(round), 1)] if self.releases.is_empty() && self.gaussian <= 0.0 => Some(round),
            _ => None,
        }
    }

    /// How many shuffled rounds there were.
    pub(crate) fn count(&self) -> u64 {
        self.rounds.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }

    fn together(&self, floor: f64, order: Order) -> Result<Rounds> {
        let gaussian = self.gaussian_release()?;
        let releases: Vec<_> = self.releases.iter().copied().chain(gaussian.map(|release| (release, 1))).collect();
        let counts = self.rounds.iter().map(|(_, count)| *count).chain(releases.iter().map(|(_, count)| *count));
        let is_single = counts.fold(0, u64::saturating_add) == 1;
        let per_deviation = if is_single { PER_DEVIATION_SINGLE } else { PER_DEVIATION };
        let lattice = |round: &Bounded| round.lattice(floor, order, per_deviation);
        let mut parts: Vec<_> = self.rounds.iter().map(|(round, count)| (lattice(round), *count)).collect();
        parts.extend(releases.iter().map(|(release, count)| (cache::release(release, per_deviation), *count)));
        Ok(Rounds::new(parts))
    }

    /// The losses of everything, one by one, resolved down to `floor`. `None` if something has no
    /// bound.
    pub(crate) fn losses(&self, floor: f64) -> Result<Option<Rounds>> {
        if self.is_open { Ok(None) } else { self.together(floor, Order::RecordFirst).map(Some) }
    }

    /// All Gaussian outputs together, if there are any. An error if they are too many to be
    /// accounted.
    fn gaussian_release(&self) -> Result<Option<Release>> {
        if self.gaussian <= 0.0 {
            return Ok(None);
        }
        let mu = self.gaussian.sqrt().next_up();
        Release::new(Output::Gaussian { mu }).map(Some).map_err(|_| {
            AccountingError::numerical(format!("all Gaussian outputs together have μ = {mu:.0}: ε is in the thousands"))
        })
    }
}

impl Bounded {
    fn new(round: &Round) -> Result<Self> {
        let Round { scheme, randomizer } = round;
        if let (true, Some(local_epsilon)) = (randomizer.is_sequential(), randomizer.pure_epsilon()) {
            return Ok(Self::Clones(upper::any_ldp(scheme, local_epsilon)?));
        }
        let known = all_that_is_known(randomizer);
        let displacement = Displacement::new(scheme, known, Fineness::FINE)?;
        Ok(match known {
            Known::Profile(LocalProfile::TwoLevel { epsilon, high_mass }) => {
                Self::Either(displacement, upper::two_level(scheme, epsilon, high_mass)?)
            }
            _ => Self::Displaced(displacement),
        })
    }

    /// Whether the orders of two neighbours have losses of their own.
    fn has_orders(&self) -> bool {
        match self {
            Self::Displaced(displacement) | Self::Either(displacement, _) => displacement.orders().len() > 1,
            Self::Clones(_) => false,
        }
    }

    fn lattice(&self, floor: f64, order: Order, per_deviation: f64) -> Arc<LossLattice> {
        let resolution = resolution(floor);
        let lattice = |pair: &LinearPair| cache::lattice(pair, per_deviation, resolution);
        match self {
            Self::Displaced(displacement) => displacement.lattice(floor, order),
            Self::Either(displacement, pair) => {
                let (displaced, blanket) = (displacement.lattice(floor, order), lattice(pair));
                // Both are bounds; the one that spreads less is the better one, most likely.
                if displaced.cumulant(1.0) <= blanket.cumulant(1.0) { displaced } else { blanket }
            }
            Self::Clones(pair) => lattice(pair),
        }
    }
}

/// All that is known of this randomizer: it decides the tightest bound on its rounds.
fn all_that_is_known(randomizer: &RandomizerSpec) -> Known {
    match randomizer.local_structure() {
        LocalStructure::TwoLevel { epsilon, high_mass: 0.5 } => Known::OneBit { epsilon },
        _ => Known::Profile(randomizer.local_profile()),
    }
}

/// How finely a pair is resolved, where divergences below `floor` do not matter.
pub(super) fn resolution(floor: f64) -> Resolution {
    Resolution::FINE.for_mass(floor / UNRESOLVED)
}

/// At least ε of one round at `delta`, in this order.
fn epsilon_of_one(round: &Displacement, delta: f64, floor: f64, order: Order) -> Result<f64> {
    let excess = |epsilon: f64| {
        let bound = round.delta_upper(epsilon, floor, delta, order);
        // The comparison decides; the logarithm leads.
        let ln_ratio = ln(bound / delta);
        Ok::<_, AccountingError>(if bound <= delta { ln_ratio.min(0.0) } else { ln_ratio.max(f64::MIN_POSITIVE) })
    };
    // Not further out than need be: what is charged besides the sums grows with ε.
    let most = round.largest_loss().min(LARGEST);
    let mut high = round.typical_loss().min(most);
    while high < most && excess(high)? > 0.0 {
        high = (2.0 * high).min(most);
    }
    Ok(smallest_safe_led(0.0, high, round.fineness().tolerance, excess)?.unwrap_or(f64::INFINITY))
}

/// At least the δ that is asked for. How small it is decides which divergences of one of `rounds`
/// rounds need not be resolved, and that is what is asked: two or three steps settle it. `ask` gets
/// the floor.
pub(crate) fn delta_by_floor(rounds: u64, ask: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let (mut guess, mut found) = (FIRST_GUESS, f64::INFINITY);
    loop {
        found = match ask(floor(guess, rounds)) {
            Ok(delta) => found.min(delta),
            // Far out nothing is left to compose, and what was found before stands.
            Err(_) if found < f64::INFINITY => return Ok(found),
            Err(error) => return Err(error),
        };
        if found >= guess || guess <= SMALLEST {
            return Ok(found.min(1.0));
        }
        guess = (found * 1e-3).min(guess * 1e-30).max(SMALLEST);
    }
}

/// A divergence of one of `rounds` rounds that does not matter next to `delta`: a power of 10⁵, so
/// that neighbouring questions share it.
pub(crate) fn floor(delta: f64, rounds: u64) -> f64 {
    let wanted = ln(UNRESOLVED * delta) - ln(rounds.max(1) as f64);
    let unit = 5.0 * std::f64::consts::LN_10;
    exp((wanted / unit).floor() * unit).max(1e-318)
}
