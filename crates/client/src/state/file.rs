//! Files that are either the old one or the new one, also after a power cut.

use crate::error::{ClientError, Result};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Replaces the file at `folder/name`: written beside it, on the disk, renamed over it, and the folder on the disk too. Mode 0600: what a client
/// spent and where it took part is nobody else's business.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let (path, part) = (folder.join(name), folder.join(format!("{name}.part")));
    write_through(&part, bytes)?;
    std::fs::rename(&part, &path).map_err(ClientError::file("write", &path))?;
    sync_folder(folder)
}

/// Removes the file at `folder/name`, if there is one.
pub(crate) fn remove(folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(name);
    match std::fs::remove_file(&path) {
        Ok(()) => sync_folder(folder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ClientError::file("remove", &path)(error)),
    }
}

/// Writes a file, and has its contents on the disk before it returns.
fn write_through(path: &Path, bytes: &[u8]) -> Result<()> {
    let complain = || ClientError::file("write", path);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(complain())?;
    file.write_all(bytes).map_err(complain())?;
    file.sync_all().map_err(complain())
}

/// A new name in a folder survives a power cut only when the folder is on the disk too.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    // A folder cannot be opened as a file elsewhere; there the rename is as durable as the system makes it.
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(ClientError::file("write", folder))?;
    #[cfg(not(unix))]
    let _ = (folder, File::open::<&Path>);
    Ok(())
}
