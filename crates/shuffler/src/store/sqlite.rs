//! A round's store: two logs that reports reach at once, sorted runs that they are folded into
//! behind the intake's back, and a small database that says which runs there are.
//!
//! One log takes what comes; the other is being folded or empty. Nothing leaves a log before a run
//! has it for good, and a repeated report counts once when runs are merged, so a crash between the
//! two costs nothing but doing it again.

use super::database::Database;
use super::log::{self, Log};
use super::run::{self, Records, Run, path_of};
use super::{OpaqueReport, Outcome, RoundStore, RoundTerms, SealedBatch};
use crate::error::{Result, ShufflerError, at};
use crate::permutation::{FisherYates, Permute};
use crate::witness::{CommitPoint, NoWitness, Witness};
use shuffledp_host::files::sync_folder;
use shuffledp_wire::SystemRandom;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A log of so many bytes is folded without waiting for the next tick.
const FOLD_AFTER: u64 = 8 << 20;
/// A log is not longer: reports wait for the fold under way. What a fold holds in memory, too.
const LONGEST: u64 = 32 << 20;
/// So many runs of one level are merged into one of the next. Fewer would be written more often,
/// more would say more about when reports came.
const MERGE_AT: usize = 6;

/// The suffixes of the logs' names.
pub(super) const LOGS: [&str; 2] = ["-log0", "-log1"];

/// One round's files.
pub struct SqliteStore {
    database: Arc<Mutex<Database>>,
    record: RoundTerms,
    /// Nothing if the store is only in memory; then the reports are in `only`.
    files: Option<Files>,
    only: BTreeMap<[u8; 32], Vec<u8>>,
    /// Whether there is a batch.
    sealed: bool,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

/// Logs and runs.
struct Files {
    /// The database's, and the beginning of all other names.
    path: PathBuf,
    /// Each has one user at a time: the intake, or a fold.
    logs: [Arc<Mutex<Log>>; 2],
    /// Which of them takes what comes.
    current: usize,
    /// Whether the other has reports.
    behind: bool,
    folding: Option<JoinHandle<Result<()>>>,
    merging: Option<JoinHandle<Result<()>>>,
}

impl Files {
    fn current(&self) -> MutexGuard<'_, Log> {
        lock(&self.logs[self.current])
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

    /// A store without a file, gone when it is dropped: the same code but for logs and runs, for
    /// tests that seal thousands of batches.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub fn in_memory(record: &RoundTerms) -> Result<Self> {
        let witness = Arc::new(NoWitness);
        Self::of(Database::create(Path::new(":memory:"), record, witness.clone())?, None, witness)
    }

