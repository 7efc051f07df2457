//! A client's configuration file.

use crate::error::{ClientError, Result};
use serde::Deserialize;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::training::DataConfig;
use shuffledp_transport::ClientConfig as ConnectionConfig;
use shuffledp_wire::{TaskHash, VerifyingKey};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Everything a client needs to know. What decides about privacy has no default.
///
/// ```
/// # use shuffledp_client::ClientConfig;
/// # use std::path::Path;
/// let config = ClientConfig::parse(r#"
///     server = "https://server.example"
///     server_key = "shuffledp-verifying-v1:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
///     task = "0303030303030303030303030303030303030303030303030303030303030303"
///     state = "state"
///     example = 17
///     data = { kind = "digits", train = 6000, test = 1000 }
///
///     [floors]
///     clients = 5000
///     min_batch = 100
///     local_epsilon = 4.0
///
///     [budget]
///     epsilon = 1.0
///     delta = 1e-6
/// "#, Path::new("/etc/shuffledp/client.toml"))?;
/// assert_eq!(config.state, Path::new("/etc/shuffledp/state"));
/// # Ok::<(), shuffledp_client::ClientError>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientConfig {
    /// Where the server is.
    pub server: String,
    /// The key that must have signed tasks and rounds.
    #[serde(deserialize_with = "from_text")]
    pub server_key: VerifyingKey,
    /// The task that this client takes part in: the hash, so that everything about it is pinned.
    #[serde(deserialize_with = "from_text")]
    pub task: TaskHash,
    /// The folder of this client's own budget. One folder is one person's, for all tasks and for
    /// life.
    pub state: PathBuf,
    /// Which training example is this client's own.
    pub example: u64,
    /// The examples.
    pub data: DataConfig,
    /// Where data that is not generated lies; see `shuffledp data`.
    #[serde(default)]
    pub data_directory: Option<PathBuf>,
    /// Roots and times of connections.
    #[serde(default)]
    pub connection: ConnectionConfig,
    /// The minimum requirements on a task.
    pub floors: Floors,
    /// The most that this client spends.
    pub budget: BudgetConfig,
    /// How often to ask, and how long to wait.
    #[serde(default)]
    pub times: Times,
}

/// A task that offers less protection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floors {
    /// Honest clients that the task assumes, at the least.
    pub clients: u64,
    /// Reports that the shuffler promises to wait for, at the least.
    pub min_batch: u64,
    /// ε0 of one report, at the most: what is left if shuffler and server work together. `inf`
    /// allows mechanisms that have none, such as the Gaussian.
    pub local_epsilon: f64,
    /// A model of more bytes is refused.
    #[serde(default = "default_model_bytes")]
    pub model_bytes: u64,
}

/// The lifetime budget.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// ε at δ that all rounds ever offered may cost together.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Counts no more honest clients than these in the charge, whatever a task claims;
    /// `floors.clients` of them unless told.
    #[serde(default)]
    pub most_clients: Option<u64>,
}

/// How often to ask, and how long to wait. In seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Between two questions whether there is a new round; each time between half and one and a
    /// half of it, so that clients spread out.
    pub poll_seconds: f64,
    /// Before a report is sent for the second time; doubled from then on.
    pub first_retry_seconds: f64,
    /// The longest of these waits.
    pub longest_retry_seconds: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self { poll_seconds: 5.0, first_retry_seconds: 0.5, longest_retry_seconds: 30.0 }
    }
}

/// A hundred times the papers' models.
fn default_model_bytes() -> u64 {
    64 << 20
}

fn from_text<'de, T, D>(deserializer: D) -> std::result::Result<T, D::Error>
where
    T: FromStr<Err: std::fmt::Display>,
    D: serde::Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

impl ClientConfig {
    /// Reads a configuration file. Relative paths in it start at its folder.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(ClientError::file("read", path))?;
        Self::parse(&text, path)
    }

    /// Parses the text of the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut config: Self = toml::from_str(text)
            .map_err(|error| ClientError::Config(format!("{}: {}", path.display(), error.to_string().trim_end())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.state = folder.join(&config.state);
        config.data_directory = config.data_directory.map(|directory| folder.join(directory));
        config.connection.relative_to(folder);
        config.data.find_from(folder)?;
        config.check()?;
        Ok(config)
    }

    /// Whether it makes sense, as far as can be said without files or network.
    pub fn check(&self) -> Result<()> {
        let Floors { clients, min_batch, local_epsilon, model_bytes } = self.floors;
        require(clients >= 1, "floors.clients", "at least 1", clients)?;
        // A batch of one report is a report with a name on it.
        require(min_batch >= 2, "floors.min_batch", "at least 2", min_batch)?;
        require(local_epsilon > 0.0, "floors.local_epsilon", "above 0", local_epsilon)?;
        require(model_bytes >= 1, "floors.model_bytes", "at least 1", model_bytes)?;
        self.budget.ledger(Accountant::new())?;
        if let Some(most) = self.budget.most_clients {
            require(most >= 1, "budget.most_clients", "at least 1", most)?;
        }
        let Times { poll_seconds, first_retry_seconds, longest_retry_seconds } = self.times;
        for (name, seconds) in [
            ("times.poll_seconds", poll_seconds),
            ("times.first_retry_seconds", first_retry_seconds),
            ("times.longest_retry_seconds", longest_retry_seconds),
        ] {
            require(seconds > 0.0 && seconds <= 86_400.0, name, "above 0 and at most a day", seconds)?;
        }
        Ok(())
    }
}

impl BudgetConfig {
    /// Returns the budget's ledger, with the rounds in `accountant` charged.
    pub(crate) fn ledger(&self, accountant: Accountant) -> Result<Ledger> {
        let Self { epsilon, delta, .. } = *self;
        require(epsilon > 0.0 && epsilon.is_finite(), "budget.epsilon", "a finite number above 0", epsilon)?;
        require(delta > 0.0 && delta < 1.0, "budget.delta", "between 0 and 1", delta)?;
        Ok(Ledger::resume(accountant, delta, Some(epsilon))?)
    }
}

fn require(holds: bool, name: &str, requirement: &str, value: impl std::fmt::Display) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(ClientError::Config(format!("{name} must be {requirement}, but is {value}")))
}
