//! The keys that reports are sealed to, and the signed list of them.

use crate::error::{Result, at};
use crate::files::{lock, read_hpke_keys, rotate_key, write_secret};
use crate::store::Memory;
use bytes::Bytes;
use shuffledp_wire::{ShufflerKeys, ShufflerSecretKeys, Signed, SigningKey};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

/// Keys that a scheduled rotation keeps; a list may have twice as many.
const MOST_KEPT: usize = 8;

/// The keys in force.
#[derive(Debug)]
struct Current {
    secret: Arc<ShufflerSecretKeys>,
    /// The body of `GET /v1/keys`.
    published: Bytes,
    /// When the file was written that this was read from, and its length, should two writes share a
    /// tick of the clock.
    version: (SystemTime, u64),
}

/// The active key is the newest; expired ones open what was sealed to them before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyStates {
    pub(crate) expired: usize,
    pub(crate) pending: usize,
    /// Milliseconds since the newest key is that.
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

    /// Returns the keys that open reports.
    pub(crate) fn secret(&self) -> Arc<ShufflerSecretKeys> {
        Arc::clone(&self.current().secret)
    }

    /// Returns the signed key list for clients.
    pub(crate) fn published(&self) -> Bytes {
        self.current().published.clone()
    }

    /// Returns the key that signs batches.
    pub(crate) fn signing(&self) -> &SigningKey {
        &self.signing
    }

    /// Reads the file again if it was written since. A file that cannot be used leaves the old keys
    /// in force.
    pub(crate) fn follow(&self) -> Result<()> {
        if version(&self.path)? != self.current().version {
            self.replace(read(&self.path, &self.signing, self.min_batch)?);
            tracing::info!(keys = ?self.secret(), "HPKE keys read");
        }
        Ok(())
    }

    /// Returns the state of every key. A key that is in the file and not published yet is
    /// pending.
    pub(crate) fn states(&self, now: u64, memory: &dyn Memory) -> Result<KeyStates> {
        let (keys, in_file) = (self.secret().public_keys(), read_hpke_keys(&self.path)?.public_keys());
        let pending = in_file.iter().filter(|key| !keys.contains(key)).count();
        let since = self.active_since(now, memory)?;
        Ok(KeyStates { pending, expired: keys.len().saturating_sub(1), active_for: now.saturating_sub(since) })
    }

    /// Since when the newest key is the newest.
    fn active_since(&self, now: u64, memory: &dyn Memory) -> Result<u64> {
        match self.secret().public_keys().first() {
            Some((_, public)) => memory.active_since(&public.to_bytes(), now),
            None => Ok(now),
        }
    }

    /// Puts a new key in front if the newest has been that for `every` milliseconds. What rounds
    /// still need is never pushed out: with half of all keys there may be, it waits.
    pub(crate) fn rotate_if_due(&self, now: u64, every: Option<u64>, memory: &dyn Memory) -> Result<()> {
        // Also without: whoever sets it later wants to know how old the key is.
        let since = self.active_since(now, memory)?;
        if every.is_none_or(|every| now < since.saturating_add(every)) {
            return Ok(());
        }
        if self.secret().public_keys().len() >= MOST_KEPT {
            tracing::warn!("the HPKE key is due to be rotated, but rounds still need {MOST_KEPT} older ones");
            return Ok(());
        }
        let id = rotate_key(&self.path)?;
        tracing::info!(id = id.0, "the HPKE key was rotated, as rotate_every says");
        self.follow()?;
        self.active_since(now, memory).map(drop)
    }

    /// Deletes keys that nobody can still use: not the newest, retired for `overlap`, and no open
    /// round began before that was over (`earliest_open` is when the oldest open round opened).
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
    fn a_key_is_rotated_when_it_is_due_and_not_while_too_many_are_needed() {
        let folder = tempfile::TempDir::new().unwrap();
        crate::init(folder.path()).unwrap();
        let path = folder.path().join(crate::files::HPKE_KEYS);
        let memory = SqliteMemory::open(&folder.path().join("m.db")).unwrap();
        let ring = KeyRing::load(path.clone(), SigningKey::from_seed(&[1; 32]), 7).unwrap();
        // The key is as old as this shuffler knows it.
        for now in [10_000, 10_999] {
            ring.rotate_if_due(now, Some(1000), &memory).unwrap();
            ring.rotate_if_due(now + 5000, None, &memory).unwrap();
            assert_eq!(ids(&ring), [KeyId(0)]);
        }
        ring.rotate_if_due(11_000, Some(1000), &memory).unwrap();
        assert_eq!(ids(&ring), [KeyId(1), KeyId(0)]);
        ring.rotate_if_due(11_999, Some(1000), &memory).unwrap();
        assert_eq!(ids(&ring).len(), 2, "the new one is new");
        // Deleting an old one, which writes the file, makes the newest no younger.
        ring.prune(11_000, 0, None, &memory).unwrap();
        ring.prune(11_001, 0, None, &memory).unwrap();
        assert_eq!(ids(&ring), [KeyId(1)]);
        let states = ring.states(11_500, &memory).unwrap();
        assert_eq!((states.pending, states.expired, states.active_for), (0, 0, 500));
        rotate_key(&path).unwrap();
        assert_eq!(ring.states(11_500, &memory).unwrap().pending, 1);
        ring.follow().unwrap();
        let states = ring.states(11_500, &memory).unwrap();
        assert_eq!((states.pending, states.expired, states.active_for), (0, 1, 0));
        for now in 20..60 {
            ring.rotate_if_due(now * 1000, Some(1000), &memory).unwrap();
        }
        assert_eq!(ids(&ring).len(), MOST_KEPT, "none that may be needed is pushed out");
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
