//! One process at a time.

use crate::error::{ClientError, Result};
use fs4::{FileExt, TryLockError};
use std::fs::{File, OpenOptions};
use std::path::Path;

/// Held for as long as it lives; the operating system lets go of it when the process ends, however
/// it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder, or says at once that somebody else has it.
    pub(crate) fn take(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        // Never removed: whoever removed it would let a third one lock another file of the same
        // name.
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(ClientError::file("open", &path))?;
        match FileExt::try_lock(&file) {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(ClientError::InUse { path: folder.to_owned() }),
            Err(TryLockError::Error(error)) => Err(ClientError::file("lock", &path)(error)),
        }
    }
}
