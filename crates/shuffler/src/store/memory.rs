//! [`Memory`] as one small SQLite file.

use super::Memory;
use crate::error::{Result, ShufflerError};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use shuffledp_wire::TaskHash;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SCHEMA: &str = "
-- SHA-256 of the context. A context has one batch or none: a server that signs it again, with another window, gets no second one.
CREATE TABLE IF NOT EXISTS finished (context BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
-- Since when a key is not the newest any more, in milliseconds since 1970.
CREATE TABLE IF NOT EXISTS retired (public BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
-- Since when a key is the newest, as well.
CREATE TABLE IF NOT EXISTS activated (public BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
-- Tasks that a server has signed a round of.
CREATE TABLE IF NOT EXISTS tasks (server BLOB NOT NULL, task BLOB NOT NULL, PRIMARY KEY (server, task)) WITHOUT ROWID;
";

/// One small file that also tells a second shuffler that the folder is taken.
#[derive(Debug)]
pub struct SqliteMemory {
    connection: Mutex<Connection>,
}

impl SqliteMemory {
    /// Opens or makes it, and holds it for this process alone.
    ///
    /// # Errors
    ///
    /// [`InUse`](ShufflerError::InUse) if another process holds it.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(std::time::Duration::ZERO)?;
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            connection.pragma_update(None, "synchronous", "EXTRA")?;
            connection.pragma_update(None, "secure_delete", true)?;
            // In exclusive mode the lock of a first write is kept to the end.
            connection.execute_batch("BEGIN EXCLUSIVE;")?;
            connection.execute_batch(SCHEMA)?;
            connection.execute_batch("COMMIT;")?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Self { connection: Mutex::new(connection) }),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Err(ShufflerError::InUse { path: path.parent().unwrap_or(path).to_owned() })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // Single statements: a thread that panicked left nothing half done.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A context is over. Durable when it returns.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub(super) fn finish(&self, context: &[u8; 32]) -> Result<()> {
        self.connection().execute("INSERT OR IGNORE INTO finished VALUES (?1)", [context])?;
        Ok(())
    }
}

impl Memory for SqliteMemory {
    fn is_finished(&self, context: &[u8; 32]) -> Result<bool> {
        let found = self
            .connection()
            .query_row("SELECT 1 FROM finished WHERE context = ?1", [context], |_| Ok(()))
            .optional()?;
        Ok(found.is_some())
    }

    fn know(&self, server: &[u8; 32], task: &TaskHash) -> Result<()> {
        self.connection().execute("INSERT OR IGNORE INTO tasks VALUES (?1, ?2)", params![server, task.as_bytes()])?;
        Ok(())
    }

    fn tasks(&self, server: &[u8; 32]) -> Result<Vec<TaskHash>> {
        let connection = self.connection();
        let mut statement = connection.prepare("SELECT task FROM tasks WHERE server = ?1")?;
        let tasks = statement.query_map([server], |row| Ok(TaskHash::from_bytes(row.get(0)?)))?;
        Ok(tasks.collect::<rusqlite::Result<_>>()?)
    }

    fn active_since(&self, public: &[u8; 32], now: u64) -> Result<u64> {
        self.since("activated", public, now)
    }

    fn retired_since(&self, public: &[u8; 32], now: u64) -> Result<u64> {
        self.since("retired", public, now)
    }
}

impl SqliteMemory {
    fn since(&self, table: &'static str, public: &[u8; 32], now: u64) -> Result<u64> {
        let connection = self.connection();
        let known = format!("SELECT since FROM {table} WHERE public = ?1");
        let find = || connection.query_row(&known, [public], |row| row.get(0)).optional();
        let since: i64 = match find()? {
            Some(since) => since,
            None => {
                let now = i64::try_from(now).unwrap_or(i64::MAX);
                connection.execute(&format!("INSERT INTO {table} VALUES (?1, ?2)"), params![public, now])?;
                now
            }
        };
        Ok(since.unsigned_abs())
    }
}
