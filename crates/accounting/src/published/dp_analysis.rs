//! Bounds that are given as ε(δ), asked also for δ(ε).

use crate::bound::Answer;
use crate::catalogue::Analysis;
use crate::error::Result;
use crate::numerics::bisect::smallest_safe;

/// How close δ(ε) comes to the smallest δ that would do.
const TOLERANCE: f64 = 1e-9;

/// An [`Analysis`] from a function that upper-bounds ε at any δ in `[0, 1)` and does not increase
/// with δ.
///
/// δ(ε) is a δ at which the function was evaluated and found to be at most ε: should it not be
/// monotone, the answer is loose and not wrong.
pub(super) struct DpAnalysis<F> {
    epsilon_at: F,
}

impl<F: Fn(f64) -> Result<Answer>> DpAnalysis<F> {
    pub(super) fn new(epsilon_at: F) -> Self {
        Self { epsilon_at }
    }
}

impl<F: Fn(f64) -> Result<Answer>> Analysis for DpAnalysis<F> {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        (self.epsilon_at)(delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        let largest = 1.0 - f64::EPSILON;
        let found = smallest_safe(0.0, largest, TOLERANCE, |delta| Ok((self.epsilon_at)(delta)?.value <= epsilon))?;
        match found {
            Some(delta) => Ok(Answer { value: delta, ..(self.epsilon_at)(delta)? }),
            // δ = 1 promises nothing and is always true.
            None => Ok(Answer::plain(1.0)),
        }
    }
}
