//! Participation in a round: all clients, a random set of fixed size, or the clients that check in.

use crate::error::{Result, require};
use serde::{Deserialize, Serialize};

/// The largest count of clients or rounds: 2^53, up to which every integer is an exact `f64`.
pub const MAX_COUNT: u64 = 1 << 53;

/// The clients that participate in a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Participation {
    /// All clients participate.
    Everyone,
    /// A uniformly random set of this size, drawn afresh each round without replacement, hidden
    /// from the server.
    FixedSize {
        /// How many participate.
        sampled: u64,
    },
    /// Each client independently decides to participate; the server sees only how many came.
    CheckIn {
        /// Probability that a client decides to participate.
        rate: f64,
        /// Probability that one who decided to participate is not heard. Must not depend on the
        /// data, and be equal for all.
        drop_out: f64,
    },
}

/// A population of honest clients and which of them participate in a round. Validated at
/// construction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawScheme")]
pub struct Scheme {
    clients: u64,
    participation: Participation,
}

#[derive(Deserialize)]
struct RawScheme {
    clients: u64,
    participation: Participation,
}

impl TryFrom<RawScheme> for Scheme {
    type Error = crate::AccountingError;

    fn try_from(raw: RawScheme) -> Result<Self> {
        Self::new(raw.clients, raw.participation)
    }
}

impl Scheme {
    /// Checks `1 ≤ sampled ≤ clients ≤ 2^53`, `0 < rate ≤ 1` and `0 ≤ drop_out < 1`.
    pub fn new(clients: u64, participation: Participation) -> Result<Self> {
        require((1..=MAX_COUNT).contains(&clients), "clients", "between 1 and 2^53", clients)?;
        match participation {
            Participation::Everyone => {}
            Participation::FixedSize { sampled } => {
                require(sampled >= 1, "sampled", "at least 1", sampled)?;
                require(sampled <= clients, "sampled", "at most the number of clients", sampled)?;
            }
            Participation::CheckIn { rate, drop_out } => {
                require(rate > 0.0 && rate <= 1.0, "check-in", "above 0 and at most 1", rate)?;
                require((0.0..1.0).contains(&drop_out), "drop-out", "at least 0 and below 1", drop_out)?;
                let effective = rate * (1.0 - drop_out);
                require(effective > 0.0, "check-in", "large enough that rate·(1 − drop-out) is above 0", rate)?;
            }
        }
        Ok(Self { clients, participation })
    }

    /// All `clients` participate.
    pub fn shuffle(clients: u64) -> Result<Self> {
        Self::new(clients, Participation::Everyone)
    }

    /// `sampled` of `clients` participate.
    pub fn subsampled(clients: u64, sampled: u64) -> Result<Self> {
        Self::new(clients, Participation::FixedSize { sampled })
    }

    /// Each of `clients` participates with probability `rate·(1 − drop_out)`.
    pub fn check_in(clients: u64, rate: f64, drop_out: f64) -> Result<Self> {
        Self::new(clients, Participation::CheckIn { rate, drop_out })
    }

    /// Honest clients in the population.
    pub fn clients(&self) -> u64 {
        self.clients
    }

    /// Returns which of the clients participate.
    pub fn participation(&self) -> Participation {
        self.participation
    }

    /// How many participate, where that is a fixed number: `None` for check-in.
    pub fn fixed_size(&self) -> Option<u64> {
        match self.participation {
            Participation::Everyone => Some(self.clients),
            Participation::FixedSize { sampled } => Some(sampled),
            Participation::CheckIn { .. } => None,
        }
    }

    /// The probability that a client is heard in a round, at check-in: `rate·(1 − drop_out)`,
    /// rounded up (a larger rate is safe: thinning is post-processing). `None` for the other
    /// schemes.
    pub fn check_in_rate(&self) -> Option<f64> {
        match self.participation {
            Participation::CheckIn { rate, drop_out: 0.0 } => Some(rate),
            Participation::CheckIn { rate, drop_out } => Some((rate * (1.0 - drop_out).next_up()).next_up().min(rate)),
            _ => None,
        }
    }
}
