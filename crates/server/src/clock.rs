//! What time it is, from a place that tests can set.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Milliseconds since 1970.
pub type Millis = u64;

/// Something that comes to pass later.
pub type Later<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A clock that can also be waited for.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Millis;

    /// Returns once `now` is at least `then`.
    fn sleep_until(&self, then: Millis) -> Later<'_>;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        // A clock before 1970 is read as 1970: rounds then end late, never early.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep_until(&self, then: Millis) -> Later<'_> {
        Box::pin(async move {
            // In small naps, because the operating system's clock may be set while we sleep.
            loop {
                let left = then.saturating_sub(self.now());
                if left == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(left.min(1000))).await;
            }
        })
    }
}

/// A clock that stands still until it is told.
#[derive(Debug)]
pub struct ManualClock(watch::Sender<Millis>);

impl ManualClock {
    /// It is `now`.
    pub fn new(now: Millis) -> Self {
        Self(watch::Sender::new(now))
    }

    /// It is `now`, and whoever waited for that wakes up. Time does not go back.
    pub fn set(&self, now: Millis) {
        self.0.send_modify(|time| *time = now.max(*time));
    }

    /// Time goes on.
    pub fn advance(&self, by: Millis) {
        self.0.send_modify(|time| *time = time.saturating_add(by));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        *self.0.borrow()
    }

    fn sleep_until(&self, then: Millis) -> Later<'_> {
        let mut time = self.0.subscribe();
        Box::pin(async move {
            // It can only fail when the sender is gone, and that is `self`.
            let _ = time.wait_for(|now| *now >= then).await;
        })
    }
}
