//! How long to wait before the same is asked again: longer each time, never two callers alike, and
//! at least as long as the other side asks for.

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use std::time::Duration;

/// The longest pause that another party may ask for, so that it cannot send anybody away for ever.
const LONGEST_ASKED: Duration = Duration::from_secs(300);

/// Growing pauses with jitter.
#[derive(Debug)]
pub struct Pauses {
    growing: ExponentialBackoff,
    longest: Duration,
}

impl Pauses {
    /// From `first`, doubled each time up to `longest`; each is then drawn between itself and its
    /// double.
    #[must_use]
    pub fn new(first: Duration, longest: Duration) -> Self {
        let growing = ExponentialBuilder::default()
            .with_factor(2.0)
            .with_min_delay(first.min(longest))
            .with_max_delay(longest)
            .without_max_times()
            .with_jitter();
        Self { growing: growing.build(), longest }
    }

    /// The next one. What the other side `asked` for is waited for first, so that those whom it
    /// sent away at one moment do not come back at one moment.
    pub fn next(&mut self, asked: Option<Duration>) -> Duration {
        let pause = self.growing.next().unwrap_or(self.longest);
        asked.unwrap_or_default().min(LONGEST_ASKED).saturating_add(pause)
    }
}

/// The seconds that an answer's `Retry-After` asks for.
#[must_use]
pub fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_differ_and_honour_what_was_asked() {
        let second = Duration::from_secs(1);
        let first: Vec<Duration> = (0..100).map(|_| Pauses::new(second, 60 * second).next(None)).collect();
        assert!(first.iter().all(|pause| (second..=2 * second).contains(pause)), "{first:?}");
        assert!(first.iter().any(|pause| *pause != first[0]), "callers do not come back at one moment");
        let mut pauses = Pauses::new(second, 60 * second);
        let grown: Vec<Duration> = (0..20).map(|_| pauses.next(None)).collect();
        assert!(grown[19] >= 60 * second && grown[19] <= 120 * second, "{grown:?}");
        assert!(grown[3] >= 8 * second);
        let asked = Pauses::new(second, 60 * second).next(Some(30 * second));
        assert!((31 * second..=32 * second).contains(&asked), "{asked:?}");
        let hostile = Pauses::new(second, 60 * second).next(Some(Duration::MAX));
        assert!(hostile <= LONGEST_ASKED + 2 * second, "{hostile:?}");
    }
}
