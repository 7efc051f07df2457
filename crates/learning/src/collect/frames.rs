//! Reports as they are deployed.

use super::Collector;
use crate::Result;
use crate::round::client_report;
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_randomizers::Randomness;
use shuffledp_randomizers::dispatch::Shape;
use shuffledp_randomizers::erased::{FrameAggregator, VectorRandomizer, vector_randomizer};

/// Every client clips and randomizes its gradient and sends a frame; the server decodes and averages frames.
pub struct Frames {
    mechanism: Box<dyn VectorRandomizer>,
}

impl Frames {
    /// Of the mechanism that `randomizer` names.
    pub fn new(randomizer: RandomizerSpec, shape: Shape) -> Result<Self> {
        Ok(Self { mechanism: vector_randomizer(randomizer, shape)? })
    }
}

impl Collector for Frames {
    type Report = Vec<u8>;
    type Batch = Box<dyn FrameAggregator>;

    fn blank(&self) -> Vec<u8> {
        vec![0; self.mechanism.frame_len()]
    }

    fn empty(&self) -> Self::Batch {
        self.mechanism.aggregator()
    }

    fn report(&self, gradient: &[f32], rng: &mut dyn Randomness, report: &mut Vec<u8>) -> Result<()> {
        client_report(&*self.mechanism, gradient, rng, report)
    }

    fn add(&self, report: &Vec<u8>, batch: &mut Self::Batch) -> Result<()> {
        Ok(batch.add_frame(report)?)
    }

    fn merge(&self, batch: &mut Self::Batch, more: Self::Batch) -> Result<()> {
        Ok(batch.merge(more)?)
    }

    fn mean(&self, batch: Self::Batch, _: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        if batch.count() == 0 { Ok(None) } else { Ok(Some(batch.mean()?)) }
    }
}
