//! `shuffledp train`: a model trained by simulated clients, with ε after every evaluation.

mod claim;
mod estimate;
mod promise;

use crate::args::{count, real};
use crate::failure::Failure;
use crate::output::training::{Charged, Trained, charged, heading, line, live, page, pictures};
use crate::output::{self, NewFile, Progress};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::catalogue::Target;
use shuffledp_learning::LearningError;
use shuffledp_learning::data::scattering::Preparing;
use shuffledp_learning::data::{Clients, Dataset, Examples};
use shuffledp_learning::models::Model;
use shuffledp_learning::training::{self, Metrics, Population, Run, RunFolder, Simulation, TrainingConfig, presets};
use shuffledp_question::{Asked, Outcome};
use shuffledp_randomizers::RandomizerError;
use std::path::{Path, PathBuf};

/// Train a model in the shuffle model, simulated on this machine, and report ε
///
/// Every client has one example. In each round, some clients send a clipped and randomized
/// gradient; the server takes a step along the mean of the shuffled reports. Every evaluation
/// prints the accuracy on the test examples (where weights are averaged: of the mean weights and of
/// the last weights), a rigorous ε of all rounds so far, and a lower bound on ε. The same seed
/// gives the same run, whatever the number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    what: WhatArgs,

    /// Seed, instead of the configuration's
    #[arg(long, value_name = "S", value_parser = count, conflicts_with = "resume")]
    seed: Option<u64>,

    /// Number of rounds, instead of the configuration's
    #[arg(long, value_name = "T", value_parser = count, conflicts_with = "resume")]
    rounds: Option<u64>,

    /// Stop before the round that would exceed this ε
    #[arg(long, value_name = "E", value_parser = real, conflicts_with = "resume")]
    target_epsilon: Option<f64>,

    /// Hold out this many training examples and test on them instead of the test set
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "resume")]
    hold_out: Option<u64>,

    /// The data directory, where 'shuffledp data' puts datasets
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data: Option<PathBuf>,

    /// Number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = count)]
    threads: Option<u64>,

    /// Print the privacy of the whole run and how long it would take, and do not train
    #[arg(long, conflicts_with_all = ["output", "resume", "report"])]
    dry_run: bool,

    /// Tune a schedule in seconds: draw the noise of every batch from its Gaussian limit. The
    /// output is marked as a sketch, and nothing is saved
    #[arg(long, conflicts_with_all = ["output", "resume", "report", "dry_run", "all"])]
    sketch: bool,

    /// Show every bound on ε of the whole run, with its status, and why the others do not apply
    #[arg(long)]
    all: bool,

    /// New folder for metrics, checkpoints, ledger, weights, plots and the record of the run
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "resume")]
    output: Option<PathBuf>,

    /// Print JSON: a line for each evaluation; with --all also a last line like 'epsilon --all'
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_value = "no",
        default_missing_value = "yes", hide_default_value = true, hide_possible_values = true,
        action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    json: bool,

    /// Also write a self-contained HTML page
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    report: Option<PathBuf>,

    /// Print nothing on stdout, because another command uses it.
    #[arg(skip)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WhatArgs {
    /// A configuration included in the program
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(presets::names()))]
    preset: Option<String>,

    /// A configuration file; paths in it are relative to it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: Option<PathBuf>,

    /// The folder of a stopped run: it continues from its last checkpoint, with the same result as
    /// an uninterrupted run
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    resume: Option<PathBuf>,
}

/// The notice that precedes the output of a sketch.
const SKETCH: &str = "sketch, not a result: the noise of every batch is drawn from its Gaussian limit; train without --sketch \
                      for a result";

const AFTER_HELP: &str = "\
Examples:
  Generated digits, about a minute:
  $ shuffledp train --preset quick -o run --report run.html

  What would it cost?
  $ shuffledp train --preset girgis-fig5a --dry-run

  It was stopped; go on:
  $ shuffledp train --resume run";

