//! The metrics of the shuffler. Everybody who reaches the service sees how rounds ended: nothing
//! per report and nothing before a round is over, so that whoever reads `/metrics` there learns no
//! more than who gets the batches. The operator's listener also counts reports that were refused,
//! by reason.

use crate::intake::Refusal;
use shuffledp_transport::{Counter, MetricsPage};

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) sealed: Counter,
    pub(crate) short: Counter,
    pub(crate) acknowledged: Counter,
    pub(crate) refused: Counter,
    pub(crate) expired: Counter,
    pub(crate) failures: Counter,
    reports_refused: [Counter; Refusal::ALL.len()],
}

impl Metrics {
    /// A report was not taken.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        self.reports_refused[refusal as usize].add_one();
    }

    /// Reports that were not taken for this reason.
    pub(crate) fn refused_reports(&self, refusal: Refusal) -> u64 {
        self.reports_refused[refusal as usize].get()
    }

    /// How rounds ended, for everybody.
    pub(crate) fn text(&self) -> String {
        let mut page = MetricsPage::new("shuffledp_shuffler");
        self.write(&mut page);
        page.finish()
    }

    /// How rounds ended.
    pub(crate) fn write(&self, page: &mut MetricsPage) {
        for (name, help, counter) in [
            ("rounds_sealed", "Rounds that became a batch.", &self.sealed),
            ("rounds_short", "Rounds that ended below the minimum and were deleted.", &self.short),
            ("batches_acknowledged", "Batches that the server has.", &self.acknowledged),
            ("batches_refused", "Batches that the server refused for good; deleted.", &self.refused),
            ("batches_expired", "Batches that the server did not take in time; deleted.", &self.expired),
            ("forward_failures", "Attempts to send a batch that failed and were repeated.", &self.failures),
        ] {
            page.counter(name, help, counter.get());
        }
    }
}
