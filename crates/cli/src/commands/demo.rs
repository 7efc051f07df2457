//! `shuffledp demo`: everything at once, on one question that the papers ask too.

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::output::page::Curve;
use crate::output::{self, NewFile, Progress};
use rayon::prelude::*;
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

/// Points of the curves per decade of rounds.
const PER_DECADE: u32 = 6;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    // Opened first: whoever waits for the curves should not learn only then that they cannot be saved.
    let page = NewFile::create(&args.report)?;
    let target = Target::EpsilonAt { delta: DELTA };
    let options = Options::default();
    let outcome = Outcome::find(question(ROUNDS)?, target, &options, Standing::Rigorous)?;
    let text = if args.json { output::json::document(&outcome, true)? } else { output::text::answer(&outcome, true)? };
    let printed = output::print(&text);
    let curves = curves(target, &options)?;
    page.finish(&output::page::demonstration(&outcome, &curves)?)?;
    output::say(&format!("wrote {}: open it in a browser", args.report.display()));
    printed
}

fn question(rounds: u64) -> Result<Question, Failure> {
    let scheme = Scheme::subsampled(CLIENTS, SAMPLED)?;
    Ok(Question::new(Round { scheme, randomizer: RandomizerSpec::any(LOCAL_EPSILON)? }, rounds)?)
}

/// Every method at rounds from 1 to [`ROUNDS`], evenly spaced on a logarithmic axis.
fn curves(target: Target, options: &Options) -> Result<Vec<Curve>, Failure> {
    let rounds = spaced_rounds();
    let progress = Progress::new(rounds.len(), "ε against rounds");
    let surveys = rounds
        .par_iter()
        .map(|&rounds| {
            let survey = catalogue::survey(&question(rounds)?, target, options)?;
            progress.step();
            Ok((rounds as f64, survey))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    progress.finish();
    let curve = |method: &'static dyn catalogue::Method| {
        let about = method.about();
        let at = |(rounds, survey): &(f64, catalogue::Survey)| {
            survey.bounds.iter().find(|bound| bound.id == about.id).map(|bound| (*rounds, bound.value))
        };
        Curve { about, points: surveys.iter().filter_map(at).collect() }
    };
    Ok(catalogue::methods().map(curve).collect())
}

fn spaced_rounds() -> Vec<u64> {
    let decades = ROUNDS.ilog10();
    let mut rounds: Vec<u64> = (0..=decades * PER_DECADE)
        .map(|step| 10_f64.powf(f64::from(step) / f64::from(PER_DECADE)).round() as u64)
        .collect();
    // Neighbours round to the same count in the first decade.
    rounds.dedup();
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_run_from_the_first_round_to_the_last() {
        let rounds = spaced_rounds();
        assert_eq!((rounds.first(), rounds.last()), (Some(&1), Some(&ROUNDS)));
        assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
    }
}
