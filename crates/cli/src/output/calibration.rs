//! The answer of `calibrate`, for a person and for a program; `shuffledp_question::calibration` has
//! its words.

use super::text::json_line;
use anyhow::Result;
use shuffledp_question::Spelling;
use shuffledp_question::calibration::{Impossible, Solution, SolutionJson, Wanted};

pub(crate) use shuffledp_question::calibration::answer;
pub(super) use shuffledp_question::calibration::{beyond, claim, exactly};

/// Why there is no answer, and how near one can come.
pub(crate) fn impossible(wanted: &Wanted, best_epsilon: f64, at: f64) -> String {
    shuffledp_question::calibration::impossible(wanted, best_epsilon, at, Spelling::Flags)
}

/// The JSON object as one line, with its newline.
pub(crate) fn document(solution: &Solution) -> Result<String> {
    json_line(&SolutionJson(solution))
}

/// The JSON object of a target that cannot be met.
pub(crate) fn impossible_document(wanted: &Wanted, best_epsilon: f64, at: f64) -> Result<String> {
    json_line(&Impossible { wanted, best_epsilon, at })
}
