//! The question: who participates in a round, with which randomizer, and for how many rounds.
//!
//! Everything here is validated once, at construction and when deserialised; the rest of the crate
//! relies on it. Adjacency is part of the question, and replace-one unless said otherwise.

mod adjacency;
mod k_subset;
mod local;
mod participation;
pub mod priv_unit;
mod randomizer;
mod release;
mod top_set;

pub use adjacency::Adjacency;
pub use k_subset::subset_size;
pub(crate) use local::{Class, Noise};
pub use local::{LocalGuarantee, LocalStructure};
pub use participation::{MAX_COUNT, Participation, Scheme};
pub use randomizer::{Mechanism, RandomizerSpec};
pub(crate) use release::response_loss;
pub use release::{Output, Release};
pub use top_set::TopSetSize;

use crate::error::{AccountingError, Result, require};
use serde::{Deserialize, Serialize};

/// One round: who participates, and through which randomizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The clients that participate.
    pub scheme: Scheme,
    /// The randomizer that each client applies to its record before sending.
    pub randomizer: RandomizerSpec,
}

/// The same round, `rounds` times, and which datasets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    round: Round,
    rounds: u64,
    adjacency: Adjacency,
}

impl Question {
    /// Asks about `rounds` independent repetitions of `round`; between 1 and [`MAX_COUNT`].
    /// Adjacency is [`Adjacency::ReplaceOne`].
    pub fn new(round: Round, rounds: u64) -> Result<Self> {
        let rounds = require((1..=MAX_COUNT).contains(&rounds), "rounds", "between 1 and 2^53", rounds)?;
        Ok(Self { round, rounds, adjacency: Adjacency::default() })
    }

    /// The same under another adjacency. Zero-out asks for a randomizer whose inputs include the
    /// zero vector.
    pub fn with_adjacency(self, adjacency: Adjacency) -> Result<Self> {
        if adjacency == Adjacency::ZeroOut && !self.round.randomizer.takes_zero() {
            return Err(AccountingError::not_applicable(
                "zero-out adjacency needs a zero vector among the inputs, and those of this randomizer are categories: \
                 use replace-one adjacency",
            ));
        }
        Ok(Self { adjacency, ..self })
    }

    /// The round that is repeated.
    pub fn round(&self) -> &Round {
        &self.round
    }

    /// Returns the clients that participate in each round.
    pub fn scheme(&self) -> &Scheme {
        &self.round.scheme
    }

    /// The local randomizer.
    pub fn randomizer(&self) -> &RandomizerSpec {
        &self.round.randomizer
    }

    /// Which datasets are neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// How many rounds.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}
