//! Where reports wait: one store per context (task, round, model and the server's keys), and a
//! memory of which are over.
//!
//! **Nothing ordered.** What a thief of the disk must not find is who came when. So:
//!
//! - No address, time or counter is stored. Reports lie in runs: files sorted by digest.
//! - What is acknowledged is in a log first, which is a list of arrivals by nature; those that came
//!   together are put into random order before they are written. Every `poll_seconds`, and every 8
//!   MiB, the log becomes a run and is overwritten ([`RoundStore::maintain`]).
//! - Six runs of one level are merged into one of the next, and all of them into one before a batch
//!   is sealed. The files go when the round is over.
//!
//! What remains, honestly: while a round is open, its runs say in which of a few stretches of time
//! a report came (at most five runs of each level, so about a dozen; most reports are in the
//! largest two or three), arrivals of the last moments are in the log, and file systems and disks
//! keep deleted blocks for a while. An encrypted disk answers all three.
//!
//! **Why runs.** A B-tree writes pages at random places: 36 to 79 KB for a report of 1 KB, the more
//! the longer the round. A report is written once to the log, as zeros when the log is emptied, and
//! once to a run for each time that it is merged, all of it in sequence.

mod database;
mod folder;
mod log;
mod memory;
mod postgres;
mod run;
mod sqlite;
mod upgrade;

pub(crate) use database::sqlite_error;
pub use folder::SqliteFolder;
pub(crate) use folder::hash as context_hash;
pub use memory::SqliteMemory;
pub(crate) use postgres::LEASE;
pub use postgres::PostgresStores;
pub use sqlite::SqliteStore;

use crate::config::Config;
use crate::error::Result;
use crate::permutation::Permute;
use crate::witness::Witness;
use shuffledp_host::Clock;
use shuffledp_wire::{BatchId, RoundContext, TaskHash};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The terms of a round, stored for a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTerms {
    /// The round as the server signed it.
    pub signed: Vec<u8>,
    /// The server's public key.
    pub server: [u8; 32],
    /// Bytes of every record.
    pub record_len: u32,
    /// B_min when the round began. Lowering the configured one does not lower it for reports that
    /// were sent on its strength.
    pub min_batch: u64,
}

/// A report, opaque.
#[derive(Clone, PartialEq, Eq)]
pub struct OpaqueReport {
    /// SHA-256 of `body`. The same digest is stored once.
    pub digest: [u8; 32],
    /// The bytes to forward.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for OpaqueReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpaqueReport({} bytes)", self.body.len())
    }
}

/// A batch that is fixed for good: its id, its reports and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedBatch {
    /// Its name.
    pub batch: BatchId,
    /// How many reports.
    pub count: u64,
    /// Bytes of each.
    pub record_len: u32,
}

/// The outcome of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Enough reports.
    Sealed(SealedBatch),
    /// Fewer than the minimum. How many is nobody's business.
    Short,
}

/// The replica that finishes a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// This process, for now.
    Ours,
    /// Another one.
    Leased,
    /// Nobody: it is over.
    Over,
}

/// The store of one round. All calls come from one thread.
pub trait RoundStore: Send {
    /// Returns the terms of its round.
    fn record(&self) -> &RoundTerms;

    /// Stores reports whose digest is new; durable when it returns. All or none.
    ///
    /// # Errors
    ///
    /// [`Sealed`](crate::ShufflerError::Sealed) after [`seal`](Self::seal) made a batch, and where
    /// stores are shared after it found too few; otherwise what storage says.
    fn add(&mut self, entries: Vec<OpaqueReport>) -> Result<()>;

    /// Does the work that the store leaves for quiet moments; called every `poll_seconds`. It
    /// changes nothing that another method shows, and may go on after this has returned; then the
    /// next call says how it ended.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn maintain(&mut self) -> Result<()>;

    /// Counts, and if there are at least `min_batch` and the recorded minimum, fixes id and order:
    /// all in one transaction, so that a batch exists whole and large enough or not at all. Asked
    /// again, it answers the same.
    ///
    /// # Errors
    ///
    /// What storage says; then nothing has changed.
    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome>;

    /// The batch, if there is one.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn sealed(&self) -> Result<Option<SealedBatch>>;

    /// Shows the digests of all reports, in any order. A store that does not show them has its
    /// repeated reports counted as new ones after a start.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn digests(&self, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
        let _ = visit;
        Ok(())
    }

    /// Shows every record of the batch in its order, one at a time, until all were shown or `visit`
    /// breaks.
    ///
    /// # Errors
    ///
    /// If storage fails, or there is no batch.
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()>;
}

/// All stores.
pub trait Stores: Send + Sync {
    /// The record of rounds that are over.
    fn memory(&self) -> Arc<dyn Memory>;

    /// The clock that all share who use these stores; without one, the process's own is as good.
    fn clock(&self) -> Option<Arc<dyn Clock>> {
        None
    }

    /// Whether other processes use these stores, too.
    fn is_shared(&self) -> bool {
        false
    }

    /// Asks to bring a round to its end, or to go on with it for another while. A round has one
    /// such process at a time, and another when the first one is silent.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn claim(&self, _context: &RoundContext) -> Result<Claim> {
        Ok(Claim::Ours)
    }

    /// A store for a round, or `None` if its context had its batch or its end already.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn create(&self, context: &RoundContext, record: &RoundTerms) -> Result<Option<Box<dyn RoundStore>>>;

    /// Stores that an earlier process left behind, or that another one uses. What was finished and
    /// not yet deleted is deleted now. One that is damaged keeps no other from being opened: it is
    /// named, set aside, and its context is over.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn unfinished(&self) -> Result<Vec<Box<dyn RoundStore>>>;

    /// How many stores were set aside because they are damaged.
    fn set_aside(&self) -> usize {
        0
    }

    /// Remembers that the context is over, then deletes its store.
    ///
    /// # Errors
    ///
    /// If storage fails. Before the context is remembered the store is intact.
    fn finish(&self, context: &RoundContext, store: Box<dyn RoundStore>) -> Result<()>;
}

/// The record that outlives rounds: which are over, since when keys are retired, and which tasks a
/// server has. Calls block on storage.
pub trait Memory: Send + Sync + std::fmt::Debug {
    /// Whether the round with this hash of its context is over.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn is_finished(&self, context: &[u8; 32]) -> Result<bool>;

    /// Remembers that a server has this task.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn know(&self, server: &[u8; 32], task: &TaskHash) -> Result<()>;

    /// The tasks that a server was known to have.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn tasks(&self, server: &[u8; 32]) -> Result<Vec<TaskHash>>;

    /// Since when a key is the newest, in milliseconds since 1970: `now` if it was not known.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn active_since(&self, public: &[u8; 32], now: u64) -> Result<u64>;

    /// Since when a key is retired, in milliseconds since 1970: `now` if it was not known.
    ///
    /// # Errors
    ///
    /// If storage fails.
    fn retired_since(&self, public: &[u8; 32], now: u64) -> Result<u64>;
}

/// The stores that the configuration names.
pub(crate) fn open(config: &Config, witness: Arc<dyn Witness>) -> Result<Arc<dyn Stores>> {
    Ok(match &config.store {
        Some(url) => Arc::new(PostgresStores::open(url, witness)?),
        None => Arc::new(SqliteFolder::open(&config.data, witness)?),
    })
}
