//! Inputs made to fit: the right dimension, finite, within the norm that the mechanism was
//! promised.

use crate::error::{RandomizerError, Result};
use crate::norms::{l1_norm, l2_norm};

/// A norm in which vectors are clipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Σ|x_j|.
    L1,
    /// √Σx_j².
    L2,
    /// max |x_j|.
    Linf,
}

/// How a vector is brought into the ℓ∞ ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinfClip {
    /// Every coordinate by itself: those within the bound keep their value.
    #[default]
    Clamp,
    /// The whole vector divided by its norm over the bound, as the papers print it: one large
    /// coordinate shrinks all others.
    Scale,
}

/// Refuses a vector of another dimension, and NaN and infinities anywhere in it. A clipped NaN must
/// never become a report.
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

/// Returns the factor that scales a vector to an ℓ1 norm of at most `bound`: 1 if it already fits.
///
/// **Direction: down.** Each product `x_j·factor`, rounded to f64, counts: their exact sum is
/// within the bound.
pub fn l1_factor(input: &[f32], bound: f32) -> f64 {
    factor(l1_norm(input), input.len(), bound)
}

/// Returns the factor that scales a vector to an ℓ2 norm of at most `bound`: 1 if it already fits.
///
/// **Direction: down**, as for [`l1_factor`].
pub fn l2_factor(input: &[f32], bound: f32) -> f64 {
    factor(l2_norm(input), input.len(), bound)
}

/// The same for a vector whose norm is known.
///
/// The norm errs by less than (d/16 + 5)·2^−53, the quotient and each product by 2^−53: all are
/// paid for here.
pub fn factor(norm: f64, dimension: usize, bound: f32) -> f64 {
    let largest = norm * (1.0 + (dimension as f64 / 16.0 + 10.0) * f64::EPSILON / 2.0);
    let bound = f64::from(bound);
    if largest <= bound { 1.0 } else { bound / largest }
}

/// ±`bound` along the first coordinate: two inputs as far apart as an ℓ1 or ℓ2 ball of that radius
/// has.
pub(crate) fn opposite_poles(bound: f32, dimension: u32) -> [Box<[f32]>; 2] {
    [bound, -bound].map(|x| {
        let mut input = vec![0.0; dimension as usize];
        input[0] = x;
        input.into()
    })
}

/// `bound` along the second coordinate, if there is one: in the ℓ1 ball as far from both of
/// [`opposite_poles`] as they are from each other.
pub(crate) fn third_pole(bound: f32, dimension: u32) -> Option<Box<[f32]>> {
    let mut input = vec![0.0; dimension as usize];
    *input.get_mut(1)? = bound;
    Some(input.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Floats of this test's range are whole numbers of 2^−100, so nothing is rounded.
    fn whole(x: f64) -> i128 {
        let scaled = x * 2.0_f64.powi(100);
        assert!(scaled.fract() == 0.0 && scaled.abs() < 2.0_f64.powi(126));
        scaled as i128
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(6), ..ProptestConfig::default() })]

        #[test]
        fn a_clipped_vector_is_within_the_bound_exactly(input in prop::collection::vec(0.001_f32..1e3, 1..200), bound in 1.0_f32..1e4) {
            let factor = l1_factor(&input, bound);
            let sum: i128 = input.iter().map(|&x| whole(f64::from(x) * factor)).sum();
            prop_assert!(sum <= whole(f64::from(bound)));
            // And not much shorter than it may be.
            let norm = l1_norm(&input).min(f64::from(bound));
            prop_assert!(sum as f64 / 2.0_f64.powi(100) >= norm * (1.0 - 1e-13));
        }
    }

    #[test]
    fn along_an_axis_both_norms_are_exact() {
        for x in [0.1_f32, 0.3, 1.0 / 3.0, 7.0, f32::MAX, f32::from_bits(1)] {
            for bound in [1e-30_f32, 0.1, 0.7, 1e30] {
                for factor in [l1_factor(&[x, 0.0], bound), l2_factor(&[x, 0.0], bound)] {
                    assert!(f64::from(x) * factor <= f64::from(bound), "{x} {bound}");
                    assert!(factor <= 1.0);
                }
            }
        }
    }
}
