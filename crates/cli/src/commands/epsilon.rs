//! `shuffledp epsilon`: the ε that belongs to a δ.

use super::answer::{self, AskArgs};
use crate::args::{DeltaFlags, OutputArgs};
use crate::failure::Failure;
use shuffledp_question::Quantity;

/// Bound ε at a given δ
///
/// Prints the tightest upper bound of sufficient status, next to the best lower bound where one is
/// known.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "shuffledp epsilon --clients <N> --delta <D> [OPTIONS]")]
pub(crate) struct EpsilonArgs {
    #[command(flatten)]
    ask: AskArgs<DeltaFlags>,

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
  $ shuffledp epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --delta 1e-8

  All clients participate once; every bound, and why the others do not apply:
  $ shuffledp epsilon --clients 10_000 --randomizer krr --categories 10 \\
      --local-epsilon 1 --delta 1e-6 --all

  For a program to read, and a page to show:
  $ shuffledp epsilon --clients 60000 --sampled 2000 --randomizer rr \\
      --local-epsilon 2 --rounds 6000 --delta 1e-5 --json --report rr.html";

pub(crate) fn run(args: &EpsilonArgs) -> Result<(), Failure> {
    answer::run(args.ask.asked(Quantity::Epsilon)?, args.all, &args.output)
}
