//! `shuffledp demo`: clients, shuffler and server at once, on this machine.

mod pace;
mod reference;
mod roles;
mod setting;

pub(crate) use reference::REFERENCE_ROUNDS;
pub(crate) use roles::{PublicRound, Seen};
pub(crate) use setting::Setting;

use crate::args::{JsonArgs, Sweep, count};
use crate::failure::Failure;
use crate::output::{self, NewFile, Progress, demonstration};
use crate::sweep::Swept;
use anyhow::Context;
use shuffledp_accounting::catalogue;
use shuffledp_question::{Asked, Parameter};
use std::path::PathBuf;

/// Run clients, shuffler and server on this machine: train a model and report ε
///
/// Thousands of simulated clients send randomized and encrypted reports over loopback, a shuffler
/// permutes them, and a server trains a classifier of generated digits on them. Writes a
/// self-contained HTML page: accuracy curves, compared with the same model without privacy; ε from
/// every bound; the view of each party.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DemoArgs {
    /// Number of clients
    #[arg(long, value_name = "N", default_value = "20000", value_parser = count)]
    clients: u64,

    /// Number of rounds
    #[arg(long, value_name = "T", default_value = "24", value_parser = count)]
    rounds: u64,

    #[command(flatten)]
    form: JsonArgs,

    /// The HTML page to write
    #[arg(long, value_name = "FILE", default_value = "report.html", value_hint = clap::ValueHint::FilePath)]
    report: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp demo
  $ shuffledp demo --report privacy.html";

/// The approximate number of points of a curve.
const POINTS: usize = 31;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    // Opened first: whoever waits a minute should not learn only then that the page cannot be
    // saved.
    let page = NewFile::create("--report", &args.report)?;
    let setting = Setting::new(args.clients, args.rounds)?;
    let seen = play(&setting, !args.form.json)?;
    let text = match args.form.json {
        true => demonstration::json(&setting, &seen)?,
        false => demonstration::end(&setting, &seen)?,
    };
    let printed = output::print(&text);
    page.finish(demonstration::page(&setting, &seen, &curves(&setting)?)?.as_bytes())?;
    output::say(&format!("wrote {}: open it in a browser", args.report.display()));
    printed
}

/// Runs all roles, in a folder that is deleted afterwards.
fn play(setting: &Setting, lines: bool) -> Result<Seen, Failure> {
    let folder = tempfile::tempdir().context("cannot make a folder for keys and stores")?;
    let window = pace::window(setting.speakers(), setting.payload())?;
    let progress = Progress::new(setting.rounds as usize, "rounds");
    let mut printed = Ok(());
    let mut print = |text: String| {
        if lines && printed.is_ok() {
            printed = progress.aside(|| output::print(&text));
        }
    };
    print(demonstration::heading(setting));
    let listening = |url: &str| progress.aside(|| output::say(&format!("watch it at {url}")));
    let ended = |round: &PublicRound| {
        print(demonstration::line(round));
        progress.tell(demonstration::live(round));
        progress.step();
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    let seen = runtime.block_on(roles::play(setting, folder.path(), window, listening, ended));
    progress.finish();
    let seen = seen?;
    printed?;
    Ok(seen)
}

/// ε of every bound against the number of rounds.
fn curves(setting: &Setting) -> Result<Swept, Failure> {
    let last = setting.rounds.max(2) as f64;
    let sweep = Sweep::new(Parameter::Rounds, 1.0, last, POINTS).map_err(Failure::Usage)?;
    let at = |rounds: f64| Ok(Asked::rigorous(setting.question(rounds as u64)?, setting::target()));
    Swept::find(sweep, at, &catalogue::methods().collect::<Vec<_>>())
}
