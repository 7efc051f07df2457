//! A party's HPKE keys, the newest and those that reports may still be sealed to.

use super::hpke::{HpkePublicKey, HpkeSecretKey};
use crate::codec::{Reader, require, require_len};
use crate::error::{Result, WireError};
use crate::ids::KeyId;
use std::fmt::{self, Write as _};
use std::marker::PhantomData;
use zeroize::Zeroizing;

/// More keys than this are no rotation: every one of them is a secret to lose.
pub(crate) const MAX_KEYS: usize = 16;

pub(crate) type PublicKeys = Vec<(KeyId, HpkePublicKey)>;

/// The owner of keys, as a type, so that a shuffler's keys cannot be passed for the server's.
pub trait Role: sealed::Sealed {
    /// For errors and `Debug`.
    const NAME: &'static str;
}

/// Opens the outer layer.
#[derive(Debug, Clone, Copy)]
pub enum Shuffler {}
/// Opens the inner layer.
#[derive(Debug, Clone, Copy)]
pub enum Server {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Shuffler {}
    impl Sealed for super::Server {}
}

impl Role for Shuffler {
    const NAME: &'static str = "shuffler's HPKE keys";
}
impl Role for Server {
    const NAME: &'static str = "server's HPKE keys";
}

/// The shuffler's: for [`open_outer`](crate::open_outer).
pub type ShufflerSecretKeys = SecretKeys<Shuffler>;
/// The server's: for [`open_inner`](crate::open_inner).
pub type ServerSecretKeys = SecretKeys<Server>;

/// A party's secret keys with their ids, newest first. Clients seal to the first.
#[derive(Clone)]
pub struct SecretKeys<R> {
    keys: Vec<(KeyId, HpkeSecretKey)>,
    role: PhantomData<R>,
}

impl<R: Role> SecretKeys<R> {
    /// Newest first; at least one, at most 16, no id twice.
    pub fn new(keys: Vec<(KeyId, HpkeSecretKey)>) -> Result<Self> {
        check_ids(keys.iter().map(|(id, _)| *id), keys.len(), R::NAME)?;
        Ok(Self { keys, role: PhantomData })
    }

    /// One new key with id 0.
    pub fn generate() -> Result<Self> {
        Self::new(vec![(KeyId(0), HpkeSecretKey::generate()?)])
    }

    /// A new key in front, with the first free id after the newest one's; the oldest go, so that
    /// `keep` remain (at least the new one, at most 16).
    pub fn rotate(&mut self, keep: usize) -> Result<KeyId> {
        let mut next = KeyId(self.keys.first().map_or(0, |(id, _)| id.0.wrapping_add(1)));
        while self.get(next).is_some() {
            next = KeyId(next.0.wrapping_add(1));
        }
        self.keys.insert(0, (next, HpkeSecretKey::generate()?));
        self.keys.truncate(keep.clamp(1, MAX_KEYS));
        Ok(next)
    }

    /// Drops all but the newest.
    pub fn keep_newest(&mut self) {
        self.keys.truncate(1);
    }

    /// The key of this id.
    pub fn get(&self, id: KeyId) -> Option<&HpkeSecretKey> {
        self.keys.iter().find(|(known, _)| *known == id).map(|(_, key)| key)
    }

    /// The public keys to announce to clients, newest first.
    pub fn public_keys(&self) -> Vec<(KeyId, HpkePublicKey)> {
        self.keys.iter().map(|(id, key)| (*id, key.public_key())).collect()
    }

    /// One line per key, newest first: its id, a blank, the key's text. For a file that only its
    /// owner may read.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(self.keys.len() * 80));
        for (id, key) in &self.keys {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{id} {}", *key.to_text());
        }
        text
    }

    /// From the text of [`to_text`](Self::to_text). Empty lines and lines that start with `#` are
    /// skipped.
    pub fn from_text(text: &str) -> Result<Self> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys = lines.map(|line| {
            let wrong = WireError::Value {
                message: R::NAME,
                field: "line",
                reason: "is not an id from 0 to 255, a blank and a key",
            };
            let (id, key) = line.split_once(' ').ok_or(wrong.clone())?;
            Ok((KeyId(id.parse().map_err(|_| wrong)?), HpkeSecretKey::from_text(key)?))
        });
        Self::new(keys.collect::<Result<_>>()?)
    }
}

impl<R: Role> fmt::Debug for SecretKeys<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u8> = self.keys.iter().map(|(id, _)| id.0).collect();
        write!(f, "{} {ids:?}", R::NAME)
    }
}

fn check_ids(ids: impl Iterator<Item = KeyId>, len: usize, message: &'static str) -> Result<()> {
    require_len(len, (1, MAX_KEYS), message, "keys")?;
    let mut seen = [false; 256];
    let unique = ids.into_iter().all(|id| !std::mem::replace(&mut seen[usize::from(id.0)], true));
    require(unique, message, "keys", "name an id twice")
}

/// A list of public keys in a message: between 1 and 16, no id twice.
pub(crate) fn check_keys(keys: &PublicKeys, message: &'static str) -> Result<()> {
    check_ids(keys.iter().map(|(id, _)| *id), keys.len(), message)
}

/// A byte for how many, then id and key of each.
pub(crate) fn write_keys(bytes: &mut Vec<u8>, keys: &[(KeyId, HpkePublicKey)]) {
    bytes.push(keys.len() as u8);
    for (id, key) in keys {
        bytes.push(id.0);
        bytes.extend_from_slice(&key.to_bytes());
    }
}

pub(crate) fn read_keys(reader: &mut Reader<'_>, message: &'static str) -> Result<PublicKeys> {
    let len = usize::from(reader.u8("number of keys")?);
    require_len(len, (1, MAX_KEYS), message, "keys")?;
    let mut keys = Vec::with_capacity(len);
    for _ in 0..len {
        let id = KeyId(reader.u8("key id")?);
        keys.push((id, HpkePublicKey::from_bytes(&reader.array("key")?)?));
    }
    Ok(keys)
}

/// A list of public keys by itself, for whoever has to keep one.
pub fn encode_keys(keys: &[(KeyId, HpkePublicKey)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_keys(&mut bytes, keys);
    bytes
}

/// Decodes the output of [`encode_keys`]: between 1 and 16 keys, no id twice.
pub fn decode_keys(bytes: &[u8]) -> Result<Vec<(KeyId, HpkePublicKey)>> {
    const NAME: &str = "list of keys";
    let mut reader = Reader::new(NAME, bytes);
    let keys = read_keys(&mut reader, NAME)?;
    reader.finish()?;
    check_keys(&keys, NAME)?;
    Ok(keys)
}
