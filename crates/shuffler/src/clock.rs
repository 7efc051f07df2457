//! What time it is: only windows are judged by it, nothing is stamped with it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 (UTC), as `Round` counts them.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A clock before 1970 is 0: every window is then still to come, and nothing is taken or released.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A clock that a test moves.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Shows `now` until it is set.
    #[must_use]
    pub fn at(now: u64) -> Self {
        Self(AtomicU64::new(now))
    }

    /// Sets it, forward or back.
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
