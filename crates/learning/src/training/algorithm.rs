//! The papers' algorithms: who speaks, and what is done to a gradient before it is sent.

use crate::collect::{Frames, Plain, SummedGaussian};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, Round, Scheme};
use shuffledp_randomizers::dispatch::Shape;

/// Which algorithm, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Algorithm {
    /// CLDP-SGD (Girgis et al. 2021, Algorithm 1): a sample of fixed size, each of which randomizes its clipped gradient.
    CldpSgd {
        /// k, how many speak in a round.
        sampled: u64,
        /// What each does to its gradient.
        randomizer: RandomizerSpec,
        /// The norm to which gradients are clipped, as the randomizer has it.
        clip: f32,
    },
    /// Shuffled check-in (Liew et al. 2022, Algorithm 1): each client flips a coin of its own. With `ldp-sgd` as the randomizer it is their
    /// LDP-SGD, with `gaussian` their federated DP-SGD.
    CheckIn {
        /// Probability that a client decides to speak.
        rate: f64,
        /// Probability that one who decided to speak is not heard.
        #[serde(default)]
        drop_out: f64,
        /// What each does to its gradient.
        randomizer: RandomizerSpec,
        /// The norm to which gradients are clipped, as the randomizer has it.
        clip: f32,
    },
    /// Gradients as they are: the reference.
    NoPrivacy {
        /// How many speak in a round.
        sampled: u64,
    },
}

/// How gradients become reports.
pub(crate) enum Reporting {
    /// As frames, as they are deployed.
    Frames(Frames),
    /// Gaussian noise drawn once for all.
    Summed(SummedGaussian),
    /// As they are.
    Plain(Plain),
}

impl Algorithm {
    /// Who of `clients` speaks.
    pub fn scheme(&self, clients: u64) -> Result<Scheme> {
        Ok(match *self {
            Self::CldpSgd { sampled, .. } | Self::NoPrivacy { sampled } => Scheme::subsampled(clients, sampled)?,
            Self::CheckIn { rate, drop_out, .. } => Scheme::check_in(clients, rate, drop_out)?,
        })
    }

    /// What each does to its gradient and the norm to which it is clipped, if gradients are private.
    fn protection(&self) -> Option<(RandomizerSpec, f32)> {
        match *self {
            Self::CldpSgd { randomizer, clip, .. } | Self::CheckIn { randomizer, clip, .. } => Some((randomizer, clip)),
            Self::NoPrivacy { .. } => None,
        }
    }

    /// What a round is accounted as, if gradients are private.
    pub(crate) fn round(&self, clients: u64) -> Result<Option<Round>> {
        let scheme = self.scheme(clients)?;
        Ok(self.protection().map(|(randomizer, _)| Round { scheme, randomizer }))
    }

    /// How gradients of a model with so many `weights` become reports.
    pub(crate) fn reporting(&self, weights: usize) -> Result<Reporting> {
        let dimension = u32::try_from(weights)
            .map_err(|_| LearningError::out_of_range("the model's number of weights", "below 2^32", weights))?;
        let Some((randomizer, clip)) = self.protection() else { return Ok(Reporting::Plain(Plain { dimension })) };
        if !(clip > 0.0 && clip.is_finite()) {
            return Err(LearningError::out_of_range("clip", "a finite number above 0", clip));
        }
        let shape = Shape { dimension, clip };
        Ok(match randomizer.mechanism() {
            Mechanism::Gaussian { sigma } => Reporting::Summed(SummedGaussian::new(sigma, shape)?),
            _ => Reporting::Frames(Frames::new(randomizer, shape)?),
        })
    }
}
