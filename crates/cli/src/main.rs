//! The `shuffledp` command-line program: parses, calls, prints.
//!
//! Data goes to stdout and everything else to stderr. Exit code 0: answered; 1: failed, or the
//! question has no answer; 2: bad usage, including values out of range.

mod args;
mod commands;
mod failure;
mod mistake;
mod output;
mod reproduce;
mod service;
mod sweep;

use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::Program::try_parse() {
        Ok(program) => match program.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        // Help and version too arrive as "errors": clap knows which stream and which code. A closed
        // pipe is no news.
        Err(error) => {
            match mistake::meant(&error) {
                Some(message) => return Failure::Usage(message).report(),
                None => drop(error.print()),
            }
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
