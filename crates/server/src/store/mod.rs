//! The durable state of the server, behind a small trait.
//!
//! Three transactions change it, and each is all or nothing: a task begins, a round is charged and
//! opened, a round is closed with everything that came of it. Between them the file always says
//! what has been spent and where to go on. Two smaller ones put off a round's end, and add charges
//! that were made elsewhere.

mod file;
mod migrations;
mod postgres;
mod row;
mod writes;

pub use file::FileStore;
pub use postgres::PostgresStore;

use crate::config::ServerConfig;
use crate::error::{Result, ServerError};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_host::Clock;
use shuffledp_learning::step::ServerState;
use shuffledp_wire::{BatchId, HpkePublicKey, KeyId, ModelHash, ReportId, RoundContext, TaskHash};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Where a server keeps what must survive it.
pub trait Store: Send {
    /// Everything charged so far, by whatever task: each distinct round and how often.
    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>>;

    /// Where this task stands; `None` if it never began.
    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>>;

    /// Everything charged so far, by task and round.
    fn charges(&mut self) -> Result<Vec<Charges>>;

    /// Charges what was charged elsewhere and is not in the ledger yet. Nothing is taken away, and
    /// a round that is there with another charge is an error.
    fn charge(&mut self, charges: &[Charges]) -> Result<()>;

    /// Copies everything to a new file, as it is at one moment, while the store is in use.
    fn backup(&mut self, _to: &Path) -> Result<()> {
        Err(ServerError::Config("this store is not a file: back it up with the database's own tools".to_owned()))
    }

    /// A task begins, with its first model. An open round of another task is given up if the
    /// beginning says so, and stays charged; otherwise it is an error.
    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()>;

    /// Charges a round and opens it, if the ledger holds exactly the `known` rounds that its ε was
    /// computed with; otherwise the error is [`Overtaken`](ServerError::Overtaken). Only when this
    /// has returned may the round be published.
    fn open(&mut self, opening: &Opening, known: u64) -> Result<()>;

    /// Puts off the end of an open round that was not put off before.
    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()>;

    /// Closes a round, with the new model and, if one came, the batch.
    fn close(&mut self, closing: &Closing<'_>) -> Result<()>;

    /// Returns the outcome of the batch with this id, if it was accepted.
    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>>;

    /// The bytes of a model.
    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>>;

    /// The hashes of all models that there are.
    fn models(&mut self) -> Result<HashSet<ModelHash>>;

    /// All rounds of the task, first to last.
    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>>;

    /// A number that changes whenever another process may have changed the store; `None` if no
    /// other can.
    fn revision(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The clock that all share who use this store; without one, the process's own is as good.
    fn clock(&self) -> Option<Arc<dyn Clock>> {
        None
    }

    /// Tells other processes that the batch of an open round is coming in, and may until then, in
    /// milliseconds since 1970. They do not give the round up before.
    fn hold(&mut self, _context: &RoundContext, _until: u64) -> Result<()> {
        Ok(())
    }
}

/// The store that the configuration names.
pub(crate) fn open(config: &ServerConfig) -> Result<Box<dyn Store>> {
    Ok(match &config.database {
        Some(url) => Box::new(PostgresStore::open(url)?),
        None => Box::new(FileStore::open(&config.store)?),
    })
}

/// Report ids and superseded models of this many rounds are kept. Older ones have no use: their
/// rounds are closed, and a sealed report opens only under its own round.
const KEPT_ROUNDS: i64 = 8;

/// Two ledgers that cannot be of one population.
fn strange_charge(charges: &Charges, round: u64) -> ServerError {
    let task = charges.task;
    ServerError::Config(format!(
        "round {round} of task {task} is in the store's ledger with another charge: these are not the ledgers of one population"
    ))
}

/// An ε that was computed without some charge would be too small.
fn check_overtaken(found: u64, known: u64) -> Result<()> {
    if found == known { Ok(()) } else { Err(ServerError::Overtaken { found, known }) }
}

/// A task that begins.
#[derive(Debug)]
pub struct Beginning<'a> {
    /// Its hash.
    pub task: TaskHash,
    /// Its encoding.
    pub encoding: &'a [u8],
    /// Before the first round.
    pub state: &'a ServerState,
    /// The hash of the first model.
    pub model: ModelHash,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether an open round of another task is given up for it.
    pub replaces: bool,
}

/// Rounds of one task that follow each other, charged alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charges {
    /// The task.
    pub task: TaskHash,
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// The cost of each round.
    pub charge: AccountedRound,
}

impl Charges {
    /// How many rounds they are.
    pub fn count(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The state of the server.
    pub state: ServerState,
    /// The last round that was opened.
    pub last: Option<Opening>,
    /// Whether it still is.
    pub is_open: bool,
    /// The last round in the ledger; 0 before the first. A ledger that was brought from elsewhere
    /// may be ahead of `last`.
    pub charged: u64,
}

/// A round that is charged and opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// Task, round, model and keys.
    pub context: RoundContext,
    /// The keys that reports are sealed to while it is open; the context has their hash.
    pub keys: Vec<(KeyId, HpkePublicKey)>,
    /// The charge.
    pub charge: AccountedRound,
    /// When it opens, in milliseconds since 1970.
    pub opens: u64,
    /// When clients stop sending.
    pub closes: u64,
    /// When it ends without a batch.
    pub gives_up: u64,
    /// Whether that was put off. It is, once.
    pub extended: bool,
    /// At least ε of everything charged, this round included.
    pub epsilon: f64,
    /// At most what any analysis could say.
    pub epsilon_lower: f64,
}

/// A round that is closed.
#[derive(Debug)]
pub struct Closing<'a> {
    /// Task, round, model and keys.
    pub context: RoundContext,
    /// The batch, unless none came in time.
    pub batch: Option<ClosingBatch<'a>>,
    /// After the step.
    pub state: &'a ServerState,
    /// Models that are new, by hash: the weights, and where they are averaged the average.
    pub models: &'a [(ModelHash, Vec<u8>)],
    /// The model to use.
    pub answer: ModelHash,
    /// How good it is, if it was evaluated.
    pub accuracy: Option<f64>,
}

/// The batch that closes a round.
#[derive(Debug)]
pub struct ClosingBatch<'a> {
    /// Its id.
    pub id: BatchId,
    /// Of the reports that were aggregated.
    pub report_ids: &'a [ReportId],
    /// How many were not.
    pub rejected: u64,
}

/// The outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRecord {
    /// Task, round, model and keys.
    pub context: RoundContext,
    /// Reports that were aggregated.
    pub accepted: u64,
    /// Reports that were not: they did not open, came twice, or no client could have made them.
    pub rejected: u64,
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has not.
    Open,
    /// With a batch.
    Done,
    /// Without one.
    Expired,
    /// The task was given up.
    Abandoned,
}

/// A round, for people.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RoundSummary {
    /// Its number, from 1.
    pub round: u64,
    /// How it ended.
    pub status: Status,
    /// At least ε of everything charged up to it.
    #[serde(with = "shuffledp_learning::unbounded")]
    pub epsilon: f64,
    /// At most what any analysis could say.
    #[serde(with = "shuffledp_learning::unbounded")]
    pub epsilon_lower: f64,
    /// Reports that were aggregated.
    pub accepted: u64,
    /// Reports that were not.
    pub rejected: u64,
    /// Share of the test examples that the model got right after the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<f64>,
}
