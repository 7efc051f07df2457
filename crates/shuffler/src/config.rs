//! The configuration file: TOML, every field documented, everything checked before anything starts.

use crate::error::{Result, ShufflerError, at};
use serde::Deserialize;
use shuffledp_postgres::DatabaseUrl;
use shuffledp_transport::{ClientConfig, ListenConfig, LogLevel};
use shuffledp_wire::{TaskHash, VerifyingKey};
use std::path::{Path, PathBuf};

/// All of it. Relative paths are relative to the file they stand in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder of the stores; made if it is not there. Best on an encrypted disk: a file system does
    /// not overwrite what is deleted.
    #[serde(default = "default_data")]
    pub data: PathBuf,
    /// A PostgreSQL database, `postgres://…`, that takes the place of `data` and may be shared by
    /// several shufflers with the same keys.
    #[serde(default)]
    pub store: Option<DatabaseUrl>,
    /// File with the key that signs the key list and the batches. Tasks name its public half.
    pub signing_key: PathBuf,
    /// File with the HPKE keys, newest first. It is read again when it changes.
    pub hpke_keys: PathBuf,
    /// B_min: no batch with fewer reports is released. A privacy parameter, not a throughput knob,
    /// so it has no default: clients refuse to take part below their own floor.
    pub min_batch: u64,
    /// Seconds between looks at the servers' rounds.
    #[serde(default = "default_poll_seconds")]
    pub poll_seconds: f64,
    /// The longest report that is taken, in bytes. Rounds with longer ones are not taken part in.
    #[serde(default = "default_max_report_bytes")]
    pub max_report_bytes: usize,
    /// Bytes of reports that may wait for the disk; beyond that clients are asked to come again
    /// (503).
    #[serde(default = "default_waiting_bytes")]
    pub waiting_bytes: usize,
    /// Seconds until a request must be dealt with, its body included.
    #[serde(default = "default_request_seconds")]
    pub request_seconds: u64,
    /// The longest window that a round may have, in seconds, and how far ahead it may lie.
    #[serde(default = "default_max_window_seconds")]
    pub max_window_seconds: u64,
    /// Rounds that a server may have unfinished at once.
    #[serde(default = "default_max_rounds")]
    pub max_rounds: usize,
    /// Different reports that are taken for one round; then clients are asked to come again (503).
    /// A repeated report takes no place. Well below what the server takes in a batch: one that is
    /// too long is refused whole.
    #[serde(default = "default_max_reports")]
    pub max_reports: u64,
    /// Seconds until an attempt to send a batch is given up and begun again.
    #[serde(default = "default_forward_timeout_seconds")]
    pub forward_timeout_seconds: u64,
    /// Seconds after a window's end until a batch that the server does not take is deleted.
    #[serde(default = "default_forward_for_seconds")]
    pub forward_for_seconds: u64,
    /// Seconds for which clients may use a key list that they fetched. An old key is deleted when
    /// no round is left that opened before its successor was published and this time was over.
    #[serde(default = "default_key_overlap_seconds")]
    pub key_overlap_seconds: u64,
    /// Seconds after which a new HPKE key takes the place of the newest. Without it, only
    /// `rotate-key` does.
    #[serde(default)]
    pub rotate_every: Option<u64>,
    /// Bytes that must be free on the disk of `data`. With fewer no report is taken (503), so that
    /// the batches that are there can still be made and sent.
    #[serde(default = "default_min_free_bytes")]
    pub min_free_bytes: u64,
    /// The least important lines that are logged: error, warn, info (the default) or debug. Read
    /// again at SIGHUP.
    #[serde(default)]
    pub log_level: Option<LogLevel>,
    /// Where to listen.
    pub listen: ListenConfig,
    /// How to reach the servers.
    #[serde(default)]
    pub http: ClientConfig,
    /// Whom to shuffle for.
    pub servers: Vec<ServerConfig>,
}

/// A server whose rounds are taken part in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Its address, without a path: `https://server.example`.
    pub url: String,
    /// Its public key, `shuffledp-verifying-v1:…`.
    #[serde(deserialize_with = "from_text")]
    pub key: VerifyingKey,
    /// Its tasks by their hashes. Without any, every task for which this server signs a round,
    /// found out when a report names it. Needed where there are several servers.
    #[serde(default, deserialize_with = "from_texts")]
    pub tasks: Vec<TaskHash>,
}

