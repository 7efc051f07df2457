//! What an operator may watch: how rounds ended. Nothing per report and nothing before a round is over, so that whoever reads
//! `/metrics` learns no more than who gets the batches.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) sealed: Counter,
    pub(crate) short: Counter,
    pub(crate) acknowledged: Counter,
    pub(crate) refused: Counter,
    pub(crate) expired: Counter,
    pub(crate) failures: Counter,
}

/// Only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// In Prometheus' text format, version 0.0.4.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (name, help, counter) in [
            ("rounds_sealed", "Rounds that became a batch.", &self.sealed),
            ("rounds_short", "Rounds that ended below the minimum and were deleted.", &self.short),
            ("batches_acknowledged", "Batches that the server has.", &self.acknowledged),
            ("batches_refused", "Batches that the server refused for good; deleted.", &self.refused),
            ("batches_expired", "Batches that the server did not take in time; deleted.", &self.expired),
            ("forward_failures", "Attempts to send a batch that failed and were repeated.", &self.failures),
        ] {
            let name = format!("shuffledp_shuffler_{name}_total");
            // Writing into a String cannot fail.
            let _ = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}\n",
                counter.0.load(Ordering::Relaxed)
            );
        }
        text
    }
}