    /// Files that are there. `None` if their creation was never committed: there is no round, and
    /// so no report.
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
            files: None,
            only: BTreeMap::new(),
            sealed,
            random: SystemRandom::from_operating_system()?,
            witness,
        };
        if let Some(path) = path {
            store.sweep(path)?;
            let [first, second] = LOGS.map(|suffix| store.take_over(path, suffix));
            let logs = [first?, second?].map(|log| Arc::new(Mutex::new(log)));
            let path = path.to_owned();
            store.files = Some(Files { path, logs, current: 0, behind: false, folding: None, merging: None });
        }
        Ok(store)
    }

    /// Checks the runs that there have to be, and deletes files of runs that were never finished,
    /// or merged into others.
    fn sweep(&self, path: &Path) -> Result<()> {
        let runs = self.database().runs()?;
        for run in &runs {
            run::check(path, run, self.record.record_len as usize)?;
        }
        let named: Vec<PathBuf> = runs.iter().map(|run| path_of(path, run.id)).collect();
        for file in run_files(path)? {
            if !named.contains(&file) {
                fs::remove_file(&file).map_err(at(&file))?;
            }
        }
        Ok(())
    }

    /// Takes over the reports that an earlier process had acknowledged, or was about to. After
    /// sealing there are none: all were folded before.
    fn take_over(&self, path: &Path, suffix: &str) -> Result<Log> {
        let log = log_path(path, suffix);
        if !self.sealed {
            let left = log::read(&log, u64::MAX, self.record.record_len as usize)?;
            insert(path, left, &self.database)?;
        }
        Log::empty(log)
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        lock(&self.database)
    }

    fn record_len(&self) -> usize {
        self.record.record_len as usize
    }

    /// Starts to fold the log behind, if there is one and nobody is at it.
    fn start_folding(&mut self) {
        let record_len = self.record_len();
        let Some(files) = &mut self.files else { return };
        if files.folding.is_some() {
            return;
        }
        if !files.behind {
            if files.current().len() == 0 {
                return;
            }
            files.current = 1 - files.current;
            files.behind = true;
        }
        let (path, log) = (files.path.clone(), Arc::clone(&files.logs[1 - files.current]));
        let (database, witness) = (Arc::clone(&self.database), Arc::clone(&self.witness));
        let fold = move || fold(&path, &mut lock(&log), record_len, &database, &*witness);
        files.folding = Some(std::thread::spawn(fold));
    }

    /// Waits for the fold under way. After a failure its log is still behind.
    fn wait_for_fold(&mut self) -> Result<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        if let Some(folding) = files.folding.take() {
            folding.join().map_err(|_| ShufflerError::Stopped)??;
            files.behind = false;
        }
        Ok(())
    }

    /// Starts to merge runs of one level, if there are enough and nobody is at it.
    fn start_merging(&mut self) -> Result<()> {
        let record_len = self.record_len();
        let Some(files) = &mut self.files else { return Ok(()) };
        if files.merging.as_ref().is_some_and(|merging| !merging.is_finished()) {
            return Ok(());
        }
        if let Some(merging) = files.merging.take() {
            merging.join().map_err(|_| ShufflerError::Stopped)??;
        }
        let due = due(&lock(&self.database).runs()?);
        if !due.is_empty() {
            let (path, database) = (files.path.clone(), Arc::clone(&self.database));
            files.merging = Some(std::thread::spawn(move || merge(&path, &due, record_len, &database).map(drop)));
        }
        Ok(())
    }

    fn wait_for_merge(&mut self) -> Result<()> {
        match self.files.as_mut().and_then(|files| files.merging.take()) {
            Some(merging) => merging.join().map_err(|_| ShufflerError::Stopped)?,
            None => Ok(()),
        }
    }

    /// Until the runs have everything.
    fn fold_all(&mut self) -> Result<()> {
        while self.files.as_ref().is_some_and(|files| files.behind || files.current().len() > 0) {
            self.wait_for_fold()?;
            self.start_folding();
        }
        // One that failed changed nothing.
        let _ = self.wait_for_merge();
        Ok(())
    }

    /// How many different reports there are, in one run at the most. If they cannot be `enough`,
    /// how many there may be.
    fn count(&self, enough: u64) -> Result<u64> {
        let Some(files) = &self.files else { return Ok(self.only.len() as u64) };
        let runs = self.database().runs()?;
        let most = runs.iter().map(|run| run.count).sum();
        match &runs[..] {
            [] | [_] => Ok(most),
            _ if most < enough => Ok(most),
            several => Ok(merge(&files.path, several, self.record_len(), &self.database)?.count),
        }
    }
}

fn log_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The files of a store's runs, whether or not they count.
pub(super) fn run_files(path: &Path) -> Result<Vec<PathBuf>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut start = path.file_name().unwrap_or_default().to_owned();
    start.push(run::SUFFIX);
    let mut files = Vec::new();
    for file in fs::read_dir(folder).map_err(at(folder))? {
        let file = file.map_err(at(folder))?;
        let name = file.file_name();
        let number = name.to_str().zip(start.to_str()).and_then(|(name, start)| name.strip_prefix(start));
        if number.is_some_and(|number| number.parse::<i64>().is_ok()) {
            files.push(folder.join(name));
        }
    }
    Ok(files)
}

/// The runs that are merged next: those of the lowest level that has enough.
fn due(runs: &[Run]) -> Vec<Run> {
    let level = |level: u32| runs.iter().filter(move |run| run.level == level).copied();
    let highest = runs.iter().map(|run| run.level).max().unwrap_or(0);
    (0..=highest).map(|at| level(at).collect::<Vec<_>>()).find(|runs| runs.len() >= MERGE_AT).unwrap_or_default()
}

/// Both the database and a log change at once, by a commit or a number: a thread that panicked left
/// them whole.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fold(
    path: &Path,
    log: &mut Log,
    record_len: usize,
    database: &Mutex<Database>,
    witness: &dyn Witness,
) -> Result<()> {
    let reports = log::read(log.path(), log.len(), record_len)?;
    witness.reached(CommitPoint::BeforeFold);
    insert(path, reports, database)?;
    witness.reached(CommitPoint::AfterFold);
    log.clear()
}

/// Makes a run of these reports; durable when it returns.
fn insert(path: &Path, reports: Vec<OpaqueReport>, database: &Mutex<Database>) -> Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    let id = lock(database).new_run();
    let written = run::write(path_of(path, id), reports);
    keep(path, database, Run { id, level: 0, count: 0, capacity: 0 }, written, &[]).map(drop)
}

