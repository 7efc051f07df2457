//! The server's secrets: one key that signs, several that open reports. Files that only their owner
//! may read.

use crate::error::{Result, ServerError};
use crate::key_history::KeyHistory;
use shuffledp_host::{Clock, SystemClock, files};
use shuffledp_wire::{HpkePublicKey, KeyId, ServerSecretKeys, SigningKey, VerifyingKey, WireError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// Signs tasks and rounds; clients and shuffler pin its public half.
const SIGNING: &str = "signing.key";
/// Open reports; newest first, one a line.
pub(crate) const SEALING: &str = "sealing.keys";

/// The secret keys of the server. `Debug` shows public halves.
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

    /// Makes new keys in a folder. Existing ones are never overwritten: what was sealed to them
    /// could not be opened any more.
    pub fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(ServerError::file("create", folder))?;
        let keys = Self::generate()?;
        let signing = Zeroizing::new(format!("{}\n", *keys.signing.to_text()));
        for (name, text) in [(SIGNING, signing), (SEALING, keys.sealing.to_text())] {
            let path = folder.join(name);
            files::create(&path, text.as_bytes()).map_err(ServerError::file("create", &path))?;
        }
        Ok(keys)
    }

    /// Reads the keys in a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(SIGNING);
        let signing = SigningKey::from_text(&read(&path)?).map_err(wrong(&path))?;
        Ok(Self { signing, sealing: Self::read_sealing(folder)? })
    }

    /// Reads those that open reports.
    pub(crate) fn read_sealing(folder: &Path) -> Result<ServerSecretKeys> {
        let path = folder.join(SEALING);
        ServerSecretKeys::from_text(&read(&path)?).map_err(wrong(&path))
    }

    /// A new key to seal reports to, in front of the older ones, which open what was sealed to them
    /// in a round that is open. A running server offers the new one from its next round on, and
    /// deletes the others then.
    pub fn rotate(folder: &Path) -> Result<KeyId> {
        Self::rotate_at(folder, SystemClock.now())
    }

    /// The same by another clock.
    pub(crate) fn rotate_at(folder: &Path, now: u64) -> Result<KeyId> {
        let _alone = lock(folder)?;
        let mut keys = Self::read_sealing(folder)?;
        let id = keys.rotate(usize::MAX)?;
        write_sealing(folder, &keys)?;
        KeyHistory::note(folder, &keys.public_keys(), None, now)?;
        Ok(id)
    }

    /// Those that open reports, after all but the newest were deleted.
    fn prune(folder: &Path, now: u64) -> Result<ServerSecretKeys> {
        let _alone = lock(folder)?;
        let mut keys = Self::read_sealing(folder)?;
        if keys.public_keys().len() > 1 {
            keys.keep_newest();
            write_sealing(folder, &keys)?;
        }
        let newest = keys.public_keys()[0].1.to_string();
        KeyHistory::note(folder, &keys.public_keys(), Some(&newest), now)?;
        Ok(keys)
    }

    /// Returns the public key for clients and shuffler.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.signing.verifying_key()
    }
}

/// The keys in force.
#[derive(Debug)]
pub(crate) struct KeyRing {
    signing: SigningKey,
    sealing: RwLock<Arc<ServerSecretKeys>>,
    /// Where rotated keys appear.
    folder: Option<PathBuf>,
    /// Milliseconds until the newest key is replaced; `None` if only an operator replaces it.
    lifetime: Option<u64>,
}

impl From<ServerKeys> for KeyRing {
    /// Keys that stay as they are.
    fn from(keys: ServerKeys) -> Self {
        Self { signing: keys.signing, sealing: RwLock::new(Arc::new(keys.sealing)), folder: None, lifetime: None }
    }
}

impl KeyRing {
    /// Those of a folder, followed as they are rotated, and rotated when the newest is older than
    /// the `lifetime` in milliseconds.
    pub(crate) fn follow(folder: &Path, lifetime: Option<u64>) -> Result<Self> {
        Ok(Self { folder: Some(folder.to_owned()), lifetime, ..ServerKeys::read(folder)?.into() })
    }

    /// Their folder, if they follow one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Signs tasks and rounds.
    pub(crate) fn signing(&self) -> &SigningKey {
        &self.signing
    }

