//! Errors of a client. No variant carries a key, a gradient, an example or a report.

use shuffledp_learning::LearningError;
use shuffledp_transport::TransportError;
use shuffledp_wire::{ModelHash, TaskHash, WireError};
use std::path::{Path, PathBuf};

/// Why a client does not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The data to send is not a vector of this model; nothing was sent.
    #[error("the vector of this client cannot be sent: {0}")]
    Vector(String),
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
    /// The state folder is not what a client left behind. What was spent is then unknown, and
    /// nothing may be spent.
    #[error(
        "{}: {problem}. What was spent can no longer be told, so nothing more is spent: bring the folder back as it was, or, if \
         its loss is accepted, name a new folder as `state`",
        path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// Another process uses the state folder.
    #[error("{} is in use by another process: one budget, one process", path.display())]
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// A message was refused.
    #[error("{what}: {problem}")]
    Wire {
        /// The message and its sender: "the server's task", "the shuffler's keys".
        what: &'static str,
        /// The problem. Not called `source`, because it would be printed twice.
        problem: WireError,
    },
    /// The server does not know the task that the configuration names.
    #[error("{server} has no task {task}: compare `task` with what `shuffledp server show` prints")]
    UnknownTask {
        /// The one named in the configuration.
        task: TaskHash,
        /// The server that was asked.
        server: String,
    },
    /// The server signed another task than the one that the configuration names.
    #[error(
        "the server's task is {found}, but the configuration names {pinned}: look at what has changed before taking part"
    )]
    OtherTask {
        /// The one named in the configuration.
        pinned: TaskHash,
        /// The one that came.
        found: TaskHash,
    },
    /// The task says something that no client can do.
    #[error("the task cannot be done: {0}")]
    Task(String),
    /// Too little protection.
    #[error("{what} is {value}, but `{floor}` asks for {asked}: this client does not take part")]
    BelowFloor {
        /// The quantity that is too small.
        what: &'static str,
        /// How much it is.
        value: String,
        /// The floor's name in the configuration.
        floor: &'static str,
        /// The requirement, such as "at least 100".
        asked: String,
    },
    /// The server signed two things that cannot both be.
    #[error("the server equivocates: {0}. It may be trying to single clients out; this client does not take part")]
    Equivocation(String),
    /// An earlier round than before. Somebody's memory may be old, so it is no proof against the
    /// server; it is refused all the same.
    #[error(
        "round {offered} is offered after round {last}: an old answer, or a server that equivocates; this client does not take part in it"
    )]
    WentBack {
        /// The one offered.
        offered: u64,
        /// The last one before.
        last: u64,
    },
    /// The model is not the one that the round names.
    #[error("the model that came is not the one that the round names, {named}")]
    OtherModel {
        /// The one that the server signed.
        named: ModelHash,
    },
    /// One more round would exceed the lifetime budget.
    #[error(
        "another round would take this client's ε from {spent} to more than `budget.epsilon` = {budget} at δ = {delta:e}"
    )]
    BudgetSpent {
        /// At least ε so far.
        spent: f64,
        /// The most that it may become.
        budget: f64,
        /// δ.
        delta: f64,
    },
    /// A service answered with something else than what was asked for.
    #[error("{what}: the answer was HTTP {status}")]
    Answer {
        /// The resource that was asked for.
        what: &'static str,
        /// HTTP's status.
        status: u16,
    },
    /// Learning refused: data, a model, a charge, a randomizer.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// HTTP or TLS.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Work ended before its time: a thread's, or at a test's fault point.
    #[error("interrupted: {0}")]
    Interrupted(String),
}

impl ClientError {
    /// Whether asking again later may help. Everything else is for the client's owner to decide.
    pub fn is_temporary(&self) -> bool {
        match self {
            // Whoever stands between may garble an answer or give an old one.
            Self::Wire { .. } | Self::OtherModel { .. } | Self::WentBack { .. } | Self::Answer { .. } => true,
            Self::Transport(error) => matches!(error, TransportError::Request(_) | TransportError::TooLong { .. }),
            _ => false,
        }
    }

    pub(crate) fn wire(what: &'static str) -> impl FnOnce(WireError) -> Self {
        move |problem| Self::Wire { what, problem }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }

    /// For `map_err`: the operating system refused to `verb` the file at `path`.
    pub(crate) fn file(verb: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { verb, path, source }
    }
}

impl From<shuffledp_accounting::AccountingError> for ClientError {
    fn from(error: shuffledp_accounting::AccountingError) -> Self {
        Self::Learning(error.into())
    }
}

impl From<shuffledp_randomizers::RandomizerError> for ClientError {
    fn from(error: shuffledp_randomizers::RandomizerError) -> Self {
        Self::Learning(error.into())
    }
}

/// Of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, ClientError>;
