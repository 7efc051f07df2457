//! The `shuffledp` command-line program: parses, calls, prints.
//!
//! Data goes to stdout and everything else to stderr. Exit code 0: answered; 1: failed, or the question has no answer;
//! 2: bad usage, including values out of range.

mod args;
mod commands;
mod failure;
mod outcome;
mod output;
mod service;
mod solution;
mod sweep;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed = args::join_negative_values(std::env::args_os());
    let args = match args::give_first_value(typed).and_then(args::give_stand_in) {
        Ok(args) => args,
        Err(failure) => return failure.report(),
    };
    match commands::Program::try_parse_from(args) {
        Ok(program) => match program.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        // Help and version too arrive as "errors": clap knows which stream and which code. A closed pipe is no news.
        Err(error) => {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
