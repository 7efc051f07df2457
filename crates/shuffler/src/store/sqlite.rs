//! A round's store in one SQLite file.

use super::layout::Layout;
use super::{Entry, Outcome, RoundRecord, RoundStore, SealedBatch};
use crate::error::{Result, ShufflerError};
use crate::permutation::{FisherYates, Permute};
use crate::witness::{CommitPoint, NoWitness, Witness};
use rand::Rng;
use rusqlite::{Connection, OptionalExtension, params};
use shuffledp_wire::{BatchId, SystemRandom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the format, in the file's header.
const APPLICATION_ID: i32 = 0x7368_6466;
const VERSION: i32 = 1;

/// Keys of a batch are written in rows of so many reports.
const ROW: usize = 8192;

const SCHEMA: &str = "
CREATE TABLE round (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    signed BLOB NOT NULL, server BLOB NOT NULL, record_len INTEGER NOT NULL, min_batch INTEGER NOT NULL
);
-- A digest is here once. `parts` are the keys of the report's pieces, eight bytes each.
CREATE TABLE seen (digest BLOB PRIMARY KEY NOT NULL, parts BLOB NOT NULL) WITHOUT ROWID;
-- The keys are drawn at random: given explicitly, they are the place in the file.
CREATE TABLE parts (id INTEGER PRIMARY KEY NOT NULL, body BLOB NOT NULL);
-- Both are empty until the round is sealed and filled in the same transaction.
CREATE TABLE batch (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, count INTEGER NOT NULL);
CREATE TABLE sequence (place INTEGER PRIMARY KEY NOT NULL, parts BLOB NOT NULL);
";

/// One file.
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    record: RoundRecord,
    layout: Layout,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// A new file. Durable when it returns, but for its name, which is the folder's.
    pub(super) fn create(path: &Path, record: &RoundRecord, witness: Arc<dyn Witness>) -> Result<Self> {
        let layout = Layout::of(record.record_len as usize);
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "page_size", layout.page as i64)?;
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

    /// A store without a file, gone when it is dropped: the same code, for tests that seal thousands of batches.
    ///
    /// # Errors
    ///
    /// What storage says.
    pub fn in_memory(record: &RoundRecord) -> Result<Self> {
        Self::create(Path::new(":memory:"), record, Arc::new(NoWitness))
    }

    /// A file that is there. `None` if its creation was never committed: it has no round, and so no report.
    pub(super) fn open(path: &Path, witness: Arc<dyn Witness>) -> Result<Option<Self>> {
        let connection = Connection::open(path)?;
        set_up(&connection)?;
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        match (application, version) {
            (APPLICATION_ID, VERSION) => {}
            (0, 0) => return Ok(None),
            (APPLICATION_ID, _) => return Err(damaged(path, "another version wrote it")),
            _ => return Err(damaged(path, "it is some other database")),
        }
        let record = connection.query_row("SELECT signed, server, record_len, min_batch FROM round", [], |row| {
            Ok(RoundRecord {
                signed: row.get(0)?,
                server: row.get(1)?,
                record_len: row.get(2)?,
                min_batch: row.get::<_, i64>(3)?.unsigned_abs(),
            })
        })?;
        Self::of(connection, path, record, witness).map(Some)
    }

    fn of(connection: Connection, path: &Path, record: RoundRecord, witness: Arc<dyn Witness>) -> Result<Self> {
        let layout = Layout::of(record.record_len as usize);
        let random = SystemRandom::from_operating_system()?;
        Ok(Self { connection, path: path.to_owned(), record, layout, random, witness })
    }

    /// New keys for a report's pieces. A key that is taken already (once in 2^63 divided by the reports there are) fails the transaction; the client
    /// is not acknowledged, comes again, and draws others.
    fn new_keys(&mut self) -> Vec<i64> {
        (0..self.layout.pieces).map(|_| (self.random.next_u64() >> 1) as i64).collect()
    }
}

/// One process at a time, one wait for the disk per commit, nothing freed that could be read again.
fn set_up(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Folding is ours to time.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // 16 MiB: the inner nodes of a million reports, and what a group of commits touches.
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(())
}

fn damaged(path: &Path, reason: &'static str) -> ShufflerError {
    ShufflerError::Damaged { path: path.to_owned(), reason }
}

