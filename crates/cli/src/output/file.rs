//! Files that appear whole or not at all.

use anyhow::{Context, Result, bail};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file to be: opened beside its final place, moved there once it is complete. Whoever opens the
/// final name sees the old file or the new one, never half of one. Dropped unfinished, it leaves
/// nothing behind.
#[derive(Debug)]
pub(crate) struct NewFile {
    /// The flag that asked for it.
    flag: &'static str,
    wanted: PathBuf,
    /// Where the bytes go first; `None` for what is not a regular file (a pipe, `/dev/stdout`),
    /// which is written directly.
    temporary: Option<PathBuf>,
    file: File,
}

impl NewFile {
    /// Opens it; fails if the place cannot be written.
    pub(crate) fn create(flag: &'static str, path: &Path) -> Result<Self> {
        let complain = || format!("{flag}: cannot write {}", path.display());
        // A link is followed: it is its target that is replaced.
        let wanted = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if wanted.is_dir() {
            bail!("{flag}: {} is a folder; name a file", path.display());
        }
        if wanted.exists() && !wanted.is_file() {
            let file = OpenOptions::new().write(true).open(&wanted).with_context(complain)?;
            return Ok(Self { flag, wanted, temporary: None, file });
        }
        let Some(name) = wanted.file_name() else {
            bail!("{flag}: '{}' is not the name of a file", path.display());
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = wanted.with_file_name(hidden);
        let file = File::create(&temporary).with_context(complain)?;
        Ok(Self { flag, wanted, temporary: Some(temporary), file })
    }

    /// Writes the contents and moves the file to its place.
    pub(crate) fn finish(mut self, contents: &[u8]) -> Result<()> {
        let complain = || format!("{}: cannot write {}", self.flag, self.wanted.display());
        (&self.file).write_all(contents).with_context(complain)?;
        if let Some(temporary) = &self.temporary {
            self.file.sync_all().with_context(complain)?;
            fs::rename(temporary, &self.wanted).with_context(complain)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
