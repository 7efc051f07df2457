//! Composed losses as plain numbers, for other programs.

use super::Up;
use super::compose::Rounds;
use super::read::MARGIN;
use crate::error::Result;
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::exp;

/// The privacy loss of everything that was composed, rounded up:
/// `δ(ε) ≤ infinity + Σ max(0, 1 − e^(ε − loss))·probability`.
///
/// Losses are equally spaced. FFTs err by a share of the largest probability, and that share is
/// added to every one: a δ far below 1e-12 is not to be had from here. [`Rounds::delta`] and
/// [`Rounds::epsilon`] look at the tail that is asked for, and have no such limit.
#[derive(Debug, Clone, PartialEq)]
pub struct LossDistribution {
    /// The losses, increasing.
    pub losses: Vec<f64>,
    /// The probability of each under the first of two neighbouring datasets; their sum may be above
    /// 1 by what rounding cost.
    pub probabilities: Vec<f64>,
    /// Probability that is charged as an infinite loss.
    pub infinity: f64,
}

impl Rounds<Up> {
    /// The whole distribution of the composed loss.
    pub fn distribution(&self) -> Result<LossDistribution> {
        let composed = self.composed(0.0, (2.0 * MARGIN).sqrt());
        composed.check()?;
        let scale = exp(composed.ln_scale) * (1.0 + composed.reading_error());
        let moved = self.loss_error();
        let loss = |i: usize| (composed.first + i as i64) as f64 * composed.spacing + moved;
        Ok(LossDistribution {
            losses: (0..composed.masses.len()).map(loss).collect(),
            probabilities: composed.masses.iter().map(|mass| mass * scale).collect(),
            // What lay below a window may stand at any loss.
            infinity: add_up(composed.infinity, mul_up(composed.lost, scale)),
        })
    }
}
