//! `shuffledp calibrate`: the number of a question that meets a target ε.

use crate::args::{GoalFlags, OutputArgs, QuestionFlags, SolveArgs, TrustFlags, Typed};
use crate::failure::Failure;
use crate::output::{self, NewFile, calibration};
use anyhow::anyhow;
use shuffledp_accounting::calibrate::{Calibration, calibrate};
use shuffledp_question::Given;
use shuffledp_question::calibration::{Solution, Wanted};

/// Find the local ε, noise, rounds, clients, sample or check-in rate for a target ε
///
/// 'epsilon' confirms that the answer meets the target, and that the next value beyond it does
/// not. A target that no value meets is a failure; the message gives the smallest ε that is
/// possible.
#[derive(Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    override_usage = "shuffledp calibrate --solve <WHAT> --target-epsilon <E> --delta <D> [OPTIONS]"
)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    solve: SolveArgs,

    #[command(flatten)]
    goal: Typed<GoalFlags>,

    #[command(flatten)]
    question: Typed<QuestionFlags>,

    #[command(flatten)]
    trust: Typed<TrustFlags>,

    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  How many rounds fit into ε = 0.2?
  $ shuffledp calibrate --solve rounds --target-epsilon 0.2 --delta 1e-8 \\
      --clients 1e6 --sampled 1000 --local-epsilon 2

  How much local ε may each report have?
  $ shuffledp calibrate --solve local-epsilon --target-epsilon 1 \\
      --delta 1e-6 --clients 60000 --check-in 0.1 --randomizer ldp-sgd \\
      --rounds 1200

  How much Gaussian noise is needed? For a program to read:
  $ shuffledp calibrate --solve sigma --target-epsilon 0.1 --delta 1e-5 \\
      --clients 60000 --sampled 6000 --randomizer gaussian --rounds 1000 \\
      --json";

pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let mut given = Given::new();
    args.goal.read(&mut given)?;
    args.question.read(&mut given)?;
    args.trust.read(&mut given)?;
    let wanted = Wanted::of(args.solve.solve.unknown(), &given)?;
    let question = given.question_without(wanted.unknown)?;
    match calibrate(&question, wanted.unknown, &wanted.goal)? {
        Calibration::Solved(solved) => {
            // A page shows every bound.
            show(&wanted.found(*solved, args.output.report.is_some())?, &args.output)
        }
        Calibration::Impossible { best_epsilon, at } => {
            if args.output.form.json {
                output::print(&calibration::impossible_document(&wanted, best_epsilon, at)?)?;
            }
            Err(Failure::Failed(anyhow!("{}", calibration::impossible(&wanted, best_epsilon, at))))
        }
    }
}

fn show(solution: &Solution, output: &OutputArgs) -> Result<(), Failure> {
    let text = if output.form.json { calibration::document(solution)? } else { calibration::answer(solution) };
    // The answer is printed first, so that it is not lost if the page cannot be written.
    let printed = output::print(&text);
    if let Some(path) = &output.report {
        NewFile::create("--report", path)?.finish(output::page::calibration(solution)?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}
