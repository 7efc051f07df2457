//! A round's store: two logs that reports reach at once, and a database that they are folded into behind the intake's back.
//!
//! One log takes what comes; the other is being folded or empty. Nothing leaves a log before the database has it for good, and the database has everything once, so
//! a crash between the two costs nothing but doing it again.

use super::database::Database;
use super::log::{self, Log};
use super::{OpaqueReport, Outcome, RoundStore, RoundTerms, SealedBatch};
use crate::error::{Result, ShufflerError};
use crate::permutation::{FisherYates, Permute};
use crate::witness::{CommitPoint, NoWitness, Witness};
use shuffledp_wire::SystemRandom;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A log of so many bytes is folded without waiting for the next tick.
const FOLD_AFTER: u64 = 8 << 20;
/// A log is not longer: reports wait for the fold under way. What a fold holds in memory, too.
const LONGEST: u64 = 32 << 20;

/// What a log's name has after the store's.
pub(super) const LOGS: [&str; 2] = ["-log0", "-log1"];

/// One round's files.
pub struct SqliteStore {
    database: Arc<Mutex<Database>>,
    record: RoundTerms,
    logs: Option<Logs>,
    /// Whether there is a batch.
    sealed: bool,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

/// Reports that are not in the database yet.
struct Logs {
    /// Each has one user at a time: the intake, or a fold.
    pair: [Arc<Mutex<Log>>; 2],
    /// Which of them takes what comes.
    current: usize,
    /// Whether the other has reports.
    behind: bool,
    folding: Option<JoinHandle<Result<()>>>,
}

impl Logs {
    fn current(&self) -> MutexGuard<'_, Log> {
        lock(&self.pair[self.current])
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// New files. Durable when it returns, but for their names, which are the folder's.
    pub(super) fn create(path: &Path, record: &RoundTerms, witness: Arc<dyn Witness>) -> Result<Self> {
        let database = Database::create(path, record, Arc::clone(&witness))?;
        Self::of(database, Some(path), witness)
    }

    /// A store without a file, gone when it is dropped: the same code but for the logs, for tests that seal thousands of batches.
    ///
    /// # Errors
    ///
    /// What storage says.
    pub fn in_memory(record: &RoundTerms) -> Result<Self> {
        let witness = Arc::new(NoWitness);
        Self::of(Database::create(Path::new(":memory:"), record, witness.clone())?, None, witness)
    }

    /// Files that are there. `None` if their creation was never committed: there is no round, and so no report.
    pub(super) fn open(path: &Path, witness: Arc<dyn Witness>) -> Result<Option<Self>> {
        match Database::open(path, Arc::clone(&witness))? {
            Some(database) => Self::of(database, Some(path), witness).map(Some),
            None => Ok(None),
        }
    }

    fn of(database: Database, path: Option<&Path>, witness: Arc<dyn Witness>) -> Result<Self> {
        let record = database.record().clone();
        let sealed = database.sealed()?.is_some();
        let mut store = Self {
            database: Arc::new(Mutex::new(database)),
            record,
            logs: None,
            sealed,
            random: SystemRandom::from_operating_system()?,
            witness,
        };
        if let Some(path) = path {
            let [first, second] = LOGS.map(|suffix| store.take_over(log_path(path, suffix)));
            let pair = [first?, second?].map(|log| Arc::new(Mutex::new(log)));
            store.logs = Some(Logs { pair, current: 0, behind: false, folding: None });
        }
        Ok(store)
    }

    /// What an earlier process had acknowledged, or was about to. After sealing there is nothing new: all was folded before.
    fn take_over(&self, path: PathBuf) -> Result<Log> {
        if !self.sealed {
            let left = log::read(&path, u64::MAX, self.record.record_len as usize)?;
            self.database().insert(left)?;
        }
        Log::empty(path)
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        lock(&self.database)
    }

    /// Starts to fold the log behind, if there is one and nobody is at it.
    fn start_folding(&mut self) {
        let Some(logs) = &mut self.logs else { return };
        if logs.folding.is_some() {
            return;
        }
        if !logs.behind {
            if logs.current().len() == 0 {
                return;
            }
            logs.current = 1 - logs.current;
            logs.behind = true;
        }
        let log = Arc::clone(&logs.pair[1 - logs.current]);
        let (database, witness) = (Arc::clone(&self.database), Arc::clone(&self.witness));
        let record_len = self.record.record_len as usize;
        logs.folding =
            Some(std::thread::spawn(move || fold(&mut lock(&log), record_len, &mut lock(&database), &*witness)));
    }

    /// Waits for the fold under way. After a failure its log is still behind.
    fn wait_for_fold(&mut self) -> Result<()> {
        let Some(logs) = &mut self.logs else { return Ok(()) };
        if let Some(folding) = logs.folding.take() {
            folding.join().map_err(|_| ShufflerError::Stopped)??;
            logs.behind = false;
        }
        Ok(())
    }

