//! The record that outlives rounds, for all replicas.

use super::array;
use crate::error::{Result, ShufflerError};
use crate::store::Memory;
use shuffledp_postgres::Database;
use shuffledp_wire::TaskHash;
use std::sync::Arc;

/// Three tables.
#[derive(Debug)]
pub(super) struct PostgresMemory {
    database: Arc<Database>,
}

impl PostgresMemory {
    pub(super) fn new(database: Arc<Database>) -> Self {
        Self { database }
    }
}

impl Memory for PostgresMemory {
    fn is_finished(&self, context: &[u8; 32]) -> Result<bool> {
        self.database.run(async |client| {
            let statement = client.prepare_cached("SELECT FROM finished WHERE context = $1").await?;
            Ok::<_, ShufflerError>(client.query_opt(&statement, &[&&context[..]]).await?.is_some())
        })
    }

    fn know(&self, server: &[u8; 32], task: &TaskHash) -> Result<()> {
        self.database.run(async |client| {
            let insert = "INSERT INTO tasks (server, task) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            client.execute(insert, &[&&server[..], &&task.as_bytes()[..]]).await?;
            Ok::<_, ShufflerError>(())
        })
    }

    fn tasks(&self, server: &[u8; 32]) -> Result<Vec<TaskHash>> {
        self.database.run(async |client| {
            let rows = client.query("SELECT task FROM tasks WHERE server = $1", &[&&server[..]]).await?;
            rows.iter().map(|row| Ok(TaskHash::from_bytes(array(row, 0)?))).collect()
        })
    }

    fn active_since(&self, public: &[u8; 32], now: u64) -> Result<u64> {
        self.since("activated", public, now)
    }

    fn retired_since(&self, public: &[u8; 32], now: u64) -> Result<u64> {
        self.since("retired", public, now)
    }
}

impl PostgresMemory {
    /// When a key was first seen in this table: now, if it was not.
    fn since(&self, table: &'static str, public: &[u8; 32], now: u64) -> Result<u64> {
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        self.database.run(async |client| {
            let known = client.prepare_cached(&format!("SELECT since FROM {table} WHERE public = $1")).await?;
            if let Some(row) = client.query_opt(&known, &[&&public[..]]).await? {
                return Ok(row.try_get::<_, i64>(0)?.unsigned_abs());
            }
            let insert = format!("INSERT INTO {table} (public, since) VALUES ($1, $2) ON CONFLICT DO NOTHING");
            client.execute(&insert, &[&&public[..], &now]).await?;
            let row = client.query_one(&known, &[&&public[..]]).await?;
            Ok::<_, ShufflerError>(row.try_get::<_, i64>(0)?.unsigned_abs())
        })
    }
}
