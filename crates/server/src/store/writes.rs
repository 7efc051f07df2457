//! The pieces of a transaction.

use super::row::{decode_charge, encode_charge, integer};
use super::{Charges, Closing, KEPT_ROUNDS, strange_charge};
use crate::error::{Result, ServerError};
use rusqlite::{Transaction, params};
use shuffledp_wire::{ModelHash, RoundContext};

pub(super) fn write(error: rusqlite::Error) -> ServerError {
    ServerError::store("written to", error)
}

pub(super) fn insert_batch(transaction: &Transaction<'_>, closing: &Closing<'_>, round: i64) -> Result<()> {
    let Some(batch) = &closing.batch else { return Ok(()) };
    let RoundContext { task, model, keys, .. } = &closing.context;
    let (task, model, keys) = (task.as_bytes(), model.as_bytes(), keys.as_bytes());
    let (accepted, rejected) = (integer(batch.report_ids.len() as u64)?, integer(batch.rejected)?);
    transaction
        .execute(
            "INSERT INTO batches (id, task, round, model, keys, accepted, rejected) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![batch.id.as_bytes(), task, round, model, keys, accepted, rejected],
        )
        .map_err(write)?;
    let mut statement =
        transaction.prepare("INSERT INTO report_ids (task, round, id) VALUES (?1, ?2, ?3)").map_err(write)?;
    for id in batch.report_ids {
        statement.execute(params![task, round, id.as_bytes()]).map_err(write)?;
    }
    Ok(())
}

pub(super) fn insert_model(transaction: &Transaction<'_>, hash: &ModelHash, bytes: &[u8]) -> Result<()> {
    transaction
        .execute(
            "INSERT INTO models (hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![hash.as_bytes(), bytes],
        )
        .map_err(write)?;
    Ok(())
}

/// Drops what only old rounds needed. Models that any recent round or the newest answer names stay.
pub(super) fn forget(transaction: &Transaction<'_>, task: &[u8], round: i64) -> Result<()> {
    let oldest = round.saturating_sub(KEPT_ROUNDS);
    transaction
        .execute("DELETE FROM report_ids WHERE task = ?1 AND round <= ?2", params![task, oldest])
        .map_err(write)?;
    transaction
        .execute(
            "DELETE FROM models WHERE hash IN (
                 SELECT model FROM rounds WHERE task = ?1 AND round = ?2
                 UNION SELECT answer FROM metrics WHERE task = ?1 AND round = ?2)
             AND hash NOT IN (
                 SELECT model FROM rounds WHERE task <> ?1 OR round > ?2
                 UNION SELECT answer FROM metrics WHERE (task <> ?1 OR round > ?2) AND answer IS NOT NULL)",
            params![task, oldest],
        )
        .map_err(write)?;
    Ok(())
}

/// Adds rounds to the ledger that are not in it.
pub(super) fn insert_charges(transaction: &Transaction<'_>, charges: &Charges) -> Result<()> {
    let (task, entry) = (charges.task.as_bytes(), encode_charge(&charges.charge)?);
    let mut insert = transaction
        .prepare("INSERT INTO ledger (task, round, entry) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
        .map_err(write)?;
    let mut known = transaction.prepare("SELECT entry FROM ledger WHERE task = ?1 AND round = ?2").map_err(write)?;
    for round in charges.first..=charges.last {
        let number = integer(round)?;
        if insert.execute(params![task, number, entry]).map_err(write)? == 1 {
            continue;
        }
        let there: String = known.query_row(params![task, number], |row| row.get(0)).map_err(write)?;
        if decode_charge(&there)? != charges.charge {
            return Err(strange_charge(charges, round));
        }
    }
    Ok(())
}
