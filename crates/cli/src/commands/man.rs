//! `shuffledp man`: the manual page.

use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use clap::CommandFactory;

/// Print the manual page of the program or of a command
///
/// For example: shuffledp man > ~/.local/share/man/man1/shuffledp.1
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The command [default: the program]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = super::Program::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => program.find_subcommand(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            Failure::Usage(format!("'{name}' is not a command; use one of {}", known.join(", ")))
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).context("cannot write the manual page")?;
    output::print(&String::from_utf8_lossy(&text))
}
