//! PostgreSQL beneath the services: connections, TLS, migrations, the database's clock.
//!
//! The services block on storage in threads of their own, as they do with SQLite. So the crate has
//! a blocking face: [`Database::run`] waits for asynchronous work, on any thread. Connections live
//! on a small runtime of the crate's own, and go on whatever the service's runtime does.
//!
//! **Driver.** `tokio-postgres` with `deadpool`, and not `sqlx`: SQL stays text that a reviewer can
//! paste into `psql`, nothing asks a database while it compiles, and rustls with ring, which the
//! services have anyway, is the only TLS.

mod clock;
mod database;
mod error;
mod migrations;
mod tls;
mod url;

pub use clock::DatabaseClock;
pub use database::{Connection, Database, Interrupted};
pub use deadpool_postgres::Transaction;
pub use error::PostgresError;
pub use migrations::Schema;
pub use tokio_postgres::{Error as QueryError, IsolationLevel, Row};
pub use url::DatabaseUrl;
