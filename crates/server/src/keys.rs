//! The server's secrets: one key that signs, several that open reports. Files that only their owner may read.

use crate::error::{Result, ServerError};
use shuffledp_wire::{ServerSecretKeys, SigningKey, VerifyingKey};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Signs tasks and rounds; clients and shuffler pin its public half.
const SIGNING: &str = "signing.key";
/// Open reports; newest first, one a line.
const SEALING: &str = "sealing.keys";

/// Keys that stay beside a new one: reports of a round that was open may be sealed to the one before.
const KEPT: usize = 2;

/// No file of keys is longer.
const MOST_BYTES: u64 = 64 * 1024;

/// What only the server knows. `Debug` shows public halves.
#[derive(Debug, Clone)]
pub struct ServerKeys {
    /// Signs tasks and rounds.
    pub signing: SigningKey,
    /// Open reports.
    pub sealing: ServerSecretKeys,
}

impl ServerKeys {
    /// New ones from the operating system's generator, in memory only.
    pub fn generate() -> Result<Self> {
        Ok(Self { signing: SigningKey::generate()?, sealing: ServerSecretKeys::generate()? })
    }

    /// Makes new keys in a folder. Existing ones are never overwritten: what was sealed to them could not be opened any more.
    pub fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(ServerError::file("create", folder))?;
        let keys = Self::generate()?;
        create_private(&folder.join(SIGNING), &keys.signing.to_text())?;
        create_private(&folder.join(SEALING), &keys.sealing.to_text())?;
        Ok(keys)
    }

    /// Reads the keys in a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let (signing, sealing) = (folder.join(SIGNING), folder.join(SEALING));
        let wrong = |path: &Path, error| ServerError::Config(format!("{}: {error}", path.display()));
        Ok(Self {
            signing: SigningKey::from_text(&read_private(&signing)?).map_err(|error| wrong(&signing, error))?,
            sealing: ServerSecretKeys::from_text(&read_private(&sealing)?).map_err(|error| wrong(&sealing, error))?,
        })
    }

    /// A new key to seal reports to, in front of the older ones. A running server takes it up when it is started again.
    pub fn rotate(folder: &Path) -> Result<Self> {
        let mut keys = Self::read(folder)?;
        keys.sealing.rotate(KEPT)?;
        let (path, part) = (folder.join(SEALING), folder.join(format!("{SEALING}.new")));
        create_private(&part, &keys.sealing.to_text())?;
        std::fs::rename(&part, &path).map_err(ServerError::file("write", &path))?;
        sync_folder(folder)?;
        Ok(keys)
    }

    /// What clients and shuffler are told.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.signing.verifying_key()
    }
}

/// Writes a new file of mode 0600, and has it on the disk before it returns.
fn create_private(path: &Path, text: &str) -> Result<()> {
    let complain = || ServerError::file("create", path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(complain())?;
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    file.write_all(text.as_bytes()).map_err(complain())?;
    file.write_all(line_end.as_bytes()).map_err(complain())?;
    file.sync_all().map_err(complain())?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => sync_folder(folder),
        _ => Ok(()),
    }
}

/// A new name in a folder survives a power cut only when the folder is on the disk too.
fn sync_folder(folder: &Path) -> Result<()> {
    let file = std::fs::File::open(folder).map_err(ServerError::file("open", folder))?;
    file.sync_all().map_err(ServerError::file("write", folder))
}

/// Refuses a file that others may read: the secret is no secret any more.
fn read_private(path: &PathBuf) -> Result<zeroize::Zeroizing<String>> {
    let complain = || ServerError::file("read", path);
    let file = std::fs::File::open(path).map_err(complain())?;
    let about = file.metadata().map_err(complain())?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
        let path = path.display();
        return Err(ServerError::Config(format!("{path} may be read by others: chmod 600 {path}")));
    }
    // Room for all of it at once: growing would leave copies behind.
    let mut text = zeroize::Zeroizing::new(String::with_capacity(about.len().min(MOST_BYTES) as usize + 1));
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(complain())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_once_kept_private_and_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("keys");
        let made = ServerKeys::create(&folder).unwrap();
        assert!(ServerKeys::create(&folder).is_err());
        let read = ServerKeys::read(&folder).unwrap();
        assert_eq!(read.verifying_key(), made.verifying_key());
        let first = made.sealing.public_keys();
        assert_eq!(read.sealing.public_keys(), first);

        ServerKeys::rotate(&folder).unwrap();
        let second = ServerKeys::read(&folder).unwrap().sealing.public_keys();
        assert_eq!((second.len(), &second[1]), (2, &first[0]));
        ServerKeys::rotate(&folder).unwrap();
        let third = ServerKeys::read(&folder).unwrap().sealing.public_keys();
        assert_eq!((third.len(), &third[1]), (2, &second[0]));
        assert_ne!(third[0].1, second[0].1);

        let shown = format!("{made:?}");
        assert!(!shown.contains(made.signing.to_text().as_str()) && !shown.contains("secret-v1"), "{shown}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.join(SIGNING);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            let error = ServerKeys::read(&folder).unwrap_err().to_string();
            assert!(error.contains("chmod 600"), "{error}");
        }
    }
}
