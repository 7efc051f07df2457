//! `shuffledp epsilon`: the ε that belongs to a δ.

use crate::args::{DetailArgs, OutputArgs, QuestionArgs, real};
use crate::failure::Failure;
use shuffledp_accounting::catalogue::Target;

/// Bound ε at a given δ
///
/// Prints the tightest upper bound of sufficient standing, next to the best lower bound where one is known.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct EpsilonArgs {
    #[command(flatten)]
    question: QuestionArgs,

    /// δ, strictly between 0 and 1
    #[arg(long, value_name = "D", value_parser = real, help_heading = "At which δ")]
    delta: f64,

    #[command(flatten)]
    detail: DetailArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  A thousand of a million clients speak in each of 100,000 rounds, through
  any randomizer with local ε = 2:
  $ shuffledp epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --delta 1e-8

  Everyone speaks once; every bound, and why the others do not apply:
  $ shuffledp epsilon --clients 10_000 --randomizer krr --categories 10 \\
      --local-epsilon 1 --delta 1e-6 --all

  For a program to read, and a page to show:
  $ shuffledp epsilon --clients 60000 --sampled 2000 --randomizer rr \\
      --local-epsilon 2 --rounds 6000 --delta 1e-5 --json --report rr.html";

pub(crate) fn run(args: &EpsilonArgs) -> Result<(), Failure> {
    super::answer::run(&args.question, Target::EpsilonAt { delta: args.delta }, &args.detail, &args.output)
}
