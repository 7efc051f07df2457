//! What time it is, from a place that tests can set.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Says what time it is. Windows are judged by this client's own clock: if it is wrong, rounds are missed, and nothing worse.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}
