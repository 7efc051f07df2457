//! Gradients as they are.

use super::{Collector, VectorSum};
use crate::Result;
use shuffledp_randomizers::Randomness;

/// Nothing is clipped or randomized: the reference without privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// Coordinates of a gradient.
    pub dimension: u32,
}

impl Collector for Plain {
    type Report = Vec<f64>;
    type Batch = VectorSum;

    fn blank(&self) -> Vec<f64> {
        vec![0.0; self.dimension as usize]
    }

    fn empty(&self) -> VectorSum {
        VectorSum::new(self.dimension)
    }

    fn report(&self, gradient: &[f32], _: &mut dyn Randomness, report: &mut Vec<f64>) -> Result<()> {
        report.iter_mut().zip(gradient).for_each(|(report, gradient)| *report = f64::from(*gradient));
        Ok(())
    }

    fn add(&self, report: &Vec<f64>, batch: &mut VectorSum) -> Result<()> {
        batch.add(report);
        Ok(())
    }

    fn merge(&self, batch: &mut VectorSum, more: VectorSum) -> Result<()> {
        batch.merge(more);
        Ok(())
    }

    fn mean(&self, batch: VectorSum, _: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        Ok(batch.mean())
    }
}
