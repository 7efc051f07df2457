//! One round's rows.

use super::{array, damaged};
use crate::error::{Result, ShufflerError};
use crate::permutation::Permute;
use crate::store::{OpaqueReport, Outcome, RoundStore, RoundTerms, SealedBatch};
use crate::witness::{CommitPoint, Witness};
use shuffledp_postgres::{Connection, Database, Transaction};
use shuffledp_wire::{BatchId, SystemRandom};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

const DIGEST: usize = 32;
/// Digests in a row of the sequence.
const ROW: usize = 4096;
/// Bytes of reports that are read at once, about.
const CHUNK: usize = 2 << 20;
/// Until a round of millions must be sealed.
const SEALING: Duration = Duration::from_secs(600);

/// In one statement, which is one transaction: locks the round while it is open, and inserts what
/// is not there. In the order of digests, so that two replicas with the same reports do not wait
/// for each other in a circle, and the place of a row says nothing.
const ADD: &str = "
WITH round AS (SELECT number FROM rounds WHERE context = $1 AND state = 'open' FOR SHARE),
     added AS (INSERT INTO reports (round, digest, body)
               SELECT number, digest, body FROM round, unnest($2::bytea[], $3::bytea[]) AS report (digest, body)
               ON CONFLICT DO NOTHING RETURNING 1)
SELECT (SELECT count(*) FROM round), (SELECT count(*) FROM added)";

/// The reports of these digests, in the order in which they are named.
const READ: &str = "
SELECT body FROM unnest($2::bytea[]) WITH ORDINALITY AS named (digest, place)
JOIN reports ON reports.round = $1 AND reports.digest = named.digest ORDER BY place";

pub(super) struct PostgresRound {
    database: Arc<Database>,
    context: [u8; 32],
    number: i64,
    terms: RoundTerms,
    random: SystemRandom,
    witness: Arc<dyn Witness>,
}

impl PostgresRound {
    pub(super) fn new(
        database: Arc<Database>,
        context: [u8; 32],
        number: i64,
        terms: RoundTerms,
        witness: Arc<dyn Witness>,
    ) -> Result<Self> {
        Ok(Self { database, context, number, terms, random: SystemRandom::from_operating_system()?, witness })
    }

    /// Locks the round against all who add, and says what became of it before.
    async fn close(&self, transaction: &Transaction<'_>) -> Result<Option<SealedBatch>> {
        let closed = transaction
            .execute(
                "UPDATE rounds SET state = 'short' WHERE context = $1 AND state <> 'sealed'",
                &[&&self.context[..]],
            )
            .await?;
        if closed == 1 {
            return Ok(None);
        }
        let batch = "SELECT batch, count FROM rounds WHERE context = $1 AND state = 'sealed'";
        let row = transaction.query_opt(batch, &[&&self.context[..]]).await?.ok_or(ShufflerError::Over)?;
        self.batch(array(&row, 0)?, row.try_get(1)?).map(Some)
    }

    fn batch(&self, id: [u8; 16], count: i64) -> Result<SealedBatch> {
        let count = u64::try_from(count).map_err(|_| damaged("count"))?;
        Ok(SealedBatch { batch: BatchId::from_bytes(id), count, record_len: self.terms.record_len })
    }

