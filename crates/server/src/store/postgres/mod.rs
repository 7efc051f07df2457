//! The store in PostgreSQL, for any number of replicas of one server.
//!
//! Every transaction that writes is serialisable and raises one number, so no two of them write at
//! once, and what one has read is still so when it commits. In particular a round is charged and
//! opened only if the ledger is the one that its ε was computed with. A replica that lost the race
//! reads again.

mod read;
mod write;

use super::row::{encode_charge, encode_state, integer};
use super::{BatchRecord, Beginning, Charges, Closing, Opening, RoundSummary, Store, TaskRecord, check_overtaken};
use crate::error::{Result, ServerError};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_host::Clock;
use shuffledp_postgres::{
    Database, DatabaseClock, DatabaseUrl, Interrupted, PostgresError, QueryError, Schema, Transaction,
};
use shuffledp_wire::{BatchId, ModelHash, RoundContext, TaskHash, encode_keys};
use std::collections::HashSet;
use std::sync::Arc;

const SCHEMA: Schema = Schema { name: "shuffledp_server", steps: &[include_str!("1.sql")] };

/// Tables of one database.
pub struct PostgresStore {
    database: Arc<Database>,
    clock: Arc<DatabaseClock>,
}

impl From<PostgresError> for ServerError {
    fn from(error: PostgresError) -> Self {
        Self::store("used", error)
    }
}

impl From<QueryError> for ServerError {
    fn from(error: QueryError) -> Self {
        PostgresError::from(error).into()
    }
}

impl From<ServerError> for Interrupted<ServerError> {
    fn from(error: ServerError) -> Self {
        Self::Refused(error)
    }
}

/// The result of a transaction: an error of the database may mean that it lost a race.
type Attempt<T> = std::result::Result<T, Interrupted<ServerError>>;

impl PostgresStore {
    /// Connects, and makes or migrates the tables. Blocks.
    pub fn open(url: &DatabaseUrl) -> Result<Self> {
        let database = Arc::new(Database::open(url, &SCHEMA)?);
        let clock = Arc::new(DatabaseClock::new(Arc::clone(&database))?);
        Ok(Self { database, clock })
    }

    /// All or nothing, and as if nobody else were there.
    fn transact<T>(&self, work: impl AsyncFn(&Transaction<'_>) -> Attempt<T>) -> Result<T> {
        self.database.serializable(async |transaction: &Transaction<'_>| {
            transaction.execute("UPDATE revision SET number = number + 1", &[]).await?;
            work(transaction).await
        })
    }
}

impl Store for PostgresStore {
    fn revision(&mut self) -> Result<Option<u64>> {
        self.clock.refresh();
        self.database.run(async |client| read::revision(client).await).map(Some)
    }

