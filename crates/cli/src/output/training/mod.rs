//! A training run for people: lines as it goes, pictures and a page at its end.

mod page;
mod picture;
mod text;

pub(crate) use page::page;
pub(crate) use picture::pictures;
use text::{collusion, epochs_of};
pub(crate) use text::{heading, line, live, plan};

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::Question;
use shuffledp_learning::training::{Algorithm, Metrics, TrainingConfig};
use shuffledp_question::words;

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
    /// Sentences for whoever reads the result: warnings, and what is known beforehand.
    pub(crate) remarks: Vec<String>,
}

/// The mechanism that was charged, for people and for the catalogue of bounds.
pub(crate) enum Charged {
    /// Nothing: gradients are sent as they are.
    Nothing,
    /// So many rounds, all alike: a question to the catalogue.
    Rounds(Question),
    /// Something else, which no single question covers: never taken for a part of it.
    Mixed,
    /// So many epochs over blocks. The catalogue knows no such thing: what it says of a shuffle of
    /// independent reports need not hold for blocks visited in turn.
    Epochs { epochs: u64, blocks: u64 },
}

/// Returns the mechanism that a run of this configuration charged to `accountant`.
pub(crate) fn charged(config: &TrainingConfig, accountant: &Accountant) -> Charged {
    let (rounds, releases) = (accountant.ledger(), accountant.releases());
    if let Algorithm::ShuffledNoisySgd { blocks, .. } = config.algorithm {
        let epochs = rounds.iter().map(|entry| entry.count).chain(releases.iter().map(|entry| entry.count)).sum();
        return Charged::Epochs { epochs, blocks };
    }
    match (rounds, releases) {
        ([], []) => Charged::Nothing,
        ([entry], []) => Question::new(entry.round, entry.count).map_or(Charged::Mixed, Charged::Rounds),
        _ => Charged::Mixed,
    }
}

impl Trained<'_> {
    /// Names the data that the accuracy is measured on.
    pub(crate) fn accuracy(&self) -> &'static str {
        match self.config.hold_out {
            Some(_) => "accuracy on held-out training examples",
            None => "test accuracy",
        }
    }

    pub(crate) fn charged(&self) -> Charged {
        charged(self.config, &self.accountant)
    }

    /// Rounds and who participated in them, in a few words.
    fn setting(&self) -> String {
        match self.charged() {
            Charged::Rounds(question) => words::question(&question, None),
            Charged::Mixed => "rounds of several kinds".to_owned(),
            Charged::Epochs { epochs, blocks } => epochs_of(epochs, blocks, self.clients),
            Charged::Nothing if matches!(self.config.algorithm, Algorithm::NoPrivacy { .. }) => {
                format!("{} rounds without privacy", self.last().map_or(0, |metrics| metrics.round))
            }
            Charged::Nothing => "no round was run".to_owned(),
        }
    }

    fn last(&self) -> Option<&Metrics> {
        self.metrics.last()
    }
}
