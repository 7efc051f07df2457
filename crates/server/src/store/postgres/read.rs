//! Queries that read the stored state.

use crate::error::Result;
use crate::store::row::{array, decode_charge, decode_state, model_hash, natural, parse_status, read_keys};
use crate::store::{BatchRecord, Charges, Opening, RoundSummary, Status, TaskRecord};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_postgres::{Connection, IsolationLevel};
use shuffledp_wire::{BatchId, KeysHash, ModelHash, RoundContext, TaskHash};
use std::collections::HashSet;

pub(super) async fn revision(client: &Connection) -> Result<u64> {
    let statement = client.prepare_cached("SELECT number FROM revision").await?;
    natural(client.query_one(&statement, &[]).await?.try_get(0)?)
}

pub(super) async fn ledger(client: &Connection) -> Result<Vec<(AccountedRound, u64)>> {
    let rows = client.query("SELECT entry, count(*) FROM ledger GROUP BY entry ORDER BY entry", &[]).await?;
    rows.iter().map(|row| Ok((decode_charge(row.try_get(0)?)?, natural(row.try_get(1)?)?))).collect()
}

pub(super) async fn charges(client: &Connection) -> Result<Vec<Charges>> {
    let rows = client.query("SELECT task, round, entry FROM ledger ORDER BY task, round", &[]).await?;
    let mut charges: Vec<Charges> = Vec::new();
    for row in rows {
        let (task, round) = (TaskHash::from_bytes(array(row.try_get(0)?)?), natural(row.try_get(1)?)?);
        let charge = decode_charge(row.try_get(2)?)?;
        match charges.last_mut() {
            Some(before) if (before.task, before.last + 1, before.charge) == (task, round, charge) => {
                before.last = round
            }
            _ => charges.push(Charges { task, first: round, last: round, charge }),
        }
    }
    Ok(charges)
}

/// Of one moment: another replica may be closing the round.
pub(super) async fn task(client: &mut Connection, task: &TaskHash) -> Result<Option<TaskRecord>> {
    let moment = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let transaction = moment.start().await?;
    let hash = &task.as_bytes()[..];
    let state = transaction.query_opt("SELECT state FROM tasks WHERE hash = $1", &[&hash]).await?;
    let Some(state) = state else { return Ok(None) };
    let state = decode_state(state.try_get(0)?)?;
    let charged = "SELECT coalesce(max(round), 0) FROM ledger WHERE task = $1";
    let charged = natural(transaction.query_one(charged, &[&hash]).await?.try_get(0)?)?;
    let last = transaction
        .query_opt(
            "SELECT round, model, keys, entry, opens, closes, greatest(gives_up, held), extended, epsilon, epsilon_lower, status
             FROM rounds JOIN ledger USING (task, round) WHERE task = $1 ORDER BY round DESC LIMIT 1",
            &[&hash],
        )
        .await?;
    let Some(row) = last else { return Ok(Some(TaskRecord { state, last: None, is_open: false, charged })) };
    let (model, keys) = (model_hash(row.try_get(1)?)?, read_keys(row.try_get(2)?)?);
    let last = Opening {
        context: RoundContext { task: *task, round: natural(row.try_get(0)?)?, model, keys: KeysHash::of(&keys) },
        keys,
        charge: decode_charge(row.try_get(3)?)?,
        opens: natural(row.try_get(4)?)?,
        closes: natural(row.try_get(5)?)?,
        gives_up: natural(row.try_get(6)?)?,
        extended: row.try_get(7)?,
        epsilon: row.try_get(8)?,
        epsilon_lower: row.try_get(9)?,
    };
    let is_open = parse_status(row.try_get(10)?)? == Status::Open;
    Ok(Some(TaskRecord { state, last: Some(last), is_open, charged }))
}

pub(super) async fn batch(client: &Connection, id: &BatchId) -> Result<Option<BatchRecord>> {
    let text = "SELECT task, round, model, keys, accepted, rejected FROM batches WHERE id = $1";
    let Some(row) = client.query_opt(text, &[&&id.as_bytes()[..]]).await? else { return Ok(None) };
    let context = RoundContext {
        task: TaskHash::from_bytes(array(row.try_get(0)?)?),
        round: natural(row.try_get(1)?)?,
        model: model_hash(row.try_get(2)?)?,
        keys: KeysHash::from_bytes(array(row.try_get(3)?)?),
    };
    Ok(Some(BatchRecord { context, accepted: natural(row.try_get(4)?)?, rejected: natural(row.try_get(5)?)? }))
}

pub(super) async fn model(client: &Connection, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
    let row = client.query_opt("SELECT bytes FROM models WHERE hash = $1", &[&&hash.as_bytes()[..]]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn models(client: &Connection) -> Result<HashSet<ModelHash>> {
    let rows = client.query("SELECT hash FROM models", &[]).await?;
    rows.iter().map(|row| model_hash(row.try_get(0)?)).collect()
}

pub(super) async fn rounds(client: &Connection, task: &TaskHash) -> Result<Vec<RoundSummary>> {
    let rows = client
        .query(
            "SELECT round, status, epsilon, epsilon_lower, coalesce(accepted, 0), coalesce(rejected, 0), accuracy
             FROM rounds LEFT JOIN batches USING (task, round) LEFT JOIN metrics USING (task, round)
             WHERE task = $1 ORDER BY round",
            &[&&task.as_bytes()[..]],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(RoundSummary {
                round: natural(row.try_get(0)?)?,
                status: parse_status(row.try_get(1)?)?,
                epsilon: row.try_get(2)?,
                epsilon_lower: row.try_get(3)?,
                accepted: natural(row.try_get(4)?)?,
                rejected: natural(row.try_get(5)?)?,
                test_accuracy: row.try_get(6)?,
            })
        })
        .collect()
}
