//! Gradients as they are.

use super::vector_sum::{Summing, VectorSum, scale_into};
use crate::Result;
use shuffledp_randomizers::Randomness;

/// Nothing is clipped or randomized: the reference without privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// Coordinates of a gradient.
    pub dimension: u32,
}

impl Summing for Plain {
    fn dimension(&self) -> u32 {
        self.dimension
    }

    fn contribution(&self, gradient: &[f32], contribution: &mut [f64]) -> Result<()> {
        scale_into(gradient, 1.0, contribution);
        Ok(())
    }

    fn mean_of(&self, sum: VectorSum, _: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        Ok(sum.mean())
    }
}
