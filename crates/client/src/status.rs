//! The spent budget of a client, for its owner.

use crate::config::ClientConfig;
use crate::error::Result;
use crate::state;
use serde::Serialize;

/// A look into a state folder. Taken without its lock, so that it can be had while the client runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// At least ε of all rounds ever offered, at `delta`: what shuffling leaves of them.
    #[serde(with = "shuffledp_learning::unbounded")]
    pub epsilon: f64,
    /// The most that ε may become.
    pub budget: f64,
    /// δ.
    pub delta: f64,
    /// Rounds offered, all of them charged.
    pub rounds_offered: u64,
    /// Rounds in which it made a report.
    pub rounds_spoken: u64,
    /// At least ε if the shuffler works together with the server, had it participated in every
    /// round: the local ε of all rounds added up.
    #[serde(with = "shuffledp_learning::unbounded")]
    pub collusion_epsilon: f64,
    /// Whether a report waits for its acknowledgement.
    pub report_pending: bool,
    /// Whether the rounds so far were charged by another analysis than the one that `epsilon` comes
    /// from.
    pub repriced: bool,
}

impl Status {
    /// Reads the state folder of a configuration. One that does not exist yet has spent nothing.
    pub fn read(config: &ClientConfig) -> Result<Self> {
        let (ledger, record) = state::look(&config.state, config.budget)?;
        Ok(Self {
            epsilon: ledger.epsilon()?,
            budget: config.budget.epsilon,
            delta: config.budget.delta,
            rounds_offered: record.offered(),
            rounds_spoken: record.spoken,
            collusion_epsilon: ledger.accountant().local_epsilon(),
            report_pending: record.pending.is_some(),
            repriced: record.is_repriced,
        })
    }
}
