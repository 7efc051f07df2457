//! The parameter that was solved for, and the solution.

use crate::args::Solve;
use shuffledp_accounting::calibrate::{Calibrated, Goal};
use shuffledp_accounting::scheme::Adjacency;
use shuffledp_question::Outcome;

/// A calibration with its answer.
pub(crate) struct Solution {
    pub(crate) wanted: Wanted,
    pub(crate) solved: Calibrated,
    /// The answers of all methods at the solution.
    pub(crate) outcome: Outcome,
}

/// The goal, and the parameter to solve for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) solve: Solve,
    pub(crate) goal: Goal,
    pub(crate) adjacency: Adjacency,
}
