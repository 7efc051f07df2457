//! Inputs made to fit: the right dimension, finite, within the norm that the mechanism was promised.

use crate::error::{RandomizerError, Result};

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
