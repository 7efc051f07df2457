//! The folder of a run: its configuration, its metrics as they come, checkpoints on the way, and at
//! the end its record, ledger and weights.

use super::checkpoint::{Checkpoint, Identity};
use super::{Metrics, Simulation, TrainingConfig};
use crate::data::Clients;
use crate::models::{Model, load_weights, save_weights};
use crate::{LearningError, Result};
use fs4::{FileExt, TryLockError};
use serde::{Deserialize, Serialize};
use shuffledp_accounting::accountant::Accountant;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const CONFIG: &str = "config.toml";
const METRICS: &str = "metrics.jsonl";
const CHECKPOINT: &str = "checkpoint";
const RECORD: &str = "run.json";
const LEDGER: &str = "ledger.json";
const WEIGHTS: &str = "weights.safetensors";

/// The folder of a run: `config.toml`, `metrics.jsonl`, while it runs `checkpoint`, at the end
/// `run.json`, `ledger.json`, `weights.safetensors`. One process at a time may write to it:
/// `metrics.jsonl` is locked.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    metrics: File,
    /// Bytes of `metrics.jsonl`.
    written: u64,
}

/// A run in one place: what was asked, by which version, and what came of it.
#[derive(Serialize)]
struct RunRecord<'a> {
    version: &'static str,
    identity: &'a Identity,
    config: &'a TrainingConfig,
    threads: usize,
    seconds: f64,
    rounds: u64,
    stopped_by_budget: bool,
    /// Of a check-in, how many came.
    #[serde(skip_serializing_if = "Option::is_none")]
    check_in: Option<CheckInRecord>,
    result: &'a Metrics,
}

/// The rate at which clients were heard, beside the one that was accounted for.
#[derive(Serialize)]
struct CheckInRecord {
    accounted_rate: f64,
    /// An interval of confidence 99 %.
    observed_rate: (f64, f64),
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The part of the record that is read again.
#[derive(Deserialize)]
struct FinishedRun {
    identity: Identity,
    result: Metrics,
}

/// How far the run of a folder got.
pub(crate) enum Left {
    /// Not to its first checkpoint.
    Nothing,
    /// To this one.
    Stopped(Box<Checkpoint>),
    /// To its end.
    Finished(Metrics),
}

impl RunFolder {
    /// Makes the folder, which must not exist or be empty, and writes the configuration.
    pub fn create(path: &Path, config: &TrainingConfig) -> Result<Self> {
        if !Self::is_free(path) {
            return Err(LearningError::format(
                path,
                "is not empty: name another folder, so that no run is overwritten, or resume the run that is in it",
            ));
        }
        std::fs::create_dir_all(path).map_err(LearningError::file("create", path))?;
        write(&path.join(CONFIG), config.to_text()?.as_bytes())?;
        let name = path.join(METRICS);
        let metrics = File::create_new(&name).map_err(LearningError::file("create", &name))?;
        lock(&metrics, path)?;
        Ok(Self { path: path.to_owned(), metrics, written: 0 })
    }

