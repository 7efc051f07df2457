//! How long a connection may keep us waiting with an answer that it does not read.

use std::future::Future as _;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The minimum rate of a reader, in bytes per second: a long answer may take as long as this rate
/// needs.
const BYTES_PER_SECOND: f64 = 4096.0;

/// A time that waiting uses up, and that every byte that gets through gives back a little of.
/// Reading a byte now and then is therefore no way around it.
#[derive(Debug)]
pub(crate) struct Patience {
    most: Duration,
    used: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Self {
        Self { most, used: Duration::ZERO, waiting: None }
    }

    /// So many bytes got through.
    pub(crate) fn moved(&mut self, bytes: usize) {
        if let Some((since, _)) = self.waiting.take() {
            self.used += since.elapsed();
        }
        self.used = self.used.saturating_sub(Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND));
    }

    /// Nothing gets through now. Whether it has been so for too long; if not, the task is woken
    /// when it will have been.
    pub(crate) fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let left = self.most.saturating_sub(self.used);
        let (_, sleep) = self.waiting.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(sleep_until(now + left)))
        });
        sleep.as_mut().poll(context).is_ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    async fn waits(patience: &mut Patience, seconds: u64) -> bool {
        let until = Instant::now() + Duration::from_secs(seconds);
        let over = poll_fn(|context| if patience.is_over(context) { Poll::Ready(()) } else { Poll::Pending });
        tokio::time::timeout_at(until, over).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn standing_still_and_dripping_both_end() {
        let mut still = Patience::new(Duration::from_secs(30));
        assert!(!waits(&mut still, 29).await);
        assert!(waits(&mut still, 2).await);

        let mut dripping = Patience::new(Duration::from_secs(30));
        let mut seconds = 0;
        while !waits(&mut dripping, 10).await {
            dripping.moved(1);
            seconds += 10;
            assert!(seconds < 60, "a byte every ten seconds must not do");
        }

        let mut slow = Patience::new(Duration::from_secs(30));
        for _ in 0..100 {
            assert!(!waits(&mut slow, 10).await);
            slow.moved(50_000);
        }
    }
}
