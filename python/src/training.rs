//! Training, as `shuffledp train` does it: the loop is Python's, so that it can show how far it is.

use crate::accountant::Accountant;
use crate::errors::{TrainingError, unlearned};
use crate::interrupt::{guarded, interruptible, pool};
use crate::json::object;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shuffledp_learning::data::scattering::quiet;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::training::{
    Metrics, Population, Progress, Run, RunFolder, Simulation, TrainingConfig, presets,
};
use shuffledp_learning::{LearningError, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Training>()?;
    module.add_function(wrap_pyfunction!(names_of_presets, module)?)?;
    module.add_function(wrap_pyfunction!(configuration, module)?)
}

/// The names of the configurations that are included.
#[pyfunction]
#[pyo3(name = "_presets")]
fn names_of_presets() -> Vec<&'static str> {
    presets::names().collect()
}

/// Reads a preset, a file, or JSON text, and returns it as TOML text with the changes.
#[pyfunction]
#[pyo3(name = "_configuration", signature = (*, preset=None, path=None, json=None, seed=None, rounds=None, target_epsilon=None, hold_out=None))]
fn configuration(
    preset: Option<&str>,
    path: Option<PathBuf>,
    json: Option<&str>,
    seed: Option<u64>,
    rounds: Option<u64>,
    target_epsilon: Option<f64>,
    hold_out: Option<usize>,
) -> PyResult<String> {
    let config = match (preset, path, json) {
        (Some(name), _, _) => presets::preset(name),
        (_, Some(path), _) => read(&path),
        (_, _, Some(text)) => from_json(text),
        (None, None, None) => Err(LearningError::Data("no configuration was given".to_owned())),
    };
    let mut config = config.map_err(unlearned)?;
    config.seed = seed.unwrap_or(config.seed);
    if let Some(rounds) = rounds {
        config = config.with_rounds(rounds);
    }
    config.target_epsilon = target_epsilon.or(config.target_epsilon);
    config.hold_out = hold_out.or(config.hold_out);
    config.check().and_then(|()| config.to_text()).map_err(unlearned)
}

fn read(path: &Path) -> Result<TrainingConfig> {
    let text = std::fs::read_to_string(path).map_err(LearningError::file("read", path))?;
    TrainingConfig::parse(&text, path)
}

/// A dictionary is what its text would be.
fn from_json(text: &str) -> Result<TrainingConfig> {
    let config: TrainingConfig =
        serde_json::from_str(text).map_err(|error| LearningError::Data(format!("configuration: {error}")))?;
    TrainingConfig::parse(&config.to_text()?, Path::new("configuration"))
}

type Simulated = Run<Population<Arc<Examples>>, Arc<Examples>>;

/// A run on its way. `shuffledp.train` runs it to its end.
#[pyclass(name = "_Training", module = "shuffledp", frozen)]
pub(crate) struct Training {
    run: Mutex<Simulated>,
    data: String,
    clients: u64,
    warnings: Vec<String>,
}

/// Rounds that are so short are run several at a time.
const LONG_ENOUGH: Duration = Duration::from_millis(25);

impl Training {
    fn run(&self) -> MutexGuard<'_, Simulated> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Training {
    /// The run of a configuration, as TOML text, before its first round.
    #[new]
    #[pyo3(signature = (text, *, data_directory=None, output=None, sketch=false))]
    fn new(
        py: Python<'_>,
        text: String,
        data_directory: Option<PathBuf>,
        output: Option<PathBuf>,
        sketch: bool,
    ) -> PyResult<Self> {
        if let Some(folder) = output.as_deref().filter(|folder| !RunFolder::is_free(folder)) {
            return Err(TrainingError::new_err(format!(
                "output: {} is not empty; name another folder",
                folder.display()
            )));
        }
        let begun = interruptible(py, move || begin(&text, data_directory.as_deref(), output.as_deref(), sketch))?;
        begun.map_err(unlearned)
    }

