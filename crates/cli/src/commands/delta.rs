//! `shuffledp delta`: the δ that belongs to an ε.

use super::answer::{self, AskArgs};
use crate::args::{EpsilonFlags, OutputArgs};
use crate::failure::Failure;
use shuffledp_question::Quantity;

/// Bound δ at a given ε
///
/// Prints the tightest upper bound of sufficient status, next to the best lower bound where one is
/// known.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "shuffledp delta --clients <N> --epsilon <E> [OPTIONS]")]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    ask: AskArgs<EpsilonFlags>,

    /// Show every bound, and why the others do not apply
    #[arg(long, help_heading = "Which bounds")]
    all: bool,

    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  Each of 100,000 rounds samples a thousand of a million clients, with
  any randomizer with local ε = 2:
  $ shuffledp delta --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --epsilon 1.5

  The same with every bound, for a program to read:
  $ shuffledp delta --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --epsilon 1.5 --all --json";

pub(crate) fn run(args: &DeltaArgs) -> Result<(), Failure> {
    answer::run(args.ask.asked(Quantity::Delta)?, args.all, &args.output)
}
