//! `shuffledp completions`: a script with which a shell completes the flags.

use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp completions bash > shuffledp.bash
  $ shuffledp completions zsh > _shuffledp
  $ shuffledp completions fish > shuffledp.fish";

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Program::command(), "shuffledp", &mut script);
    output::print(&String::from_utf8(script).context("the completion script is not text")?)
}
