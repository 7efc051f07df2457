//! A task as this client understands it: verified, above its floors, and ready to be done.

use crate::config::{ClientConfig, Floors};
use crate::error::{ClientError, Result};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{RandomizerSpec, Round as AccountedRound, Scheme};
use shuffledp_learning::collect::Frames;
use shuffledp_learning::data::scattering::quiet;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::models::{AnyModel, Architecture, Model};
use shuffledp_learning::training::{ModelDescription, Preparation};
use shuffledp_randomizers::coin::Coin;
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_wire::{Signed, Task, TaskHash};
use std::path::Path;

/// A verified task, with the cost of each of its rounds.
pub struct Assignment {
    task: Task,
    hash: TaskHash,
    /// The preparation of an example before it enters the model.
    preparation: Preparation,
    pub(crate) model: AnyModel,
    /// The format of reports.
    pub(crate) frames: Frames,
    pub(crate) cost: AccountedRound,
}

/// A safetensors file has its tensors and a header; so many bytes of header are enough for any
/// chain of layers that fits into a task.
const HEADER_BYTES: u64 = 1 << 20;

/// A report with a smaller local ε says nothing. Only who wants clients to work in vain, or their
/// accountants to compute at the edge of what floats can tell apart, asks for it.
const LEAST_LOCAL_EPSILON: f64 = 1e-6;

/// The same for the probability to participate: a client that is asked every second participates
/// once in thirty years.
const LEAST_RATE: f64 = 1e-9;

impl Assignment {
    /// Verifies the bytes of a signed task: the pinned key's signature, the pinned hash, the
    /// floors, and that it can be done at all.
    pub fn verify(signed: &[u8], config: &ClientConfig) -> Result<Self> {
        let wrong = || ClientError::wire("the server's task");
        let task =
            Signed::<Task>::decode(signed).and_then(|signed| signed.verify(&config.server_key)).map_err(wrong())?;
        let hash = task.hash().map_err(wrong())?;
        if hash != config.task {
            return Err(ClientError::OtherTask { pinned: config.task, found: hash });
        }
        let ModelDescription { architecture, preparation } = described(&task.architecture)?;
        let randomizer: RandomizerSpec = parse("randomizer", &task.randomizer)?;
        Frames::check_deployable(&randomizer)?;
        check_floors(&task, &architecture, &randomizer, &config.floors)?;
        check_purpose(&task, &randomizer)?;
        let dimension = u32::try_from(architecture.parameters())
            .map_err(|_| ClientError::Task("the model has 2^32 weights or more".to_owned()))?;
        let frames = Frames::deployed(randomizer, VectorShape { dimension, clip: task.clip })?;
        if frames.frame_len() != task.payload_len as usize {
            let (ours, theirs) = (frames.frame_len(), task.payload_len);
            return Err(ClientError::Task(format!("its reports have {theirs} bytes, but this randomizer's {ours}")));
        }
        let cost = cost(&task, randomizer, config)?;
        Ok(Self { task, hash, preparation, model: AnyModel::new(architecture), frames, cost })
    }

    /// Returns the task that the server signed.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Its id.
    pub fn hash(&self) -> TaskHash {
        self.hash
    }

    /// Returns the cost of one round for a client that it is offered to.
    pub fn cost(&self) -> AccountedRound {
        self.cost
    }

    /// Decides whether to participate. Rounded down: at most the task's rate.
    pub(crate) fn coin(&self) -> Coin {
        Coin::at_most(self.task.check_in_rate)
    }

    /// A model's file has no more bytes.
    pub(crate) fn model_bytes(&self) -> usize {
        usize::try_from(model_bytes(self.model.parameters()) + HEADER_BYTES).unwrap_or(usize::MAX)
    }

    /// Returns the examples as the task has them prepared, if they are what its model takes then.
    /// Scattering features of many examples are kept in the data directory, those of one are not.
    pub(crate) fn prepared(&self, examples: Examples, data_directory: Option<&Path>) -> Result<Examples> {
        let examples = self.preparation.apply_alone(examples, data_directory, &quiet)?;
        self.check_examples(&examples)?;
        Ok(examples)
    }