/// Runs a preset in a folder, with a bar that says how long it takes: from the beginning, from
/// where it was stopped, or not at all if it is finished. The run is in the folder then.
pub(crate) fn preset_in(preset: &str, seed: u64, folder: &Path, data: Option<&Path>) -> Result<(), Failure> {
    if folder.join("run.json").exists() {
        output::say(&format!("{preset}, seed {seed}: finished before"));
        return Ok(());
    }
    let goes_on = folder.join("config.toml").exists();
    output::say(&format!("{preset}, seed {seed}{}", if goes_on { ": goes on" } else { "" }));
    let what = match goes_on {
        true => WhatArgs { preset: None, config: None, resume: Some(folder.to_owned()) },
        false => WhatArgs { preset: Some(preset.to_owned()), config: None, resume: None },
    };
    run(&TrainArgs {
        what,
        seed: (!goes_on).then_some(seed),
        rounds: None,
        target_epsilon: None,
        data: data.map(Path::to_owned),
        threads: None,
        dry_run: false,
        hold_out: None,
        sketch: false,
        all: false,
        output: (!goes_on).then(|| folder.to_owned()),
        json: false,
        report: None,
        quiet: true,
    })
}

pub(crate) fn run(args: &TrainArgs) -> Result<(), Failure> {
    let config = args.config()?;
    config.check().map_err(refused)?;
    // Checked first, so that a run does not start if it cannot be saved.
    if let Some(path) = &args.output {
        require_place(path)?;
    }
    let mut report = args.report_outside().map(|path| NewFile::create("--report", path)).transpose()?;
    if let Some(threads) = args.threads {
        set_threads(threads)?;
    }
    let dataset = load(&config, args.data.as_deref())?;
    let population = Population::new(&dataset.train, config.clients, config.seed).map_err(refused)?;
    let clients = population.count();
    let simulation = Simulation::new(&config, &population).map_err(refused)?;
    let simulation = if args.sketch { simulation.into_sketch().map_err(refused)? } else { simulation };
    let mut remarks = beforehand(&simulation)?;
    remarks.iter().for_each(|sentence| output::say(sentence));
    if args.dry_run {
        return estimate::run(simulation, &config, args.json, args.all);
    }
    let weights = simulation.model().parameters();
    let run = args.begin(simulation, &dataset.test).map_err(refused)?;
    if report.is_none() {
        report = args.report.as_deref().map(|path| NewFile::create("--report", path)).transpose()?;
    }
    let Finished { accountant, metrics, warning } = finish(run, args, &config, &dataset.name, clients)?;
    remarks.extend(warning);
    let trained = Trained { config: &config, data: &dataset.name, clients, weights, metrics, accountant, remarks };
    conclude(&trained, args, report)
}

/// The examples, with a progress bar while they are prepared.
fn load(config: &TrainingConfig, data_directory: Option<&Path>) -> Result<Dataset, Failure> {
    let progress = Progress::new(0, "scattering features");
    let tell = |event: Preparing| match event {
        Preparing::Computed { done, of } => progress.reached(done, of),
        Preparing::NotCached(error) => {
            let reason = format!("{:#}", anyhow::Error::from(error));
            progress.aside(|| output::say(&format!("features are not saved for the next run: {reason}")));
        }
    };
    let dataset = config.load_and_tell(data_directory, &tell).map_err(refused);
    progress.finish();
    dataset
}

