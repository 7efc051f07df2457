//! The server's configuration file.

use crate::error::{Result, ServerError};
use serde::Deserialize;
use shuffledp_learning::models::ModelConfig;
use shuffledp_learning::step::StepRule;
use shuffledp_learning::training::{DataConfig, Preparation};
use shuffledp_postgres::DatabaseUrl;
use shuffledp_question::configured::ConfiguredRandomizer;
use shuffledp_transport::{ClientConfig, ListenConfig, LogLevel};
use std::path::{Path, PathBuf};

/// Everything a server needs to know.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// The SQLite file, or a PostgreSQL database, `postgres://…`, that replicas share. One store is
    /// one population: its ledger is that of all tasks ever run with it.
    pub store: PathBuf,
    /// The PostgreSQL database that `store` names, if it names one.
    #[serde(skip)]
    pub database: Option<DatabaseUrl>,
    /// The folder of the server's secret keys.
    pub keys: PathBuf,
    /// Days after which reports are sealed to a new key, from the next round on; without it only
    /// `shuffledp server rotate-key` makes one.
    #[serde(default)]
    pub rotate_every_days: Option<f64>,
    /// Where it listens.
    pub listen: ListenConfig,
    /// Test examples, for the accuracy that the dashboard shows; they also say what the model's
    /// input is. No client's.
    pub data: DataConfig,
    /// Where data that is not generated lies; see `shuffledp data`.
    #[serde(default)]
    pub data_directory: Option<PathBuf>,
    /// The task: the model to learn, and its guarantees.
    pub task: TaskConfig,
    /// How long things take.
    #[serde(default)]
    pub round: RoundConfig,
    /// The least important lines that are logged; `info` without it.
    #[serde(default)]
    pub log_level: Option<LogLevel>,
    /// How the shuffler is asked whether it is there.
    #[serde(default)]
    pub http: ClientConfig,
    /// Whether an open round of another task is given up for this one. Not a setting of the file:
    /// who starts the server says it, once.
    #[serde(skip)]
    pub new_task: bool,
}

/// The task: the model to learn, and its guarantees. All of it is signed and shown to clients.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskConfig {
    /// For people.
    pub name: String,
    /// Decides the first weights.
    #[serde(default = "one")]
    pub seed: u64,
    /// n: honest clients that are there in every round at the least, whoever participates. Privacy
    /// is accounted for with this number, never with how many came.
    pub clients: u64,
    /// Probability that a client participates in a round.
    pub check_in_rate: f64,
    /// Probability that one who participates is not heard.
    #[serde(default)]
    pub drop_out: f64,
    /// How many rounds, unless the budget ends the task before.
    pub rounds: u64,
    /// δ.
    pub delta: f64,
    /// ε that is never exceeded.
    pub budget: f64,
    /// The randomizer of gradients.
    pub randomizer: ConfiguredRandomizer,
    /// The norm to which gradients are clipped, as the randomizer has it.
    pub clip: f32,
    /// The preparation of examples; none that is fitted on examples.
    #[serde(default)]
    pub preparation: Preparation,
    /// The model.
    pub model: ModelConfig,
    /// How the weights move.
    pub step: StepRule,
    /// The shuffler.
    pub shuffler: ShufflerConfig,
}

/// The shuffler, as clients reach it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShufflerConfig {
    /// Where clients send reports.
    pub url: String,
    /// The key that its key list and its batches are signed with, as `shuffledp shuffler init`
    /// prints it.
    pub verifying_key: String,
}

/// How long things take. Another value does not make another task.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoundConfig {
    /// Seconds in which clients may send.
    pub window_seconds: f64,
    /// Seconds after the window in which the shuffler's batch must begin to arrive; then the round
    /// is given up, and stays charged.
    pub grace_seconds: f64,
    /// Seconds without a byte after which a batch under way is given up.
    pub stall_seconds: f64,
    /// A batch that arrives more slowly than this, beyond `stall_seconds`, is given up.
    pub min_bytes_per_second: u64,
    /// Rounds between two looks at the test examples.
    pub evaluate_every: u64,
    /// A batch of more reports is refused.
    pub max_reports: u64,
    /// A batch of fewer reports is refused, whatever the shuffler's own minimum is; no step is
    /// taken if fewer of them count.
    pub min_batch: u64,
    /// After so many rounds in a row without a batch no further round is opened until the shuffler
    /// answers or an operator says so.
    pub pause_after: u64,
}

