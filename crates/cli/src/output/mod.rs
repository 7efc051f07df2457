//! Everything that leaves the program: stdout, stderr and files.

pub(crate) mod audit;
pub(crate) mod calibration;
mod date;
pub(crate) mod demonstration;
mod file;
pub(crate) mod page;
pub(crate) mod plot;
mod progress;
pub(crate) mod reproduction;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod training;

pub(crate) use file::NewFile;
pub(crate) use progress::Progress;

use crate::failure::Failure;
use anyhow::Context;
use serde::Serialize;
use std::io::{ErrorKind, Write, stderr, stdout};

/// Writes data to stdout. A reader that has closed the pipe is [`Failure::ReaderLeft`].
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ReaderLeft),
        result => Ok(result.context("cannot write to stdout")?),
    }
}

/// Writes a JSON document to stdout, for people too.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    print(&(serde_json::to_string_pretty(document).context("cannot write JSON")? + "\n"))
}

/// Writes a JSON document to stdout as one line of many.
pub(crate) fn print_json_line(document: &impl Serialize) -> Result<(), Failure> {
    print(&(serde_json::to_string(document).context("cannot write JSON")? + "\n"))
}

/// Writes a line to stderr. Unlike `eprintln!` it does not panic if nobody can hear it.
pub(crate) fn say(text: &str) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// Columns to fill: those of the terminal, or 100 where there is none, so that piped output does
/// not depend on a window.
fn width() -> usize {
    let term = console::Term::stdout();
    let columns = if term.is_term() { term.size_checked().map(|(_, columns)| usize::from(columns)) } else { None };
    columns.unwrap_or(100)
}