impl RoundStore for SqliteStore {
    fn record(&self) -> &RoundRecord {
        &self.record
    }

    fn add(&mut self, entries: Vec<Entry>) -> Result<()> {
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        FisherYates(&mut self.random).permute(&mut order);
        let keys: Vec<Vec<i64>> = entries.iter().map(|_| self.new_keys()).collect();

        let transaction = self.connection.transaction()?;
        if read_batch(&transaction, self.record.record_len)?.is_some() {
            return Err(ShufflerError::Sealed);
        }
        {
            let mut see = transaction.prepare("INSERT OR IGNORE INTO seen VALUES (?1, ?2)")?;
            let mut keep = transaction.prepare("INSERT INTO parts VALUES (?1, ?2)")?;
            for index in order {
                let entry = &entries[index as usize];
                let keys = &keys[index as usize];
                let packed: Vec<u8> = keys.iter().flat_map(|key| key.to_be_bytes()).collect();
                if see.execute(params![entry.digest, packed])? == 1 {
                    for (key, piece) in keys.iter().zip(entry.body.chunks(self.layout.piece)) {
                        keep.execute(params![key, piece])?;
                    }
                }
            }
        }
        self.witness.reached(CommitPoint::BeforeReports);
        transaction.commit()?;
        self.witness.reached(CommitPoint::AfterReports);
        Ok(())
    }

    fn fold(&mut self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        let width = 8 * self.layout.pieces;
        let transaction = self.connection.transaction()?;
        if let Some(sealed) = read_batch(&transaction, self.record.record_len)? {
            return Ok(Outcome::Sealed(sealed));
        }
        // In order of digests, which is nobody's order of arrival; and then permuted all the same.
        let mut keys: Vec<u8> = Vec::new();
        {
            let mut statement = transaction.prepare("SELECT parts FROM seen")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let parts = row.get_ref(0)?.as_blob().map_err(|_| damaged(&self.path, "keys of parts"))?;
                if parts.len() != width {
                    return Err(damaged(&self.path, "keys of parts"));
                }
                keys.extend_from_slice(parts);
            }
        }
        let count = keys.len() / width;
        if (count as u64) < min_batch.max(self.record.min_batch) {
            return Ok(Outcome::Short);
        }
        let records = u32::try_from(count).map_err(|_| damaged(&self.path, "more than 2^32 reports"))?;
        let mut order: Vec<u32> = (0..records).collect();
        permute.permute(&mut order);
        let batch = BatchId::random(&mut self.random);
        {
            let mut statement = transaction.prepare("INSERT INTO sequence VALUES (?1, ?2)")?;
            for (place, row) in order.chunks(ROW).enumerate() {
                let packed: Vec<u8> =
                    row.iter().flat_map(|&index| &keys[index as usize * width..][..width]).copied().collect();
                statement.execute(params![place as i64, packed])?;
            }
        }
        transaction.execute("INSERT INTO batch VALUES (1, ?1, ?2)", params![batch.as_bytes(), count as i64])?;
        self.witness.reached(CommitPoint::BeforeSeal);
        transaction.commit()?;
        self.witness.reached(CommitPoint::AfterSeal);
        self.fold()?;
        Ok(Outcome::Sealed(SealedBatch { batch, count: count as u64, record_len: self.record.record_len }))
    }

    fn sealed(&self) -> Result<Option<SealedBatch>> {
        read_batch(&self.connection, self.record.record_len)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let mut sequence = self.connection.prepare("SELECT parts FROM sequence ORDER BY place")?;
        let mut part = self.connection.prepare("SELECT body FROM parts WHERE id = ?1")?;
        let mut rows = sequence.query([])?;
        let mut record = Vec::with_capacity(self.record.record_len as usize);
        while let Some(row) = rows.next()? {
            let packed = row.get_ref(0)?.as_blob().map_err(|_| damaged(&self.path, "sequence"))?;
            let (keys, _) = packed.as_chunks::<8>();
            for keys in keys.chunks(self.layout.pieces) {
                record.clear();
                for key in keys {
                    part.query_row([i64::from_be_bytes(*key)], |row| {
                        record.extend_from_slice(row.get_ref(0)?.as_blob()?);
                        Ok(())
                    })?;
                }
                if visit(&record).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
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
