//! A task, ready to be run: what is signed and shown to clients, and what it means here.

use crate::config::{ServerConfig, TaskConfig};
use crate::error::{Result, ServerError};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{RandomizerSpec, Round as AccountedRound, Scheme};
use shuffledp_learning::LearningError;
use shuffledp_learning::collect::Frames;
use shuffledp_learning::data::scattering::quiet;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::models::{AnyModel, Model, initial_weights, save_weights};
use shuffledp_learning::step::{ServerState, StepRule};
use shuffledp_learning::training::ModelDescription;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_wire::{Message, ModelHash, Task, TaskHash, VerifyingKey};

/// A task, checked. Clients and shuffler see `task`; the rest is what it stands for.
pub(crate) struct Plan {
    task: Task,
    encoding: Vec<u8>,
    hash: TaskHash,
    seed: u64,
    pub(crate) shuffler: VerifyingKey,
    pub(crate) model: AnyModel,
    /// The format of reports, and their aggregation.
    pub(crate) frames: Frames,
    /// The cost of a round: with the honest n and the task's rate, independent of the number
    /// received.
    pub(crate) charge: AccountedRound,
    pub(crate) step: StepRule,
    test: Examples,
    replaces: bool,
}

impl Plan {
    /// Checks the configuration, before anything is written or published.
    pub(crate) fn new(config: &ServerConfig) -> Result<Self> {
        let (task, directory) = (&config.task, config.data_directory.as_deref());
        task.preparation.check_public()?;
        let test = config.data.load(directory)?.test;
        let plan = Self::with_test_set(task, task.preparation.apply_alone(test, directory, &quiet)?)?;
        Ok(Self { replaces: config.new_task, ..plan })
    }

    /// The same, with other test examples, prepared already.
    pub(crate) fn with_test_set(config: &TaskConfig, test: Examples) -> Result<Self> {
        config.step.check(config.rounds)?;
        let architecture = config.model.architecture(test.shape(), test.classes())?;
        config.step.check_layers(&architecture)?;
        let model = AnyModel::new(architecture);
        let dimension = model.architecture().dimension()?;
        let randomizer = config.randomizer.of_dimension(u64::from(dimension))?;
        let frames = frames(randomizer, dimension, config.clip)?;
        let scheme = Scheme::check_in(config.clients, config.check_in_rate, config.drop_out)
            .map_err(|error| ServerError::Config(format!("clients, check_in_rate, drop_out of [task]: {error}")))?;
        let charge_of_a_round = AccountedRound { scheme, randomizer };
        // A round whose privacy cannot be accounted for, a δ and a budget that make no sense are
        // refused before the first round.
        let mut ledger = Ledger::resume(Accountant::new(), config.delta, Some(config.budget))
            .map_err(|error| ServerError::Config(format!("delta, budget of [task]: {error}")))?;
        ledger.charge(charge_of_a_round)?;
        let shuffler = shuffler_key(&config.shuffler.verifying_key)?;
        let description =
            ModelDescription { architecture: model.architecture().clone(), preparation: config.preparation };
        let task = Task {
            name: config.name.clone(),
            architecture: opaque("task.model", &description)?,
            randomizer: opaque("task.randomizer", &randomizer)?,
            clip: config.clip,
            clients: config.clients,
            check_in_rate: config.check_in_rate,
            drop_out: config.drop_out,
            rounds: config.rounds,
            delta: config.delta,
            budget: config.budget,
            step: opaque("task.step", &config.step)?,
            payload_len: u32::try_from(frames.frame_len())
                .map_err(|_| ServerError::Config("the randomizer's reports have 2^32 bytes or more".to_owned()))?,
            shuffler_url: config.shuffler.url.clone(),
            shuffler_key: shuffler,
        };
        let encoding = task.encode()?;
        let hash = task.hash()?;
        let step = config.step.clone();
        Ok(Self {
            task,
            encoding,
            hash,
            seed: config.seed,
            shuffler,
            model,
            frames,
            charge: charge_of_a_round,
            step,
            test,
            replaces: false,
        })
    }

    /// Whether an open round of another task is given up for this one.
    pub(crate) fn replaces(&self) -> bool {
        self.replaces
    }

    /// Returns the task that clients receive.
    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// Its bytes.
    pub(crate) fn encoding(&self) -> &[u8] {
        &self.encoding
    }

    /// Its id.
    pub(crate) fn hash(&self) -> TaskHash {
        self.hash
    }

    pub(crate) fn rounds(&self) -> u64 {
        self.task.rounds
    }

    pub(crate) fn delta(&self) -> f64 {
        self.task.delta
    }

    pub(crate) fn budget(&self) -> f64 {
        self.task.budget
    }

    /// Before the first round.
    pub(crate) fn first_state(&self) -> ServerState {
        ServerState::started(initial_weights(self.model.architecture(), self.seed), &self.step)
    }

    /// Weights as the file that clients download, and its name.
    pub(crate) fn model_file(&self, weights: &[f32]) -> Result<(ModelHash, Vec<u8>)> {
        let bytes = save_weights(self.model.architecture(), weights)?;
        Ok((ModelHash::of(&bytes), bytes))
    }

    /// The share of test examples that these weights get right.
    pub(crate) fn accuracy(&self, weights: &[f32]) -> Result<f64> {
        Ok(self.model.evaluate(weights, &self.test)?.accuracy())
    }
}

fn shuffler_key(text: &str) -> Result<VerifyingKey> {
    text.parse().map_err(|error| {
        let advice = if text.starts_with("PASTE") {
            ": paste the key that `shuffledp shuffler init` printed, which the shuffler's operator has"
        } else {
            ""
        };
        ServerError::Config(format!("task.shuffler.verifying_key: {error}{advice}"))
    })
}

fn frames(randomizer: RandomizerSpec, dimension: u32, clip: f32) -> Result<Frames> {
    if !(clip > 0.0 && clip.is_finite()) {
        return Err(LearningError::out_of_range("clip", "a finite number above 0", clip).into());
    }
    Ok(Frames::deployed(randomizer, VectorShape { dimension, clip })?)
}

/// The part of a task that is opaque to the wire format: TOML of the architecture
/// (input and layers) with the preparation, of the randomizer's name and parameters, and of the
/// step rule.
fn opaque(name: &str, value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let text = toml::to_string(value).map_err(|error| ServerError::Config(format!("{name}: {error}")))?;
    Ok(text.into_bytes())
}
