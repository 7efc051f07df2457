//! The errors of this crate, with the offending value.

use std::path::{Path, PathBuf};

/// Everything this crate refuses to do, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearningError {
    /// A parameter of a configuration makes no sense. `parameter` is spelled as in the
    /// configuration.
    #[error("{parameter} must be {requirement}, but is {value}")]
    OutOfRange {
        /// The parameter, spelled as in the configuration.
        parameter: String,
        /// The accepted range; completes the sentence "must be …".
        requirement: String,
        /// The given value.
        value: String,
    },
    /// A file could not be read or written; the source says why.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// The failed operation: "read", "write", "create".
        verb: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file was read, but is not what it should be.
    #[error("{}: {problem}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// The problem, and its position.
        problem: String,
    },
    /// Data do not fit what is to be done with them.
    #[error("{0}")]
    Data(String),
    /// Data that are not there, and how to get them.
    #[error("{0}")]
    Missing(String),
    /// The training left the finite numbers.
    #[error("{what} of client {client} is not finite: {advice}")]
    NotFinite {
        /// "loss" or "gradient".
        what: &'static str,
        /// The client with the example.
        client: u64,
        /// The suggested change.
        advice: &'static str,
    },
    /// The privacy of what was asked cannot be accounted for.
    #[error(transparent)]
    Accounting(#[from] shuffledp_accounting::AccountingError),
    /// A randomizer refused its parameters or its input.
    #[error(transparent)]
    Randomizer(#[from] shuffledp_randomizers::RandomizerError),
}

impl LearningError {
    /// `parameter` must be `requirement`, but is `value`.
    pub fn out_of_range(
        parameter: impl Into<String>,
        requirement: impl Into<String>,
        value: impl std::fmt::Display,
    ) -> Self {
        Self::OutOfRange { parameter: parameter.into(), requirement: requirement.into(), value: value.to_string() }
    }

    /// The file at `path` is not what it should be.
    pub fn format(path: &Path, problem: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), problem: problem.into() }
    }

    /// For `map_err`: the operating system refused to `verb` the file at `path`.
    pub fn file(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { verb, path, source }
    }
}

/// The result of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, LearningError>;
