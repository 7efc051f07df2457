//! `shuffledp calibrate`: the number of a question that meets a target ε.

use crate::args::{GoalFlags, OutputArgs, QuestionFlags, SolveArgs, TrustFlags, Typed};
use crate::failure::Failure;
use crate::output::{self, NewFile, calibration};
use crate::solution::{Solution, Wanted};
use anyhow::anyhow;
use shuffledp_accounting::bound::Kind;
use shuffledp_accounting::calibrate::{Calibrated, Calibration, Goal, calibrate};
use shuffledp_accounting::catalogue::{self, Method, Target};
use shuffledp_question::{Asked, Given};

/// Find the local ε, noise, rounds, clients, sample or check-in rate for a target ε
///
/// The answer meets the target when it is fed back to 'epsilon'; the next value beyond it does not.
/// A target that no value meets is a failure, and says how near one can come.
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
    let solve = args.solve.solve;
    let wanted = Wanted { solve, goal: given.goal()?, adjacency: given.adjacency()? };
    let question = given.question_without(solve.unknown())?;
    match calibrate(&question, solve.unknown(), &wanted.goal)? {
        Calibration::Solved(solved) => show(&find(wanted, *solved, &args.output)?, &args.output),
        Calibration::Impossible { best_epsilon, at } => {
            if args.output.form.json {
                output::print(&calibration::impossible_document(&wanted, best_epsilon, at)?)?;
            }
            Err(Failure::Failed(anyhow!("{}", calibration::impossible(&wanted, best_epsilon, at))))
        }
    }
}

/// The answer with what there is to say about it: for a page every bound, else the lower ones
/// beside it.
fn find(wanted: Wanted, solved: Calibrated, output: &OutputArgs) -> Result<Solution, Failure> {
    let Goal { delta, widest, options, .. } = wanted.goal;
    let is_needed = |method: &&'static dyn Method| {
        let about = method.about();
        output.report.is_some() || about.kind == Kind::Lower || about.id == solved.bound.id
    };
    let methods = catalogue::methods().filter(is_needed);
    let asked = Asked { question: solved.question, target: Target::EpsilonAt { delta }, options, widest };
    let outcome = asked.answer_among(methods)?;
    Ok(Solution { wanted, solved, outcome })
}

fn show(solution: &Solution, output: &OutputArgs) -> Result<(), Failure> {
    let text = if output.form.json { calibration::document(solution)? } else { calibration::answer(solution) };
    // The answer is printed first: a page that cannot be written must not cost it.
    let printed = output::print(&text);
    if let Some(path) = &output.report {
        NewFile::create("--report", path)?.finish(output::page::calibration(solution)?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}
