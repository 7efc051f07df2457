//! Saving and loading an accountant: JSON with a version, every value checked again on the way in.

use super::{Accountant, ReleaseEntry, RoundEntry};
use crate::error::{AccountingError, Result};
use crate::scheme::Adjacency;
use serde::{Deserialize, Serialize};

/// The version this crate writes, and the only one it reads.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    shuffledp_accountant: u32,
    adjacency: Adjacency,
    ledger: Vec<RoundEntry>,
    /// Left out where there are none, as it was before there could be any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    releases: Vec<ReleaseEntry>,
}

impl Accountant {
    /// The state as JSON text.
    pub fn save(&self) -> Result<String> {
        let saved = Saved {
            shuffledp_accountant: VERSION,
            adjacency: Adjacency::ReplaceOne,
            ledger: self.ledger.clone(),
            releases: self.releases.clone(),
        };
        serde_json::to_string_pretty(&saved).map_err(|error| AccountingError::State { reason: error.to_string() })
    }

    /// Reads what [`save`](Self::save) wrote. Truncated or altered text is an error; parameters are
    /// validated like new ones.
    pub fn load(text: &str) -> Result<Self> {
        let rejected = |reason: String| AccountingError::State { reason };
        let saved: Saved = serde_json::from_str(text).map_err(|error| rejected(error.to_string()))?;
        if saved.shuffledp_accountant != VERSION {
            return Err(rejected(format!("version {} is not {VERSION}", saved.shuffledp_accountant)));
        }
        if saved.adjacency != Adjacency::ReplaceOne {
            return Err(rejected(format!("an accountant of {} adjacency", saved.adjacency.word())));
        }
        let mut accountant = Self::new();
        for RoundEntry { round, count } in saved.ledger {
            accountant.compose(round, count).map_err(|error| rejected(error.to_string()))?;
        }
        for ReleaseEntry { release, count } in saved.releases {
            accountant.compose_release(release, count).map_err(|error| rejected(error.to_string()))?;
        }
        Ok(accountant)
    }
}
