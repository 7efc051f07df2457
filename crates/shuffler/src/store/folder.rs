//! The folder of all stores: a file per context, named by the context's hash.

use super::sqlite::{LOGS, run_files};
use super::{Memory, RoundStore, RoundTerms, SqliteMemory, SqliteStore, Stores};
use crate::error::{Result, ShufflerError, at};
use crate::witness::{CommitPoint, Witness};
use sha2::{Digest, Sha256};
use shuffledp_wire::{RoundContext, TaskHash};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXTENSION: &str = "round";
const MEMORY: &str = "finished.db";
/// Appended to the names of files that were set aside.
const DAMAGED: &str = ".damaged";

/// SQLite files in one folder.
pub struct SqliteFolder {
    folder: PathBuf,
    memory: Arc<SqliteMemory>,
    witness: Arc<dyn Witness>,
}

impl std::fmt::Debug for SqliteFolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteFolder").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl SqliteFolder {
    /// Makes the folder if need be, for its owner alone, and takes it for this process.
    ///
    /// # Errors
    ///
    /// If another process has it, or the system refuses.
    pub fn open(folder: &Path, witness: Arc<dyn Witness>) -> Result<Self> {
        make_private(folder)?;
        let memory = Arc::new(SqliteMemory::open(&folder.join(MEMORY))?);
        sync(folder)?;
        Ok(Self { folder: folder.to_owned(), memory, witness })
    }

    pub(super) fn path(&self, context: &RoundContext) -> PathBuf {
        // In the hexadecimal of a task's hash, which is as long.
        let name = TaskHash::from_bytes(hash(context)).to_string();
        self.folder.join(name).with_extension(EXTENSION)
    }

    /// Renames a store's files, so that nobody opens them again. Returns the new name of the first.
    fn put_aside(&self, path: &Path) -> Result<PathBuf> {
        let name = |suffix: &str, end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            name.push(end);
            PathBuf::from(name)
        };
        for run in run_files(path)? {
            let mut aside = run.as_os_str().to_owned();
            aside.push(DAMAGED);
            fs::rename(&run, aside).map_err(at(run))?;
        }
        for suffix in ["-wal", "-shm", "-journal"].into_iter().chain(LOGS).chain([""]) {
            match fs::rename(name(suffix, ""), name(suffix, DAMAGED)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(name(suffix, ""))(error)),
                _ => {}
            }
        }
        sync(&self.folder)?;
        Ok(name("", DAMAGED))
    }

    /// Deletes a store's files, the logs first: without the file they belong to they would be read
    /// by nobody, but they would be there.
    fn delete(&self, path: &Path) -> Result<()> {
        for run in run_files(path)? {
            fs::remove_file(&run).map_err(at(run))?;
        }
        for suffix in LOGS.into_iter().chain(["-wal", "-shm", "-journal", ""]) {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(name)(error)),
                _ => {}
            }
        }
        sync(&self.folder)
    }
}

/// Returns the hash by which a context is remembered.
pub(crate) fn hash(context: &RoundContext) -> [u8; 32] {
    Sha256::digest(context.to_bytes()).into()
}

/// The context's hash in a file's name.
fn hash_in(path: &Path) -> Option<[u8; 32]> {
    if path.extension()? != EXTENSION {
        return None;
    }
    let hash: TaskHash = path.file_stem()?.to_str()?.parse().ok()?;
    Some(*hash.as_bytes())
}

/// Makes names durable, those that came and those that went.
fn sync(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

fn make_private(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(at(folder))?;
    // It may have been there.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(folder).map_err(at(folder))?.permissions().mode() & 0o077 != 0 {
            return Err(ShufflerError::OpenFolder { path: folder.to_owned() });
        }
    }
    Ok(())
}

impl Stores for SqliteFolder {
    fn memory(&self) -> Arc<dyn Memory> {
        self.memory.clone()
    }

    fn create(&self, context: &RoundContext, record: &RoundTerms) -> Result<Option<Box<dyn RoundStore>>> {
        if self.memory.is_finished(&hash(context))? {
            return Ok(None);
        }
        let path = self.path(context);
        let is_new = !path.exists();
        let created = SqliteStore::create(&path, record, Arc::clone(&self.witness));
        match created.and_then(|store| sync(&self.folder).map(|()| store)) {
            Ok(store) => Ok(Some(Box::new(store))),
            Err(error) => {
                // Half a store would be in the way of the next attempt; nothing is in it.
                if is_new {
                    self.delete(&path)?;
                }
                Err(error)
            }
        }
    }

    fn unfinished(&self) -> Result<Vec<Box<dyn RoundStore>>> {
        let mut stores: Vec<Box<dyn RoundStore>> = Vec::new();
        for file in fs::read_dir(&self.folder).map_err(at(&self.folder))? {
            let path = file.map_err(at(&self.folder))?.path();
            let Some(hash) = hash_in(&path) else { continue };
            if self.memory.is_finished(&hash)? {
                self.delete(&path)?;
                continue;
            }
            match SqliteStore::open(&path, Arc::clone(&self.witness)) {
                Ok(Some(store)) => stores.push(Box::new(store)),
                Ok(None) => self.delete(&path)?,
                Err(error) if error.is_of_this_file() => {
                    // First: a round whose file is gone must not begin again and have a second
                    // batch.
                    self.memory.finish(&hash)?;
                    let aside = self.put_aside(&path)?;
                    tracing::error!(
                        %error,
                        file = %aside.display(),
                        "a round's file is damaged: it is set aside and its round is over; the others go on"
                    );
                }
                Err(ShufflerError::Newer { path }) => tracing::error!(
                    file = %path.display(),
                    "a round's file is left alone: a later version of this program wrote it"
                ),
                Err(error) => return Err(error),
            }
        }
        // For the names of logs that were made anew.
        sync(&self.folder)?;
        Ok(stores)
    }

    fn set_aside(&self) -> usize {
        let end = format!(".{EXTENSION}{DAMAGED}");
        let is_aside = |file: std::io::Result<fs::DirEntry>| {
            file.is_ok_and(|file| file.file_name().to_str().is_some_and(|name| name.ends_with(&end)))
        };
        fs::read_dir(&self.folder).map_or(0, |files| files.map(is_aside).filter(|is| *is).count())
    }

    fn finish(&self, context: &RoundContext, store: Box<dyn RoundStore>) -> Result<()> {
        self.memory.finish(&hash(context))?;
        self.witness.reached(CommitPoint::Finished);
        drop(store);
        self.delete(&self.path(context))?;
        self.witness.reached(CommitPoint::Deleted);
        Ok(())
    }
}