    /// Until the database has everything.
    fn fold_all(&mut self) -> Result<()> {
        while self.logs.as_ref().is_some_and(|logs| logs.behind || logs.current().len() > 0) {
            self.wait_for_fold()?;
            self.start_folding();
        }
        Ok(())
    }
}

fn log_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Both the database and a log change at once, by a commit or a number: a thread that panicked left them whole.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fold(log: &mut Log, record_len: usize, database: &mut Database, witness: &dyn Witness) -> Result<()> {
    let entries = log::read(log.path(), log.len(), record_len)?;
    witness.reached(CommitPoint::BeforeFold);
    database.insert(entries)?;
    witness.reached(CommitPoint::AfterFold);
    log.clear()?;
    database.checkpoint()
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // Whoever deletes the files next must be the only one who has them. A fold that failed is done again at the next start.
        let _ = self.wait_for_fold();
    }
}

impl RoundStore for SqliteStore {
    fn record(&self) -> &RoundTerms {
        &self.record
    }

    fn add(&mut self, entries: Vec<OpaqueReport>) -> Result<()> {
        if self.sealed {
            return Err(ShufflerError::Sealed);
        }
        let Some(logs) = &self.logs else { return self.database().insert(entries) };
        let mut full = logs.current().len() >= LONGEST;
        while full {
            self.wait_for_fold()?;
            self.start_folding();
            full = self.logs.as_ref().is_some_and(|logs| logs.current().len() >= LONGEST);
        }
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        FisherYates(&mut self.random).permute(&mut order);
        let shuffled: Vec<&OpaqueReport> = order.iter().map(|&index| &entries[index as usize]).collect();
        let Some(logs) = &self.logs else { return Ok(()) };
        let mut log = logs.current();
        log.append(&shuffled, &*self.witness)?;
        let len = log.len();
        drop(log);
        if len >= FOLD_AFTER {
            // They are on disk whatever becomes of the fold, which is tried again at every tick.
            if let Err(error) = self.maintain() {
                tracing::warn!(%error, "the log of arrivals could not be folded; it is tried again");
            }
        }
        Ok(())
    }

    /// Begins to fold the log of arrivals into the file and to empty it, order and all, unless that is under way. Says how the fold before ended.
    fn maintain(&mut self) -> Result<()> {
        if self.logs.as_ref().and_then(|logs| logs.folding.as_ref()).is_some_and(|folding| !folding.is_finished()) {
            return Ok(());
        }
        self.wait_for_fold()?;
        self.start_folding();
        Ok(())
    }

    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        self.fold_all()?;
        let outcome = self.database().seal(min_batch, permute);
        // Even if it failed: there may be a batch, and then nothing may be added.
        self.sealed = !matches!(self.sealed(), Ok(None));
        outcome
    }

    fn sealed(&self) -> Result<Option<SealedBatch>> {
        self.database().sealed()
    }

    fn digests(&self, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
        self.database().digests(visit)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        self.database().visit(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SqliteFolder, Stores};
    use sha2::{Digest, Sha256};
    use shuffledp_wire::{KeysHash, ModelHash, RoundContext, TaskHash};

    fn entry(number: u8) -> OpaqueReport {
        let body = vec![number; 100];
        OpaqueReport { digest: Sha256::digest(&body).into(), body }
    }

    /// Every report once, whatever was folded when, sent again, or left in a log by a process that ended.
    #[test]
    fn reports_are_in_a_log_or_in_the_database_and_count_once() {
        let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 2 };
        let (task, model, keys) = (TaskHash::from_bytes([1; 32]), ModelHash::of(b"m"), KeysHash::of(&[]));
        let context = RoundContext { task, round: 1, model, keys };
        for run in 0..16_u8 {
            let path = tempfile::TempDir::new().unwrap();
            let stores = SqliteFolder::open(&path.path().join("data"), Arc::new(NoWitness)).unwrap();
            let mut store = stores.create(&context, &record).unwrap().unwrap();
            for step in 0..12_u8 {
                // A new one, and two that may be in this log, the other, or the database.
                store.add([step, step / 2, step.saturating_sub(1)].map(entry).into()).unwrap();
                match (step * 7 + run * 5) % 8 {
                    0..=2 => store.maintain().unwrap(),
                    3 => {
                        drop(store);
                        store = stores.unfinished().unwrap().remove(0);
                    }
                    _ => {}
                }
            }
            let mut permute = FisherYates::from_operating_system().unwrap();
            assert!(matches!(store.seal(2, &mut permute).unwrap(), Outcome::Sealed(batch) if batch.count == 12));
            assert!(matches!(store.add(vec![entry(99)]), Err(ShufflerError::Sealed)));
            let mut numbers = Vec::new();
            let visit = &mut |record: &[u8]| {
                numbers.push(record[0]);
                ControlFlow::Continue(())
            };
            store.visit(visit).unwrap();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..12));
            for suffix in LOGS {
                let log = std::fs::read(log_path(&stores.path(&context), suffix)).unwrap();
                assert!(log.iter().all(|byte| *byte == 0), "nothing ordered survives the seal");
            }
            stores.finish(&context, store).unwrap();
            let mut files = std::fs::read_dir(path.path()).unwrap();
            assert!(files.all(|file| !file.unwrap().file_name().to_str().unwrap().contains(".round")));
        }
    }
}
