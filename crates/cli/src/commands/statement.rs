//! `shuffledp statement`: a paragraph for a privacy review or a paper.

use super::answer::AskArgs;
use crate::args::{DeltaFlags, JsonArgs};
use crate::failure::Failure;
use crate::output;
use clap::ValueEnum;
use shuffledp_question::Quantity;
use shuffledp_question::statement::{Statement, StatementJson};

/// Write a paragraph for a privacy review or a paper
///
/// It states ε and δ, the unit of privacy, the neighbouring relation, the assumptions, the
/// guarantee that remains if shuffler and server collude, the source of the bound, and the command
/// that computes it again.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "shuffledp statement --clients <N> --delta <D> [OPTIONS]")]
pub(crate) struct StatementArgs {
    #[command(flatten)]
    ask: AskArgs<DeltaFlags>,

    /// Output format
    #[arg(long, value_name = "F", value_enum, default_value_t = Format::Markdown, help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    form: JsonArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Markdown,
    /// Plain text
    Text,
    /// JSON, the same as --json
    Json,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp statement --clients 60000 --check-in 0.1 --randomizer gaussian \\
      --sigma 5 --rounds 5540 --delta 1e-5

  Plain text, for a paper:
  $ shuffledp statement --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --rounds 1e5 --delta 1e-8 --format text";

pub(crate) fn run(args: &StatementArgs) -> Result<(), Failure> {
    let outcome = args.ask.asked(Quantity::Epsilon)?.answer()?;
    output::print(&match args.format {
        _ if args.form.json => output::text::json_line(&StatementJson(&outcome))?,
        Format::Json => output::text::json_line(&StatementJson(&outcome))?,
        Format::Markdown => Statement::of(&outcome).markdown(),
        Format::Text => Statement::of(&outcome).text(),
    })
}
