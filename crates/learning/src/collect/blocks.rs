//! A block of records as the one that reports.

use super::{Collector, VectorSum};
use crate::Result;
use crate::round::client_report;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_randomizers::dispatch::Shape;
use shuffledp_randomizers::erased::{VectorRandomizer, vector_randomizer};
use shuffledp_randomizers::{Randomness, clip};

/// The holder of a block clips the gradient of every record to an ℓ1 norm, takes their mean, and randomizes that: one report for all of them.
pub struct BlockMean {
    mechanism: Box<dyn VectorRandomizer>,
    shape: Shape,
}

impl BlockMean {
    /// With Laplace noise of scale 2·clip/`local_epsilon` on the mean: any two blocks are `local_epsilon`-indistinguishable.
    pub fn new(local_epsilon: f64, shape: Shape) -> Result<Self> {
        let randomizer = RandomizerSpec::new(Mechanism::Laplace { local_epsilon })?;
        Ok(Self { mechanism: vector_randomizer(randomizer, shape)?, shape })
    }
}

impl Collector for BlockMean {
    /// The clipped gradient of a record, which does not leave the block.
    type Report = Vec<f64>;
    type Batch = VectorSum;

    fn blank(&self) -> Vec<f64> {
        vec![0.0; self.shape.dimension as usize]
    }

    fn empty(&self) -> VectorSum {
        VectorSum::new(self.shape.dimension)
    }

    fn report(&self, gradient: &[f32], _: &mut dyn Randomness, report: &mut Vec<f64>) -> Result<()> {
        clip::require_vector(gradient, report.len())?;
        let factor = clip::l1_factor(gradient, self.shape.clip);
        report.iter_mut().zip(gradient).for_each(|(report, gradient)| *report = factor * f64::from(*gradient));
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

    /// The block's report, decoded.
    fn mean(&self, batch: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        let Some(mean) = batch.mean() else { return Ok(None) };
        let mean: Vec<f32> = mean.into_iter().map(|coordinate| coordinate as f32).collect();
        let mut frame = vec![0; self.mechanism.frame_len()];
        client_report(&*self.mechanism, &mean, rng, &mut frame)?;
        let mut heard = self.mechanism.aggregator();
        heard.add_frame(&frame)?;
        Ok(Some(heard.mean()?))
    }
}
