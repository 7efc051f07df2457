//! The keys that reports are sealed to, and the signed list of them.

use crate::error::{Result, at};
use crate::files::{lock, read_hpke_keys, write_secret};
use crate::store::Memory;
use bytes::Bytes;
use shuffledp_wire::{ShufflerKeys, ShufflerSecretKeys, Signed, SigningKey};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

/// What is in force.
#[derive(Debug)]
struct Current {
    secret: Arc<ShufflerSecretKeys>,
    /// The body of `GET /v1/keys`.
    published: Bytes,
    /// When the file was written that this was read from, and its length, should two writes share a tick of the clock.
    version: (SystemTime, u64),
}

/// The active key is the newest; expired ones open what was sealed to them before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyStates {
    pub(crate) expired: usize,
    /// Milliseconds since the file was written last.
    pub(crate) active_for: u64,
}

/// The key file, followed as it changes.
#[derive(Debug)]
pub(crate) struct KeyRing {
    path: PathBuf,
    signing: SigningKey,
    min_batch: u64,
    current: RwLock<Arc<Current>>,
}

impl KeyRing {
    pub(crate) fn load(path: PathBuf, signing: SigningKey, min_batch: u64) -> Result<Self> {
        let current = RwLock::new(Arc::new(read(&path, &signing, min_batch)?));
        Ok(Self { path, signing, min_batch, current })
    }

    fn current(&self) -> Arc<Current> {
        // Replaced whole: a thread that panicked left the old or the new one.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, current: Current) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
    }

    /// What opens reports.
    pub(crate) fn secret(&self) -> Arc<ShufflerSecretKeys> {
        Arc::clone(&self.current().secret)
    }

    /// What clients are told.
    pub(crate) fn published(&self) -> Bytes {
        self.current().published.clone()
    }

    /// What signs batches.
    pub(crate) fn signing(&self) -> &SigningKey {
        &self.signing
    }

    /// Reads the file again if it was written since. A file that cannot be used leaves the old keys in force.
    pub(crate) fn follow(&self) -> Result<()> {
        if version(&self.path)? != self.current().version {
            self.replace(read(&self.path, &self.signing, self.min_batch)?);
            tracing::info!(keys = ?self.secret(), "HPKE keys read");
        }
        Ok(())
    }

    /// What the keys are at this moment.
    pub(crate) fn states(&self, now: u64) -> KeyStates {
        let current = self.current();
        let expired = current.secret.public_keys().len().saturating_sub(1);
        let since = current.version.0.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        KeyStates { expired, active_for: now.saturating_sub(since) }
    }

    /// Deletes keys that nobody can still use: not the newest, retired for `overlap`, and no open round began before that was over
    /// (`earliest_open` is when the oldest open round opened).
    pub(crate) fn prune(&self, now: u64, overlap: u64, earliest_open: Option<u64>, memory: &dyn Memory) -> Result<()> {
        let keys = self.secret();
        let mut kept = Vec::new();
        for (place, (id, public)) in keys.public_keys().into_iter().enumerate() {
            let needed = place == 0 || {
                let until = memory.retired_since(&public.to_bytes(), now)?.saturating_add(overlap);
                now < until || earliest_open.is_some_and(|opened| opened < until)
            };
            if let (true, Some(key)) = (needed, keys.get(id)) {
                kept.push((id, key.clone()));
            }
        }
        if kept.len() < keys.public_keys().len() {
            // Someone may have rotated in between; then it is next time's turn.
            let _alone = lock(&self.path)?;
            self.follow()?;
            if Arc::ptr_eq(&keys, &self.secret()) {
                write_secret(&self.path, &ShufflerSecretKeys::new(kept)?.to_text())?;
                self.follow()?;
            }
        }
        Ok(())
    }
}

fn read(path: &Path, signing: &SigningKey, min_batch: u64) -> Result<Current> {
    // The time first: if the file changes in between, the next look reads it once more.
    let version = version(path)?;
    let secret = read_hpke_keys(path)?;
    let list = ShufflerKeys { keys: secret.public_keys(), min_batch };
    let published = Signed::sign(&list, signing)?.encode().into();
    Ok(Current { secret: Arc::new(secret), published, version })
}

fn version(path: &Path) -> Result<(SystemTime, u64)> {
    let read = || std::fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len())));
    read().map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::rotate_key;
    use crate::store::SqliteMemory;
    use shuffledp_wire::KeyId;

    fn ids(ring: &KeyRing) -> Vec<KeyId> {
        let signed = Signed::<ShufflerKeys>::decode(&ring.published()).unwrap();
        let list = signed.verify(&ring.signing().verifying_key()).unwrap();
        assert_eq!(list.keys, ring.secret().public_keys());
        assert_eq!(list.min_batch, 7);
        list.keys.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn what_is_rotated_while_old_keys_are_deleted_stays() {
        let folder = tempfile::TempDir::new().unwrap();
        crate::init(folder.path()).unwrap();
        let path = folder.path().join(crate::files::HPKE_KEYS);
        let memory = SqliteMemory::open(&folder.path().join("m.db")).unwrap();
        let ring = KeyRing::load(path.clone(), SigningKey::from_seed(&[1; 32]), 7).unwrap();
        std::thread::scope(|scope| {
            let rotating = scope.spawn(|| (1..=20).all(|number| rotate_key(&path).unwrap() == KeyId(number)));
            let mut now = 0;
            while !rotating.is_finished() {
                now += 1;
                ring.follow().unwrap();
                ring.prune(now, 0, None, &memory).unwrap();
            }
            assert!(rotating.join().unwrap(), "no rotation was undone");
        });
        ring.follow().unwrap();
        assert_eq!(ids(&ring)[0], KeyId(20));
    }

    #[test]
    fn an_old_key_stays_as_long_as_a_round_could_use_it() {
        let folder = tempfile::TempDir::new().unwrap();
        crate::init(folder.path()).unwrap();
        let path = folder.path().join(crate::files::HPKE_KEYS);
        let memory = SqliteMemory::open(&folder.path().join("m.db")).unwrap();
        let ring = KeyRing::load(path.clone(), SigningKey::from_seed(&[1; 32]), 7).unwrap();
        let (old, new) = (KeyId(0), KeyId(1));
        ring.prune(5000, 1000, None, &memory).unwrap();
        assert_eq!(ids(&ring), [old]);

        assert_eq!(rotate_key(&path).unwrap(), new);
        ring.follow().unwrap();
        assert_eq!(ids(&ring), [new, old]);
        // Retired at 10000; a round that opened before 11000 may have clients with the old list.
        for (now, open) in [(10_000, None), (10_999, None), (20_000, Some(4000)), (20_000, Some(10_999))] {
            ring.prune(now, 1000, open, &memory).unwrap();
            assert_eq!(ids(&ring), [new, old], "{now} {open:?}");
        }
        ring.prune(20_000, 1000, Some(11_000), &memory).unwrap();
        assert_eq!(ids(&ring), [new]);
        assert_eq!(read_hpke_keys(&path).unwrap().public_keys().len(), 1);
    }
}
