//! Errors of the shuffler. None contains any part of a report or key.

use crate::store::sqlite_error;
use shuffledp_transport::TransportError;
use shuffledp_wire::WireError;
use std::path::PathBuf;

/// Of whatever the shuffler does.
pub type Result<T> = std::result::Result<T, ShufflerError>;

/// Why the shuffler cannot start or go on. Messages are whole: what caused an error is part of
/// them, not chained behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShufflerError {
    /// A value of the configuration that cannot be.
    #[error("`{parameter}`: {reason}")]
    Config {
        /// Its name in the file.
        parameter: String,
        /// The setting to change.
        reason: String,
    },
    /// The configuration file is not TOML, or has a field that nobody knows.
    #[error("{}: {cause}", path.display())]
    Toml {
        /// Which file.
        path: PathBuf,
        /// Where and what.
        cause: Box<toml::de::Error>,
    },
    /// A file or folder that the system refuses.
    #[error("{}: {cause}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// A folder of reports that others can look into.
    #[error("{} is open to others: chmod 700 {}", path.display(), path.display())]
    OpenFolder {
        /// Which folder.
        path: PathBuf,
    },
    /// A key file with something else inside. What is inside is not repeated.
    #[error("{}: {cause}", path.display())]
    KeyFile {
        /// Which file.
        path: PathBuf,
        /// The problem.
        cause: WireError,
    },
    /// Something that is there already and must not be overwritten.
    #[error("{} exists already: keys are not overwritten; choose another folder", path.display())]
    Exists {
        /// Which file.
        path: PathBuf,
    },
    /// Another process has the folder.
    #[error("{} is used by another shuffler: stop it, or give this one its own `data`", path.display())]
    InUse {
        /// Which folder.
        path: PathBuf,
    },
    /// A store's file is not what this version writes.
    #[error("{}: not a store of this version: {reason}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// The missing part.
        reason: &'static str,
    },
    /// A later version of this program wrote a store's file.
    #[error("{}: a later version of shuffledp wrote it; start that version", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
    },
    /// Reports came for a store that is sealed.
    #[error("the round is sealed")]
    Sealed,
    /// Another process has brought the round to its end.
    #[error("the round is over")]
    Over,
    /// Another process has taken over the round.
    #[error("another replica ends the round")]
    Overtaken,
    /// The thread of a store has ended.
    #[error("the round's store has stopped")]
    Stopped,
    /// Where rounds are stored.
    #[error("storage: {0}")]
    Storage(Box<dyn std::error::Error + Send + Sync>),
    /// A message or key.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A link.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl ShufflerError {
    /// Whether it is what one file contains, so that others are not concerned.
    pub(crate) fn is_of_this_file(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, TypeMismatch, Unknown};
        match (self, sqlite_error(self)) {
            (Self::Damaged { .. } | Self::Wire(_), _) => true,
            // Unknown: a table or column that is not there.
            (_, Some(rusqlite::Error::SqliteFailure(error, _))) => {
                matches!(error.code, DatabaseCorrupt | NotADatabase | TypeMismatch | Unknown)
            }
            (_, Some(error)) => matches!(
                error,
                rusqlite::Error::QueryReturnedNoRows
                    | rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
            ),
            _ => false,
        }
    }
}

/// Names the path that an error of the system is about.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> ShufflerError {
    let path = path.into();
    move |cause| ShufflerError::Io { path, cause }
}
