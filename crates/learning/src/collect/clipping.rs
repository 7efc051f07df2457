//! How gradients are clipped.

use shuffledp_randomizers::clip::{self, Norm};
use shuffledp_randomizers::norms;

/// How a gradient is clipped before it is added up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clipping {
    /// It stays as it is.
    None,
    /// To a norm of at most `bound`: scaled down in ℓ1 and ℓ2, each coordinate clamped in ℓ∞.
    To {
        /// Which norm.
        norm: Norm,
        /// The largest norm that is left as it is.
        bound: f32,
    },
}

/// Pays for rounding a factor times a coordinate to f32, which errs by 2^−24 of it.
const BELOW_ONE: f64 = 1.0 - f32::EPSILON as f64;

impl Clipping {
    /// Writes the clipped gradient, whose numbers are finite.
    ///
    /// **Direction: down.** What is written has at most the norm `bound`, exactly.
    pub fn clip_into(self, gradient: &[f32], clipped: &mut [f64]) {
        let factor = match self {
            Self::None => 1.0,
            Self::To { norm: Norm::L1, bound } => clip::l1_factor(gradient, bound),
            Self::To { norm: Norm::L2, bound } => clip::l2_factor(gradient, bound),
            Self::To { norm: Norm::Linf, bound } => {
                let clamped = gradient.iter().map(|coordinate| f64::from(coordinate.clamp(-bound, bound)));
                return clipped.iter_mut().zip(clamped).for_each(|(place, coordinate)| *place = coordinate);
            }
        };
        clipped.iter_mut().zip(gradient).for_each(|(place, coordinate)| *place = factor * f64::from(*coordinate));
    }

    /// Scales `left` so that the gradient `left` ⊗ `right` is clipped: its ℓ1 and ℓ2 norms are the
    /// products of theirs. False, and nothing is changed, in ℓ∞, where no factor clips.
    ///
    /// **Direction: down.** Scaled and rounded to f32, the product has at most the norm `bound`,
    /// exactly.
    pub fn clip_outer(self, left: &mut [f32], right: &[f32]) -> bool {
        let (norm, bound): (fn(&[f32]) -> f64, f32) = match self {
            Self::None => return true,
            Self::To { norm: Norm::L1, bound } => (norms::l1_norm, bound),
            Self::To { norm: Norm::L2, bound } => (norms::l2_norm, bound),
            Self::To { norm: Norm::Linf, .. } => return false,
        };
        // The errors of two norms and of their product: 16 coordinates more pay for one rounding.
        let coordinates = left.len() + right.len() + 32;
        let factor = clip::factor(norm(left) * norm(right), coordinates, bound);
        if factor < 1.0 {
            let factor = factor * BELOW_ONE;
            left.iter_mut().for_each(|coordinate| *coordinate = (f64::from(*coordinate) * factor) as f32);
        }
        true
    }

    /// Whether [`clip_outer`](Self::clip_outer) can clip.
    pub fn scales(self) -> bool {
        !matches!(self, Self::To { norm: Norm::Linf, .. })
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    fn numbers(length: usize, salt: u32) -> Vec<f32> {
        (0..length as u32).map(|index| ((index * 7 + salt) as f32 * 0.37).sin()).collect()
    }

    fn outer(left: &[f32], right: &[f32]) -> Vec<f64> {
        left.iter().flat_map(|l| right.iter().map(|r| f64::from(*l) * f64::from(*r))).collect()
    }

    #[test]
    fn clipped_products_are_within_the_bound_and_close_to_it() {
        let (left, right) = (numbers(10, 3), numbers(97, 5));
        for (norm, length) in [
            (Norm::L1, outer(&left, &right).iter().map(|x| x.abs()).sum::<f64>()),
            (Norm::L2, outer(&left, &right).iter().map(|x| x * x).sum::<f64>().sqrt()),
        ] {
            for share in [1e-6, 0.3, 0.999_999_9, 1.0, 1.000_001, 10.0] {
                let bound = (length * share) as f32;
                let mut scaled = left.clone();
                assert!(Clipping::To { norm, bound }.clip_outer(&mut scaled, &right));
                let product = outer(&scaled, &right);
                let after = match norm {
                    Norm::L1 => product.iter().map(|x| x.abs()).sum::<f64>(),
                    _ => product.iter().map(|x| x * x).sum::<f64>().sqrt(),
                };
                let (least, most) = (length.min(f64::from(bound)) * (1.0 - 3e-7), f64::from(bound));
                assert!((least..=most * (1.0 + 1e-15)).contains(&after), "{norm:?} {share}: {after} {bound}");
                if share > 1.0 {
                    assert_eq!(scaled, left);
                }
            }
        }
    }

    #[test]
    fn zero_and_clamping() {
        let mut zero = vec![0.0; 3];
        assert!(Clipping::To { norm: Norm::L2, bound: 1.0 }.clip_outer(&mut zero, &[0.0, 1.0]));
        assert_eq!(zero, [0.0; 3]);
        let clamp = Clipping::To { norm: Norm::Linf, bound: 1.0 };
        assert!(!clamp.scales() && !clamp.clip_outer(&mut [2.0], &[3.0]));
        let mut clamped = [0.0; 3];
        clamp.clip_into(&[-2.0, 0.5, 7.0], &mut clamped);
        assert_eq!(clamped, [-1.0, 0.5, 1.0]);
    }
}
