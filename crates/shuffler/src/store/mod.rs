//! Where reports wait: one store per context (task, round, model and the server's keys), and a memory of which are over.
//!
//! **Nothing ordered.** What a thief of the disk must not find is who came when. So:
//!
//! - No address, time or counter is stored. Reports lie in runs: files sorted by digest.
//! - What is acknowledged is in a log first, which is a list of arrivals by nature; those that came together are put into random order before they are written. Every
//!   `poll_seconds`, and every 8 MiB, the log becomes a run and is overwritten ([`RoundStore::fold`]).
//! - Six runs of one level are merged into one of the next, and all of them into one before a batch is sealed. The files go when the round is over.
//!
//! What remains, honestly: while a round is open, its runs say in which of a few stretches of time a report came (at most five runs of each level, so about a dozen; most
//! reports are in the largest two or three), arrivals of the last moments are in the log, and file systems and disks keep deleted blocks for a while. An encrypted disk
//! answers all three.
//!
//! **Why runs.** A B-tree writes pages at random places: 36 to 79 KB for a report of 1 KB, the more the longer the round. A report is written once to the log, as zeros
//! when the log is emptied, and once to a run for each time that it is merged, all of it in sequence.

mod database;
mod folder;
mod log;
mod memory;
mod run;
mod sqlite;
mod upgrade;

pub use folder::SqliteFolder;
pub(crate) use folder::hash as context_hash;
pub use memory::Memory;
pub use sqlite::SqliteStore;

use crate::error::Result;
use crate::permutation::Permute;
use shuffledp_wire::{BatchId, RoundContext};
use std::ops::ControlFlow;

/// What a store says about its round, so that a restart knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTerms {
    /// The round as the server signed it.
    pub signed: Vec<u8>,
    /// The server's public key.
    pub server: [u8; 32],
    /// Bytes of every record.
    pub record_len: u32,
    /// B_min when the round began. Lowering the configured one does not lower it for reports that were sent on its strength.
    pub min_batch: u64,
}

/// A report, opaque.
#[derive(Clone, PartialEq, Eq)]
pub struct OpaqueReport {
    /// SHA-256 of `body`. The same digest is stored once.
    pub digest: [u8; 32],
    /// What is passed on.
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

/// What became of a round at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Enough reports.
    Sealed(SealedBatch),
    /// Fewer than the minimum. How many is nobody's business.
    Short,
}

/// The store of one round. All calls come from one thread.
pub trait RoundStore: Send {
    /// What it says about its round.
    fn record(&self) -> &RoundTerms;

    /// Stores reports whose digest is new; durable when it returns. All or none.
    ///
    /// # Errors
    ///
    /// [`Sealed`](crate::ShufflerError::Sealed) after [`seal`](Self::seal) made a batch; otherwise what storage says.
    fn add(&mut self, entries: Vec<OpaqueReport>) -> Result<()>;

    /// Begins to fold the log of arrivals into the file and to empty it, order and all, unless that is under way. Says how the fold before ended.
    ///
    /// # Errors
    ///
    /// What storage says.
    fn fold(&mut self) -> Result<()>;

    /// Counts, and if there are at least `min_batch` and the recorded minimum, fixes id and order: all in one transaction, so that a batch exists whole and large
    /// enough or not at all. Asked again, it answers the same.
    ///
    /// # Errors
    ///
    /// What storage says; then nothing has changed.
    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome>;

    /// The batch, if there is one.
    ///
    /// # Errors
    ///
    /// What storage says.
    fn sealed(&self) -> Result<Option<SealedBatch>>;

    /// Shows the digests of all reports, in any order. A store that does not show them has its repeated reports counted as
    /// new ones after a start.
    ///
    /// # Errors
    ///
    /// What storage says.
    fn digests(&self, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
        let _ = visit;
        Ok(())
    }

    /// Shows every record of the batch in its order, one at a time, until all were shown or `visit` breaks.
    ///
    /// # Errors
    ///
    /// What storage says, and if there is no batch.
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()>;
}

/// All stores.
pub trait Stores: Send + Sync {
    /// A store for a round, or `None` if its context had its batch or its end already.
    ///
    /// # Errors
    ///
    /// What storage says.
    fn create(&self, context: &RoundContext, record: &RoundTerms) -> Result<Option<Box<dyn RoundStore>>>;

    /// Stores that an earlier process left behind. What it had finished and not yet deleted is deleted now. One that is
    /// damaged keeps no other from being opened: it is named, set aside, and its context is over.
    ///
    /// # Errors
    ///
    /// What storage says.
    fn unfinished(&self) -> Result<Vec<Box<dyn RoundStore>>>;

    /// How many stores were set aside because they are damaged.
    fn set_aside(&self) -> usize {
        0
    }

    /// Remembers that the context is over, then deletes its store.
    ///
    /// # Errors
    ///
    /// What storage says. Before the context is remembered the store is intact.
    fn finish(&self, context: &RoundContext, store: Box<dyn RoundStore>) -> Result<()>;
}
