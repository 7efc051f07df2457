//! Tables, made and changed step by step.

use crate::error::PostgresError;
use deadpool_postgres::Client;

/// The tables of one service, in a schema of their own.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name, which is SQL.
    pub name: &'static str,
    /// The steps from each version to the next, the first from nothing to version 1. Steps that
    /// were released are never changed.
    pub steps: &'static [&'static str],
}

impl Schema {
    /// The newest version that this program knows.
    fn version(&self) -> i32 {
        self.steps.len() as i32
    }
}

/// Brings the tables to this program's version; all of it or nothing, whoever else starts at the
/// same time.
pub(crate) async fn migrate(client: &mut Client, schema: &Schema) -> Result<(), PostgresError> {
    let transaction = client.transaction().await?;
    // Of all replicas that start at once, one makes the tables, and the others find them.
    transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&schema.name]).await?;
    let name = schema.name;
    let there = transaction.query_one("SELECT to_regnamespace($1) IS NOT NULL", &[&name]).await?;
    if !there.get::<_, bool>(0) {
        transaction.batch_execute(&format!("CREATE SCHEMA {name}; REVOKE ALL ON SCHEMA {name} FROM PUBLIC")).await?;
    }
    transaction
        .batch_execute(&format!(
            "CREATE TABLE IF NOT EXISTS {name}.migrations
                 (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
        ))
        .await?;
    let found: i32 = transaction.query_one("SELECT coalesce(max(version), 0) FROM migrations", &[]).await?.get(0);
    let known = schema.version();
    if found > known {
        return Err(PostgresError::Newer { schema: schema.name, found, known });
    }
    for version in found + 1..=known {
        transaction.batch_execute(schema.steps[(version - 1) as usize]).await?;
        transaction.execute("INSERT INTO migrations (version) VALUES ($1)", &[&version]).await?;
        tracing::info!(schema = schema.name, version, "tables migrated");
    }
    transaction.commit().await?;
    Ok(())
}
