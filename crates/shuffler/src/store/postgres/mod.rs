//! Stores in PostgreSQL, for any number of replicas.
//!
//! - **Taken once.** A group of reports is one statement: it locks the round's row `FOR SHARE`
//!   while it is open, and inserts what is not there. It is acknowledged after the commit.
//! - **Sealed once.** The sealer's `UPDATE` of that row waits for these locks. After it, in the
//!   same transaction, reports are counted, permuted and fixed: no replica adds to a batch, and
//!   none to a round that ended short.
//! - **Sent by one.** Whoever holds the round's lease seals and sends it. If it dies, another one
//!   takes over after [`LEASE`], with the same id and bytes. Two that send at once do no harm: the
//!   server takes an id once.
//! - **Gone at the end.** One transaction remembers the context and drops the round's partitions.
//!
//! **What a thief of the database learns.** Reports of a group are inserted in the order of their
//! digests, so their place says nothing. But PostgreSQL itself numbers transactions (`xmin`), fills
//! pages in order, and writes a log (WAL): the order of *groups* is visible until the partition is
//! dropped and the log recycled. docs/threat-model.md compares that with SQLite.

mod memory;
mod round;

use super::folder::hash;
use super::{Claim, Memory, RoundStore, RoundTerms, Stores};
use crate::error::{Result, ShufflerError};
use crate::witness::{CommitPoint, Witness};
use memory::PostgresMemory;
use round::PostgresRound;
use shuffledp_host::Clock;
use shuffledp_postgres::{Database, DatabaseClock, DatabaseUrl, PostgresError, QueryError, Row, Schema};
use shuffledp_wire::{BatchId, RoundContext, SystemRandom};
use std::sync::Arc;
use std::time::Duration;

const SCHEMA: Schema = Schema { name: "shuffledp_shuffler", steps: &[include_str!("1.sql")] };

/// Until another replica takes over from one that is silent.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// Columns of a round, as [`terms`] reads them.
const TERMS: &str = "number, signed, server, record_len, min_batch, context";

/// Tables of one database.
pub struct PostgresStores {
    database: Arc<Database>,
    clock: Arc<DatabaseClock>,
    memory: Arc<PostgresMemory>,
    /// The identity of this replica.
    holder: [u8; 16],
    witness: Arc<dyn Witness>,
}

impl std::fmt::Debug for PostgresStores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStores").field("database", &self.database).finish_non_exhaustive()
    }
}

impl From<PostgresError> for ShufflerError {
    fn from(error: PostgresError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<QueryError> for ShufflerError {
    fn from(error: QueryError) -> Self {
        PostgresError::from(error).into()
    }
}

/// The content of the database is not what this program wrote.
fn damaged(reason: &'static str) -> ShufflerError {
    ShufflerError::Storage(format!("the tables of the shuffler are damaged: {reason}").into())
}

fn array<const N: usize>(row: &Row, column: usize) -> Result<[u8; N]> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map_err(|_| damaged("a column has the wrong length"))
}

/// The number and the terms of a round, from the columns [`TERMS`].
fn terms(row: &Row) -> Result<(i64, RoundTerms)> {
    let record_len = u32::try_from(row.try_get::<_, i64>(3)?).map_err(|_| damaged("record_len"))?;
    let min_batch = row.try_get::<_, i64>(4)?.unsigned_abs();
    Ok((row.try_get(0)?, RoundTerms { signed: row.try_get(1)?, server: array(row, 2)?, record_len, min_batch }))
}

impl PostgresStores {
    /// Connects, and makes or migrates the tables. Blocks.
    ///
    /// # Errors
    ///
    /// If the database cannot be used.
    pub fn open(url: &DatabaseUrl, witness: Arc<dyn Witness>) -> Result<Self> {
        let database = Arc::new(Database::open(url, &SCHEMA)?);
        let clock = Arc::new(DatabaseClock::new(Arc::clone(&database))?);
        let memory = Arc::new(PostgresMemory::new(Arc::clone(&database)));
        let holder = *BatchId::random(&mut SystemRandom::from_operating_system()?).as_bytes();
        Ok(Self { database, clock, memory, holder, witness })
    }

    fn round(&self, context: [u8; 32], number: i64, terms: RoundTerms) -> Result<Box<dyn RoundStore>> {
        let (database, witness) = (Arc::clone(&self.database), Arc::clone(&self.witness));
        Ok(Box::new(PostgresRound::new(database, context, number, terms, witness)?))
    }
}

/// The statements that make a round's partitions. Attached rather than created in place, which
/// would make all intake wait.
fn make_partitions(number: i64) -> String {
    ["reports", "sequence"]
        .map(|table| {
            format!(
                "CREATE TABLE {table}_{number} (LIKE {table} INCLUDING ALL, CHECK (round = {number}));
                 ALTER TABLE {table} ATTACH PARTITION {table}_{number} FOR VALUES IN ({number});"
            )
        })
        .concat()
}

impl Stores for PostgresStores {
    fn memory(&self) -> Arc<dyn Memory> {
        self.memory.clone()
    }

