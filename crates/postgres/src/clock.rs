//! The database's clock, which all replicas share.

use crate::database::Database;
use crate::error::PostgresError;
use deadpool_postgres::Client;
use shuffledp_host::Clock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two questions.
const REFRESH: Duration = Duration::from_secs(1);

/// Shows the database's time: asked now and then, and carried on in between by a clock that nobody
/// sets.
///
/// **Direction: late, never early.** The answer counts from the moment when it arrives, so it is
/// behind by the way that it took. A round therefore ends late rather than early, and all replicas
/// end it by one clock.
pub struct DatabaseClock {
    database: Arc<Database>,
    last: Mutex<Answer>,
}

#[derive(Debug, Clone, Copy)]
struct Answer {
    now: u64,
    arrived: Instant,
    /// When it was asked last, whatever came of it.
    asked: Instant,
}

impl std::fmt::Debug for DatabaseClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseClock").field("database", &self.database).finish_non_exhaustive()
    }
}

impl DatabaseClock {
    /// Asks for the first time. Blocks.
    ///
    /// # Errors
    ///
    /// If the database does not answer.
    pub fn new(database: Arc<Database>) -> Result<Self, PostgresError> {
        let asked = Instant::now();
        let last = Mutex::new(Answer { now: database.now()?, arrived: Instant::now(), asked });
        Ok(Self { database, last })
    }

    fn last(&self) -> MutexGuard<'_, Answer> {
        // Replaced whole.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks again if the last answer is old. Blocks. While the database does not answer, the time
    /// goes on by itself.
    pub fn refresh(&self) {
        let asked = Instant::now();
        {
            let mut last = self.last();
            if asked.duration_since(last.asked) < REFRESH {
                return;
            }
            last.asked = asked;
        }
        match self.database.now() {
            Ok(now) => *self.last() = Answer { now, arrived: Instant::now(), asked },
            Err(error) => tracing::debug!(%error, "the database did not tell the time"),
        }
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> u64 {
        let Answer { now, arrived, .. } = *self.last();
        now.saturating_add(u64::try_from(arrived.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

pub(crate) async fn ask(client: &Client) -> Result<u64, PostgresError> {
    let statement = client.prepare_cached("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint").await?;
    let now: i64 = client.query_one(&statement, &[]).await?.get(0);
    Ok(u64::try_from(now).unwrap_or(0))
}
