//! The same bytes, until they are acknowledged.

use crate::config::Times;
use crate::link::{Link, Posted};
use shuffledp_host::Clock;
use shuffledp_randomizers::Randomness;
use shuffledp_transport::{Pauses, Shutdown};
use std::time::Duration;
use tokio::time::Instant;

/// How sending ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The shuffler has it on its disk.
    Acknowledged,
    /// The window closed before that was said. It may have arrived all the same.
    Late,
    /// Told to stop. The report waits on the disk.
    Stopped,
}

/// Sends a report to the shuffler, again and again, with growing pauses. Never another one in its
/// place: the shuffler counts equal bytes once.
///
/// Whatever the answer was, it is tried again until the window closes: a shuffler that does not
/// know the round yet, that is full or that starts again says no for now only. What it asks for
/// with `Retry-After` is waited for, and a little more, so that not all come back at one moment.
pub(crate) async fn send(
    link: &Link,
    shuffler_url: &str,
    closes: u64,
    sealed: bytes::Bytes,
    wait: &Waiting<'_>,
) -> Sent {
    let seconds = Duration::from_secs_f64;
    let mut pauses = Pauses::new(seconds(wait.times.first_retry_seconds), seconds(wait.times.longest_retry_seconds));
    loop {
        if wait.clock.now() >= closes {
            return Sent::Late;
        }
        let answer = tokio::select! {
            answer = link.post_report(shuffler_url, sealed.clone()) => answer,
            () = wait.shutdown.stopped() => return Sent::Stopped,
        };
        let asked = match answer {
            Ok(Posted::Acknowledged) => return Sent::Acknowledged,
            Ok(Posted::Again { status, after }) => {
                tracing::debug!(status, "the report is sent again");
                after
            }
            Err(error) => {
                tracing::debug!(%error, "the report is sent again");
                None
            }
        };
        // Not past the window's end, after which it is too late in any case.
        let left = Duration::from_millis(closes.saturating_sub(wait.clock.now()));
        if !wait.until(Instant::now() + pauses.next(asked).min(left)).await {
            return Sent::Stopped;
        }
    }
}

/// How to wait, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'a> {
    pub(crate) clock: &'a dyn Clock,
    pub(crate) times: &'a Times,
    pub(crate) shutdown: &'a Shutdown,
}

impl Waiting<'_> {
    /// Sleeps between half and one and a half of `seconds`, so that thousands of clients do not
    /// come back at one time. False if told to stop.
    pub(crate) async fn nap(&self, seconds: f64, rng: &mut (dyn Randomness + Send)) -> bool {
        self.until(about(seconds, rng)).await
    }

    /// Sleeps until then. False if told to stop.
    pub(crate) async fn until(&self, moment: Instant) -> bool {
        tokio::select! {
            () = tokio::time::sleep_until(moment) => true,
            () = self.shutdown.stopped() => false,
        }
    }
}

/// Between half and one and a half of `seconds` from now.
pub(crate) fn about(seconds: f64, rng: &mut (dyn Randomness + Send)) -> Instant {
    let share = 0.5 + rng.half_bits() as f64 / f64::from(u32::MAX);
    Instant::now() + Duration::from_secs_f64(seconds * share)
}
