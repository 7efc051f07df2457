//! The metrics of a listener; none identifies a caller.

use crate::metrics::{Counter, Durations, MetricsPage};
use axum::http::StatusCode;
use std::time::Duration;

/// Figures of one listener.
#[derive(Debug, Default)]
pub(crate) struct LinkMetrics {
    pub(crate) connections_refused: Counter,
    pub(crate) told_to_come_again: Counter,
    pub(crate) over_address_limit: Counter,
    pub(crate) write_timeouts: Counter,
    /// 1xx to 5xx.
    responses: [Counter; 5],
    took: Durations,
}

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl LinkMetrics {
    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        if let Some(class) = self.responses.get(usize::from(status.as_u16() / 100).wrapping_sub(1)) {
            class.add_one();
        }
        self.took.observe(took);
    }

    /// Writes all of them, and how many connections there are.
    pub(crate) fn write(&self, page: &mut MetricsPage, open: usize) {
        page.gauge("connections", "Connections of this moment.", open as f64);
        page.counter(
            "connections_refused",
            "Connections that were closed at once: too many, or too many of one address.",
            self.connections_refused.get(),
        );
        page.counter(
            "requests_shed",
            "Requests that were told to come again (503) because there were too many connections.",
            self.told_to_come_again.get(),
        );
        page.counter(
            "requests_over_address_limit",
            "Requests that were told to come again (429) by address_requests_per_minute.",
            self.over_address_limit.get(),
        );
        page.counter(
            "write_timeouts",
            "Connections that ended because the other side did not read its answers.",
            self.write_timeouts.get(),
        );
        let classes = CLASSES.into_iter().zip(&self.responses).map(|(class, counter)| (class, counter.get()));
        page.counters("http_responses", "Answers by class of their status.", "class", classes);
        page.durations("http_request_seconds", "Time from a request's head to its answer's.", &self.took);
    }
}