    /// Open reports.
    pub(crate) fn sealing(&self) -> Arc<ServerSecretKeys> {
        // Replaced whole: a thread that panicked left the old or the new ones.
        Arc::clone(&self.sealing.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether reports that are sealed to any of these can be opened. Another replica may have
    /// rotated its keys: then the file is read again.
    pub(crate) fn can_open(&self, keys: &[(KeyId, HpkePublicKey)]) -> bool {
        let holds = |ours: &ServerSecretKeys| keys.iter().all(|key| ours.public_keys().contains(key));
        if holds(&self.sealing()) {
            return true;
        }
        let Some(read) = self.folder.as_deref().and_then(|folder| ServerKeys::read_sealing(folder).ok()) else {
            return false;
        };
        let found = holds(&read);
        if found {
            tracing::info!(keys = ?read, "rotated keys taken up");
            *self.sealing.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(read);
        }
        found
    }

    /// Takes up what was rotated, and deletes what was replaced; for the moment between two rounds,
    /// when nothing can come any more that was sealed to older keys. A file that cannot be used
    /// leaves the old keys in force.
    pub(crate) fn refresh(&self, now: u64) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = self.rotate_if_old(folder, now) {
            tracing::warn!(
                error = &error as &(dyn std::error::Error + 'static),
                "no new key could be made; it is tried again"
            );
        }
        match ServerKeys::prune(folder, now) {
            Ok(keys) if keys.public_keys() == self.sealing().public_keys() => {}
            Ok(keys) => {
                tracing::info!(keys = ?keys, "rotated keys taken up");
                *self.sealing.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
            }
            Err(error) => tracing::warn!(
                error = &error as &(dyn std::error::Error + 'static),
                "the keys that reports are sealed to stay as they were"
            ),
        }
    }
}

impl KeyRing {
    /// A new key, if the newest has been in use for its lifetime.
    fn rotate_if_old(&self, folder: &Path, now: u64) -> Result<()> {
        let Some(lifetime) = self.lifetime else { return Ok(()) };
        let newest = self.sealing().public_keys()[0].1.to_string();
        let made = KeyHistory::read(folder)?.made(&newest);
        if made.is_some_and(|made| now.saturating_sub(made) >= lifetime) {
            let id = ServerKeys::rotate_at(folder, now)?;
            tracing::info!(
                key = id.0,
                "rotate_every_days have passed: reports are sealed to a new key from this round on"
            );
        }
        Ok(())
    }
}

fn lock(folder: &Path) -> Result<std::fs::File> {
    let path = folder.join(SEALING);
    files::lock(&path).map_err(ServerError::file("lock", &path))
}

fn write_sealing(folder: &Path, keys: &ServerSecretKeys) -> Result<()> {
    let path = folder.join(SEALING);
    files::replace(&path, keys.to_text().as_bytes()).map_err(ServerError::file("write", &path))
}

fn wrong(path: &Path) -> impl FnOnce(WireError) -> ServerError {
    let path = path.to_owned();
    move |error| ServerError::Config(format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<Zeroizing<String>> {
    files::read_secret(path).map_err(ServerError::file("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_history::KeyState;

    #[test]
    fn a_key_is_replaced_when_its_time_has_come() {
        const DAY: u64 = 86_400_000;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("keys");
        ServerKeys::create(&folder).unwrap();
        let ring = KeyRing::follow(&folder, Some(30 * DAY)).unwrap();
        let newest = || ring.sealing().public_keys()[0].clone();
        let first = newest();
        // Keys of older programs have no date: their time begins when they are first seen.
        ring.refresh(DAY);
        ring.refresh(31 * DAY - 1);
        assert_eq!(newest(), first);
        ring.refresh(31 * DAY);
        let second = newest();
        assert_ne!(second.1, first.1);
        assert_eq!(ring.sealing().public_keys().len(), 1, "what was sealed to the first is of a round that is over");
        let history = KeyHistory::read(&folder).unwrap();
        let told: Vec<_> = history.keys().iter().map(|key| (key.state, key.made, key.active, key.expired)).collect();
        let then = Some(31 * DAY);
        assert_eq!(told, [(KeyState::Active, 31 * DAY, then, None), (KeyState::Expired, DAY, Some(DAY), then)]);
        // An operator's key waits for the next round, and its time counts from when it was made.
        ServerKeys::rotate_at(&folder, 40 * DAY).unwrap();
        assert_eq!(KeyHistory::read(&folder).unwrap().keys()[0].state, KeyState::Pending);
        ring.refresh(41 * DAY);
        let third = newest();
        ring.refresh(70 * DAY - 1);
        assert_eq!(newest(), third);
        ring.refresh(70 * DAY);
        assert_ne!(newest(), third);
    }

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
        assert_eq!(third[1..], second, "however often, what an open round offers stays");
        assert_ne!(third[0].1, second[0].1);

        // A server between two rounds.
        let ring = KeyRing::follow(&folder, None).unwrap();
        ring.refresh(1);
        assert_eq!(ring.sealing().public_keys(), third[..1]);
        assert_eq!(ServerKeys::read(&folder).unwrap().sealing.public_keys(), third[..1]);

        // Old ones are known, without their secrets.
        let states: Vec<_> = KeyHistory::read(&folder).unwrap().keys().iter().map(|key| key.state).collect();
        assert_eq!(states, [KeyState::Active, KeyState::Expired, KeyState::Expired]);

        let shown = format!("{made:?}");
        assert!(!shown.contains(made.signing.to_text().as_str()) && !shown.contains("secret-v1"), "{shown}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.join(SIGNING);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            let error = ServerKeys::read(&folder).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains("chmod 600"), "{error}: {cause}");
        }
    }
}
