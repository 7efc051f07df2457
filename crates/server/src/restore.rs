//! Puts a copy of the store in its place, without forgetting a charge.
//!
//! A copy knows nothing of rounds that opened after it was made; those were published, and clients
//! have answered them. They are charged again from what is left of the store, or from the number of
//! the last round that anybody saw. Where neither is known, nothing is restored.

use crate::config::ServerConfig;
use crate::error::{Result, ServerError};
use crate::plan::Plan;
use crate::store::{Charges, FileStore, Store};
use shuffledp_host::files;
use std::path::{Path, PathBuf};

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Rounds that are charged now and were not in the copy.
    pub added: u64,
    /// Rounds that are charged now, of all tasks.
    pub rounds: u64,
    /// The next round of the configuration's task.
    pub next: u64,
    /// Where the store is that was there before.
    pub replaced: Option<PathBuf>,
}

/// Puts `copy` in the place of the configuration's store, while no server runs. `seen` is the
/// number of the last round of the configuration's task that was published, if somebody knows.
pub fn restore(config: &ServerConfig, copy: &Path, seen: Option<u64>) -> Result<Restored> {
    if config.database.is_some() {
        return Err(ServerError::Config(
            "`store` is a database: restore it with its own tools, to its latest state, and then import the last exported ledger".to_owned(),
        ));
    }
    let plan = Plan::new(config)?;
    let known = known_charges(&config.store)?;
    if known.is_none() && seen.is_none() {
        return Err(ServerError::Config(format!(
            "{} is not there or cannot be read, so nothing here says which rounds were published after the copy was made, and their charge \
             would be forgotten. Give --rounds-seen ROUND, the largest number among: 'round open' in the server's log, the last saved \
             /v1/status, and `shuffledp client --status` of the clients. If you cannot find it out, give a number that is certainly not \
             smaller",
            config.store.display()
        )));
    }
    let fresh = beside(&config.store, "restoring");
    let bytes = std::fs::read(copy).map_err(ServerError::file("read", copy))?;
    files::replace(&fresh, &bytes).map_err(ServerError::file("write", &fresh))?;
    let restored = charge_what_is_known(&plan, &fresh, known.as_deref().unwrap_or(&[]), seen);
    let mut restored = restored.inspect_err(|_| {
        // Ours, and of no use to anybody.
        let _ = files::remove(&fresh);
    })?;
    restored.replaced = set_aside(&config.store)?;
    std::fs::rename(&fresh, &config.store).map_err(ServerError::file("replace", &config.store))?;
    files::sync_folder(config.store.parent().unwrap_or(Path::new(".")))
        .map_err(ServerError::file("write", &config.store))?;
    Ok(restored)
}

/// Returns the charges of the existing store; none if there is no store or it cannot be read. A
/// server that runs is an error.
fn known_charges(store: &Path) -> Result<Option<Vec<Charges>>> {
    if !store.exists() {
        return Ok(None);
    }
    match FileStore::open(store).and_then(|mut store| store.charges()) {
        Ok(charges) => Ok(Some(charges)),
        Err(error @ ServerError::InUse(_)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "the store that is there cannot be read");
            Ok(None)
        }
    }
}

fn charge_what_is_known(plan: &Plan, fresh: &Path, known: &[Charges], seen: Option<u64>) -> Result<Restored> {
    let mut store = FileStore::open(fresh)?;
    let count = |charges: &[Charges]| charges.iter().map(Charges::count).sum::<u64>();
    let before = count(&store.charges()?);
    store.charge(known)?;
    if let Some(last) = seen.filter(|last| *last > 0) {
        if last > plan.rounds() {
            return Err(ServerError::Config(format!(
                "--rounds-seen must be at most the task's {} rounds",
                plan.rounds()
            )));
        }
        store.charge(&[Charges { task: plan.hash(), first: 1, last, charge: plan.charge }])?;
    }
    // Its reports went to the store that is lost.
    store.abandon_open()?;
    let charges = store.charges()?;
    let mine = charges.iter().filter(|charges| charges.task == plan.hash());
    let next = mine.map(|charges| charges.last).max().unwrap_or(0) + 1;
    Ok(Restored { added: count(&charges) - before, rounds: count(&charges), next, replaced: None })
}

/// Moves the store away, with what SQLite keeps beside it.
fn set_aside(store: &Path) -> Result<Option<PathBuf>> {
    if !store.exists() {
        return Ok(None);
    }
    let aside = (1..).map(|number| beside(store, &format!("replaced-{number}"))).find(|aside| !aside.exists());
    let Some(aside) = aside else { return Ok(None) };
    for end in ["", "-wal", "-shm"] {
        let (from, to) = (with_end(store, end), with_end(&aside, end));
        if from.exists() {
            std::fs::rename(&from, &to).map_err(ServerError::file("move", &from))?;
        }
    }
    Ok(Some(aside))
}

/// `store.sqlite.NAME`.
fn beside(store: &Path, name: &str) -> PathBuf {
    with_end(store, &format!(".{name}"))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
