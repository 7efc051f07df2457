//! The operator's listener: readiness with reasons, and metrics. docs/metrics.md lists
//! their names.

use crate::house::House;
use crate::intake::Refusal;
use crate::rounds::Shared;
use shuffledp_transport::{MetricsPage, Operated, Readiness};

impl Operated for House {
    fn readiness(&self) -> Readiness {
        let mut readiness = Readiness::default();
        let Some(open) = self.opened() else {
            let trouble = self.trouble().unwrap_or_default();
            readiness.not_ready("storage", format!("the stores cannot be opened; it is tried again: {trouble}"));
            return readiness;
        };
        let shared = &open.shared;
        let health = &shared.health;
        if health.is_full() {
            let least = shared.config().min_free_bytes;
            let message =
                format!("{} bytes are free, fewer than min_free_bytes = {least}: make room on the disk", health.free());
            readiness.not_ready("disk-full", message);
        }
        if let Some(problem) = health.storage_problem() {
            readiness.not_ready("storage", format!("the last report could not be stored: {problem}"));
        }
        if let Some(problem) = health.keys_problem() {
            readiness.not_ready("keys", format!("the HPKE keys cannot be followed: {problem}"));
        }
        for problem in open.learner.contacts().filter_map(|contact| contact.problem()) {
            readiness.not_ready("no-contact", problem);
        }
        readiness
    }

    fn metrics(&self) -> String {
        let mut page = MetricsPage::new("shuffledp_shuffler");
        page.gauge("ready", "1 if /readyz is green.", if self.readiness().is_ready() { 1.0 } else { 0.0 });
        if let Some(link) = self.link() {
            link.metrics(&mut page);
        }
        if let Some(open) = self.opened() {
            open.shared.metrics.write(&mut page);
            write_contacts(&mut page, open);
            write_state(&mut page, &open.shared);
        }
        if let Some(bytes) = written() {
            page.counter("written_bytes", "Bytes that this process had written to the disk (Linux).", bytes);
        }
        page.finish()
    }
}

fn write_contacts(page: &mut MetricsPage, open: &crate::house::Open) {
    let contacts = || open.learner.contacts_by_url();
    page.gauges(
        "server_contact_age_seconds",
        "Time since the last good answer of a server; since the start, if there was none.",
        "server",
        contacts().map(|(url, contact)| (url, contact.age().as_secs_f64())),
    );
    page.gauges(
        "server_reachable",
        "1 if the last answer of a server was good.",
        "server",
        contacts().map(|(url, contact)| (url, if contact.problem().is_none() { 1.0 } else { 0.0 })),
    );
}

fn write_state(page: &mut MetricsPage, shared: &Shared) {
    let (rounds, health, now) = (shared.table.ages(shared.clock.now()), &shared.health, shared.clock.now());
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    page.gauge("rounds_open", "Rounds that take reports.", rounds.open as f64);
    page.gauge("rounds_unfinished", "Rounds that are over and whose batch is not acknowledged.", rounds.over as f64);
    page.gauge("oldest_round_age_seconds", "Time since the oldest unfinished round opened.", seconds(rounds.oldest));
    page.gauge(
        "oldest_batch_age_seconds",
        "Time since the end of the oldest round whose batch is not acknowledged.",
        seconds(rounds.overdue),
    );
    page.counter("storage_failures", "Attempts to store something that failed.", health.failures());
    page.gauge("disk_free_bytes", "Free bytes where the stores are.", health.free() as f64);
    page.gauge(
        "damaged_rounds",
        "Files of rounds that were set aside because they are damaged.",
        shared.stores.set_aside() as f64,
    );
    let reasons = Refusal::ALL.iter().map(|refusal| (refusal.name(), shared.metrics.refused_reports(*refusal)));
    page.counters("reports_refused", "Reports that were not taken, by reason.", "reason", reasons);
    let Ok(keys) = shared.keys.states(now, &*shared.memory) else { return };
    page.gauge(
        "key_age_seconds",
        "Age of the active HPKE key, since this shuffler first saw it.",
        seconds(keys.active_for),
    );
    page.gauges(
        "keys",
        "HPKE keys by state.",
        "state",
        [("pending", keys.pending as f64), ("active", 1.0), ("expired", keys.expired as f64)],
    );
}

/// The counters of Linux for this process.
fn written() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("write_bytes: "))?.parse().ok()
}
