//! A training run for people: lines as it goes, pictures and a page at its end.

mod page;
mod picture;
mod text;

pub(crate) use page::page;
pub(crate) use picture::pictures;
pub(crate) use text::{heading, line, live, plan};

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::Question;
use shuffledp_learning::training::{Metrics, TrainingConfig};

/// A run, and what it is about.
pub(crate) struct Trained<'a> {
    pub(crate) config: &'a TrainingConfig,
    /// The data's name.
    pub(crate) data: &'a str,
    pub(crate) clients: u64,
    /// Of the model.
    pub(crate) weights: usize,
    /// All evaluations, in order; not empty.
    pub(crate) metrics: Vec<Metrics>,
    /// All rounds that were charged.
    pub(crate) accountant: Accountant,
}

impl Trained<'_> {
    /// What of the run is a question to the catalogue: all rounds alike. `None` without privacy.
    pub(crate) fn question(&self) -> Option<Question> {
        match (self.accountant.ledger(), self.accountant.releases()) {
            ([entry], []) => Question::new(entry.round, entry.count).ok(),
            _ => None,
        }
    }

    fn last(&self) -> Option<&Metrics> {
        self.metrics.last()
    }
}
