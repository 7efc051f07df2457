//! Connections, and a way to wait for them on any thread.

use crate::error::PostgresError;
use crate::migrations::{Schema, migrate};
use crate::url::DatabaseUrl;
use crate::{clock, tls};
use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime as PoolRuntime};
use deadpool_postgres::{Timeouts, Transaction};
use futures_executor::block_on;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::IsolationLevel;

/// One connection of the pool.
pub type Connection = Client;

/// Connections of one process to one schema. Several replicas share the database's
/// `max_connections`, 100 unless it says otherwise.
const CONNECTIONS: usize = 16;
/// Until a connection must be there.
const PATIENCE: Duration = Duration::from_secs(5);
/// Until a piece of work must be done, unless it says otherwise.
const WORK: Duration = Duration::from_secs(60);
/// How often a transaction that lost a race is tried again.
const RACES: u32 = 20;

/// A database with a service's tables.
pub struct Database {
    pool: Pool,
    runtime: Option<Runtime>,
    place: String,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Database({})", self.place)
    }
}

impl Database {
    /// Connects, and brings the tables of `schema` to this program's version. Blocks.
    ///
    /// # Errors
    ///
    /// If there is no connection, the database does not keep what it commits, or a newer program
    /// has changed the tables.
    pub fn open(url: &DatabaseUrl, schema: &Schema) -> Result<Self, PostgresError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()?;
        let mut config = url.config();
        config
            .application_name("shuffledp")
            .connect_timeout(PATIENCE)
            .keepalives_idle(Duration::from_secs(10))
            .tcp_user_timeout(Duration::from_secs(15))
            // A process that stands still must not keep the others waiting for its locks.
            .options(format!(
                "-c search_path={} -c idle_in_transaction_session_timeout=20s -c lock_timeout=30s",
                schema.name
            ));
        let manager = Manager::from_config(
            config,
            tls::connector(url.roots())?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let timeouts = Timeouts { wait: Some(PATIENCE), create: Some(PATIENCE), recycle: Some(PATIENCE) };
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .timeouts(timeouts)
            .runtime(PoolRuntime::Tokio1)
            .build()
            .map_err(|error| PostgresError::NoConnection(error.to_string()))?;
        let database = Self { pool, runtime: Some(runtime), place: url.to_string() };
        let schema = *schema;
        database.run(async move |client: &mut Client| {
            check_durable(client).await?;
            migrate(client, &schema).await
        })?;
        Ok(database)
    }

    /// Waits for work on a connection. Blocks the thread, which may be any.
    ///
    /// # Errors
    ///
    /// The error of `work`; or if there is no connection or no answer in time.
    pub fn run<T, E: From<PostgresError>>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_within(WORK, work)
    }

    /// The same, with another time to wait.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_within<T, E: From<PostgresError>>(
        &self,
        time: Duration,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.wait(async {
            let mut client = self.pool.get().await.map_err(no_connection)?;
            match tokio::time::timeout(time, work(&mut client)).await {
                Ok(done) => done,
                Err(_) => {
                    // Whatever it is waiting for, nobody waits for this connection again.
                    drop(Client::take(client));
                    Err(PostgresError::TooSlow.into())
                }
            }
        })
    }

    /// A transaction as if it were alone: what it read is still so when it commits. Tried again
    /// when it lost a race, so `work` may run more than once.
    ///
    /// # Errors
    ///
    /// The error of `work`, and as [`run`](Self::run). Then nothing has changed, unless the connection
    /// broke at the commit.
    pub fn serializable<T, E: From<PostgresError>>(
        &self,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Interrupted<E>>,
    ) -> Result<T, E> {
        self.run(async |client| {
            for _ in 0..RACES {
                let begin = client.build_transaction().isolation_level(IsolationLevel::Serializable);
                let transaction = begin.start().await.map_err(PostgresError::from)?;
                let done = match work(&transaction).await {
                    Ok(value) => transaction.commit().await.map(|()| value),
                    Err(Interrupted::Refused(error)) => return Err(error),
                    Err(Interrupted::Query(error)) => {
                        // Said now, so that the next attempt does not begin inside this one.
                        drop(transaction.rollback().await);
                        Err(error)
                    }
                };
                match done {
                    Ok(value) => return Ok(value),
                    Err(error) if PostgresError::lost_a_race(&error) => {}
                    Err(error) => return Err(PostgresError::from(error).into()),
                }
            }
            Err(PostgresError::TooSlow.into())
        })
    }

    /// The milliseconds since 1970 that the database's clock shows.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn now(&self) -> Result<u64, PostgresError> {
        self.run(async |client| clock::ask(client).await)
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        // Sockets and timers belong to the runtime that is entered; the thread that waits needs
        // none.
        let _entered = self.runtime.as_ref().map(Runtime::enter);
        // Called inside a task of another runtime, its budget must not end here: nobody would renew
        // it.
        block_on(tokio::task::unconstrained(work))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.pool.close();
        // Without waiting, which is not allowed everywhere. What was committed is committed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a serializable transaction did not come to its end.
#[derive(Debug)]
pub enum Interrupted<E> {
    /// By the database; another attempt may succeed.
    Query(tokio_postgres::Error),
    /// By what was read: there is no other attempt.
    Refused(E),
}

impl<E> From<tokio_postgres::Error> for Interrupted<E> {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Query(error)
    }
}

fn no_connection(error: PoolError) -> PostgresError {
    match error {
        PoolError::Backend(error) => PostgresError::NoConnection(PostgresError::from(error).to_string()),
        PoolError::Timeout(_) => {
            PostgresError::NoConnection("all connections are busy, or none could be made in time".to_owned())
        }
        other => PostgresError::NoConnection(other.to_string()),
    }
}

/// Refuses a database that says "committed" before it is on disk.
async fn check_durable(client: &Client) -> Result<(), PostgresError> {
    for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
        let value: String = client.query_one("SELECT current_setting($1)", &[&setting]).await?.get(0);
        if value == "off" {
            return Err(PostgresError::NotDurable { setting, value });
        }
    }
    Ok(())
}
