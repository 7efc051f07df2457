//! Collectors that need no more of the reports than their sum, added up in a fixed order.

use super::Collector;
use crate::Result;
use shuffledp_randomizers::Randomness;

/// What a summing collector does with a gradient, and with the sum.
pub(super) trait Summing: Sync {
    /// Coordinates of a gradient.
    fn dimension(&self) -> u32;

    /// Writes what of a gradient is added up.
    fn contribution(&self, gradient: &[f32], contribution: &mut [f64]) -> Result<()>;

    /// See [`Collector::mean`].
    fn mean_of(&self, sum: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>>;
}

impl<S: Summing> Collector for S {
    type Report = Vec<f64>;
    type Batch = VectorSum;

    fn blank(&self) -> Vec<f64> {
        vec![0.0; self.dimension() as usize]
    }

    fn empty(&self) -> VectorSum {
        VectorSum::new(self.dimension())
    }

    fn report(&self, gradient: &[f32], _: &mut dyn Randomness, report: &mut Vec<f64>) -> Result<()> {
        self.contribution(gradient, report)
    }

    fn add(&self, report: &Vec<f64>, batch: &mut VectorSum) -> Result<()> {
        batch.add(report);
        Ok(())
    }

    fn merge(&self, batch: &mut VectorSum, more: VectorSum) -> Result<()> {
        batch.merge(more);
        Ok(())
    }

    fn mean(&self, batch: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        self.mean_of(batch, rng)
    }
}

/// `factor` times the gradient.
pub(super) fn scale_into(gradient: &[f32], factor: f64, contribution: &mut [f64]) {
    contribution.iter_mut().zip(gradient).for_each(|(scaled, gradient)| *scaled = factor * f64::from(*gradient));
}

/// A sum of vectors, and of how many.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSum {
    sum: Vec<f64>,
    count: u64,
}

impl VectorSum {
    fn new(dimension: u32) -> Self {
        Self { sum: vec![0.0; dimension as usize], count: 0 }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    fn add(&mut self, vector: &[f64]) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, coordinate)| *sum += coordinate);
        self.count += 1;
    }

    fn merge(&mut self, more: Self) {
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
