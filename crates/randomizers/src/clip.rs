//! Inputs made to fit: the right dimension, finite, within the norm that the mechanism was promised.

use crate::error::{RandomizerError, Result};
use crate::norms::{l1_norm, l2_norm};

/// How a vector is brought into the ℓ∞ ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinfClip {
    /// Every coordinate by itself: those within the bound keep their value.
    #[default]
    Clamp,
    /// The whole vector divided by its norm over the bound, as the papers print it: one large coordinate shrinks all others.
    Scale,
}

/// Refuses a vector of another dimension, and NaN and infinities anywhere in it. A clipped NaN must never become a report.
pub fn require_vector(input: &[f32], dimension: usize) -> Result<()> {
    if input.len() != dimension {
        return Err(RandomizerError::input(format!(
            "the vector has {} coordinates, and the mechanism takes {dimension}",
            input.len()
        )));
    }
    if all_finite(input) { Ok(()) } else { Err(not_finite()) }
}

/// Refuses NaN and infinities.
pub fn require_finite(x: f32) -> Result<()> {
    if x.is_finite() { Ok(()) } else { Err(not_finite()) }
}

fn not_finite() -> RandomizerError {
    RandomizerError::input("a coordinate is NaN or infinite")
}

/// Without branches, in lanes that the compiler turns into vector instructions.
fn all_finite(input: &[f32]) -> bool {
    const LANES: usize = 32;
    let chunks = input.chunks_exact(LANES);
    let rest = chunks.remainder().iter().all(|x| x.is_finite());
    let mut good = [1_u32; LANES];
    for chunk in chunks {
        for (good, x) in good.iter_mut().zip(chunk) {
            // NaN compares false, so it is not good.
            *good &= u32::from(x.abs() <= f32::MAX);
        }
    }
    rest && good.iter().all(|&good| good == 1)
}

/// max |x_j|.
pub fn linf_norm(input: &[f32]) -> f32 {
    input.iter().fold(0.0, |norm, x| norm.max(x.abs()))
}

/// What a vector is multiplied with so that its ℓ1 norm is at most `bound`: 1 for one that fits.
///
/// **Direction: down.** Each product `x_j·factor`, rounded to f64, counts: their exact sum is within the bound.
pub fn l1_factor(input: &[f32], bound: f32) -> f64 {
    factor(l1_norm(input), input.len(), bound)
}

/// What a vector is multiplied with so that its ℓ2 norm is at most `bound`: 1 for one that fits.
///
/// **Direction: down**, as for [`l1_factor`].
pub fn l2_factor(input: &[f32], bound: f32) -> f64 {
    factor(l2_norm(input), input.len(), bound)
}

/// The norm errs by less than (d/16 + 5)·2^−53, the quotient and each product by 2^−53: all are paid for here.
fn factor(norm: f64, dimension: usize, bound: f32) -> f64 {
    let largest = norm * (1.0 + (dimension as f64 / 16.0 + 10.0) * f64::EPSILON / 2.0);
    let bound = f64::from(bound);
    if largest <= bound { 1.0 } else { bound / largest }
}

/// ±`bound` along the first coordinate: two inputs as far apart as an ℓ1 or ℓ2 ball of that radius has.
pub(crate) fn opposite_poles(bound: f32, dimension: u32) -> [Box<[f32]>; 2] {
    [bound, -bound].map(|x| {
        let mut input = vec![0.0; dimension as usize];
        input[0] = x;
        input.into()
    })
}
