//! The current time, from a source that tests can set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Says what time it is. Windows are judged by it, and nothing else.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970 (UTC), as rounds count them.
    fn now(&self) -> u64;

    /// Milliseconds since some moment in the past, which go on evenly whatever the clock is set to.
    /// Comparing both shows that the clock was set. A clock without a second source is believed.
    fn uptime(&self) -> u64 {
        self.now()
    }
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A clock before 1970 is read as 1970: windows then end late, never early.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    #[cfg(target_os = "linux")]
    fn uptime(&self) -> u64 {
        // Unlike `Instant`, it goes on while the machine is suspended: that is no jump of the
        // clock.
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let (seconds, nanos) = (u64::try_from(time.tv_sec).unwrap_or(0), u64::try_from(time.tv_nsec).unwrap_or(0));
        seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
    }

    #[cfg(not(target_os = "linux"))]
    fn uptime(&self) -> u64 {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    uptime: AtomicU64,
}

impl ManualClock {
    /// Shows `now` until it is set.
    #[must_use]
    pub fn at(now: u64) -> Self {
        Self { now: AtomicU64::new(now), uptime: AtomicU64::new(0) }
    }

    /// Sets it, forward or back, while no time passes.
    pub fn set(&self, now: u64) {
        self.now.store(now, Ordering::SeqCst);
    }

    /// Time goes on.
    pub fn advance(&self, by: u64) {
        self.now.fetch_add(by, Ordering::SeqCst);
        self.uptime.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn uptime(&self) -> u64 {
        self.uptime.load(Ordering::SeqCst)
    }
}

/// One clock for several who look at it.
impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn uptime(&self) -> u64 {
        (**self).uptime()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_goes_on_evenly_whatever_the_clock_is_set_to() {
        let clock = ManualClock::at(1_000);
        clock.advance(5);
        clock.set(7);
        assert_eq!((clock.now(), clock.uptime()), (7, 5));
        let (before, system) = (SystemClock.uptime(), Arc::new(SystemClock));
        std::thread::sleep(Duration::from_millis(20));
        assert!((20..600_000).contains(&(system.uptime() - before)));
    }
}
