//! `shuffledp train`: a model trained by simulated clients, with ε running alongside.

use crate::args::{count, real};
use crate::failure::Failure;
use crate::output::{self, Progress};
use serde::Serialize;
use shuffledp_learning::LearningError;
use shuffledp_learning::data::Clients;
use shuffledp_learning::training::{Metrics, Population, RunFolder, Simulation, TrainingConfig, presets};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a model under the shuffle model, simulated on this machine, with ε running alongside
///
/// Every client has one example. In a round some of them send a clipped and randomized gradient; the server takes a step along the mean of
/// the shuffled reports. Printed at every evaluation: accuracy on the test examples, a rigorous ε of all rounds so far, and what no analysis can
/// get below. The same seed gives the same run, whatever the number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    what: WhatArgs,

    /// Another seed than the configuration's
    #[arg(long, value_name = "S", value_parser = count)]
    seed: Option<u64>,

    /// Other rounds than the configuration's
    #[arg(long, value_name = "T", value_parser = count)]
    rounds: Option<u64>,

    /// Stop before the round that would exceed this ε
    #[arg(long, value_name = "E", value_parser = real)]
    target_epsilon: Option<f64>,

    /// The data directory, for data that is not generated
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data: Option<PathBuf>,

    /// New folder for metrics, ledger, weights and the record of the run
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,

    /// Print the privacy of the whole run and how long it would take, and do not train
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

    /// Print JSON: a line for each evaluation
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WhatArgs {
    /// A configuration by name: quick, girgis-fig5a, girgis-fig5b, checkin-fig3a
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// A configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  Generated digits, about a minute:
  $ shuffledp train --preset quick

  What would it cost?
  $ shuffledp train --preset girgis-fig5a --dry-run";

pub(crate) fn run(args: &TrainArgs) -> Result<(), Failure> {
    let config = args.config()?;
    config.check().map_err(refused)?;
    let dataset = config.data.load(args.data.as_deref()).map_err(refused)?;
    let population = Population::new(&dataset.train, config.clients, config.seed).map_err(refused)?;
    let mut simulation = Simulation::new(&config, &population).map_err(refused)?;
    if args.dry_run {
        return dry_run(simulation, &config, args.json);
    }
    let mut folder = match &args.output {
        Some(path) => Some(RunFolder::create(path, &config).map_err(refused)?),
        None => None,
    };
    let started = Instant::now();
    let progress = Progress::new(config.rounds as usize, "training");
    if !args.json {
        output::print(&heading(&simulation, &config, &dataset.name, population.count()))?;
    }
    let mut last = None;
    while simulation.step().map_err(refused)? {
        progress.step();
        if simulation.state().round % config.evaluate_every == 0 {
            last = Some(evaluate(&simulation, &dataset.test, started, folder.as_mut(), args.json)?);
        }
    }
    let result = match last {
        Some(metrics) if metrics.round == simulation.state().round => metrics,
        _ => evaluate(&simulation, &dataset.test, started, folder.as_mut(), args.json)?,
    };
    progress.finish();
    if let Some(folder) = &folder {
        folder.finish(&simulation, &result).map_err(refused)?;
    }
    if result.round < config.rounds {
        output::say(&format!("stopped after {} rounds: another one would exceed the budget", result.round));
    }
    if let Some(warning) = simulation.warning() {
        output::say(&format!("warning: {warning}"));
    }
    Ok(())
}

impl TrainArgs {
    /// The configuration, with what the flags change.
    fn config(&self) -> Result<TrainingConfig, Failure> {
        let mut config = match (&self.what.preset, &self.what.config) {
            (_, Some(path)) => read(path).map_err(refused)?,
            (name, None) => presets::preset(name.as_deref().unwrap_or_default()).map_err(refused)?,
        };
        config.seed = self.seed.unwrap_or(config.seed);
        config.rounds = self.rounds.unwrap_or(config.rounds);
        config.target_epsilon = self.target_epsilon.or(config.target_epsilon);
        Ok(config)
    }
}

fn read(path: &Path) -> Result<TrainingConfig, LearningError> {
    let text = std::fs::read_to_string(path).map_err(LearningError::file("read", path))?;
    TrainingConfig::parse(&text, path)
}

/// What a run refuses: a value that the user can change is bad usage, the rest a failure.
fn refused(error: LearningError) -> Failure {
    match error {
        LearningError::OutOfRange { .. } => Failure::Usage(error.to_string()),
        other => Failure::Failed(other.into()),
    }
}

fn heading<P: Clients>(simulation: &Simulation<'_, P>, config: &TrainingConfig, data: &str, clients: u64) -> String {
    let weights = simulation.model().parameters();
    format!(
        "{}: {data}, {clients} clients, {weights} weights, {} rounds, δ = {:e}\n\
         {:>8} {:>10} {:>10} {:>10} {:>10}\n",
        config.name, config.rounds, config.delta, "round", "accuracy", "loss", "ε", "ε at least"
    )
}

fn evaluate<P: Clients>(
    simulation: &Simulation<'_, P>,
    test: &shuffledp_learning::data::Examples,
    started: Instant,
    folder: Option<&mut RunFolder>,
    json: bool,
) -> Result<Metrics, Failure> {
    let metrics = simulation.evaluate(test, started.elapsed().as_secs_f64()).map_err(refused)?;
    if let Some(folder) = folder {
        folder.add(&metrics).map_err(refused)?;
    }
    let line = if json {
        serde_json::to_string(&metrics).map_err(anyhow::Error::from)?
    } else {
        let Metrics { round, test_accuracy, train_loss, epsilon, epsilon_lower, .. } = metrics;
        format!("{round:>8} {:>8.2} % {train_loss:>10.4} {epsilon:>10.4} {epsilon_lower:>10.4}", 100.0 * test_accuracy)
    };
    output::print(&format!("{line}\n"))?;
    Ok(metrics)
}

/// What a whole run would cost.
#[derive(Serialize)]
struct Estimate {
    name: String,
    rounds: u64,
    epsilon: Option<f64>,
    delta: f64,
    seconds: f64,
}

/// ε of as many rounds as would be run, and the time of one round times their number.
fn dry_run<P: Clients>(mut simulation: Simulation<'_, P>, config: &TrainingConfig, json: bool) -> Result<(), Failure> {
    let (rounds, epsilon) = simulation.plan().map_err(refused)?;
    let started = Instant::now();
    simulation.step().map_err(refused)?;
    let seconds = started.elapsed().as_secs_f64() * rounds as f64;
    let estimate = Estimate { name: config.name.clone(), rounds, epsilon, delta: config.delta, seconds };
    if json {
        let text = serde_json::to_string_pretty(&estimate).map_err(anyhow::Error::from)?;
        return output::print(&format!("{text}\n"));
    }
    let privacy = match epsilon {
        Some(epsilon) => format!("ε = {epsilon:.4} at δ = {:e}", config.delta),
        None => "no privacy".to_owned(),
    };
    output::print(&format!("{}: {rounds} rounds, {privacy}, about {seconds:.0} s\n", config.name))
}