fn default_data() -> PathBuf {
    PathBuf::from("data")
}
fn default_poll_seconds() -> f64 {
    1.0
}
fn default_max_report_bytes() -> usize {
    1 << 20
}
fn default_waiting_bytes() -> usize {
    64 << 20
}
fn default_request_seconds() -> u64 {
    10
}
fn default_max_window_seconds() -> u64 {
    7 * 86_400
}
fn default_max_rounds() -> usize {
    64
}
fn default_max_reports() -> u64 {
    4_000_000
}
fn default_forward_timeout_seconds() -> u64 {
    3600
}
fn default_forward_for_seconds() -> u64 {
    86_400
}
fn default_key_overlap_seconds() -> u64 {
    3600
}
fn default_min_free_bytes() -> u64 {
    256 << 20
}

fn from_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<VerifyingKey, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn from_texts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<TaskHash>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has an unknown field, or a value that cannot be.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(at(path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut config: Self = toml::from_str(&text)
            .map_err(|cause| ShufflerError::Toml { path: path.to_owned(), cause: Box::new(cause) })?;
        config.relative_to(folder);
        config.check()?;
        Ok(config)
    }

    fn relative_to(&mut self, folder: &Path) {
        for path in [&mut self.data, &mut self.signing_key, &mut self.hpke_keys] {
            *path = folder.join(&path);
        }
        if let Some(store) = &mut self.store {
            store.relative_to(folder);
        }
        self.listen.relative_to(folder);
        self.http.relative_to(folder);
    }

    /// A shuffler on loopback with default limits, its files in `folder`; for tests and
    /// demonstrations. [`init`](crate::init) makes the files.
    #[must_use]
    pub fn loopback(folder: &Path, min_batch: u64, servers: Vec<ServerConfig>) -> Self {
        Self {
            data: folder.join("data"),
            store: None,
            signing_key: folder.join(crate::files::SIGNING_KEY),
            hpke_keys: folder.join(crate::files::HPKE_KEYS),
            min_batch,
            poll_seconds: default_poll_seconds(),
            max_report_bytes: default_max_report_bytes(),
            waiting_bytes: default_waiting_bytes(),
            request_seconds: default_request_seconds(),
            max_window_seconds: default_max_window_seconds(),
            max_rounds: default_max_rounds(),
            max_reports: default_max_reports(),
            forward_timeout_seconds: default_forward_timeout_seconds(),
            forward_for_seconds: default_forward_for_seconds(),
            key_overlap_seconds: default_key_overlap_seconds(),
            rotate_every: None,
            min_free_bytes: default_min_free_bytes(),
            log_level: None,
            listen: ListenConfig::loopback(),
            http: ClientConfig::default(),
            servers,
        }
    }

    /// Refuses a change that a running shuffler cannot take up.
    ///
    /// # Errors
    ///
    /// The first such setting, by its name.
    pub(crate) fn check_change(&self, fresh: &Self) -> Result<()> {
        let changed = [
            ("data", self.data != fresh.data),
            ("signing_key", self.signing_key != fresh.signing_key),
            ("hpke_keys", self.hpke_keys != fresh.hpke_keys),
            ("min_batch", self.min_batch != fresh.min_batch),
            ("waiting_bytes", self.waiting_bytes != fresh.waiting_bytes),
            ("request_seconds", self.request_seconds != fresh.request_seconds),
            ("listen.address", self.listen.address != fresh.listen.address),
            ("listen.admin", self.listen.admin != fresh.listen.admin),
            ("http", self.http != fresh.http),
            ("servers", self.servers != fresh.servers),
        ];
        match changed.into_iter().find(|(_, changed)| *changed) {
            Some((parameter, _)) => Err(ShufflerError::Config {
                parameter: parameter.to_owned(),
                reason: "cannot change while the shuffler runs; nothing was taken up: restart it".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    ///
    /// The first such parameter, by its name.
    pub fn check(&self) -> Result<()> {
        let wrong = |parameter: &str, reason: &str| {
            Err(ShufflerError::Config { parameter: parameter.to_owned(), reason: reason.to_owned() })
        };
        if self.min_batch < 2 {
            return wrong("min_batch", "must be at least 2: a batch of one report hides nobody");
        }
        if self.min_batch > 1 << 32 {
            return wrong("min_batch", "must be at most 2^32, the longest batch there is");
        }
        // NaN is not within. A thousand looks a second are as good as at once.
        if !(0.001..=3600.0).contains(&self.poll_seconds) {
            return wrong("poll_seconds", "must be between 0.001 and 3600");
        }
        for (parameter, seconds) in [
            ("request_seconds", self.request_seconds),
            ("max_window_seconds", self.max_window_seconds),
            ("forward_timeout_seconds", self.forward_timeout_seconds),
        ] {
            if seconds == 0 {
                return wrong(parameter, "must be at least 1");
            }
        }
        if self.rotate_every.is_some_and(|every| every < self.key_overlap_seconds.max(60)) {
            return wrong("rotate_every", "must be at least key_overlap_seconds and 60: old keys are kept that long");
        }
        if self.max_rounds == 0 {
            return wrong("max_rounds", "must be at least 1");
        }
        if self.max_reports < self.min_batch {
            return wrong("max_reports", "must be at least min_batch, or no batch is ever large enough");
        }
        if self.max_report_bytes < shuffledp_wire::report_len(1) {
            return wrong("max_report_bytes", "must be at least 223, the shortest report there is");
        }
        if self.waiting_bytes < self.max_report_bytes {
            return wrong("waiting_bytes", "must be at least max_report_bytes, or no report fits");
        }
        if self.servers.is_empty() {
            return wrong("servers", "name at least one [[servers]] with url and key");
        }
        for (index, server) in self.servers.iter().enumerate() {
            if self.servers[..index].iter().any(|other| other.key == server.key) {
                return wrong("servers.key", "two servers have the same key");
            }
            // A server could otherwise sign rounds of another's task, and be sent its batch.
            if self.servers.len() > 1 && server.tasks.is_empty() {
                return wrong("servers.tasks", "must be named where there are several servers");
            }
            if self.servers[..index].iter().any(|other| other.tasks.iter().any(|task| server.tasks.contains(task))) {
                return wrong("servers.tasks", "two servers have the same task");
            }
        }
        self.listen.check()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_wire::SigningKey;

    fn text(extra: &str) -> String {
        let key = SigningKey::from_seed(&[1; 32]).verifying_key();
        format!(
            "data = \"data\"\nsigning_key = \"/k/signing.key\"\nhpke_keys = \"hpke.keys\"\nmin_batch = 100\n{extra}\n\
             [listen]\naddress = \"127.0.0.1:0\"\n[[servers]]\nurl = \"https://server.example\"\nkey = \"{key}\"\n"
        )
    }

    fn load(text: &str) -> Result<Config> {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("shuffler.toml");
        std::fs::write(&path, text).unwrap();
        let mut config = Config::load(&path)?;
        config.data = config.data.strip_prefix(folder.path()).unwrap().to_owned();
        Ok(config)
    }

    #[test]
    fn defaults_and_relative_paths() {
        let config = load(&text("")).unwrap();
        assert_eq!(config.data, Path::new("data"));
        assert_eq!(config.signing_key, Path::new("/k/signing.key"));
        assert_eq!((config.min_batch, config.poll_seconds, config.max_rounds), (100, 1.0, 64));
    }

    #[test]
    fn several_servers_have_tasks_of_their_own() {
        let server = |seed: u8, tasks: &str| {
            let key = SigningKey::from_seed(&[seed; 32]).verifying_key();
            format!("{tasks}[[servers]]\nurl = \"https://another.example\"\nkey = \"{key}\"\n")
        };
        let (one, two) =
            (format!("tasks = [\"{}\"]\n", "11".repeat(32)), format!("tasks = [\"{}\"]\n", "22".repeat(32)));
        let with = |first: &str, second: &str| load(&(text("") + &server(2, first) + second));
        with(&one, &two).unwrap();
        for (first, second, reason) in [
            ("", "", "must be named"),
            (one.as_str(), "", "must be named"),
            (&one, &one, "two servers have the same task"),
        ] {
            let refused = with(first, second).unwrap_err().to_string();
            assert!(refused.contains("servers.tasks") && refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (from, to, named) in [
            ("min_batch = 100", "min_batch = 1", "min_batch"),
            ("min_batch = 100", "", "min_batch"),
            ("min_batch = 100", "min_bach = 100\nmin_batch = 100", "min_bach"),
            ("min_batch = 100", "min_batch = 100\npoll_seconds = 0", "poll_seconds"),
            ("min_batch = 100", "min_batch = 100\nwaiting_bytes = 1000", "waiting_bytes"),
            ("min_batch = 100", "min_batch = 100\nmax_reports = 99", "max_reports"),
            ("min_batch = 100", "min_batch = 100\nrotate_every = 3599", "rotate_every"),
            ("min_batch = 100", "min_batch = 100\nmax_report_bytes = 222", "max_report_bytes"),
            ("shuffledp-verifying-v1:", "shuffledp-hpke-public-v1:", "key"),
            ("127.0.0.1:0", "0.0.0.0:8443", "allow_plain_http"),
            ("min_batch = 100", "min_batch = 100\nstore = \"sqlite\"", "postgres://"),
        ] {
            let broken = text("").replace(from, to);
            assert_ne!(broken, text(""));
            let refused = load(&broken).unwrap_err().to_string();
            assert!(refused.contains(named), "{named}: {refused}");
        }
    }
}
