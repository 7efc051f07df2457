//! When each key that reports are sealed to was made, used and deleted. No secret is in it.

use crate::error::{Result, ServerError};
use serde::{Deserialize, Serialize};
use shuffledp_host::files;
use shuffledp_wire::{HpkePublicKey, KeyId};
use std::path::Path;

const FILE: &str = "sealing.json";

/// Expired keys that are remembered.
const REMEMBERED: usize = 32;

/// Where a key is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyState {
    /// Made; the next round offers it.
    Pending,
    /// The last round that was opened offers it.
    Active,
    /// Deleted.
    Expired,
}

/// The life of a key; milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// Its number. Numbers come again after 256 keys.
    pub id: u8,
    /// The state that clients see.
    pub public_key: String,
    /// Where it is.
    pub state: KeyState,
    /// When it was made, or first seen.
    pub made: u64,
    /// When a round first offered it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u64>,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expired: Option<u64>,
}

/// All of them, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHistory {
    keys: Vec<KeyRecord>,
}

impl KeyHistory {
    /// As it is in the folder of keys; empty if nothing was noted yet.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                ServerError::Config(format!("{}: {error}; remove it, and the keys count as new", path.display()))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(ServerError::file("read", &path)(error)),
        }
    }

    /// All keys, newest first.
    pub fn keys(&self) -> &[KeyRecord] {
        &self.keys
    }

    /// When a key was made.
    pub(crate) fn made(&self, key: &str) -> Option<u64> {
        self.keys.iter().find(|record| record.public_key == key).map(|record| record.made)
    }

    /// Notes which keys there are, newest first, and which of them rounds offer from now on, if
    /// that changed. The caller holds the lock of the folder.
    pub(crate) fn note(folder: &Path, there: &[(KeyId, HpkePublicKey)], active: Option<&str>, now: u64) -> Result<()> {
        let before = Self::read(folder)?;
        let mut history = before.clone();
        history.update(there, active, now);
        if history == before {
            return Ok(());
        }
        let path = folder.join(FILE);
        let bytes = serde_json::to_vec_pretty(&history).map_err(|error| ServerError::damaged(error.to_string()))?;
        files::replace(&path, &bytes).map_err(ServerError::file("write", &path))
    }

    fn update(&mut self, there: &[(KeyId, HpkePublicKey)], active: Option<&str>, now: u64) {
        for (place, (id, key)) in there.iter().enumerate() {
            let public_key = key.to_string();
            if self.made(&public_key).is_none() {
                let record = KeyRecord {
                    id: id.0,
                    public_key,
                    state: KeyState::Pending,
                    made: now,
                    active: None,
                    expired: None,
                };
                self.keys.insert(place.min(self.keys.len()), record);
            }
        }
        for record in &mut self.keys {
            let is_there = there.iter().any(|(_, key)| key.to_string() == record.public_key);
            if !is_there && record.state != KeyState::Expired {
                (record.state, record.expired) = (KeyState::Expired, Some(now));
            }
            if active == Some(record.public_key.as_str()) && record.state == KeyState::Pending {
                (record.state, record.active) = (KeyState::Active, Some(now));
            }
        }
        self.keys.truncate(there.len() + REMEMBERED);
    }
}