    /// Whether a run may be begun here. One that was killed before its configuration was written
    /// has left nothing to lose.
    pub fn is_free(path: &Path) -> bool {
        let nothing = part(CONFIG);
        let Ok(mut entries) = std::fs::read_dir(path) else { return true };
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == nothing.as_str()))
    }

    /// The configuration of the run in the folder.
    pub fn config(path: &Path) -> Result<TrainingConfig> {
        let name = path.join(CONFIG);
        let text = std::fs::read_to_string(&name).map_err(LearningError::file("read", &name))?;
        TrainingConfig::parse(&text, &name)
    }

    /// Opens the folder of a run that was stopped, at whatever moment.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.join(METRICS);
        let options = OpenOptions::new().append(true).create(true).open(&name);
        let metrics = options.map_err(LearningError::file("open", &name))?;
        lock(&metrics, path)?;
        let written = metrics.metadata().map_err(LearningError::file("read", &name))?.len();
        Ok(Self { path: path.to_owned(), metrics, written })
    }

    /// How far the run got. `metrics.jsonl` is cut back to there: what was written after the
    /// checkpoint, perhaps half, will be written again.
    pub(crate) fn left(&mut self, identity: &Identity) -> Result<Left> {
        if let Some(result) = self.finished(identity)? {
            self.remove_checkpoint()?;
            return Ok(Left::Finished(result));
        }
        let name = self.path.join(CHECKPOINT);
        let checkpoint = match std::fs::read(&name) {
            Ok(bytes) => Checkpoint::decode(&bytes, identity, &name)?,
            // It stopped before anything was done.
            Err(error) if error.kind() == ErrorKind::NotFound && self.written == 0 => return Ok(Left::Nothing),
            Err(error) => return Err(LearningError::file("read", &name)(error)),
        };
        let metrics = self.path.join(METRICS);
        if self.written < checkpoint.metrics_bytes {
            return Err(LearningError::format(&metrics, "is shorter than when the checkpoint was written"));
        }
        self.metrics.set_len(checkpoint.metrics_bytes).map_err(LearningError::file("write", &metrics))?;
        self.written = checkpoint.metrics_bytes;
        Ok(Left::Stopped(Box::new(checkpoint)))
    }

    /// The result of a run that has come to its end.
    fn finished(&self, identity: &Identity) -> Result<Option<Metrics>> {
        let name = self.path.join(RECORD);
        let text = match std::fs::read_to_string(&name) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LearningError::file("read", &name)(error)),
        };
        let run: FinishedRun =
            serde_json::from_str(&text).map_err(|error| LearningError::format(&name, error.to_string()))?;
        identity.accept(&run.identity).map_err(|problem| LearningError::format(&name, problem))?;
        Ok(Some(run.result))
    }

    /// Whether the files of a run that has come to its `result` are those that it left.
    pub(crate) fn check_finished<P: Clients, M: Model>(
        &self,
        simulation: &Simulation<P, M>,
        result: &Metrics,
    ) -> Result<()> {
        let read = |name: &str| {
            let path = self.path.join(name);
            let bytes = std::fs::read(&path).map_err(LearningError::file("read", &path))?;
            Ok::<_, LearningError>((path, bytes))
        };
        let (path, bytes) = read(WEIGHTS)?;
        load_weights(simulation.model().architecture(), &bytes, &path)?;
        let other = "is not as the run left it: put it back";
        let (path, bytes) = read(LEDGER)?;
        if Accountant::load(&String::from_utf8_lossy(&bytes))? != simulation.account_of(result.round)? {
            return Err(LearningError::format(&path, other));
        }
        let (path, bytes) = read(METRICS)?;
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().last().and_then(|line| serde_json::from_str::<Metrics>(line).ok());
        if last != Some(*result) {
            return Err(LearningError::format(&path, other));
        }
        Ok(())
    }

    /// Adds a line to `metrics.jsonl`.
    pub(crate) fn add(&mut self, metrics: &Metrics) -> Result<()> {
        let line = json(metrics, false)?;
        let name = self.path.join(METRICS);
        self.metrics.write_all(line.as_bytes()).map_err(LearningError::file("write", &name))?;
        self.written += line.len() as u64;
        Ok(())
    }

    /// How long `metrics.jsonl` is.
    pub(crate) fn metrics_bytes(&self) -> u64 {
        self.written
    }

    /// Writes a checkpoint over the last one. The metrics that it counts on are on the disk before
    /// it is.
    pub(crate) fn keep(&self, checkpoint: &Checkpoint, identity: &Identity) -> Result<()> {
        self.sync_metrics()?;
        write(&self.path.join(CHECKPOINT), &checkpoint.encode(identity)?)
    }

    fn sync_metrics(&self) -> Result<()> {
        let name = self.path.join(METRICS);
        self.metrics.sync_data().map_err(LearningError::file("write", &name))
    }

    /// Writes what is known at the end. The record is last: where it is, everything is.
    pub(crate) fn finish<P: Clients, M: Model>(
        &self,
        simulation: &Simulation<P, M>,
        result: &Metrics,
        identity: &Identity,
    ) -> Result<()> {
        self.sync_metrics()?;
        let config = simulation.config();
        let record = RunRecord {
            version: env!("CARGO_PKG_VERSION"),
            identity,
            config,
            threads: rayon::current_num_threads(),
            seconds: result.seconds,
            rounds: result.round,
            stopped_by_budget: result.round < config.rounds,
            check_in: check_in(simulation),
            result,
        };
        let weights = save_weights(simulation.model().architecture(), &simulation.state().answer())?;
        write(&self.path.join(WEIGHTS), &weights)?;
        write(&self.path.join(LEDGER), simulation.ledger().accountant().save()?.as_bytes())?;
        write(&self.path.join(RECORD), json(&record, true)?.as_bytes())?;
        self.remove_checkpoint()
    }

    fn remove_checkpoint(&self) -> Result<()> {
        for name in [CHECKPOINT.to_owned(), part(CHECKPOINT)] {
            let name = self.path.join(name);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(LearningError::file("remove", &name)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn check_in<P: Clients, M: Model>(simulation: &Simulation<P, M>) -> Option<CheckInRecord> {
    let (accounted_rate, observed_rate) = simulation.check_in_rates()?;
    Some(CheckInRecord { accounted_rate, observed_rate, warning: simulation.warning() })
}

fn json(value: &impl Serialize, pretty: bool) -> Result<String> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    Ok(text.map_err(|error| LearningError::Data(error.to_string()))? + "\n")
}

/// Until the file is closed, by whatever end of the process.
fn lock(metrics: &File, folder: &Path) -> Result<()> {
    match FileExt::try_lock(metrics) {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(LearningError::format(folder, "is being written by another process: wait for it, or stop it"))
        }
        Err(TryLockError::Error(error)) => Err(LearningError::file("lock", folder)(error)),
    }
}

/// A file's name while it is written.
fn part(name: &str) -> String {
    format!("{name}.part")
}

/// Whoever looks sees the old file or the new one, whole, even after a failure of power: the bytes
/// are on the disk before the name is.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let complain = || LearningError::file("write", path);
    let (folder, name) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
    let unfinished = folder.join(part(&name.to_string_lossy()));
    let mut file = File::create(&unfinished).map_err(complain())?;
    file.write_all(bytes).map_err(complain())?;
    file.sync_all().map_err(complain())?;
    std::fs::rename(&unfinished, path).map_err(complain())?;
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(complain())?;
    Ok(())
}
