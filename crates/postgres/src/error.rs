//! Errors of the database's connection. No message contains a password.

use std::error::Error;
use std::fmt::Write as _;
use tokio_postgres::error::SqlState;

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The address in the configuration.
    #[error("`store`: {0}")]
    Url(String),
    /// TLS could not be set up.
    #[error("TLS to the database: {0}")]
    Tls(String),
    /// A setting of the database with which acknowledged data could be lost.
    #[error("the database has {setting} = {value}: what is acknowledged must be on disk; set {setting} = on")]
    NotDurable {
        /// Its name.
        setting: &'static str,
        /// The setting.
        value: String,
    },
    /// A newer program has changed the tables.
    #[error("schema {schema} has version {found}, and this program knows {known}: start the newer program")]
    Newer {
        /// Which schema.
        schema: &'static str,
        /// Its version.
        found: i32,
        /// The newest one that this program knows.
        known: i32,
    },
    /// No connection.
    #[error("no connection to the database: {0}")]
    NoConnection(String),
    /// No answer in time.
    #[error("the database did not answer in time")]
    TooSlow,
    /// The error of the database.
    #[error("{}", whole(.0))]
    Query(#[from] tokio_postgres::Error),
    /// A thread or runtime of the operating system.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl PostgresError {
    /// Whether the same may succeed later: the database cannot be reached at the moment.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NoConnection(_) | Self::TooSlow => true,
            Self::Query(error) => error.is_closed(),
            _ => false,
        }
    }

    /// Whether the same transaction may succeed when it is tried again: it lost a race.
    #[must_use]
    pub fn lost_a_race(error: &tokio_postgres::Error) -> bool {
        matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
    }
}

/// The whole message: `tokio-postgres` says only "db error", and the rest in what caused it.
fn whole(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing into a String cannot fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