    /// Whether these examples are what the model takes.
    pub(crate) fn check_examples(&self, examples: &impl Clients) -> Result<()> {
        let architecture = self.model.architecture();
        if examples.shape() != architecture.input() || examples.classes() > architecture.classes() {
            let (wanted, classes) = (architecture.input(), architecture.classes());
            let (given, given_classes) = (examples.shape(), examples.classes());
            return Err(ClientError::Config(format!(
                "the task's model takes {wanted} in {classes} classes, but `data` has {given} in {given_classes}"
            )));
        }
        Ok(())
    }
}

/// Returns the cost of a round. The task's n is accepted only as far as this client's owner allows,
/// up to `most_clients` or else `floors.clients`: a task that claims 2^53 clients would cost next
/// to nothing. It is taken for the rate, which is this client's own coin; not for the drop-outs:
/// nobody can check them, and without them the rate is larger and ε no smaller.
fn cost(task: &Task, randomizer: RandomizerSpec, config: &ClientConfig) -> Result<AccountedRound> {
    let clients = config.budget.most_clients.unwrap_or(config.floors.clients).min(task.clients);
    let cost = AccountedRound { scheme: Scheme::check_in(clients, task.check_in_rate, 0.0)?, randomizer };
    // What cannot be accounted for is refused here, before a round is offered.
    Accountant::new().compose(cost, 1)?;
    Ok(cost)
}

fn check_floors(task: &Task, architecture: &Architecture, randomizer: &RandomizerSpec, floors: &Floors) -> Result<()> {
    at_least("the task's number of honest clients", task.clients, "floors.clients", floors.clients)?;
    let local_epsilon = randomizer.pure_epsilon().unwrap_or(f64::INFINITY);
    // NaN is not within.
    let is_within = local_epsilon <= floors.local_epsilon;
    if !is_within {
        return Err(ClientError::BelowFloor {
            what: "the task's local ε",
            value: local_epsilon.to_string(),
            floor: "floors.local_epsilon",
            asked: format!("at most {}", floors.local_epsilon),
        });
    }
    let bytes = model_bytes(architecture.parameters());
    if bytes > floors.model_bytes {
        return Err(ClientError::BelowFloor {
            what: "the model's length in bytes",
            value: bytes.to_string(),
            floor: "floors.model_bytes",
            asked: format!("at most {}", floors.model_bytes),
        });
    }
    Ok(())
}

/// Refuses tasks that cannot learn anything, whatever the floors.
fn check_purpose(task: &Task, randomizer: &RandomizerSpec) -> Result<()> {
    let least = |what: &str, value: f64, least: f64| {
        // NaN is not enough.
        let is_enough = value >= least;
        let refused =
            || ClientError::Task(format!("{what} is {value:e}, below {least:e}: nothing can be learnt from it"));
        is_enough.then_some(()).ok_or_else(refused)
    };
    least("its check-in rate", task.check_in_rate, LEAST_RATE)?;
    least("its local ε", randomizer.pure_epsilon().unwrap_or(f64::INFINITY), LEAST_LOCAL_EPSILON)
}

pub(crate) fn at_least(what: &'static str, value: u64, floor: &'static str, asked: u64) -> Result<()> {
    if value >= asked {
        return Ok(());
    }
    Err(ClientError::BelowFloor { what, value: value.to_string(), floor, asked: format!("at least {asked}") })
}

fn model_bytes(parameters: usize) -> u64 {
    (parameters as u64).saturating_mul(4)
}

/// The task's model, and what is done to an example before.
fn described(architecture: &[u8]) -> Result<ModelDescription> {
    ModelDescription::parse(text("architecture", architecture)?).map_err(|problem| wrong("architecture", &problem))
}

/// The task's opaque fields are TOML.
fn parse<T: serde::de::DeserializeOwned>(field: &str, bytes: &[u8]) -> Result<T> {
    toml::from_str(text(field, bytes)?).map_err(|error| wrong(field, error.message()))
}

fn text<'a>(field: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| wrong(field, "not UTF-8"))
}

fn wrong(field: &str, problem: &str) -> ClientError {
    ClientError::Task(format!("{field}: {problem}"))
}