/// Merges runs into one, which takes their place.
fn merge(path: &Path, runs: &[Run], record_len: usize, database: &Mutex<Database>) -> Result<Run> {
    let id = lock(database).new_run();
    let level = runs.iter().map(|run| run.level).max().unwrap_or(0) + 1;
    let written = run::merge(path, runs, record_len, path_of(path, id));
    let merged = keep(path, database, Run { id, level, count: 0, capacity: 0 }, written, runs)?;
    for old in runs {
        // What cannot be deleted now is deleted at the next start, or with the round.
        let _ = fs::remove_file(path_of(path, old.id));
    }
    Ok(merged)
}

/// Has a written file count, instead of others. If it cannot, it is deleted: it would take room
/// that is missing perhaps.
fn keep(
    path: &Path,
    database: &Mutex<Database>,
    run: Run,
    written: Result<(u64, u64)>,
    instead_of: &[Run],
) -> Result<Run> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let kept = written.and_then(|(count, capacity)| {
        sync_folder(folder).map_err(at(folder))?;
        let run = Run { count, capacity, ..run };
        lock(database).put(&run, instead_of).map(|()| run)
    });
    // A commit that failed may have been one whose answer failed: then the file counts.
    let is_named = || lock(database).runs().map_or(true, |runs| runs.iter().any(|named| named.id == run.id));
    if kept.is_err() && !is_named() {
        let _ = fs::remove_file(path_of(path, run.id));
    }
    kept
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // Whoever deletes the files next must be the only one who has them. What failed is done
        // again at the next start.
        let _ = self.wait_for_fold();
        let _ = self.wait_for_merge();
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
        if self.files.is_none() {
            self.only.extend(entries.into_iter().map(|report| (report.digest, report.body)));
            return Ok(());
        }
        while self.files.as_ref().is_some_and(|files| files.current().len() >= LONGEST) {
            self.wait_for_fold()?;
            self.start_folding();
        }
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        FisherYates(&mut self.random).permute(&mut order);
        let shuffled: Vec<&OpaqueReport> = order.iter().map(|&index| &entries[index as usize]).collect();
        let Some(files) = &self.files else { return Ok(()) };
        let mut log = files.current();
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

    /// Begins to fold the log of arrivals into a run and to empty it, order and all, unless that is
    /// under way. Says how the fold before ended.
    fn maintain(&mut self) -> Result<()> {
        if self.files.as_ref().and_then(|files| files.folding.as_ref()).is_some_and(|folding| !folding.is_finished()) {
            return Ok(());
        }
        self.wait_for_fold()?;
        self.start_folding();
        if self.sealed { Ok(()) } else { self.start_merging() }
    }

    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        if let Some(sealed) = self.sealed()? {
            return Ok(Outcome::Sealed(sealed));
        }
        self.fold_all()?;
        let count = self.count(min_batch.max(self.record.min_batch))?;
        let outcome = self.database().seal(count, min_batch, permute);
        // Even if it failed: there may be a batch, and then nothing may be added.
        self.sealed = !matches!(self.sealed(), Ok(None));
        outcome
    }

    fn sealed(&self) -> Result<Option<SealedBatch>> {
        self.database().sealed()
    }

    fn digests(&self, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
        self.only.keys().for_each(&mut *visit);
        let Some(files) = &self.files else { return Ok(()) };
        for run in self.database().runs()? {
            run::digests(&files.path, &run, self.record_len(), visit)?;
        }
        Ok(())
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let database = self.database();
        let Some(files) = &self.files else {
            let bodies: Vec<&Vec<u8>> = self.only.values().collect();
            return database.places(&mut |place| Ok(visit(bodies[place as usize]).is_continue()));
        };
        let [run] = database.runs()?[..] else {
            let reason = "a batch has to be in one run";
            return Err(ShufflerError::Damaged { path: files.path.clone(), reason });
        };
        let mut records = Records::open(&files.path, &run, self.record_len())?;
        database.places(&mut |place| Ok(visit(records.at(place)?).is_continue()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SqliteFolder, Stores};
    use sha2::{Digest, Sha256};
    use shuffledp_wire::{KeysHash, ModelHash, RoundContext, TaskHash};

    fn entry(number: u32) -> OpaqueReport {
        let body = number.to_be_bytes().repeat(25);
        OpaqueReport { digest: Sha256::digest(&body).into(), body }
    }

    fn numbers(store: &dyn RoundStore) -> Vec<u32> {
        let mut numbers = Vec::new();
        let visit = &mut |record: &[u8]| {
            numbers.push(u32::from_be_bytes(record[..4].try_into().unwrap()));
            ControlFlow::Continue(())
        };
        store.visit(visit).unwrap();
        numbers
    }

    /// Every report once, whatever was folded and merged when, sent again, or left in a log by a
    /// process that ended.
    #[test]
    fn reports_are_in_a_log_or_in_a_run_and_count_once() {
        let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 2 };
        let (task, model, keys) = (TaskHash::from_bytes([1; 32]), ModelHash::of(b"m"), KeysHash::of(&[]));
        let context = RoundContext { task, round: 1, model, keys };
        let mut most_levels = 0;
        for run in 0..16_u32 {
            let path = tempfile::TempDir::new().unwrap();
            let stores = SqliteFolder::open(&path.path().join("data"), Arc::new(NoWitness)).unwrap();
            let mut store = stores.create(&context, &record).unwrap().unwrap();
            for step in 0..60_u32 {
                // A new one, and two that may be in this log, the other, or a run.
                store.add([step, step / 2, step.saturating_sub(1)].map(entry).into()).unwrap();
                match (step * 7 + run * 5) % 8 {
                    0..=4 => store.maintain().unwrap(),
                    5 => {
                        drop(store);
                        store = stores.unfinished().unwrap().remove(0);
                    }
                    _ => {}
                }
                let files = fs::read_dir(path.path().join("data")).unwrap();
                let runs = files.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().contains("-run"));
                most_levels = most_levels.max(runs.count());
            }
            let mut permute = FisherYates::from_operating_system().unwrap();
            assert!(matches!(store.seal(2, &mut permute).unwrap(), Outcome::Sealed(batch) if batch.count == 60));
            assert!(matches!(store.add(vec![entry(99)]), Err(ShufflerError::Sealed)));
            let order = numbers(&*store);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..60));
            for suffix in LOGS {
                let log = fs::read(log_path(&stores.path(&context), suffix)).unwrap();
                assert!(log.iter().all(|byte| *byte == 0), "nothing ordered survives the seal");
            }
            assert_eq!(run_files(&stores.path(&context)).unwrap().len(), 1, "nor which came before which");
            drop(store);
            store = stores.unfinished().unwrap().remove(0);
            assert_eq!(numbers(&*store), order);
            stores.finish(&context, store).unwrap();
            let mut files = fs::read_dir(path.path().join("data")).unwrap();
            assert!(files.all(|file| !file.unwrap().file_name().to_str().unwrap().contains(".round")));
        }
        assert!((MERGE_AT..40).contains(&most_levels), "runs are merged: {most_levels}");
    }

    /// A file of the version before, and one whose batch was on its way, committed in
    /// `tests/stores`.
    #[test]
    fn stores_of_version_2_are_taken_over() {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/2");
        for (name, batch) in [("open", None), ("sealed", Some([5, 0, 3, 1, 4, 2]))] {
            let folder = tempfile::TempDir::new().unwrap();
            for file in fs::read_dir(stored.join(name)).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
            }
            #[cfg(unix)]
            fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            let number = |record: &[u8]| u64::from_be_bytes(record[40..48].try_into().unwrap());
            // Twice: what was taken over can be opened like any other.
            for _ in 0..2 {
                let stores = SqliteFolder::open(folder.path(), Arc::new(NoWitness)).unwrap();
                let left = stores.unfinished().unwrap();
                assert_eq!((left.len(), left[0].record().record_len), (1, 1091));
                assert_eq!(left[0].sealed().unwrap().is_some(), batch.is_some());
                let mut digests = 0;
                left[0].digests(&mut |_| digests += 1).unwrap();
                assert_eq!(digests, 6);
                if let Some(order) = batch {
                    let mut seen = Vec::new();
                    let visit = &mut |record: &[u8]| {
                        seen.push(number(record));
                        ControlFlow::Continue(())
                    };
                    left[0].visit(visit).unwrap();
                    assert_eq!(seen, order);
                }
            }
            if batch.is_none() {
                let stores = SqliteFolder::open(folder.path(), Arc::new(NoWitness)).unwrap();
                let mut store = stores.unfinished().unwrap().remove(0);
                let mut permute = FisherYates::from_operating_system().unwrap();
                assert!(matches!(store.seal(2, &mut permute).unwrap(), Outcome::Sealed(batch) if batch.count == 6));
            }
        }
    }
}