/// Returns the notices to print before the first round: warnings, the convergence bound, and the
/// claim of the algorithm's paper.
fn beforehand<P: Clients>(simulation: &Simulation<P>) -> Result<Vec<String>, Failure> {
    let (config, population) = (simulation.config(), simulation.population());
    let clients = population.count();
    let warnings = [config.preparation.warning(), config.data.warning(), config.warning(clients)];
    let warnings = warnings.into_iter().flatten().map(|warning| format!("warning: {warning}"));
    let held_out = config.hold_out.map(|count| {
        format!("accuracy is on {count} held-out training examples, which are not clients; the test set is not used")
    });
    let (rounds, _) = simulation.plan().map_err(refused)?;
    let promise = promise::promise(config, population, rounds).map_err(refused)?;
    let claim = claim::claim(config, clients, rounds).map_err(refused)?;
    Ok(warnings.chain(held_out).chain(promise).chain(claim).collect())
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
        if let Some(rounds) = self.rounds {
            config = config.with_rounds(rounds);
        }
        config.target_epsilon = self.target_epsilon.or(config.target_epsilon);
        if let Some(count) = self.hold_out {
            config.hold_out = Some(usize::try_from(count).unwrap_or(usize::MAX));
        }
        Ok(config)
    }

    /// The folder of the run, if it has one.
    fn folder(&self) -> Option<&Path> {
        self.what.resume.as_deref().or(self.output.as_deref())
    }

    /// Where the page goes, unless it is in the folder of the run, which is not made yet.
    fn report_outside(&self) -> Option<&Path> {
        let report = self.report.as_deref()?;
        let absolute = |path: &Path| std::path::absolute(path).ok();
        let inside = match (self.output.as_deref().and_then(absolute), absolute(report)) {
            (Some(folder), Some(report)) => report.parent() == Some(folder.as_path()),
            _ => false,
        };
        (!inside).then_some(report)
    }

    /// The run before its first round, or where it was stopped.
    fn begin<'a, P: Clients>(
        &self,
        simulation: Simulation<P>,
        test: &'a Examples,
    ) -> Result<Run<P, &'a Examples>, LearningError> {
        match (&self.what.resume, &self.output) {
            (Some(path), _) => Run::resume(simulation, test, RunFolder::open(path)?),
            (None, Some(path)) => {
                let folder = RunFolder::create(path, simulation.config())?;
                Run::start(simulation, test, Some(folder))
            }
            (None, None) => Run::start(simulation, test, None),
        }
    }
}

fn read(path: &Path) -> Result<TrainingConfig, LearningError> {
    let text = std::fs::read_to_string(path).map_err(LearningError::file("read", path))?;
    TrainingConfig::parse(&text, path)
}

/// Maps the errors of a run: a value that the user can change is a usage error, all others are
/// failures.
fn refused(error: LearningError) -> Failure {
    match error {
        LearningError::OutOfRange { .. }
        | LearningError::Accounting(AccountingError::OutOfRange { .. })
        | LearningError::Randomizer(RandomizerError::OutOfRange { .. }) => Failure::Usage(error.to_string()),
        other => Failure::Failed(other.into()),
    }
}

/// Could a folder be made here? Nothing is: a run that is refused for another reason leaves nothing
/// behind.
fn require_place(path: &Path) -> Result<(), Failure> {
    let complain = || format!("--output: cannot write to {}", path.display());
    if !RunFolder::is_free(path) {
        let problem = "is not empty: name another folder, or continue its run with --resume";
        return Err(Failure::Usage(format!("--output: {} {problem}", path.display())));
    }
    let path = std::path::absolute(path).with_context(complain)?;
    let Some(there) = path.ancestors().find(|ancestor| ancestor.exists()) else { return Ok(()) };
    let probe = there.join(format!(".shuffledp.{}.part", std::process::id()));
    std::fs::write(&probe, []).and_then(|()| std::fs::remove_file(&probe)).with_context(complain)?;
    Ok(())
}

fn set_threads(threads: u64) -> Result<(), Failure> {
    let number = usize::try_from(threads).ok().filter(|number| (1..=1024).contains(number));
    let number = number.ok_or_else(|| Failure::Usage(format!("--threads must be 1 to 1024, but is {threads}")))?;
    rayon::ThreadPoolBuilder::new().num_threads(number).build_global().context("cannot start threads")?;
    Ok(())
}

/// The result of a run: all charged rounds, all evaluations, and a warning if participation
/// differed from what was accounted for.
struct Finished {
    accountant: Accountant,
    metrics: Vec<Metrics>,
    warning: Option<String>,
}

