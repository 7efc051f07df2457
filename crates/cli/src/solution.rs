//! What was solved for, and the answer.

use crate::args::Solve;
use shuffledp_accounting::calibrate::{Calibrated, Goal};
use shuffledp_accounting::scheme::Adjacency;
use shuffledp_question::Outcome;

/// A calibration with its answer.
pub(crate) struct Solution {
    pub(crate) wanted: Wanted,
    pub(crate) solved: Calibrated,
    /// What every method says at the solution.
    pub(crate) outcome: Outcome,
}

/// What was wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) solve: Solve,
    pub(crate) goal: Goal,
    pub(crate) adjacency: Adjacency,
}
