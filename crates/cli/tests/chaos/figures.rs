//! Counts over all worlds of a run, and the violations found.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Name in JSON, and in words. The order of the table.
const NAMES: [(&str, &str); 30] = [
    ("worlds", "worlds, each run until its budget was spent"),
    ("rounds", "rounds charged and shown"),
    ("rounds_done", "  ended with a batch"),
    ("rounds_short", "  below the minimum, never released"),
    ("rounds_given_up", "  given up by the server before the batch came"),
    ("reports_sent", "different reports sent in time"),
    ("reports_acknowledged", "  acknowledged"),
    ("reports_acknowledged_done", "  acknowledged, of rounds that ended with a batch: each counted once"),
    ("reports_unacknowledged_counted", "  not acknowledged and counted all the same, once"),
    ("reports_late", "reports sent after their window: none counted"),
    ("reports_replayed", "reports of earlier rounds sent again"),
    ("reports_resealed", "the same report under another outer layer"),
    ("requests_twice", "reports sent twice by the network"),
    ("requests_lost", "reports lost or cut on their way"),
    ("acknowledgements_lost", "acknowledgements of reports lost or cut"),
    ("batches_lost", "batches lost, cut or refused on their way"),
    ("batch_acknowledgements_lost", "acknowledgements of batches lost or cut"),
    ("batches_repeated", "batches sent again, by the shuffler or the network"),
    ("kills_shuffler", "kill -9 of the shuffler"),
    ("kills_server", "kill -9 of the server"),
    ("kills_both", "  of both at once"),
    ("rotations_shuffler", "new keys of the shuffler in the middle of a round"),
    ("rotations_server", "new keys of the server in the middle of a round"),
    ("rounds_abandoned", "rounds abandoned by the operator"),
    ("floods", "floods of one report"),
    ("slow_senders", "times that connections were held open at both services"),
    ("wrong_peers", "starts of the shuffler with another server's key"),
    ("disks_filled", "times that the server's disk was full"),
    ("clock_jumps", "jumps of the server's clock by ten years"),
    ("looks_at_the_ledger", "looks at the ledger"),
];

/// Counters, and the stories of what must not happen.
#[derive(Default)]
pub(crate) struct Figures {
    counts: Mutex<BTreeMap<&'static str, u64>>,
    violations: Mutex<Vec<String>>,
}

impl Figures {
    pub(crate) fn add(&self, name: &'static str, count: u64) {
        assert!(NAMES.iter().any(|(known, _)| *known == name), "{name}");
        *self.counts.lock().unwrap().entry(name).or_default() += count;
    }

    pub(crate) fn one(&self, name: &'static str) {
        self.add(name, 1);
    }

    pub(crate) fn of(&self, name: &str) -> u64 {
        self.counts.lock().unwrap().get(name).copied().unwrap_or(0)
    }

    pub(crate) fn violation(&self, story: String) {
        eprintln!("{story}");
        self.violations.lock().unwrap().push(story);
    }

    pub(crate) fn violations(&self) -> usize {
        self.violations.lock().unwrap().len()
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let line = |count: u64, words: &str| format!("{count:>9}  {words}\n");
        let mut table: String = NAMES.iter().map(|(name, words)| line(self.of(name), words)).collect();
        table += &line(self.violations() as u64, "violations");
        table
    }

    /// For machines; `about` says how the figures came to be.
    pub(crate) fn json(&self, about: &serde_json::Value) -> String {
        let mut figures = serde_json::Map::new();
        for (name, _) in NAMES {
            figures.insert(name.to_owned(), self.of(name).into());
        }
        figures.insert("violations".to_owned(), self.violations().into());
        let all = serde_json::json!({ "run": about, "figures": figures });
        serde_json::to_string_pretty(&all).unwrap() + "\n"
    }
}