    async fn seal(&mut self, client: &mut Connection, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        let transaction = client.transaction().await?;
        if let Some(sealed) = self.close(&transaction).await? {
            return Ok(Outcome::Sealed(sealed));
        }
        // Of the partition alone: a look at all of them would make the end of other rounds wait.
        let text = format!("SELECT digest FROM reports_{} ORDER BY digest", self.number);
        let rows = transaction.query(&text, &[]).await?;
        let digests: Vec<[u8; DIGEST]> = rows.iter().map(|row| array(row, 0)).collect::<Result<_>>()?;
        drop(rows);
        let count = digests.len() as u64;
        if count < min_batch.max(self.terms.min_batch) {
            // A last word: nothing is added any more, by whatever replica.
            transaction.commit().await?;
            return Ok(Outcome::Short);
        }
        let records = u32::try_from(count).map_err(|_| damaged("more than 2^32 reports"))?;
        let mut order: Vec<u32> = (0..records).collect();
        permute.permute(&mut order);
        let id = *BatchId::random(&mut self.random).as_bytes();
        let insert = format!("INSERT INTO sequence_{} (round, place, digests) VALUES ($1, $2, $3)", self.number);
        let insert = transaction.prepare(&insert).await?;
        for (place, row) in order.chunks(ROW).enumerate() {
            let packed: Vec<u8> = row.iter().flat_map(|&index| digests[index as usize]).collect();
            transaction.execute(&insert, &[&self.number, &(place as i64), &packed]).await?;
        }
        // At most 2^32.
        let count = count as i64;
        transaction
            .execute(
                "UPDATE rounds SET state = 'sealed', batch = $2, count = $3 WHERE context = $1",
                &[&&self.context[..], &&id[..], &count],
            )
            .await?;
        self.witness.reached(CommitPoint::BeforeSeal);
        transaction.commit().await?;
        self.witness.reached(CommitPoint::AfterSeal);
        self.batch(id, count).map(Outcome::Sealed)
    }

    /// One row of the sequence.
    fn sequence(&self, place: i64) -> Result<Option<Vec<u8>>> {
        self.database.run(async |client| {
            let statement =
                client.prepare_cached("SELECT digests FROM sequence WHERE round = $1 AND place = $2").await?;
            match client.query_opt(&statement, &[&self.number, &place]).await? {
                Some(row) => Ok(Some(row.try_get(0)?)),
                None => Ok::<_, ShufflerError>(None),
            }
        })
    }

    /// Reports in the order of these digests.
    fn bodies(&self, digests: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let bodies = self.database.run(async |client| {
            let statement = client.prepare_cached(READ).await?;
            let rows = client.query(&statement, &[&self.number, &digests]).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<Vec<u8>>>>()
        })?;
        if bodies.len() == digests.len() { Ok(bodies) } else { Err(damaged("a report of a batch is missing")) }
    }
}

impl RoundStore for PostgresRound {
    fn record(&self) -> &RoundTerms {
        &self.terms
    }

    fn add(&mut self, mut entries: Vec<OpaqueReport>) -> Result<()> {
        entries.sort_unstable_by_key(|entry| entry.digest);
        entries.dedup_by_key(|entry| entry.digest);
        let digests: Vec<&[u8]> = entries.iter().map(|entry| &entry.digest[..]).collect();
        let bodies: Vec<&[u8]> = entries.iter().map(|entry| &entry.body[..]).collect();
        self.witness.reached(CommitPoint::BeforeReports);
        let open: i64 = self.database.run(async |client| {
            let statement = client.prepare_cached(ADD).await?;
            Ok::<_, ShufflerError>(
                client.query_one(&statement, &[&&self.context[..], &digests, &bodies]).await?.try_get(0)?,
            )
        })?;
        self.witness.reached(CommitPoint::AfterReports);
        if open == 1 { Ok(()) } else { Err(ShufflerError::Sealed) }
    }

    /// PostgreSQL looks after itself.
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn seal(&mut self, min_batch: u64, permute: &mut dyn Permute) -> Result<Outcome> {
        let database = Arc::clone(&self.database);
        database.run_within(SEALING, async |client| Self::seal(self, client, min_batch, permute).await)
    }

    fn sealed(&self) -> Result<Option<SealedBatch>> {
        self.database.run(async |client| {
            let batch = "SELECT batch, count FROM rounds WHERE context = $1 AND state = 'sealed'";
            match client.query_opt(batch, &[&&self.context[..]]).await? {
                Some(row) => self.batch(array(&row, 0)?, row.try_get(1)?).map(Some),
                None => Ok(None),
            }
        })
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let together = (CHUNK / self.terms.record_len.max(1) as usize).clamp(1, ROW);
        let mut place = 0;
        while let Some(packed) = self.sequence(place)? {
            let digests: Vec<&[u8]> = packed.chunks_exact(DIGEST).collect();
            for digests in digests.chunks(together) {
                for body in self.bodies(digests)? {
                    if visit(&body).is_break() {
                        return Ok(());
                    }
                }
            }
            place += 1;
        }
        if place == 0 { Err(damaged("there is no batch")) } else { Ok(()) }
    }
}
