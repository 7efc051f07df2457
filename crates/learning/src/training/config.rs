//! A run, as a configuration file describes it.

use super::{Algorithm, DataConfig, Preparation};
use crate::data::Dataset;
use crate::data::scattering::{Tell, quiet};
use crate::models::ModelConfig;
use crate::schedule::Schedule;
use crate::step::StepRule;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Everything that decides what a run does; with the seed, every bit of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// For people.
    pub name: String,
    /// Another seed is another run.
    pub seed: u64,
    /// How many rounds, unless the budget ends the run before.
    pub rounds: u64,
    /// δ.
    pub delta: f64,
    /// The round that would exceed it is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_epsilon: Option<f64>,
    /// Rounds between two evaluations; the last round is always evaluated.
    pub evaluate_every: u64,
    /// Clients, drawn with replacement from the examples; without it each example is a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u64>,
    /// So many training examples are set aside and tested on instead of the test set: for choosing
    /// parameters without looking at the test set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<usize>,
    /// The examples.
    pub data: DataConfig,
    /// The preparation of the examples before training.
    #[serde(default, skip_serializing_if = "Preparation::is_nothing")]
    pub preparation: Preparation,
    /// The model.
    pub model: ModelConfig,
    /// The participation, and the randomizer of the gradients.
    pub algorithm: Algorithm,
    /// How the weights move.
    pub step: StepRule,
}

impl TrainingConfig {
    /// Reads a configuration; what it says is checked when the run is set up. Files that it names
    /// are found from where it lies: `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut config: Self =
            toml::from_str(text).map_err(|error| LearningError::format(path, error.to_string().trim_end()))?;
        config.data.find_from(path.parent().unwrap_or(Path::new("")))?;
        Ok(config)
    }

    /// The text that [`parse`](Self::parse) reads.
    pub fn to_text(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| LearningError::Data(error.to_string()))
    }

    /// Loads and prepares the examples; `data_directory` as in
    /// [`data_directory`](crate::data::directory::data_directory).
    pub fn load(&self, data_directory: Option<&Path>) -> Result<Dataset> {
        self.load_and_tell(data_directory, &quiet)
    }

    /// The same, and tells how far the preparation is.
    pub fn load_and_tell(&self, data_directory: Option<&Path>, tell: Tell<'_>) -> Result<Dataset> {
        self.preparation.check()?;
        let dataset = match self.hold_out {
            Some(count) => self.data.load_held_out(data_directory, count)?,
            None => self.data.load(data_directory)?,
        };
        self.preparation.apply(dataset, data_directory, tell)
    }

    /// The same for so many rounds. A schedule that ends with the run still does.
    #[must_use]
    pub fn with_rounds(mut self, rounds: u64) -> Self {
        if let Schedule::Cosine { rounds: last, .. } = &mut self.step.schedule
            && *last == self.rounds
        {
            *last = rounds;
        }
        Self { rounds, ..self }
    }

    /// A sentence of warning if δ would allow somebody to be exposed.
    pub fn warning(&self, clients: u64) -> Option<String> {
        (self.delta * clients as f64 > 1.0).then(|| {
            format!(
                "δ = {} is above one over the {clients} clients: it would allow one of them to be exposed",
                self.delta
            )
        })
    }

    /// Whether it makes sense, as far as can be said without the data.
    pub fn check(&self) -> Result<()> {
        if self.rounds == 0 {
            return Err(LearningError::out_of_range("rounds", "at least 1", self.rounds));
        }
        if self.evaluate_every == 0 {
            return Err(LearningError::out_of_range("evaluate_every", "at least 1", self.evaluate_every));
        }
        self.step.check(self.rounds)
    }
}
