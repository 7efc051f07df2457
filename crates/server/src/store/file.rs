//! The store as one SQLite file.

use super::migrations::{check_known, migrate};
use super::row::{
    array, decode_charge, decode_state, encode_charge, encode_state, integer, model_hash, natural, parse_status,
    read_keys,
};
use super::writes::{forget, insert_batch, insert_charges, insert_model, write};
use super::{
    BatchRecord, Beginning, Charges, Closing, Opening, RoundSummary, Status, Store, TaskRecord, check_overtaken,
};
use crate::error::{Result, ServerError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_host::files;
use shuffledp_wire::{BatchId, KeysHash, ModelHash, RoundContext, TaskHash, encode_keys};
use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

/// How long a server that is just ending may still hold the file.
const PATIENCE: Duration = Duration::from_millis(500);

/// One SQLite file. A transaction that has returned is on the disk (`synchronous = FULL`), and
/// nobody else may open the file meanwhile: two servers on one budget would exceed it.
pub struct FileStore {
    connection: Connection,
}

impl FileStore {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path).map_err(|error| ServerError::store("opened", error))?;
        Self::prepare(connection).map_err(|error| match error {
            ServerError::Store { source, .. } if is_busy(&*source) => ServerError::InUse(path.to_owned()),
            other => other,
        })
    }

    fn prepare(mut connection: Connection) -> Result<Self> {
        let complain = |error| ServerError::store("prepared", error);
        connection.busy_timeout(PATIENCE).map_err(complain)?;
        // The lock comes first: with it WAL needs no shared memory.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(complain)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(complain)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(complain)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(complain)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(complain)?;
        migrate(&transaction)?;
        transaction.commit().map_err(complain)?;
        Ok(Self { connection })
    }

    /// The layout of a file, which is not changed; an error if this program cannot open it.
    pub fn layout(path: &Path) -> Result<i64> {
        let complain = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy) => ServerError::InUse(path.to_owned()),
            _ => ServerError::store("read", error),
        };
        let file = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(complain)?;
        let version = file.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(complain)?;
        check_known(version)?;
        Ok(version)
    }

    /// Gives up the round that is open, if one is, of whatever task. It stays charged.
    pub(crate) fn abandon_open(&mut self) -> Result<()> {
        self.transact(|transaction| {
            let abandoned = transaction.execute("UPDATE rounds SET status = 'abandoned' WHERE status = 'open'", []);
            abandoned.map(|_| ()).map_err(write)
        })
    }

    /// All or nothing: an error on the way rolls back.
    fn transact(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<()>) -> Result<()> {
        let complain = |error| ServerError::store("written to", error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(complain)?;
        work(&transaction)?;
        transaction.commit().map_err(complain)
    }
}

fn is_busy(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    error == Some(rusqlite::ErrorCode::DatabaseBusy)
}

fn read(error: rusqlite::Error) -> ServerError {
    ServerError::store("read", error)
}

