//! The index of a round's store: its runs, and the batch. One small SQLite
//! file.

use super::run::Run;
use super::{Outcome, RoundTerms, SealedBatch, upgrade};
use crate::error::{Result, ShufflerError};
use crate::permutation::Permute;
use crate::witness::{CommitPoint, Witness};
use rusqlite::{Connection, OptionalExtension, params};
use shuffledp_wire::{BatchId, SystemRandom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the format, in the file's header.
const APPLICATION_ID: i32 = 0x7368_6466;
/// Version 2 had the reports themselves in this file.
pub(super) const VERSION: i32 = 3;

/// Places of a batch are written in rows of so many reports.
const ROW: usize = 16_384;

const SCHEMA: &str = "
CREATE TABLE round (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    signed BLOB NOT NULL, server BLOB NOT NULL, record_len INTEGER NOT NULL, min_batch INTEGER NOT NULL
);
-- Files of sorted reports. A file that is not named here does not count, whatever is in it.
CREATE TABLE runs (id INTEGER PRIMARY KEY NOT NULL, level INTEGER NOT NULL, count INTEGER NOT NULL, capacity INTEGER NOT NULL);
-- Both are empty until the round is sealed and filled in the same transaction. From then on there is one run; `reports` are places in it, four bytes each.
CREATE TABLE batch (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, count INTEGER NOT NULL);
CREATE TABLE sequence (place INTEGER PRIMARY KEY NOT NULL, reports BLOB NOT NULL);
";

/// One file.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
    record: RoundTerms,
    /// The number of the next run. Never one that was used before in this process.
    next: i64,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

impl Database {
    /// A new file. Durable when it returns, but for its name, which is the folder's.
    pub(super) fn create(path: &Path, record: &RoundTerms, witness: Arc<dyn Witness>) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        set_up(&connection)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.execute(
            "INSERT INTO round VALUES (1, ?1, ?2, ?3, ?4)",
            // At most 2^32 by the configuration's check.
            params![record.signed, record.server, record.record_len, record.min_batch as i64],
        )?;
        transaction.commit()?;
        Self::of(connection, path, record.clone(), witness)
    }

    /// A file that is there. `None` if its creation was never committed: it has no round, and so no
    /// report.
    pub(super) fn open(path: &Path, witness: Arc<dyn Witness>) -> Result<Option<Self>> {
        let mut connection = Connection::open(path)?;
        set_up(&connection)?;
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        match (application, version) {
            (APPLICATION_ID, VERSION) => {}
            (APPLICATION_ID, 2) => upgrade::from_2(&mut connection, path)?,
            (0, 0) => return Ok(None),
            (APPLICATION_ID, newer) if newer > VERSION => return Err(ShufflerError::Newer { path: path.to_owned() }),
            (APPLICATION_ID, _) => return Err(damaged(path, "a version before the first release wrote it")),
            _ => return Err(damaged(path, "it is some other database")),
        }
        let record = connection.query_row("SELECT signed, server, record_len, min_batch FROM round", [], |row| {
            Ok(RoundTerms {
                signed: row.get(0)?,
                server: row.get(1)?,
                record_len: row.get(2)?,
                min_batch: row.get::<_, i64>(3)?.unsigned_abs(),
            })
        })?;
        Self::of(connection, path, record, witness).map(Some)
    }

    fn of(connection: Connection, path: &Path, record: RoundTerms, witness: Arc<dyn Witness>) -> Result<Self> {
        let next = connection.query_row("SELECT coalesce(max(id), 0) + 1 FROM runs", [], |row| row.get(0))?;
        let random = SystemRandom::from_operating_system()?;
        Ok(Self { connection, path: path.to_owned(), record, next, random, witness })
    }

    pub(super) fn record(&self) -> &RoundTerms {
        &self.record
    }

    /// A number for a new run.
    pub(super) fn new_run(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    /// All runs, in the order of their numbers.
    pub(super) fn runs(&self) -> Result<Vec<Run>> {
        let mut statement = self.connection.prepare("SELECT id, level, count, capacity FROM runs ORDER BY id")?;
        let runs = statement.query_map([], |row| {
            let (count, capacity): (i64, i64) = (row.get(2)?, row.get(3)?);
            let (id, level) = (row.get(0)?, row.get(1)?);
            Ok(Run { id, level, count: count.unsigned_abs(), capacity: capacity.unsigned_abs() })
        })?;
        Ok(runs.collect::<rusqlite::Result<_>>()?)
    }

    /// Names a run, whose file is durable, in the place of others. Durable when it returns.
    pub(super) fn put(&mut self, run: &Run, instead_of: &[Run]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        if read_batch(&transaction, self.record.record_len)?.is_some() {
            return Err(ShufflerError::Sealed);
        }
        for old in instead_of {
            transaction.execute("DELETE FROM runs WHERE id = ?1", [old.id])?;
        }
        insert_run(&transaction, run)?;
        transaction.commit()?;
        Ok(())
    }

    /// Fixes id and order of the batch, if `count` reports are enough: those of the only run.
    pub(super) fn seal(&mut self, count: u64, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        let record_len = self.record.record_len;
        let transaction = self.connection.transaction()?;
        if let Some(sealed) = read_batch(&transaction, record_len)? {
            return Ok(Outcome::Sealed(sealed));
        }
        if count < min_batch.max(self.record.min_batch) {
            return Ok(Outcome::Short);
        }
        let records = u32::try_from(count).map_err(|_| damaged(&self.path, "more than 2^32 reports"))?;
        // In order of digests, which is nobody's order of arrival; and then permuted all the same.
        let mut order: Vec<u32> = (0..records).collect();
        permute.permute(&mut order);
        let batch = BatchId::random(&mut self.random);
        insert_sequence(&transaction, &order)?;
        transaction.execute("INSERT INTO batch VALUES (1, ?1, ?2)", params![batch.as_bytes(), count as i64])?;
        self.witness.reached(CommitPoint::BeforeSeal);
        transaction.commit()?;
        self.witness.reached(CommitPoint::AfterSeal);
        Ok(Outcome::Sealed(SealedBatch { batch, count, record_len }))
    }

    pub(super) fn sealed(&self) -> Result<Option<SealedBatch>> {
        read_batch(&self.connection, self.record.record_len)
    }

    /// Shows the places of the batch's reports in their order, until `visit` says that it is
    /// enough.
    pub(super) fn places(&self, visit: &mut dyn FnMut(u32) -> Result<bool>) -> Result<()> {
        let mut sequence = self.connection.prepare("SELECT reports FROM sequence ORDER BY place")?;
        let mut rows = sequence.query([])?;
        while let Some(row) = rows.next()? {
            let packed = row.get_ref(0)?.as_blob().map_err(|_| damaged(&self.path, "sequence"))?;
            for place in packed.as_chunks::<4>().0 {
                if !visit(u32::from_be_bytes(*place))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

pub(super) fn insert_run(connection: &Connection, run: &Run) -> Result<()> {
    let (count, capacity) = (run.count as i64, run.capacity as i64);
    connection.execute("INSERT INTO runs VALUES (?1, ?2, ?3, ?4)", params![run.id, run.level, count, capacity])?;
    Ok(())
}

pub(super) fn insert_sequence(connection: &Connection, order: &[u32]) -> Result<()> {
    let mut statement = connection.prepare("INSERT INTO sequence VALUES (?1, ?2)")?;
    for (place, row) in order.chunks(ROW).enumerate() {
        let packed: Vec<u8> = row.iter().flat_map(|place| place.to_be_bytes()).collect();
        statement.execute(params![place as i64, packed])?;
    }
    Ok(())
}

/// One process at a time, one wait for the disk per commit, nothing freed that could be read again.
fn set_up(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

impl From<rusqlite::Error> for ShufflerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// The error of SQLite, if it was SQLite.
pub(crate) fn sqlite_error(error: &ShufflerError) -> Option<&rusqlite::Error> {
    match error {
        ShufflerError::Storage(error) => error.downcast_ref(),
        _ => None,
    }
}

pub(super) fn damaged(path: &Path, reason: &'static str) -> ShufflerError {
    ShufflerError::Damaged { path: path.to_owned(), reason }
}

fn read_batch(connection: &Connection, record_len: u32) -> Result<Option<SealedBatch>> {
    let row = connection
        .query_row("SELECT id, count FROM batch", [], |row| {
            let (id, count): ([u8; 16], i64) = (row.get(0)?, row.get(1)?);
            Ok(SealedBatch { batch: BatchId::from_bytes(id), count: count.unsigned_abs(), record_len })
        })
        .optional()?;
    Ok(row)
}
