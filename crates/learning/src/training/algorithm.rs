//! The papers' algorithms: who participates, and what is done to a gradient before it is sent.

use super::blocks::{BlockNoise, Blocks, Hides};
use crate::collect::{BlockMean, Frames, Plain, Sketch, SummedGaussian};
use crate::ledger::Cost;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use shuffledp_accounting::bound::Bound;
use shuffledp_accounting::scheme::{Mechanism, Round, Scheme};
use shuffledp_question::configured::ConfiguredRandomizer;
use shuffledp_randomizers::dispatch::VectorShape;

/// Which algorithm, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Algorithm {
    /// CLDP-SGD (Girgis et al. 2021, Algorithm 1): a sample of fixed size, each of which randomizes
    /// its clipped gradient.
    CldpSgd {
        /// k, how many participate in a round.
        sampled: u64,
        /// The randomizer that each client applies to its gradient.
        randomizer: ConfiguredRandomizer,
        /// The norm to which gradients are clipped, as the randomizer has it.
        clip: f32,
    },
    /// Shuffled check-in (Liew et al. 2022, Algorithm 1): each client flips a coin of its own. With
    /// `ldp-sgd` as the randomizer it is their LDP-SGD, with `gaussian` their federated DP-SGD.
    CheckIn {
        /// Probability that a client decides to participate.
        rate: f64,
        /// Probability that one who decided to participate is not heard.
        #[serde(default)]
        drop_out: f64,
        /// The randomizer that each client applies to its gradient.
        randomizer: ConfiguredRandomizer,
        /// The norm to which gradients are clipped, as the randomizer has it.
        clip: f32,
    },
    /// Shuffled noisy SGD (arXiv 2401.04306, Algorithm 1): records in blocks, an epoch visits all
    /// blocks in random order, one round for each; Laplace noise on the mean of ℓ1-clipped
    /// gradients. An epoch is charged when it begins.
    ShuffledNoisySgd {
        /// m, the number of blocks and of rounds in an epoch.
        blocks: u64,
        /// ε0 between two blocks that differ in what the noise hides.
        local_epsilon: f64,
        /// The ℓ1 norm to which the gradient of every record is clipped.
        clip: f32,
        /// Two blocks that differ in one record (the paper's noise), or any two blocks.
        #[serde(default)]
        hides: Hides,
    },
    /// Gradients as they are: the reference.
    NoPrivacy {
        /// How many participate in a round.
        sampled: u64,
    },
}

/// Far above the numbers that f32 holds with fewer digits, for which no rounding here is thought
/// through.
const LEAST_CLIP: f32 = 1e-20;

/// How gradients become reports.
pub(crate) enum Reporting {
    /// As frames, as they are deployed.
    Frames(Frames),
    /// As the Gaussian limit of a batch of frames.
    Sketch(Sketch),
    /// Gaussian noise drawn once for all.
    Summed(SummedGaussian),
    /// By the block.
    Blocks(BlockMean),
    /// As they are.
    Plain(Plain),
}

impl Algorithm {
    /// Returns which of `clients` participate; in block training, all do.
    pub fn scheme(&self, clients: u64) -> Result<Scheme> {
        Ok(match *self {
            Self::CldpSgd { sampled, .. } | Self::NoPrivacy { sampled } => Scheme::subsampled(clients, sampled)?,
            Self::CheckIn { rate, drop_out, .. } => Scheme::check_in(clients, rate, drop_out)?,
            Self::ShuffledNoisySgd { blocks, local_epsilon, hides, .. } => {
                BlockNoise::new(blocks, clients, local_epsilon, hides)?;
                Scheme::shuffle(blocks)?
            }
        })
    }

    /// The blocks of `clients`, if records are in blocks.
    pub(crate) fn blocks(&self, clients: u64, seed: u64) -> Result<Option<Blocks>> {
        let Self::ShuffledNoisySgd { blocks, local_epsilon, hides, .. } = *self else { return Ok(None) };
        BlockNoise::new(blocks, clients, local_epsilon, hides)?;
        Ok(Some(Blocks::new(clients, blocks, seed)))
    }

    /// So many rounds are charged at once.
    pub(crate) fn rounds_per_charge(&self) -> u64 {
        if let Self::ShuffledNoisySgd { blocks, .. } = *self { blocks } else { 1 }
    }

    /// Returns the cost of gradients with `dimension` coordinates, or `None` without privacy. Where
    /// there are several ways to account, `rounds` and δ decide.
    pub(crate) fn cost(&self, clients: u64, dimension: u32, rounds: u64, delta: f64) -> Result<Option<Cost>> {
        let scheme = self.scheme(clients)?;
        Ok(match *self {
            Self::CldpSgd { randomizer, .. } | Self::CheckIn { randomizer, .. } => {
                Some(Cost::Round(Round { scheme, randomizer: randomizer.of_dimension(u64::from(dimension))? }))
            }
            Self::ShuffledNoisySgd { blocks, local_epsilon, hides, .. } => {
                let noise = BlockNoise::new(blocks, clients, local_epsilon, hides)?;
                Some(noise.cost(rounds.div_ceil(blocks), delta)?)
            }
            Self::NoPrivacy { .. } => None,
        })
    }

    /// Returns the claim of the algorithm's paper for `rounds` rounds with its noise, where that
    /// claim is not sound. It is for comparison only, and never charged.
    pub fn published_claim(&self, clients: u64, rounds: u64, delta: f64) -> Result<Option<Bound>> {
        let Self::ShuffledNoisySgd { blocks, local_epsilon, hides, .. } = *self else { return Ok(None) };
        let noise = BlockNoise::new(blocks, clients, local_epsilon, hides)?;
        if hides == Hides::Block || blocks == clients || rounds == 0 {
            return Ok(None);
        }
        noise.published_claim(rounds.div_ceil(blocks), delta).map(Some)
    }

    /// How gradients of `dimension` numbers become reports. In a sketch no frames are made; all
    /// that is summed anyway stays as it is.
    pub(crate) fn reporting(&self, clients: u64, dimension: u32, is_sketch: bool) -> Result<Reporting> {
        let shape = |clip: f32| match clip {
            clip if (LEAST_CLIP..=f32::MAX).contains(&clip) => Ok(VectorShape { dimension, clip }),
            _ => Err(LearningError::out_of_range("clip", format!("a finite number of at least {LEAST_CLIP:e}"), clip)),
        };
        Ok(match *self {
            Self::CldpSgd { randomizer, clip, .. } | Self::CheckIn { randomizer, clip, .. } => {
                let randomizer = randomizer.of_dimension(u64::from(dimension))?;
                match randomizer.mechanism() {
                    Mechanism::Gaussian { sigma } => Reporting::Summed(SummedGaussian::new(sigma, shape(clip)?)?),
                    _ if is_sketch => Reporting::Sketch(Sketch::new(randomizer, shape(clip)?)?),
                    _ => Reporting::Frames(Frames::new(randomizer, shape(clip)?)?),
                }
            }
            Self::ShuffledNoisySgd { blocks, local_epsilon, hides, clip } => {
                let noise = BlockNoise::new(blocks, clients, local_epsilon, hides)?;
                Reporting::Blocks(BlockMean::new(noise.between_blocks(), shape(clip)?)?)
            }
            Self::NoPrivacy { .. } => Reporting::Plain(Plain),
        })
    }
}
