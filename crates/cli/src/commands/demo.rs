//! `shuffledp demo`: everything at once, on one question that the papers ask too.

use crate::args::{Flag, Sweep};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::output::{self, NewFile};
use crate::sweep::{Asked, Swept};
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};
use std::path::PathBuf;

/// Answer the headline question with every bound, and draw ε against rounds
///
/// A million clients, of whom a thousand speak in each of 100,000 rounds through any randomizer with local ε = 2, at
/// δ = 1e-8. Ends in a self-contained HTML page.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DemoArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Where the HTML page goes
    #[arg(long, value_name = "FILE", default_value = "report.html", value_hint = clap::ValueHint::FilePath)]
    report: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp demo
  $ shuffledp demo --report privacy.html";

const CLIENTS: u64 = 1_000_000;
const SAMPLED: u64 = 1_000;
const LOCAL_EPSILON: f64 = 2.0;
const ROUNDS: u64 = 100_000;
const DELTA: f64 = 1e-8;

/// Points of the curves, about.
const POINTS: usize = 31;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    // Opened first: whoever waits for the curves should not learn only then that they cannot be saved.
    let page = NewFile::create("--report", &args.report)?;
    let target = Target::EpsilonAt { delta: DELTA };
    let options = Options::default();
    let outcome = Outcome::find(question(ROUNDS)?, target, &options, Standing::Rigorous)?;
    let text = if args.json { output::json::document(&outcome, true)? } else { output::text::answer(&outcome, true)? };
    let printed = output::print(&text);
    let sweep = Sweep::new(Flag::Rounds, 1.0, ROUNDS as f64, POINTS).map_err(Failure::Usage)?;
    let at = |_, rounds: f64| Ok(Asked { x: rounds, question: question(rounds as u64)?, target, options });
    let swept = Swept::find(sweep, at, &catalogue::methods().collect::<Vec<_>>(), Standing::Rigorous)?;
    page.finish(output::page::demonstration(&outcome, &swept)?.as_bytes())?;
    output::say(&format!("wrote {}: open it in a browser", args.report.display()));
    printed
}

fn question(rounds: u64) -> Result<Question, Failure> {
    let scheme = Scheme::subsampled(CLIENTS, SAMPLED)?;
    Ok(Question::new(Round { scheme, randomizer: RandomizerSpec::any(LOCAL_EPSILON)? }, rounds)?)
}
