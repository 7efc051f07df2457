//! The bounds of the literature exactly as printed, one file per paper, each with its standing.
//!
//! Every function that reads like a formula says which way it rounds. An upper bound exceeds its
//! formula by what covers the float error of its evaluation, about 1e-13 of itself at moderate
//! parameters; where the formula multiplies many factors the allowance grows with their number.

mod asked;
pub mod baselines;
pub mod ccs21;
pub mod check_in;
mod dp_analysis;
pub mod enhanced;
pub mod fmt21;
pub mod gdp;
pub mod girgis;
pub mod kov15;
pub mod local;
mod series;
pub mod shuffle_gaussian;
pub mod subsampling;
pub mod wbk19;

use crate::catalogue::Method;

/// Every published bound, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[
    &girgis::Theorem1,
    &girgis::Theorem2,
    &ccs21::Upper,
    &ccs21::UpperSubsampled,
    &ccs21::Lower,
    &fmt21::ClonesClosedForm,
    &baselines::CLONES_CLOSED_FORM,
    &baselines::CLONES_NUMERICAL,
    &enhanced::Corollary1,
    &enhanced::Corollary2,
    &enhanced::Theorem2,
    &enhanced::Theorem3,
    &check_in::Theorem2,
    &check_in::Theorem3,
    &check_in::Approach1,
    &check_in::Approach2,
    &check_in::Baseline,
    &check_in::StrongComposition,
    &local::LocalComposition,
    &shuffle_gaussian::Theorem1,
    &shuffle_gaussian::Theorem2,
    &shuffle_gaussian::Theorem3,
    &shuffle_gaussian::Corollary1,
];
