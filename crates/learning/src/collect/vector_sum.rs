//! Collectors that need no more of the reports than their sum, added up in a fixed order.

use super::Clipping;
use crate::Result;
use pulp::Arch;
use shuffledp_randomizers::Randomness;

/// A collector for which the sum of the clipped gradients is enough.
pub trait Summing: Sync {
    /// How a gradient is clipped before it is added up.
    fn clipping(&self) -> Clipping;

    /// The server: an unbiased estimate of the mean of the clipped gradients, `None` of none. `rng`
    /// is for the noise of all clients, if there is any.
    fn mean_of(&self, sum: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>>;
}

/// A sum of vectors, and of how many.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSum {
    sum: Vec<f64>,
    count: u64,
}

impl VectorSum {
    /// The sum of no vectors of `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        Self { sum: vec![0.0; dimension], count: 0 }
    }

    /// The sum.
    pub fn sum(&self) -> &[f64] {
        &self.sum
    }

    /// How many were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a vector of as many coordinates.
    pub fn add(&mut self, vector: &[f64]) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, coordinate)| *sum += coordinate);
        self.count += 1;
    }

    /// Adds `total`, the sum of `count` vectors.
    pub(crate) fn add_total(&mut self, total: &[f32], count: u64) {
        let Self { sum, .. } = self;
        Arch::new().dispatch(|| sum.iter_mut().zip(total).for_each(|(sum, total)| *sum += f64::from(*total)));
        self.count += count;
    }

    pub(crate) fn merge(&mut self, more: Self) {
        self.sum.iter_mut().zip(more.sum).for_each(|(sum, more)| *sum += more);
        self.count += more.count;
    }

    /// (the sum + `noise`)/count, of at least one vector.
    pub(super) fn mean_with(self, noise: &[f32]) -> Vec<f64> {
        let count = self.count as f64;
        self.sum.into_iter().zip(noise).map(|(sum, noise)| (sum + f64::from(*noise)) / count).collect()
    }

    /// The mean, `None` of nothing.
    pub(super) fn mean(self) -> Option<Vec<f64>> {
        let count = self.count as f64;
        (self.count > 0).then(|| self.sum.into_iter().map(|sum| sum / count).collect())
    }
}