    /// Runs one round, or unless told `singly` more, while that takes no time and nothing is
    /// evaluated. Returns how many are done, what was evaluated if anything was, and whether the
    /// run is over.
    #[pyo3(signature = (*, singly=false))]
    fn advance<'py>(&self, py: Python<'py>, singly: bool) -> PyResult<(u64, Option<Bound<'py, PyAny>>, bool)> {
        let pool = pool()?;
        let advanced = py.detach(|| {
            guarded(|| {
                let run = &mut *self.run();
                pool.install(|| advance(run, if singly { Duration::ZERO } else { LONG_ENOUGH }))
            })
        })?;
        py.check_signals()?;
        let (metrics, is_over) = advanced.map_err(unlearned)?;
        let round = self.run().simulation().state().round;
        Ok((round, metrics.map(|metrics| written(py, &metrics)).transpose()?, is_over))
    }

    /// The weights that a run comes to: the last ones, or their mean where they are averaged.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.run().simulation().state().answer())
    }

    /// The configuration, as a dictionary.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let config = self.run().simulation().config().clone();
        object(py, &serde_json::to_value(&config).map_err(|error| TrainingError::new_err(error.to_string()))?)
    }

    /// Number of rounds of the configuration.
    #[getter]
    fn rounds(&self) -> u64 {
        self.run().simulation().config().rounds
    }

    /// The name of the data.
    #[getter]
    fn data(&self) -> &str {
        &self.data
    }

    /// How many clients there are.
    #[getter]
    fn clients(&self) -> u64 {
        self.clients
    }

    /// Warnings for the reader of the result.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.run().simulation().warning()).collect()
    }

    /// The rounds that were charged.
    #[getter]
    fn accountant(&self) -> Accountant {
        Accountant::holding(self.run().simulation().ledger().accountant().clone())
    }

    /// How many rounds the budget allows, of those of the configuration, and at least ε after them;
    /// None without privacy.
    fn plan(&self, py: Python<'_>) -> PyResult<(u64, Option<f64>)> {
        py.detach(|| guarded(|| self.run().simulation().plan()))?.map_err(unlearned)
    }
}

fn begin(text: &str, data_directory: Option<&Path>, output: Option<&Path>, sketch: bool) -> Result<Training> {
    let config = TrainingConfig::parse(text, Path::new(""))?;
    let dataset = config.load_and_tell(data_directory, &quiet)?;
    let (train, test) = (Arc::new(dataset.train), Arc::new(dataset.test));
    let population = Population::new(train, config.clients, config.seed)?;
    let clients = population.count();
    let simulation = Simulation::new(&config, population)?;
    let simulation = if sketch { simulation.into_sketch()? } else { simulation };
    let warnings = [config.preparation.warning(), config.data.warning(), config.warning(clients)];
    let warnings = warnings.into_iter().flatten().collect();
    let folder = output.map(|path| RunFolder::create(path, &config)).transpose()?;
    let run = Mutex::new(Run::start(simulation, test, folder)?);
    Ok(Training { run, data: dataset.name, clients, warnings })
}

/// The latest evaluation, if there was one, and whether the run is over.
fn advance(run: &mut Simulated, long_enough: Duration) -> Result<(Option<Metrics>, bool)> {
    let started = Instant::now();
    loop {
        match run.advance()? {
            Progress::Round if started.elapsed() < long_enough => {}
            Progress::Round => return Ok((None, false)),
            Progress::Evaluated(metrics) => return Ok((Some(metrics), false)),
            Progress::Finished { result, fresh } => return Ok((fresh.then_some(result), true)),
        }
    }
}

fn written<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(metrics).map_err(|error| TrainingError::new_err(error.to_string()))?;
    let written = object(py, &value)?;
    // Always there, in every run: columns have no holes.
    written.cast::<PyDict>()?.set_item("held_out", metrics.held_out)?;
    written.cast::<PyDict>()?.set_item("test_accuracy_last", metrics.test_accuracy_last)?;
    Ok(written)
}
