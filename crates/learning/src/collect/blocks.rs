//! A block of records as the one that reports.

use super::{Clipping, Summing, VectorSum};
use crate::Result;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_randomizers::Randomness;
use shuffledp_randomizers::clip::Norm;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::{VectorRandomizer, vector_randomizer};

/// The holder of a block clips the gradient of every record to an ℓ1 norm, takes their mean, and
/// randomizes that: one report for all of them.
pub struct BlockMean {
    mechanism: Box<dyn VectorRandomizer>,
    clip: f32,
}

impl BlockMean {
    /// With Laplace noise of scale 2·clip/`local_epsilon` on the mean: any two blocks are
    /// `local_epsilon`-indistinguishable.
    pub fn new(local_epsilon: f64, shape: VectorShape) -> Result<Self> {
        let randomizer = RandomizerSpec::new(Mechanism::Laplace { local_epsilon })?;
        Ok(Self { mechanism: vector_randomizer(randomizer, shape)?, clip: shape.clip })
    }
}

impl Summing for BlockMean {
    /// That of the gradient of a record, which does not leave the block.
    fn clipping(&self) -> Clipping {
        Clipping::To { norm: Norm::L1, bound: self.clip }
    }

    /// The block's report, decoded.
    fn mean_of(&self, sum: VectorSum, rng: &mut dyn Randomness) -> Result<Option<Vec<f64>>> {
        let Some(mean) = sum.mean() else { return Ok(None) };
        let mean: Vec<f32> = mean.into_iter().map(|coordinate| coordinate as f32).collect();
        let mut frame = vec![0; self.mechanism.frame_len()];
        self.mechanism.randomize_into(&mean, rng, &mut frame)?;
        let mut heard = self.mechanism.aggregator();
        heard.add_frame(&frame)?;
        Ok(Some(heard.mean()?))
    }
}