    fn clock(&self) -> Option<Arc<dyn Clock>> {
        Some(self.clock.clone())
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn create(&self, context: &RoundContext, record: &RoundTerms) -> Result<Option<Box<dyn RoundStore>>> {
        let context = hash(context);
        let (record_len, min_batch) =
            (i64::from(record.record_len), i64::try_from(record.min_batch).unwrap_or(i64::MAX));
        let made = self.database.run(async |client| {
            let transaction = client.transaction().await?;
            let new = transaction
                .query_opt(
                    "INSERT INTO rounds (context, signed, server, record_len, min_batch) VALUES ($1, $2, $3, $4, $5)
                     ON CONFLICT DO NOTHING RETURNING number",
                    &[&&context[..], &record.signed, &&record.server[..], &record_len, &min_batch],
                )
                .await?;
            // Asked after the insert, which waits for whoever is just finishing the round.
            let is_over =
                transaction.query_opt("SELECT FROM finished WHERE context = $1", &[&&context[..]]).await?.is_some();
            if is_over {
                return Ok(None);
            }
            if let Some(new) = new {
                let number: i64 = new.try_get(0)?;
                transaction.execute("INSERT INTO leases (context) VALUES ($1)", &[&&context[..]]).await?;
                transaction.batch_execute(&make_partitions(number)).await?;
                transaction.commit().await?;
                return Ok(Some((number, record.clone())));
            }
            // Another replica was first: its terms hold.
            let text = format!("SELECT {TERMS} FROM rounds WHERE context = $1");
            match transaction.query_opt(&text, &[&&context[..]]).await? {
                Some(row) => terms(&row).map(Some),
                None => Ok(None),
            }
        })?;
        made.map(|(number, terms)| self.round(context, number, terms)).transpose()
    }

    fn unfinished(&self) -> Result<Vec<Box<dyn RoundStore>>> {
        // All replicas ask every `poll_seconds`: as good a moment as any to set the clock.
        self.clock.refresh();
        let rows = self.database.run(async |client| {
            let rows = client.query(&format!("SELECT {TERMS} FROM rounds ORDER BY context"), &[]).await?;
            Ok::<_, ShufflerError>(rows)
        })?;
        let round = |row: &Row| {
            let (number, terms) = terms(row)?;
            self.round(array(row, 5)?, number, terms)
        };
        rows.iter().map(round).collect()
    }

    fn claim(&self, context: &RoundContext) -> Result<Claim> {
        let context = hash(context);
        self.database.run(async |client| {
            let claimed = client
                .execute(
                    "UPDATE leases SET holder = $2, until = clock_timestamp() + make_interval(secs => $3)
                     WHERE context = (SELECT context FROM leases
                         WHERE context = $1 AND (holder = $2 OR until < clock_timestamp()) FOR UPDATE SKIP LOCKED)",
                    &[&&context[..], &&self.holder[..], &LEASE.as_secs_f64()],
                )
                .await?;
            if claimed == 1 {
                return Ok(Claim::Ours);
            }
            let there = client.query_opt("SELECT FROM rounds WHERE context = $1", &[&&context[..]]).await?;
            Ok(if there.is_some() { Claim::Leased } else { Claim::Over })
        })
    }

    fn finish(&self, context: &RoundContext, store: Box<dyn RoundStore>) -> Result<()> {
        drop(store);
        let context = hash(context);
        self.database.run(async |client| {
            let transaction = client.transaction().await?;
            transaction
                .execute("INSERT INTO finished (context) VALUES ($1) ON CONFLICT DO NOTHING", &[&&context[..]])
                .await?;
            let gone = transaction
                .query_opt("DELETE FROM rounds WHERE context = $1 RETURNING number", &[&&context[..]])
                .await?;
            transaction.execute("DELETE FROM leases WHERE context = $1", &[&&context[..]]).await?;
            if let Some(gone) = gone {
                let number: i64 = gone.try_get(0)?;
                transaction
                    .batch_execute(&format!("DROP TABLE reports_{number}; DROP TABLE sequence_{number}"))
                    .await?;
            }
            transaction.commit().await?;
            Ok::<_, ShufflerError>(())
        })?;
        self.witness.reached(CommitPoint::Finished);
        self.witness.reached(CommitPoint::Deleted);
        Ok(())
    }
}
