//! The tables of a round's store, in one SQLite file.

use super::layout::Layout;
use super::{OpaqueReport, Outcome, RoundTerms, SealedBatch};
use crate::error::{Result, ShufflerError};
use crate::permutation::Permute;
use crate::witness::{CommitPoint, Witness};
use rand::Rng;
use rusqlite::{Connection, OptionalExtension, params};
use shuffledp_wire::{BatchId, SystemRandom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the format, in the file's header.
const APPLICATION_ID: i32 = 0x7368_6466;
const VERSION: i32 = 2;

/// Keys of a batch are written in rows of so many reports.
const ROW: usize = 8192;

const SCHEMA: &str = "
CREATE TABLE round (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    signed BLOB NOT NULL, server BLOB NOT NULL, record_len INTEGER NOT NULL, min_batch INTEGER NOT NULL
);
-- The key is the digest's first 63 bits (or the next free number, should two digests share them): a report's place in the file says nothing but what the
-- report is. `more` are the keys of its further pieces, eight bytes each.
CREATE TABLE reports (id INTEGER PRIMARY KEY NOT NULL, digest BLOB NOT NULL, more BLOB NOT NULL, body BLOB NOT NULL);
-- Keys drawn at random.
CREATE TABLE pieces (id INTEGER PRIMARY KEY NOT NULL, body BLOB NOT NULL);
-- Both are empty until the round is sealed and filled in the same transaction.
CREATE TABLE batch (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, count INTEGER NOT NULL);
CREATE TABLE sequence (place INTEGER PRIMARY KEY NOT NULL, reports BLOB NOT NULL);
";

/// One file.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
    record: RoundTerms,
    layout: Layout,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

impl Database {
    /// A new file. Durable when it returns, but for its name, which is the folder's.
    pub(super) fn create(path: &Path, record: &RoundTerms, witness: Arc<dyn Witness>) -> Result<Self> {
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

    /// A file that is there. `None` if its creation was never committed: it has no round, and so no report.
    pub(super) fn open(path: &Path, witness: Arc<dyn Witness>) -> Result<Option<Self>> {
        let connection = Connection::open(path)?;
        set_up(&connection)?;
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        match (application, version) {
            (APPLICATION_ID, VERSION) => {}
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
        let layout = Layout::of(record.record_len as usize);
        let random = SystemRandom::from_operating_system()?;
        Ok(Self { connection, path: path.to_owned(), record, layout, random, witness })
    }

    pub(super) fn record(&self) -> &RoundTerms {
        &self.record
    }

    /// Stores reports whose digest is new, all or none; durable when it returns. In the order of their digests, so that no trace of another is left.
    pub(super) fn insert(&mut self, mut entries: Vec<OpaqueReport>) -> Result<()> {
        entries.sort_unstable_by_key(|entry| entry.digest);
        let (piece, random) = (self.layout.piece, &mut self.random);
        let transaction = self.connection.transaction()?;
        if read_batch(&transaction, self.record.record_len)?.is_some() {
            return Err(ShufflerError::Sealed);
        }
        {
            let mut known = transaction.prepare("SELECT digest FROM reports WHERE id = ?1")?;
            let mut keep = transaction.prepare("INSERT INTO reports VALUES (?1, ?2, ?3, ?4)")?;
            let mut keep_piece = transaction.prepare("INSERT INTO pieces VALUES (?1, ?2)")?;
            for OpaqueReport { digest, body } in &entries {
                let mut id = key(digest);
                let repeated = loop {
                    let there: Option<[u8; 32]> = known.query_row([id], |row| row.get(0)).optional()?;
                    match there {
                        Some(other) if other != *digest => id = id.wrapping_add(1) & i64::MAX,
                        there => break there.is_some(),
                    }
                };
                if repeated {
                    continue;
                }
                let (first, rest) = body.split_at(piece.min(body.len()));
                let mut more = Vec::new();
                for piece in rest.chunks(piece) {
                    // Taken already once in 2^63 divided by the pieces there are; then the transaction fails and is tried again.
                    let id = (random.next_u64() >> 1) as i64;
                    keep_piece.execute(params![id, piece])?;
                    more.extend_from_slice(&id.to_be_bytes());
                }
                keep.execute(params![id, digest, more, first])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Folds SQLite's own log into the file and cuts it.
    pub(super) fn checkpoint(&self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// [`RoundStore::seal`](super::RoundStore::seal).
    pub(super) fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        let record_len = self.record.record_len;
        let transaction = self.connection.transaction()?;
        if let Some(sealed) = read_batch(&transaction, record_len)? {
            return Ok(Outcome::Sealed(sealed));
        }
        // In order of digests, which is nobody's order of arrival; and then permuted all the same.
        let mut keys: Vec<i64> = Vec::new();
        {
            let mut statement = transaction.prepare("SELECT id FROM reports")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                keys.push(row.get(0)?);
            }
        }
        let count = keys.len() as u64;
        if count < min_batch.max(self.record.min_batch) {
            return Ok(Outcome::Short);
        }
        let records = u32::try_from(count).map_err(|_| damaged(&self.path, "more than 2^32 reports"))?;
        let mut order: Vec<u32> = (0..records).collect();
        permute.permute(&mut order);
        let batch = BatchId::random(&mut self.random);
        {
            let mut statement = transaction.prepare("INSERT INTO sequence VALUES (?1, ?2)")?;
            for (place, row) in order.chunks(ROW).enumerate() {
                let packed: Vec<u8> = row.iter().flat_map(|&index| keys[index as usize].to_be_bytes()).collect();
                statement.execute(params![place as i64, packed])?;
            }
        }
        transaction.execute("INSERT INTO batch VALUES (1, ?1, ?2)", params![batch.as_bytes(), count as i64])?;
        self.witness.reached(CommitPoint::BeforeSeal);
        transaction.commit()?;
        self.witness.reached(CommitPoint::AfterSeal);
        self.checkpoint()?;
        Ok(Outcome::Sealed(SealedBatch { batch, count, record_len }))
    }

    pub(super) fn sealed(&self) -> Result<Option<SealedBatch>> {
        read_batch(&self.connection, self.record.record_len)
    }

    /// [`RoundStore::digests`](super::RoundStore::digests).
    pub(super) fn digests(&self, visit: &mut dyn FnMut(&[u8; 32])) -> Result<()> {
        let mut statement = self.connection.prepare("SELECT digest FROM reports")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(&row.get(0)?);
        }
        Ok(())
    }

    /// [`RoundStore::visit`](super::RoundStore::visit).
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let mut sequence = self.connection.prepare("SELECT reports FROM sequence ORDER BY place")?;
        let mut report = self.connection.prepare("SELECT more, body FROM reports WHERE id = ?1")?;
        let mut piece = self.connection.prepare("SELECT body FROM pieces WHERE id = ?1")?;
        let mut rows = sequence.query([])?;
        let mut record = Vec::with_capacity(self.record.record_len as usize);
        let mut more: Vec<u8> = Vec::new();
        while let Some(row) = rows.next()? {
            let packed = row.get_ref(0)?.as_blob().map_err(|_| damaged(&self.path, "sequence"))?;
            for id in numbers(packed) {
                record.clear();
                more.clear();
                report.query_row([id], |row| {
                    more.extend_from_slice(row.get_ref(0)?.as_blob()?);
                    record.extend_from_slice(row.get_ref(1)?.as_blob()?);
                    Ok(())
                })?;
                for id in numbers(&more) {
                    piece.query_row([id], |row| {
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

/// One process at a time, one wait for the disk per commit, nothing freed that could be read again.
fn set_up(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Ours to time.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // 16 MiB: the inner nodes of a million reports, and what a fold touches.
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(())
}

impl From<rusqlite::Error> for ShufflerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// What SQLite said, if it was SQLite.
pub(crate) fn sqlite_error(error: &ShufflerError) -> Option<&rusqlite::Error> {
    match error {
        ShufflerError::Storage(error) => error.downcast_ref(),
        _ => None,
    }
}

fn damaged(path: &Path, reason: &'static str) -> ShufflerError {
    ShufflerError::Damaged { path: path.to_owned(), reason }
}

/// A digest's first 63 bits.
fn key(digest: &[u8; 32]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    (u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1) as i64
}

fn numbers(packed: &[u8]) -> impl Iterator<Item = i64> {
    packed.as_chunks::<8>().0.iter().map(|bytes| i64::from_be_bytes(*bytes))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::FisherYates;
    use crate::witness::NoWitness;

    fn visited(reports: Vec<OpaqueReport>, record_len: u32) -> Vec<Vec<u8>> {
        let record = RoundTerms { signed: vec![1], server: [2; 32], record_len, min_batch: 1 };
        let mut database = Database::create(Path::new(":memory:"), &record, Arc::new(NoWitness)).unwrap();
        for report in reports {
            database.insert(vec![report]).unwrap();
        }
        database.seal(1, &mut FisherYates::from_operating_system().unwrap()).unwrap();
        let mut bodies = Vec::new();
        let visit = &mut |body: &[u8]| {
            bodies.push(body.to_vec());
            ControlFlow::Continue(())
        };
        database.visit(visit).unwrap();
        bodies.sort_unstable();
        bodies
    }

    #[test]
    fn digests_that_begin_alike_are_two_reports() {
        let digest = |last: u8| std::array::from_fn(|at| if at == 31 { last } else { 0xff });
        let report = |last: u8| OpaqueReport { digest: digest(last), body: vec![last; 100] };
        // The first 63 bits are the largest key there is; the next free one is 0. Repeated ones stay one.
        let bodies = visited([1, 2, 1, 3, 2, 3].map(report).into(), 100);
        assert_eq!(bodies, [vec![1; 100], vec![2; 100], vec![3; 100]]);
    }

    #[test]
    fn reports_of_many_pieces_come_back_whole() {
        let len = 300_000;
        let body = |first: u8| (0..len).map(|at| (at / 1000) as u8 ^ first).collect::<Vec<u8>>();
        let bodies =
            visited([1, 2, 1].map(|first| OpaqueReport { digest: [first; 32], body: body(first) }).into(), len);
        assert_eq!(bodies, [body(1), body(2)]);
    }
}
