//! The layouts that the file has had, and how each becomes the next.
//!
//! A file of an older layout is brought forward when it is opened, in one transaction: it is the
//! old one or the new one, and no charge is ever dropped. A file of a newer layout is refused. For
//! every layout a file that was written by the program of its time is kept in `src/tests/fixtures`.

use super::writes::write;
use crate::error::{Result, ServerError};
use rusqlite::Transaction;

/// The layout of `schema.sql`.
pub(super) const NEWEST: i64 = 3;

/// From a layout to the next.
const STEPS: [(i64, &str); 1] = [(2, include_str!("migrations/2-to-3.sql"))];

/// Makes the tables of a new file, or brings those of an older one forward.
pub(super) fn migrate(transaction: &Transaction<'_>) -> Result<()> {
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(write)?;
    match version {
        0 => transaction.execute_batch(include_str!("schema.sql")).map_err(write)?,
        NEWEST => return Ok(()),
        _ => bring_forward(transaction, version)?,
    }
    transaction.pragma_update(None, "user_version", NEWEST).map_err(write)
}

fn bring_forward(transaction: &Transaction<'_>, version: i64) -> Result<()> {
    check_known(version)?;
    for (_, step) in STEPS.iter().filter(|(from, _)| *from >= version) {
        transaction.execute_batch(step).map_err(write)?;
    }
    tracing::info!(from = version, to = NEWEST, "the store was brought to the layout of this program");
    Ok(())
}

/// Whether a file of this layout can be opened.
pub(super) fn check_known(version: i64) -> Result<()> {
    if version == NEWEST || STEPS.iter().any(|(from, _)| *from == version) {
        return Ok(());
    }
    Err(ServerError::Config(format!(
        "the store has layout {version}, and this program knows layouts {} to {NEWEST}: use the program that wrote it, or a newer one",
        STEPS[0].0
    )))
}