impl Default for RoundConfig {
    fn default() -> Self {
        Self {
            window_seconds: 300.0,
            grace_seconds: 120.0,
            stall_seconds: 30.0,
            min_bytes_per_second: 65_536,
            evaluate_every: 1,
            max_reports: 10_000_000,
            min_batch: 2,
            pause_after: 3,
        }
    }
}

fn one() -> u64 {
    1
}

impl ServerConfig {
    /// Reads a configuration file. Relative paths in it start at its folder.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(ServerError::file("read", path))?;
        Self::parse(&text, path)
    }

    /// Parses the text of the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut config: Self = toml::from_str(text)
            .map_err(|error| ServerError::Config(format!("{}: {}", path.display(), error.to_string().trim_end())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        match config.store.to_str().filter(|store| DatabaseUrl::is_one(store)) {
            Some(url) => {
                let mut url: DatabaseUrl =
                    url.parse().map_err(|error| ServerError::Config(format!("{}: {error}", path.display())))?;
                url.relative_to(folder);
                // Without the password: paths are shown.
                config.store = url.to_string().into();
                config.database = Some(url);
            }
            None => config.store = folder.join(&config.store),
        }
        config.keys = folder.join(&config.keys);
        config.data_directory = config.data_directory.map(|directory| folder.join(directory));
        config.data.find_from(folder)?;
        config.listen.relative_to(folder);
        config.http.relative_to(folder);
        config.round.check()?;
        if let Some(days) = config.rotate_every_days
            && !(days > 0.0 && days <= 3660.0)
        {
            return Err(out_of_range("rotate_every_days", "above 0 and at most ten years", days));
        }
        Ok(config)
    }

    /// How long a key that reports are sealed to is used, in milliseconds.
    pub(crate) fn key_lifetime(&self) -> Option<u64> {
        self.rotate_every_days.map(|days| millis(days * 86_400.0))
    }
}

impl RoundConfig {
    /// Whether it makes sense.
    pub fn check(&self) -> Result<()> {
        let most = 366.0 * 86_400.0;
        for (name, seconds) in [
            ("window_seconds", self.window_seconds),
            ("grace_seconds", self.grace_seconds),
            ("stall_seconds", self.stall_seconds),
        ] {
            if !(seconds > 0.0 && seconds <= most) {
                return Err(out_of_range(name, "above 0 and at most a year", seconds));
            }
        }
        for (name, number) in [
            ("evaluate_every", self.evaluate_every),
            ("max_reports", self.max_reports),
            ("min_bytes_per_second", self.min_bytes_per_second),
            ("pause_after", self.pause_after),
        ] {
            if number == 0 {
                return Err(out_of_range(name, "at least 1", number));
            }
        }
        if self.min_batch < 2 {
            let requirement = "at least 2: a batch of one report hides nobody";
            return Err(out_of_range("min_batch", requirement, self.min_batch));
        }
        if self.min_batch > self.max_reports {
            return Err(out_of_range("min_batch", "at most max_reports", self.min_batch));
        }
        Ok(())
    }

    /// The window, in milliseconds.
    pub(crate) fn window(&self) -> u64 {
        millis(self.window_seconds)
    }

    /// The grace, in milliseconds.
    pub(crate) fn grace(&self) -> u64 {
        millis(self.grace_seconds)
    }

    /// The longest that an upload of so many bytes may keep the server waiting, in milliseconds.
    pub(crate) fn patience(&self, bytes: u64) -> u64 {
        let transfer = bytes.saturating_mul(1000) / self.min_bytes_per_second.max(1);
        millis(self.stall_seconds).saturating_add(transfer)
    }
}

fn millis(seconds: f64) -> u64 {
    // Checked to lie between 0 and a year.
    (seconds * 1000.0).ceil() as u64
}

fn out_of_range(parameter: &str, requirement: &str, value: impl std::fmt::Display) -> ServerError {
    ServerError::Config(format!("{parameter} must be {requirement}, but is {value}"))
}
