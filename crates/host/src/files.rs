//! Files that are the old one or the new one, also after a power cut, and that only their owner
//! reads.
//!
//! Errors are the operating system's; callers add which file it was about.

use fs4::FileExt;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// No secret is longer.
const MOST_SECRET_BYTES: u64 = 64 * 1024;

/// Makes a file of mode 0600 that was not there before.
///
/// # Errors
///
/// If there is one already, or the system refuses.
pub fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = write_beside(path, bytes)?;
    part.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Replaces a file, or creates it, with mode 0600.
///
/// The new content is written to a file beside it and synced; then the file is renamed, and the
/// folder is synced.
///
/// # Errors
///
/// If the system refuses. Then either the old or the new file is there.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = write_beside(path, bytes)?;
    part.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Removes a file, if there is one.
///
/// # Errors
///
/// If the system refuses.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(folder_of(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Locks a file for reading and then writing it, so that no other process overwrites the change in
/// between. Waits for the lock.
///
/// # Errors
///
/// If the system refuses.
pub fn lock(path: &Path) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    // Never removed: whoever removed it would let a third one lock another file of the same name.
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&name)?;
    FileExt::lock(&file)?;
    Ok(file)
}

/// Has the names in a folder on the disk.
///
/// # Errors
///
/// If the system refuses.
pub fn sync_folder(folder: &Path) -> Result<()> {
    // A folder cannot be opened as a file elsewhere; there a rename is as durable as the system
    // makes it.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Reads a secret, which is wiped from memory when dropped.
///
/// # Errors
///
/// If others can read the file, so that it is no secret any more, or the system refuses.
pub fn read_secret(path: &Path) -> Result<Zeroizing<String>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
        let advice = format!("it can be read by others: chmod 600 {}", path.display());
        return Err(Error::new(ErrorKind::PermissionDenied, advice));
    }
    // Room for all of it at once: growing would leave copies behind.
    let mut text = Zeroizing::new(String::with_capacity(about.len().min(MOST_SECRET_BYTES) as usize + 1));
    file.take(MOST_SECRET_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// A new file in the same folder, of mode 0600 on Unix, with these bytes on the disk.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_once_replaced_whole_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create(&path, b"one").unwrap();
        assert_eq!(create(&path, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
        replace(&path, b"four").unwrap();
        assert!(replace(&folder.path().join("no/where"), b"").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        create(&path, b"hidden").unwrap();
        assert_eq!(*read_secret(&path).unwrap(), "hidden");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = read_secret(&path).unwrap_err().to_string();
        assert!(refused.contains("chmod 600") && !refused.contains("hidden"), "{refused}");
    }
}
