//! Counters and histograms, and the page that Prometheus reads.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The content type of a [`MetricsPage`].
pub const METRICS_CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn add_one(&self) {
        self.add(1);
    }

    /// Adds `number`.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// The number so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper ends of the buckets of a [`Durations`], in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// How long things took: a histogram from a millisecond to half a minute.
#[derive(Debug, Default)]
pub struct Durations {
    /// One for each bound, and one for what took longer.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl Durations {
    /// Counts one more.
    pub fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }
}

/// A page in Prometheus' text format, version 0.0.4. Writing into it cannot fail.
#[derive(Debug)]
pub struct MetricsPage {
    prefix: &'static str,
    text: String,
}

impl MetricsPage {
    /// An empty page whose names all begin with `prefix`, such as `shuffledp_shuffler`.
    #[must_use]
    pub fn new(prefix: &'static str) -> Self {
        Self { prefix, text: String::new() }
    }

    /// A counter; `_total` is appended to its name.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        let name = self.head(&format!("{name}_total"), help, "counter");
        let _ = writeln!(self.text, "{name} {value}");
    }

    /// Counters of one name, one for each value of a label; `_total` is appended to the name.
    pub fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        let name = self.head(&format!("{name}_total"), help, "counter");
        for (value, number) in values {
            let _ = writeln!(self.text, "{name}{{{label}=\"{}\"}} {number}", escaped(value));
        }
    }

    /// A number that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, value: f64) {
        let name = self.head(name, help, "gauge");
        let _ = writeln!(self.text, "{name} {}", number(value));
    }

    /// Gauges of one name, one for each value of a label.
    pub fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, f64)>,
    ) {
        let name = self.head(name, help, "gauge");
        for (value, gauge) in values {
            let _ = writeln!(self.text, "{name}{{{label}=\"{}\"}} {}", escaped(value), number(gauge));
        }
    }

    /// A histogram.
    pub fn durations(&mut self, name: &str, help: &str, durations: &Durations) {
        let name = self.head(name, help, "histogram");
        let mut count = 0;
        for (index, bucket) in durations.buckets.iter().enumerate() {
            count += bucket.load(Ordering::Relaxed);
            let bound = BOUNDS.get(index).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
            let _ = writeln!(self.text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let seconds = durations.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = write!(self.text, "{name}_sum {seconds}\n{name}_count {count}\n");
    }

    /// The page.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) -> String {
        let name = format!("{}_{name}", self.prefix);
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        name
    }
}

/// As Prometheus reads numbers: `inf` is `+Inf` there.
fn number(value: f64) -> String {
    match value {
        value if value == f64::INFINITY => "+Inf".to_owned(),
        value if value == f64::NEG_INFINITY => "-Inf".to_owned(),
        value => value.to_string(),
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_prometheus_text() {
        let durations = Durations::default();
        for milliseconds in [1, 2, 60_000] {
            durations.observe(Duration::from_millis(milliseconds));
        }
        let counter = Counter::default();
        counter.add_one();
        counter.add(2);
        let mut page = MetricsPage::new("x");
        page.counter("things", "Things.", counter.get());
        page.counters("refused", "By reason.", "reason", [("a\"b", 4)]);
        page.gauge("age_seconds", "Age.", f64::INFINITY);
        page.gauges("by", "By.", "of", [("one", 0.5)]);
        page.durations("took_seconds", "Took.", &durations);
        let text = page.finish();
        for line in [
            "# TYPE x_things_total counter",
            "x_things_total 3",
            "x_refused_total{reason=\"a\\\"b\"} 4",
            "x_age_seconds +Inf",
            "x_by{of=\"one\"} 0.5",
            "x_took_seconds_bucket{le=\"0.001\"} 1",
            "x_took_seconds_bucket{le=\"0.0025\"} 2",
            "x_took_seconds_bucket{le=\"30\"} 2",
            "x_took_seconds_bucket{le=\"+Inf\"} 3",
            "x_took_seconds_sum 60.003",
            "x_took_seconds_count 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
