//! The pieces of a transaction.

use super::Attempt;
use crate::store::row::{decode_charge, encode_charge, integer};
use crate::store::{Charges, Closing, KEPT_ROUNDS, strange_charge};
use shuffledp_postgres::Transaction;
use shuffledp_wire::{ModelHash, RoundContext};

pub(super) async fn model(transaction: &Transaction<'_>, hash: &ModelHash, bytes: &[u8]) -> Attempt<()> {
    let insert = "INSERT INTO models (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    transaction.execute(insert, &[&&hash.as_bytes()[..], &bytes]).await?;
    Ok(())
}

pub(super) async fn batch(transaction: &Transaction<'_>, closing: &Closing<'_>, round: i64) -> Attempt<()> {
    let Some(batch) = &closing.batch else { return Ok(()) };
    let RoundContext { task, model, keys, .. } = &closing.context;
    let (task, model, keys) = (&task.as_bytes()[..], &model.as_bytes()[..], &keys.as_bytes()[..]);
    let (accepted, rejected) = (integer(batch.report_ids.len() as u64)?, integer(batch.rejected)?);
    transaction
        .execute(
            "INSERT INTO batches (id, task, round, model, keys, accepted, rejected) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[&&batch.id.as_bytes()[..], &task, &round, &model, &keys, &accepted, &rejected],
        )
        .await?;
    let ids: Vec<&[u8]> = batch.report_ids.iter().map(|id| &id.as_bytes()[..]).collect();
    let insert = "INSERT INTO report_ids (task, round, id) SELECT $1, $2, unnest($3::bytea[])";
    transaction.execute(insert, &[&task, &round, &ids]).await?;
    Ok(())
}

/// Drops what only old rounds needed. Models that any recent round or the newest answer names stay.
pub(super) async fn forget(transaction: &Transaction<'_>, task: &[u8], round: i64) -> Attempt<()> {
    let oldest = round.saturating_sub(KEPT_ROUNDS);
    transaction.execute("DELETE FROM report_ids WHERE task = $1 AND round <= $2", &[&task, &oldest]).await?;
    transaction
        .execute(
            "DELETE FROM models WHERE hash IN (
                 SELECT model FROM rounds WHERE task = $1 AND round = $2
                 UNION SELECT answer FROM metrics WHERE task = $1 AND round = $2)
             AND hash NOT IN (
                 SELECT model FROM rounds WHERE task <> $1 OR round > $2
                 UNION SELECT answer FROM metrics WHERE (task <> $1 OR round > $2) AND answer IS NOT NULL)",
            &[&task, &oldest],
        )
        .await?;
    Ok(())
}

/// Adds rounds to the ledger that are not in it.
pub(super) async fn charges(transaction: &Transaction<'_>, charges: &Charges) -> Attempt<()> {
    let (task, entry) = (&charges.task.as_bytes()[..], encode_charge(&charges.charge)?);
    for round in charges.first..=charges.last {
        let number = integer(round)?;
        let insert = "INSERT INTO ledger (task, round, entry) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        if transaction.execute(insert, &[&task, &number, &entry]).await? == 1 {
            continue;
        }
        let known = "SELECT entry FROM ledger WHERE task = $1 AND round = $2";
        let there: String = transaction.query_one(known, &[&task, &number]).await?.try_get(0)?;
        if decode_charge(&there)? != charges.charge {
            return Err(strange_charge(charges, round).into());
        }
    }
    Ok(())
}
