//! Stores of earlier versions, taken over.
//!
//! Version 2 had reports in tables of the SQLite file: `reports`, keyed by the first 63 bits of
//! their digest, and `pieces` of long ones. A batch's `sequence` named these keys, eight bytes
//! each.

use super::OpaqueReport;
use super::database::{VERSION, damaged, insert_run, insert_sequence};
use super::run::{self, Run, path_of};
use crate::error::{Result, at};
use rusqlite::Connection;
use shuffledp_host::files::sync_folder;
use std::collections::HashMap;
use std::path::Path;

/// Bytes of reports that are in memory at once.
const CHUNK: usize = 8 << 20;

/// Moves the reports of a store of version 2 into one run, and keeps a batch's order. All in one
/// transaction: after a crash it is version 2 or 3.
pub(super) fn from_2(connection: &mut Connection, path: &Path) -> Result<()> {
    let record_len: u32 = connection.query_row("SELECT record_len FROM round", [], |row| row.get(0))?;
    let runs = write_runs(connection, path)?;
    let id = runs.len() as i64 + 1;
    let (count, capacity) = run::merge(path, &runs, record_len as usize, path_of(path, id))?;
    sync_folder(path.parent().unwrap_or(path)).map_err(at(path))?;
    let order = sequence(connection, path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "DROP TABLE sequence; DROP TABLE reports; DROP TABLE pieces;
         CREATE TABLE runs (id INTEGER PRIMARY KEY NOT NULL, level INTEGER NOT NULL, count INTEGER NOT NULL, capacity INTEGER NOT NULL);
         CREATE TABLE sequence (place INTEGER PRIMARY KEY NOT NULL, reports BLOB NOT NULL);",
    )?;
    if count > 0 {
        insert_run(&transaction, &Run { id, level: 1, count, capacity })?;
    }
    insert_sequence(&transaction, &order)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    tracing::info!(file = %path.display(), "a round's file was taken over from version 2 to 3");
    Ok(())
}

/// Runs with all reports, in files that no version 2 knows.
fn write_runs(connection: &Connection, path: &Path) -> Result<Vec<Run>> {
    let mut reports = connection.prepare("SELECT digest, more, body FROM reports")?;
    let mut pieces = connection.prepare("SELECT body FROM pieces WHERE id = ?1")?;
    let mut rows = reports.query([])?;
    let (mut runs, mut chunk, mut bytes) = (Vec::new(), Vec::new(), 0);
    loop {
        let row = rows.next()?;
        if (row.is_none() || bytes >= CHUNK) && !chunk.is_empty() {
            let id = runs.len() as i64 + 1;
            let (count, capacity) = run::write(path_of(path, id), std::mem::take(&mut chunk))?;
            runs.push(Run { id, level: 0, count, capacity });
            bytes = 0;
        }
        let Some(row) = row else { return Ok(runs) };
        let (digest, more, mut body): (_, Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        for key in keys(&more) {
            let piece: Vec<u8> = pieces.query_row([key], |row| row.get(0))?;
            body.extend_from_slice(&piece);
        }
        bytes += body.len();
        chunk.push(OpaqueReport { digest, body });
    }
}

/// The batch's order, as places among the sorted digests; empty if there is no batch.
fn sequence(connection: &Connection, path: &Path) -> Result<Vec<u32>> {
    let mut statement = connection.prepare("SELECT reports FROM sequence ORDER BY place")?;
    let packed: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT digest, id FROM reports")?;
    let sorted = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut sorted: Vec<([u8; 32], i64)> = sorted.collect::<rusqlite::Result<_>>()?;
    sorted.sort_unstable();
    let places: HashMap<i64, u32> = sorted.into_iter().map(|(_, id)| id).zip(0..).collect();
    let place = |key| places.get(&key).copied().ok_or_else(|| damaged(path, "a report of the batch is missing"));
    packed.iter().flat_map(|row| keys(row)).map(place).collect()
}

fn keys(packed: &[u8]) -> impl Iterator<Item = i64> {
    packed.as_chunks::<8>().0.iter().map(|bytes| i64::from_be_bytes(*bytes))
}
