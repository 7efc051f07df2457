//! The papers' algorithms: who speaks, and what is done to a gradient before it is sent.

use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use shuffledp_accounting::scheme::{RandomizerSpec, Round, Scheme};

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

/// What makes gradients private.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Protection {
    /// What is accounted for.
    pub(crate) round: Round,
    /// The norm to which gradients are clipped.
    pub(crate) clip: f32,
}

impl Algorithm {
    /// Who of `clients` speaks.
    pub fn scheme(&self, clients: u64) -> Result<Scheme> {
        Ok(match *self {
            Self::CldpSgd { sampled, .. } | Self::NoPrivacy { sampled } => Scheme::subsampled(clients, sampled)?,
            Self::CheckIn { rate, drop_out, .. } => Scheme::check_in(clients, rate, drop_out)?,
        })
    }

    /// What makes gradients private, if anything does.
    pub(crate) fn protection(&self, clients: u64) -> Result<Option<Protection>> {
        let scheme = self.scheme(clients)?;
        let (randomizer, clip) = match *self {
            Self::CldpSgd { randomizer, clip, .. } | Self::CheckIn { randomizer, clip, .. } => (randomizer, clip),
            Self::NoPrivacy { .. } => return Ok(None),
        };
        if !(clip > 0.0 && clip.is_finite()) {
            return Err(LearningError::out_of_range("clip", "a finite number above 0", clip));
        }
        Ok(Some(Protection { round: Round { scheme, randomizer }, clip }))
    }
}
