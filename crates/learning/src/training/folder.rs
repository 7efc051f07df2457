//! What a run leaves behind: its configuration, its metrics as they come, and at the end its record, ledger and weights.

use super::{Metrics, Simulation, TrainingConfig};
use crate::data::Clients;
use crate::models::save_weights;
use crate::{LearningError, Result};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of a run: `config.toml`, `metrics.jsonl`, `run.json`, `ledger.json`, `weights.safetensors`.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    metrics: File,
}

/// A run in one place: what was asked, by which version, and what came of it.
#[derive(Serialize)]
struct RunRecord<'a> {
    version: &'static str,
    config: &'a TrainingConfig,
    threads: usize,
    seconds: f64,
    rounds: u64,
    stopped_by_budget: bool,
    result: &'a Metrics,
}

impl RunFolder {
    /// Makes the folder, which must not exist or be empty, and writes the configuration.
    pub fn create(path: &Path, config: &TrainingConfig) -> Result<Self> {
        let has_something = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if has_something {
            return Err(LearningError::format(
                path,
                "is not empty: name another folder, so that no run is overwritten",
            ));
        }
        std::fs::create_dir_all(path).map_err(LearningError::file("create", path))?;
        let text = toml::to_string(config).map_err(|error| LearningError::Data(error.to_string()))?;
        write(&path.join("config.toml"), text.as_bytes())?;
        let name = path.join("metrics.jsonl");
        let metrics = File::create(&name).map_err(LearningError::file("create", &name))?;
        Ok(Self { path: path.to_owned(), metrics })
    }

    /// Adds a line to `metrics.jsonl`.
    pub fn add(&mut self, metrics: &Metrics) -> Result<()> {
        let line = json(metrics, false)?;
        let name = self.path.join("metrics.jsonl");
        self.metrics.write_all(line.as_bytes()).map_err(LearningError::file("write", &name))
    }

    /// Writes what is known at the end.
    pub fn finish<P: Clients>(&self, simulation: &Simulation<'_, P>, result: &Metrics) -> Result<()> {
        let config = simulation.config();
        let record = RunRecord {
            version: env!("CARGO_PKG_VERSION"),
            config,
            threads: rayon::current_num_threads(),
            seconds: result.seconds,
            rounds: result.round,
            stopped_by_budget: result.round < config.rounds,
            result,
        };
        let weights = save_weights(simulation.model().architecture(), &simulation.state().answer())?;
        write(&self.path.join("weights.safetensors"), &weights)?;
        write(&self.path.join("ledger.json"), simulation.ledger().accountant().save()?.as_bytes())?;
        write(&self.path.join("run.json"), json(&record, true)?.as_bytes())
    }
}

fn json(value: &impl Serialize, pretty: bool) -> Result<String> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    Ok(text.map_err(|error| LearningError::Data(error.to_string()))? + "\n")
}

/// Whoever looks while this runs sees a whole file or none.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let complain = || LearningError::file("write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder).map_err(complain())?;
    part.write_all(bytes).map_err(complain())?;
    part.persist(path).map_err(|error| complain()(error.error))?;
    Ok(())
}
