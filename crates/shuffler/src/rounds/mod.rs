//! The life of a round, from the server's signed announcement to its end.
//!
//! ```text
//! learned (signed, window not over) ── open ── window closes ──┬── enough: sealed ── sent ──┐
//!                                                              └── short ───────────────────┴── deleted
//! ```
//!
//! A sealed batch is sent until the server acknowledges it.

mod contact;
mod finish;
mod forward;
mod learn;
mod table;

pub(crate) use contact::{Expected, probe};
pub(crate) use learn::Learner;
pub(crate) use table::{Lookup, Table};

use crate::config::Config;
use crate::error::{Result, ShufflerError};
use crate::health::Health;
use crate::keys::KeyRing;
use crate::metrics::Metrics;
use crate::permutation::Permute;
use crate::store::{Memory, Stores};
use shuffledp_host::Clock;
use shuffledp_transport::{HttpClient, Shutdown};
use std::sync::{Arc, PoisonError, RwLock};

/// Makes a permutation for one batch.
pub(crate) type NewPermute = Arc<dyn Fn() -> Result<Box<dyn Permute>> + Send + Sync>;

/// The state that all tasks of the service share.
pub(crate) struct Shared {
    pub(crate) config: RwLock<Arc<Config>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) witness: Arc<dyn crate::Witness>,
    pub(crate) new_permute: NewPermute,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) metrics: Metrics,
    pub(crate) health: Arc<Health>,
    pub(crate) stores: Arc<dyn Stores>,
    pub(crate) memory: Arc<dyn Memory>,
    pub(crate) http: HttpClient,
    pub(crate) table: Table,
    pub(crate) shutdown: Shutdown,
}

impl Shared {
    /// The configuration of this moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rounds that begin from now on follow it, and so do all other looks at it.
    pub(crate) fn set_config(&self, fresh: Arc<Config>) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}

/// Brings rounds whose window is over to their end, each in a task of its own, so that none waits
/// for another; has stores maintained; follows the key file and deletes keys that no round needs.
pub(crate) async fn tend(shared: &Arc<Shared>) {
    for live in shared.table.close_over(shared.clock.now()) {
        shared.table.spawn(finish::finish(Arc::clone(shared), live));
    }
    shared.table.maintain();
    shared.health.look(&shared.config());
    let earliest = shared.table.earliest_open();
    let overlap = shared.config().key_overlap_seconds.saturating_mul(1000);
    let every = shared.config().rotate_every.map(|seconds| seconds.saturating_mul(1000));
    let kept = blocking({
        let shared = Arc::clone(shared);
        move || {
            shared.keys.follow()?;
            shared.keys.rotate_if_due(shared.clock.now(), every, &*shared.memory)?;
            shared.keys.prune(shared.clock.now(), overlap, earliest, &*shared.memory)
        }
    });
    let kept = kept.await;
    if let Err(error) = &kept {
        tracing::warn!(%error, "the HPKE keys stay as they were");
    }
    shared.health.set_keys_problem(kept.err().map(|error| error.to_string()));
}

/// Runs what waits for storage on a thread where nobody else waits for it.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ShufflerError::Stopped)?
}