    fn clock(&self) -> Option<Arc<dyn Clock>> {
        Some(self.clock.clone())
    }

    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
        self.database.run(async |client| read::ledger(client).await)
    }

    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
        self.database.run(async |client| read::task(client, task).await)
    }

    fn charges(&mut self) -> Result<Vec<Charges>> {
        self.database.run(async |client| read::charges(client).await)
    }

    fn charge(&mut self, charges: &[Charges]) -> Result<()> {
        self.transact(async |transaction| {
            for charges in charges {
                write::charges(transaction, charges).await?;
            }
            Ok(())
        })
    }

    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
        let Beginning { task, encoding, state, model, bytes, replaces } = beginning;
        let (task, state) = (&task.as_bytes()[..], encode_state(state));
        self.transact(async |transaction| {
            let abandoned = transaction
                .execute("UPDATE rounds SET status = 'abandoned' WHERE status = 'open' AND task <> $1", &[&task])
                .await?;
            if abandoned > 0 && !replaces {
                return Err(ServerError::TaskChanged.into());
            }
            let insert = "INSERT INTO tasks (hash, encoding, state) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            transaction.execute(insert, &[&task, encoding, &state]).await?;
            write::model(transaction, model, bytes).await
        })
    }

    fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
        let Opening { context, keys, charge, opens, closes, gives_up, extended, epsilon, epsilon_lower } = opening;
        let (task, round, model) =
            (&context.task.as_bytes()[..], integer(context.round)?, &context.model.as_bytes()[..]);
        let (opens, closes, gives_up) = (integer(*opens)?, integer(*closes)?, integer(*gives_up)?);
        let (entry, keys) = (encode_charge(charge)?, encode_keys(keys));
        self.transact(async |transaction| {
            let found = transaction.query_one("SELECT count(*) FROM ledger", &[]).await?.try_get::<_, i64>(0)?;
            check_overtaken(found.unsigned_abs(), known)?;
            let charge = "INSERT INTO ledger (task, round, entry) VALUES ($1, $2, $3)";
            transaction.execute(charge, &[&task, &round, &entry]).await?;
            transaction
                .execute(
                    "INSERT INTO rounds (task, round, model, keys, opens, closes, status, epsilon, epsilon_lower, gives_up, extended)
                     VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9, $10)",
                    &[&task, &round, &model, &keys, &opens, &closes, epsilon, epsilon_lower, &gives_up, extended],
                )
                .await?;
            Ok(())
        })
    }

    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
        let (task, round, gives_up) = (&context.task.as_bytes()[..], integer(context.round)?, integer(gives_up)?);
        self.transact(async |transaction| {
            let extended = transaction
                .execute(
                    "UPDATE rounds SET gives_up = $1, extended = true
                     WHERE task = $2 AND round = $3 AND status = 'open' AND NOT extended",
                    &[&gives_up, &task, &round],
                )
                .await?;
            if extended == 1 { Ok(()) } else { Err(ServerError::RoundClosed { round: context.round }.into()) }
        })
    }

    fn hold(&mut self, context: &RoundContext, until: u64) -> Result<()> {
        let (task, round, until) = (&context.task.as_bytes()[..], integer(context.round)?, integer(until)?);
        self.transact(async |transaction| {
            let hold = "UPDATE rounds SET held = greatest(held, $1) WHERE task = $2 AND round = $3 AND status = 'open'";
            transaction.execute(hold, &[&until, &task, &round]).await?;
            Ok(())
        })
    }

    fn close(&mut self, closing: &Closing<'_>) -> Result<()> {
        let context = &closing.context;
        let (task, round, model) =
            (&context.task.as_bytes()[..], integer(context.round)?, &context.model.as_bytes()[..]);
        let status = if closing.batch.is_some() { "done" } else { "expired" };
        let state = encode_state(closing.state);
        self.transact(async |transaction| {
            let close =
                "UPDATE rounds SET status = $1 WHERE task = $2 AND round = $3 AND model = $4 AND status = 'open'";
            if transaction.execute(close, &[&status, &task, &round, &model]).await? != 1 {
                return Err(ServerError::RoundClosed { round: context.round }.into());
            }
            write::batch(transaction, closing, round).await?;
            for (hash, bytes) in closing.models {
                write::model(transaction, hash, bytes).await?;
            }
            transaction.execute("UPDATE tasks SET state = $2 WHERE hash = $1", &[&task, &state]).await?;
            let metrics = "INSERT INTO metrics (task, round, accuracy, answer) VALUES ($1, $2, $3, $4)";
            transaction.execute(metrics, &[&task, &round, &closing.accuracy, &&closing.answer.as_bytes()[..]]).await?;
            write::forget(transaction, task, round).await
        })
    }

    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>> {
        self.database.run(async |client| read::batch(client, id).await)
    }

    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.database.run(async |client| read::model(client, hash).await)
    }

    fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.database.run(async |client| read::models(client).await)
    }

    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>> {
        self.database.run(async |client| read::rounds(client, task).await)
    }
}
