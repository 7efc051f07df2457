//! Gradients as they are.

use super::{Clipping, Summing, VectorSum};
use crate::Result;
use shuffledp_randomizers::Randomness;

/// Nothing is clipped or randomized: the reference without privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain;

impl Summing for Plain {
    fn clipping(&self) -> Clipping {
        Clipping::None
    }

    fn mean_of(&self, sum: VectorSum, _: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        Ok(sum.mean())
    }
}
