//! From a bound on one round to that on all.

use crate::bound::Answer;
use crate::catalogue::Analysis;
use crate::error::{AccountingError, Result};
use crate::numerics::led_bisection::smallest_safe_led;
use crate::pair::Direction;
use crate::pld::{LossLattice, Rounds};
use std::sync::Arc;

/// An upper bound on one round.
pub(crate) trait RoundBound {
    /// Losses of a round. Each is composed with itself, and the largest result is the bound. Divergences below `floor` are charged at
    /// infinite loss.
    fn lattices(&self, floor: f64) -> Vec<Arc<LossLattice>>;

    /// At least δ of one round at ε ≥ 0. Divergences below `floor` need not be resolved.
    fn delta_upper(&self, epsilon: f64, floor: f64) -> f64;

    /// The largest loss of a round; may be infinite.
    fn largest_loss(&self) -> f64;

    /// About the standard deviation of the loss of a round. Leads searches; nothing rests on it.
    fn typical_loss(&self) -> f64;
}

/// Rounds of one kind.
pub(crate) struct Composed<R> {
    pub(crate) round: R,
    pub(crate) rounds: u64,
}

/// The share of δ, spread over the rounds, that their curves need not resolve.
const UNRESOLVED: f64 = 1e-4;

/// ε of a single round is found to this relative accuracy.
const TOLERANCE: f64 = 1e-7;

/// A δ that is asked for is thought to be at least this at first.
const FIRST_GUESS: f64 = 1e-15;

impl<R: RoundBound> Composed<R> {
    /// The largest of what is asked of all rounds, over the losses that a round may have.
    fn largest(&self, floor: f64, ask: impl Fn(&Rounds) -> Result<f64>) -> Result<f64> {
        let compose = |lattice| Rounds::new(Direction::Up, vec![(lattice, self.rounds)]);
        self.round.lattices(floor).into_iter().map(compose).try_fold(0.0, |most: f64, rounds| Ok(most.max(ask(&rounds)?)))
    }
}

impl<R: RoundBound> Analysis for Composed<R> {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        let floor = floor(delta, self.rounds);
        if self.rounds > 1 {
            return Ok(Answer::plain(self.largest(floor, |rounds| rounds.epsilon(delta))?));
        }
        // One round needs no lattice: the bound itself is solved for ε.
        let excess = |epsilon: f64| {
            let bound = self.round.delta_upper(epsilon, floor);
            // The comparison decides; the logarithm leads.
            let ln_ratio = (bound / delta).ln();
            Ok::<_, AccountingError>(if bound <= delta { ln_ratio.min(0.0) } else { ln_ratio.max(f64::MIN_POSITIVE) })
        };
        // Not further out than need be: what is charged besides the sums grows with ε.
        let most = self.round.largest_loss().min(600.0);
        let mut high = self.round.typical_loss().min(most);
        while high < most && excess(high)? > 0.0 {
            high = (2.0 * high).min(most);
        }
        Ok(Answer::plain(smallest_safe_led(0.0, high, TOLERANCE, excess)?.unwrap_or(f64::INFINITY)))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        // How small δ is decides how far tails are resolved, and is what is asked: two or three steps settle it.
        let mut guess = FIRST_GUESS;
        loop {
            let floor = floor(guess, self.rounds);
            let delta = match self.rounds {
                1 => self.round.delta_upper(epsilon, floor),
                _ => self.largest(floor, |rounds| rounds.delta(epsilon))?,
            };
            if delta >= guess || guess <= 1e-300 {
                return Ok(Answer::plain(delta.min(1.0)));
            }
            guess = (delta * 1e-3).min(guess * 1e-30).max(1e-300);
        }
    }
}

/// A divergence of one of `rounds` rounds that does not matter next to `delta`: a power of 10⁵, so that neighbouring
/// questions share it.
pub(crate) fn floor(delta: f64, rounds: u64) -> f64 {
    let wanted = (UNRESOLVED * delta).ln() - (rounds as f64).ln();
    let unit = 5.0 * std::f64::consts::LN_10;
    ((wanted / unit).floor() * unit).exp().max(1e-318)
}
