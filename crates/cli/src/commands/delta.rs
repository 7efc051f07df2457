//! `shuffledp delta`: the δ that belongs to an ε.

use crate::args::{DetailArgs, OutputArgs, QuestionArgs, real};
use crate::failure::Failure;
use shuffledp_accounting::catalogue::Target;

/// Bound δ at a given ε
///
/// Prints the tightest upper bound of sufficient standing, next to the best lower bound where one is known.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    question: QuestionArgs,

    /// ε, at least 0
    #[arg(long, value_name = "E", value_parser = real, help_heading = "At which ε")]
    epsilon: f64,

    #[command(flatten)]
    detail: DetailArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  A thousand of a million clients speak in each of 100,000 rounds, through
  any randomizer with local ε = 2:
  $ shuffledp delta --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --epsilon 1.5

  The same with every bound, for a program to read:
  $ shuffledp delta --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --epsilon 1.5 --all --json";

pub(crate) fn run(args: &DeltaArgs) -> Result<(), Failure> {
    super::answer::run(&args.question, Target::DeltaAt { epsilon: args.epsilon }, &args.detail, &args.output)
}
