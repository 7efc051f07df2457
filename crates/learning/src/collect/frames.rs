//! Reports as they are deployed: a client's side and the server's, for simulations and services
//! alike.

use super::Collector;
use crate::{LearningError, Result};
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_question::randomizers::{Deployable, RandomizerRow};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::{FrameAggregator, VectorRandomizer, vector_randomizer};
use shuffledp_randomizers::{PublicSeed, Randomness};

/// Every client clips and randomizes its gradient and sends a frame; the server decodes and
/// averages frames.
pub struct Frames {
    mechanism: Box<dyn VectorRandomizer>,
}

impl Frames {
    /// Of the mechanism that `randomizer` names.
    pub fn new(randomizer: RandomizerSpec, shape: VectorShape) -> Result<Self> {
        Ok(Self { mechanism: vector_randomizer(randomizer, shape)? })
    }

    /// The same where reports leave a machine.
    pub fn deployed(randomizer: RandomizerSpec, shape: VectorShape) -> Result<Self> {
        Self::check_deployable(&randomizer)?;
        Self::new(randomizer, shape)
    }

    /// The same in the round of this seed. Clients and server of a round must both use it.
    #[must_use]
    pub fn in_round(&self, seed: PublicSeed) -> Self {
        Self { mechanism: self.mechanism.in_round(seed) }
    }

    /// Refuses what is for simulations only: noise in floating point, whose low-order bits can give
    /// the input away (Mironov 2012).
    pub fn check_deployable(randomizer: &RandomizerSpec) -> Result<()> {
        let row = RandomizerRow::of(randomizer).0;
        let Deployable::Instead(instead) = row.deployable else { return Ok(()) };
        let reason = "low-order bits of noise in floating point can give the input away";
        let requirement = format!("{instead} where reports leave a machine ({reason})");
        Err(LearningError::out_of_range("randomizer", requirement, row.name))
    }

    /// Bytes of every frame.
    pub fn frame_len(&self) -> usize {
        self.mechanism.frame_len()
    }

    /// See [`Collector::mean`]; the batch stays as it is.
    pub fn mean_of(&self, batch: &dyn FrameAggregator) -> Result<Option<Vec<f64>>> {
        if batch.count() == 0 { Ok(None) } else { Ok(Some(batch.mean()?)) }
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
        Ok(self.mechanism.randomize_into(gradient, rng, report)?)
    }

    fn add(&self, report: &Vec<u8>, batch: &mut Self::Batch) -> Result<()> {
        Ok(batch.add_frame(report)?)
    }

    fn merge(&self, batch: &mut Self::Batch, more: Self::Batch) -> Result<()> {
        Ok(batch.merge(more)?)
    }

    fn mean(&self, batch: Self::Batch, _: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        self.mean_of(&*batch)
    }
}
