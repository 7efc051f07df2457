//! The form of the output.

use clap::builder::BoolishValueParser;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// Also write a self-contained HTML page
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_value = "no",
        default_missing_value = "yes", hide_default_value = true, hide_possible_values = true,
        action = clap::ArgAction::Set, value_parser = BoolishValueParser::new())]
    pub(crate) json: bool,
}