impl Store for FileStore {
    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
        let mut statement = self
            .connection
            .prepare("SELECT entry, COUNT(*) FROM ledger GROUP BY entry ORDER BY entry")
            .map_err(read)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).map_err(read)?;
        rows.map(|row| {
            let (entry, count) = row.map_err(read)?;
            Ok((decode_charge(&entry)?, natural(count)?))
        })
        .collect()
    }

    fn charges(&mut self) -> Result<Vec<Charges>> {
        let mut statement =
            self.connection.prepare("SELECT task, round, entry FROM ledger ORDER BY task, round").map_err(read)?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?, row.get::<_, String>(2)?)))
            .map_err(read)?;
        let mut charges: Vec<Charges> = Vec::new();
        for row in rows {
            let (task, round, entry) = row.map_err(read)?;
            let (task, round) = (TaskHash::from_bytes(array(&task)?), natural(round)?);
            let charge = decode_charge(&entry)?;
            match charges.last_mut() {
                Some(before) if (before.task, before.last + 1, before.charge) == (task, round, charge) => {
                    before.last = round;
                }
                _ => charges.push(Charges { task, first: round, last: round, charge }),
            }
        }
        Ok(charges)
    }

    fn charge(&mut self, charges: &[Charges]) -> Result<()> {
        self.transact(|transaction| charges.iter().try_for_each(|charges| insert_charges(transaction, charges)))
    }

    fn backup(&mut self, to: &Path) -> Result<()> {
        let path = to.to_str().ok_or_else(|| ServerError::Config(format!("{} is not UTF-8", to.display())))?;
        // SQLite would fill an empty file that is there, whoever may read it.
        files::create(to, b"").map_err(ServerError::file("create", to))?;
        let copied = self.connection.execute("VACUUM INTO ?1", [path]);
        copied.map(|_| ()).map_err(|error| {
            let _ = files::remove(to);
            ServerError::store("copied", error)
        })?;
        std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(ServerError::file("write", to))
    }

    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
        let state = self
            .connection
            .query_row("SELECT state FROM tasks WHERE hash = ?1", [task.as_bytes()], |row| row.get::<_, Vec<u8>>(0))
            .optional()
            .map_err(read)?;
        let Some(state) = state else { return Ok(None) };
        let last = self
            .connection
            .query_row(
                "SELECT round, model, opens, closes, epsilon, epsilon_lower, entry, status, keys, gives_up, extended
                 FROM rounds JOIN ledger USING (task, round) WHERE task = ?1 ORDER BY round DESC LIMIT 1",
                [task.as_bytes()],
                |row| {
                    let (model, keys): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(8)?);
                    let (entry, status): (String, String) = (row.get(6)?, row.get(7)?);
                    let times = (row.get(2)?, row.get(3)?, row.get(9)?, row.get(10)?);
                    Ok((row.get(0)?, model, times, row.get(4)?, row.get(5)?, entry, status, keys))
                },
            )
            .optional()
            .map_err(read)?;
        let state = decode_state(&state)?;
        let charged = self
            .connection
            .query_row("SELECT COALESCE(MAX(round), 0) FROM ledger WHERE task = ?1", [task.as_bytes()], |row| {
                row.get(0)
            })
            .map_err(read)?;
        let charged = natural(charged)?;
        let Some((round, model, times, epsilon, epsilon_lower, entry, status, keys)) = last else {
            return Ok(Some(TaskRecord { state, last: None, is_open: false, charged }));
        };
        let (opens, closes, gives_up, extended) = times;
        let (model, keys) = (model_hash(&model)?, read_keys(&keys)?);
        let last = Opening {
            context: RoundContext { task: *task, round: natural(round)?, model, keys: KeysHash::of(&keys) },
            keys,
            charge: decode_charge(&entry)?,
            opens: natural(opens)?,
            closes: natural(closes)?,
            gives_up: natural(gives_up)?,
            extended,
            epsilon,
            epsilon_lower,
        };
        Ok(Some(TaskRecord { state, last: Some(last), is_open: parse_status(&status)? == Status::Open, charged }))
    }

    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
        let Beginning { task, encoding, state, model, bytes, replaces } = beginning;
        self.transact(|transaction| {
            let abandoned = transaction
                .execute(
                    "UPDATE rounds SET status = 'abandoned' WHERE status = 'open' AND task <> ?1",
                    [task.as_bytes()],
                )
                .map_err(write)?;
            if abandoned > 0 && !replaces {
                return Err(ServerError::TaskChanged);
            }
            transaction
                .execute(
                    "INSERT INTO tasks (hash, encoding, state) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                    params![task.as_bytes(), encoding, encode_state(state)],
                )
                .map_err(write)?;
            insert_model(transaction, model, bytes)
        })
    }

    fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
        let Opening { context, keys, charge, opens, closes, gives_up, extended, epsilon, epsilon_lower } = opening;
        let (task, round) = (context.task.as_bytes(), integer(context.round)?);
        let (opens, closes, gives_up) = (integer(*opens)?, integer(*closes)?, integer(*gives_up)?);
        let entry = encode_charge(charge)?;
        self.transact(|transaction| {
            let found = transaction.query_row("SELECT COUNT(*) FROM ledger", [], |row| row.get(0)).map_err(read)?;
            check_overtaken(natural(found)?, known)?;
            transaction
                .execute("INSERT INTO ledger (task, round, entry) VALUES (?1, ?2, ?3)", params![task, round, entry])
                .map_err(write)?;
            transaction
                .execute(
                    "INSERT INTO rounds (task, round, model, keys, opens, closes, status, epsilon, epsilon_lower, gives_up, extended)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7, ?8, ?9, ?10)",
                    params![
                        task,
                        round,
                        context.model.as_bytes(),
                        encode_keys(keys),
                        opens,
                        closes,
                        epsilon,
                        epsilon_lower,
                        gives_up,
                        extended
                    ],
                )
                .map_err(write)?;
            Ok(())
        })
    }

    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
        let (task, round, gives_up) = (context.task.as_bytes(), integer(context.round)?, integer(gives_up)?);
        self.transact(|transaction| {
            let extended = transaction
                .execute(
                    "UPDATE rounds SET gives_up = ?1, extended = 1
                     WHERE task = ?2 AND round = ?3 AND status = 'open' AND extended = 0",
                    params![gives_up, task, round],
                )
                .map_err(write)?;
            if extended == 1 { Ok(()) } else { Err(ServerError::RoundClosed { round: context.round }) }
        })
    }

    fn close(&mut self, closing: &Closing<'_>) -> Result<()> {
        let context = &closing.context;
        let (task, round) = (context.task.as_bytes(), integer(context.round)?);
        let status = if closing.batch.is_some() { "done" } else { "expired" };
        self.transact(|transaction| {
            let closed = transaction
                .execute(
                    "UPDATE rounds SET status = ?1 WHERE task = ?2 AND round = ?3 AND model = ?4 AND status = 'open'",
                    params![status, task, round, context.model.as_bytes()],
                )
                .map_err(write)?;
            if closed != 1 {
                return Err(ServerError::RoundClosed { round: context.round });
            }
            insert_batch(transaction, closing, round)?;
            for (hash, bytes) in closing.models {
                insert_model(transaction, hash, bytes)?;
            }
            transaction
                .execute("UPDATE tasks SET state = ?2 WHERE hash = ?1", params![task, encode_state(closing.state)])
                .map_err(write)?;
            transaction
                .execute(
                    "INSERT INTO metrics (task, round, accuracy, answer) VALUES (?1, ?2, ?3, ?4)",
                    params![task, round, closing.accuracy, closing.answer.as_bytes()],
                )
                .map_err(write)?;
            forget(transaction, task, round)
        })
    }

    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>> {
        let row = self
            .connection
            .query_row(
                "SELECT task, model, keys, round, accepted, rejected FROM batches WHERE id = ?1",
                [id.as_bytes()],
                |row| {
                    let hash = |column| row.get::<_, Vec<u8>>(column);
                    Ok((hash(0)?, hash(1)?, hash(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
                },
            )
            .optional()
            .map_err(read)?;
        let Some((task, model, keys, round, accepted, rejected)) = row else { return Ok(None) };
        let context = RoundContext {
            task: TaskHash::from_bytes(array(&task)?),
            round: natural(round)?,
            model: model_hash(&model)?,
            keys: KeysHash::from_bytes(array(&keys)?),
        };
        Ok(Some(BatchRecord { context, accepted: natural(accepted)?, rejected: natural(rejected)? }))
    }

    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.connection
            .query_row("SELECT bytes FROM models WHERE hash = ?1", [hash.as_bytes()], |row| row.get(0))
            .optional()
            .map_err(read)
    }

    fn models(&mut self) -> Result<HashSet<ModelHash>> {
        let mut statement = self.connection.prepare("SELECT hash FROM models").map_err(read)?;
        let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).map_err(read)?;
        rows.map(|row| model_hash(&row.map_err(read)?)).collect()
    }

    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT rounds.round, status, epsilon, epsilon_lower, COALESCE(accepted, 0), COALESCE(rejected, 0), accuracy
                 FROM rounds LEFT JOIN batches USING (task, round) LEFT JOIN metrics USING (task, round)
                 WHERE rounds.task = ?1 ORDER BY rounds.round",
            )
            .map_err(read)?;
        let rows = statement
            .query_map([task.as_bytes()], |row| {
                Ok((
                    row.get(0)?,
                    row.get::<_, String>(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                    row.get(6)?,
                ))
            })
            .map_err(read)?;
        rows.map(|row| {
            let (round, status, epsilon, epsilon_lower, accepted, rejected, test_accuracy) = row.map_err(read)?;
            Ok(RoundSummary {
                round: natural(round)?,
                status: parse_status(&status)?,
                epsilon,
                epsilon_lower,
                accepted: natural(accepted)?,
                rejected: natural(rejected)?,
                test_accuracy,
            })
        })
        .collect()
    }
}
