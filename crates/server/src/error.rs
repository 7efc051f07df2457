//! Errors of the server. No variant carries a key or a report.

use shuffledp_learning::LearningError;
use shuffledp_wire::WireError;
use std::path::{Path, PathBuf};

/// Everything the server refuses to do, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The configuration makes no sense; the text says what to change.
    #[error("{0}")]
    Config(String),
    /// A file could not be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// The operation that failed.
        verb: &'static str,
        /// Which file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The store refused.
    #[error("the store could not be {what}")]
    Store {
        /// The operation that failed, as a participle.
        what: &'static str,
        /// The error of the store.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store holds what this program did not write.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A round that is no longer open cannot be closed.
    #[error("round {round} is not open")]
    RoundClosed {
        /// Which one.
        round: u64,
    },
    /// Another server has charged a round meanwhile.
    #[error("the store holds {found} charged rounds, and this server knows of {known}: it reads the ledger again")]
    Overtaken {
        /// Rounds in the ledger of the store.
        found: u64,
        /// Rounds in the ledger of this server.
        known: u64,
    },
    /// Another replica has opened a round with keys that are not in this one's file.
    #[error(
        "round {round} was opened with keys that are not in this server's `keys`: give all replicas the same files"
    )]
    KeysMissing {
        /// Which one.
        round: u64,
    },
    /// A round of another task is open, and nobody said that it is to be given up.
    #[error(
        "a round of another task is open in this store: [task] was changed, and the new task has another hash, which clients do not know; \
         undo the change, or start with --new-task, which gives that round up (it stays charged)"
    )]
    TaskChanged,
    /// The store belongs to a server that runs.
    #[error("{} is in use by another server", .0.display())]
    InUse(PathBuf),
    /// There is nobody to ask.
    #[error("no server runs with these keys: start it, and ask again")]
    NotRunning,
    /// A message was refused.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Learning refused: a parameter, a model, a charge.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// HTTP or TLS could not be set up.
    #[error(transparent)]
    Transport(#[from] shuffledp_transport::TransportError),
    /// A thread ended that should not have.
    #[error("a piece of work ended before its time: {0}")]
    Interrupted(String),
}

impl ServerError {
    /// The store holds what this program did not write.
    pub(crate) fn damaged(problem: impl Into<String>) -> Self {
        Self::Damaged(problem.into())
    }

    /// The store refused.
    pub(crate) fn store(what: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store { what, source: source.into() }
    }

    /// For `map_err`: the operating system refused to `verb` the file at `path`.
    pub(crate) fn file(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { verb, path, source }
    }
}

impl From<shuffledp_accounting::AccountingError> for ServerError {
    fn from(error: shuffledp_accounting::AccountingError) -> Self {
        Self::Learning(error.into())
    }
}

impl From<shuffledp_randomizers::RandomizerError> for ServerError {
    fn from(error: shuffledp_randomizers::RandomizerError) -> Self {
        Self::Learning(error.into())
    }
}

/// Of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, ServerError>;
