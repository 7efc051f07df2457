//! `shuffledp train`: a model trained by simulated clients, with ε running alongside.

use crate::args::{count, real};
use crate::failure::Failure;
use crate::output::{self, Progress};
use serde::Serialize;
use shuffledp_learning::LearningError;
use shuffledp_learning::data::Clients;
use shuffledp_learning::training::{self, Metrics, Population, Run, RunFolder, Simulation, TrainingConfig, presets};
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
    #[arg(long, value_name = "S", value_parser = count, conflicts_with = "resume")]
    seed: Option<u64>,

    /// Other rounds than the configuration's
    #[arg(long, value_name = "T", value_parser = count, conflicts_with = "resume")]
    rounds: Option<u64>,

    /// Stop before the round that would exceed this ε
    #[arg(long, value_name = "E", value_parser = real, conflicts_with = "resume")]
    target_epsilon: Option<f64>,

    /// The data directory, for data that is not generated
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data: Option<PathBuf>,

    /// New folder for metrics, checkpoints, ledger, weights and the record of the run
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "resume")]
    output: Option<PathBuf>,

    /// Print the privacy of the whole run and how long it would take, and do not train
    #[arg(long, conflicts_with_all = ["output", "resume"])]
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

    /// The folder of a run that was stopped: it goes on from its last checkpoint and ends as if it had never stopped
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    resume: Option<PathBuf>,
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
    let simulation = Simulation::new(&config, &population).map_err(refused)?;
    if args.dry_run {
        return dry_run(simulation, &config, args.json);
    }
    let mut run = match (&args.what.resume, &args.output) {
        (Some(path), _) => Run::resume(simulation, &dataset.test, RunFolder::open(path).map_err(refused)?),
        (None, Some(path)) => {
            let folder = RunFolder::create(path, &config).map_err(refused)?;
            Run::start(simulation, &dataset.test, Some(folder))
        }
        (None, None) => Run::start(simulation, &dataset.test, None),
    }
    .map_err(refused)?;
    let progress = Progress::new((config.rounds - run.simulation().state().round) as usize, "training");
    if !args.json {
        output::print(&heading(run.simulation(), &config, &dataset.name, population.count()))?;
    }
    let result = loop {
        match run.advance().map_err(refused)? {
            training::Progress::Round => progress.step(),
            training::Progress::Evaluated(metrics) => {
                progress.step();
                print(&metrics, args.json)?;
            }
            training::Progress::Finished { result, fresh } => {
                if fresh {
                    print(&result, args.json)?;
                }
                break result;
            }
        }
    };
    progress.finish();
    if result.round < config.rounds {
        output::say(&format!("stopped after {} rounds: another one would exceed the budget", result.round));
    }
    if let Some(warning) = run.simulation().warning() {
        output::say(&format!("warning: {warning}"));
    }
    Ok(())
}

impl TrainArgs {
    /// The configuration, with what the flags change.
    fn config(&self) -> Result<TrainingConfig, Failure> {
        let mut config = match (&self.what.preset, &self.what.config, &self.what.resume) {
            (_, _, Some(folder)) => RunFolder::config(folder).map_err(refused)?,
            (_, Some(path), None) => read(path).map_err(refused)?,
            (name, None, None) => presets::preset(name.as_deref().unwrap_or_default()).map_err(refused)?,
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

/// A line for an evaluation.
fn print(metrics: &Metrics, json: bool) -> Result<(), Failure> {
    let line = if json {
        serde_json::to_string(metrics).map_err(anyhow::Error::from)?
    } else {
        let Metrics { round, test_accuracy, train_loss, epsilon, epsilon_lower, .. } = *metrics;
        format!("{round:>8} {:>8.2} % {train_loss:>10.4} {epsilon:>10.4} {epsilon_lower:>10.4}", 100.0 * test_accuracy)
    };
    output::print(&format!("{line}\n"))
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
