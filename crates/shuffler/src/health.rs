//! Problems of the shuffler's own machine: storage and key file.

use crate::config::Config;
use crate::error::ShufflerError;
use shuffledp_host::{files, free_space};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Written and deleted again to find out whether the disk takes something.
const PROBE: &str = "probe";

/// Disk and keys.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Why the last attempt to store something failed; nothing if it worked.
    storage: Mutex<Option<String>>,
    failures: AtomicU64,
    /// Bytes that are free, at the last look.
    free: AtomicU64,
    is_full: AtomicBool,
    keys: Mutex<Option<String>>,
}

impl Health {
    /// Storage failed. Whoever had something to store asks again.
    pub(crate) fn storage_failed(&self, error: &ShufflerError) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        *self.storage.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }

    /// Storage works.
    pub(crate) fn storage_works(&self) {
        *self.storage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The last error of storage, if it failed.
    pub(crate) fn storage_problem(&self) -> Option<String> {
        self.storage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often storage failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Bytes that are free, at the last look.
    pub(crate) fn free(&self) -> u64 {
        self.free.load(Ordering::Relaxed)
    }

    /// Less is free than the configuration wants: no report is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// The problem of the key file, or none.
    pub(crate) fn set_keys_problem(&self, problem: Option<String>) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// The problem of the key file.
    pub(crate) fn keys_problem(&self) -> Option<String> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at the disk: how much is free, and, if storage failed, whether it works again. Says
    /// when that changes.
    pub(crate) fn look(&self, config: &Config) {
        if config.store.is_some() {
            // The database's disk is its own; whether it answers is found out at every tick.
            return;
        }
        if let Ok(free) = free_space(&config.data) {
            self.free.store(free, Ordering::Relaxed);
            let is_full = free < config.min_free_bytes;
            if is_full != self.is_full.swap(is_full, Ordering::Relaxed) {
                if is_full {
                    tracing::error!(free, "less than min_free_bytes are free: no report is taken until there is room");
                } else {
                    tracing::info!(free, "there is room again: reports are taken");
                }
            }
        }
        if self.storage_problem().is_some() && takes_something(&config.data) {
            tracing::info!("storage works again");
            self.storage_works();
        }
    }
}

fn takes_something(folder: &Path) -> bool {
    let probe = folder.join(PROBE);
    files::replace(&probe, &[1; 4096]).and_then(|()| files::remove(&probe)).is_ok()
}