/// Runs to the end, with a line for each evaluation.
fn finish<P: Clients>(
    mut run: Run<P, &Examples>,
    args: &TrainArgs,
    config: &TrainingConfig,
    data: &str,
    clients: u64,
) -> Result<Finished, Failure> {
    let left = config.rounds.saturating_sub(run.simulation().state().round);
    let progress = Progress::new(left as usize, if args.sketch { "sketching" } else { "training" });
    if args.sketch {
        output::say(SKETCH);
    }
    if !args.json && !args.quiet {
        let label = if args.sketch { "sketch, not a result: " } else { "" };
        let heading = heading(config, data, clients, run.simulation().model().parameters());
        output::print(&format!("{label}{heading}"))?;
    }
    let mut metrics = Vec::new();
    let show = |metrics: &Metrics| {
        progress.tell(live(metrics));
        if args.quiet {
            return Ok(());
        }
        let text = match args.json {
            true => serde_json::to_string(metrics).map_err(anyhow::Error::from)? + "\n",
            false => line(metrics, config),
        };
        progress.aside(|| output::print(&text))
    };
    let result = loop {
        match run.advance().map_err(refused)? {
            training::Progress::Round => progress.step(),
            training::Progress::Evaluated(evaluated) => {
                progress.step();
                show(&evaluated)?;
                metrics.push(evaluated);
            }
            training::Progress::Finished { result, fresh } => {
                // A finished run that is resumed has only this to say.
                if fresh || metrics.is_empty() {
                    show(&result)?;
                    metrics.push(result);
                }
                break result;
            }
        }
    };
    progress.finish();
    if result.round < config.rounds {
        output::say(&format!("stopped after {} rounds: another one would exceed the budget", result.round));
    }
    let warning = run.simulation().warning().map(|warning| format!("warning: {warning}"));
    warning.iter().for_each(|warning| output::say(warning));
    let (accountant, metrics) = match args.folder() {
        // What was done before a run was resumed is in its folder.
        Some(folder) => left_in(folder)?,
        None => (run.simulation().ledger().accountant().clone(), metrics),
    };
    Ok(Finished { accountant, metrics, warning })
}

/// The ledger and the metrics in the folder of a finished run.
fn left_in(folder: &Path) -> Result<(Accountant, Vec<Metrics>), Failure> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let accountant = Accountant::load(&read("ledger.json")?)?;
    let metrics: Result<Vec<Metrics>, _> = read("metrics.jsonl")?.lines().map(serde_json::from_str).collect();
    Ok((accountant, metrics.with_context(|| format!("metrics.jsonl in {} is damaged", folder.display()))?))
}

/// Every bound on what was charged, if the catalogue knows any.
fn every_bound(config: &TrainingConfig, accountant: &Accountant) -> Result<Option<Outcome>, Failure> {
    match charged(config, accountant) {
        Charged::Rounds(question) => {
            let target = Target::EpsilonAt { delta: config.delta };
            return Ok(Some(Asked::rigorous(question, target).answer()?));
        }
        Charged::Epochs { .. } => {
            output::say("no other bounds: the published ones are for reports, not for blocks that are visited in turn")
        }
        Charged::Mixed => output::say("no other bounds: they require rounds with the same parameters"),
        Charged::Nothing => output::say("no bounds: the run has no private reports"),
    }
    Ok(None)
}

/// Everything that is made of a finished run.
fn conclude(trained: &Trained<'_>, args: &TrainArgs, report: Option<NewFile>) -> Result<(), Failure> {
    let outcome = if args.all { every_bound(trained.config, &trained.accountant)? } else { None };
    let mut printed = Ok(());
    if let Some(outcome) = &outcome {
        let document = output::text::document(outcome, true)?;
        if let Some(folder) = args.folder() {
            NewFile::create("--output", &folder.join("privacy.json"))?.finish(document.as_bytes())?;
        }
        printed =
            output::print(&if args.json { document } else { format!("\n{}", output::text::answer(outcome, true)?) });
    }
    if let Some(folder) = args.folder() {
        for (name, picture) in pictures(trained) {
            let svg = picture.to_svg().map_err(anyhow::Error::from)?;
            NewFile::create("--output", &folder.join(name))?.finish(svg.as_bytes())?;
        }
        output::say(&format!("wrote {}", folder.display()));
    }
    if let (Some(file), Some(path)) = (report, &args.report) {
        file.finish(page(trained, outcome.as_ref())?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}
