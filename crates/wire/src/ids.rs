//! Names of things: hashes, random ids, and what a batch is gathered by.

use crate::codec::Reader;
use crate::error::{Result, WireError};
use crate::keys::{HpkePublicKey, write_keys};
use rand::rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

macro_rules! name_of_bytes {
    ($(#[$doc:meta])* $name:ident, $len:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; $len]);

        impl $name {
            /// Its length in bytes.
            pub const LEN: usize = $len;

            /// From its bytes.
            pub const fn from_bytes(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }

            /// Its bytes.
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:x}", base16ct::HexDisplay(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        /// Lower-case hexadecimal of exactly its length: one spelling per value, because it is part
        /// of addresses.
        impl FromStr for $name {
            type Err = WireError;

            fn from_str(text: &str) -> Result<Self> {
                let reason = concat!("is not ", $what, " in lower-case hexadecimal");
                let wrong = WireError::Value { message: stringify!($name), field: "text", reason };
                from_hex(text).map(Self).ok_or(wrong)
            }
        }
    };
}

name_of_bytes!(
    /// SHA-256 of a task's encoding: the task's id.
    TaskHash, 32, "32 bytes");
name_of_bytes!(
    /// SHA-256 of a model's file, byte by byte.
    ModelHash, 32, "32 bytes");
name_of_bytes!(
    /// SHA-256 of a list of keys as messages have it.
    KeysHash, 32, "32 bytes");
name_of_bytes!(
    /// A report's name, drawn by its client and seen by the server alone. The same report sent
    /// twice counts once.
    ReportId, 16, "16 bytes");
name_of_bytes!(
    /// A batch's name, drawn by the shuffler. The same batch sent twice counts once.
    BatchId, 16, "16 bytes");

impl ModelHash {
    /// Of a model's file.
    pub fn of(model: &[u8]) -> Self {
        Self(Sha256::digest(model).into())
    }
}

impl TaskHash {
    /// Of a task's encoding.
    pub(crate) fn of_encoding(encoding: &[u8]) -> Self {
        Self(Sha256::digest(encoding).into())
    }
}

impl KeysHash {
    /// Of a list of keys, in its order.
    pub fn of(keys: &[(KeyId, HpkePublicKey)]) -> Self {
        let mut encoding = Vec::new();
        write_keys(&mut encoding, keys);
        Self(Sha256::digest(&encoding).into())
    }
}

impl ReportId {
    /// A new one.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }
}

impl BatchId {
    /// A new one.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }
}

/// Which of a party's keys: a number that the party gives it, and gives to another key only when no
/// report to the old one can still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u8);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The context that a report is bound to. The shuffler groups reports into batches by all four
/// fields. So a server that shows different clients different rounds, models or keys only splits
/// them into batches that are too small to be released. Without the keys in the context, the server
/// could give each client its own key, and identify each report by the key that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoundContext {
    /// The task.
    pub task: TaskHash,
    /// The round, counted from 1.
    pub round: u64,
    /// The model that the round starts from.
    pub model: ModelHash,
    /// The server's keys, all that the round offers.
    pub keys: KeysHash,
}

impl RoundContext {
    /// Length of its encoding, which has no version and type of its own: it is part of other
    /// messages.
    pub const LEN: usize = 104;

    /// Task, round (big-endian), model, keys.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..32].copy_from_slice(self.task.as_bytes());
        bytes[32..40].copy_from_slice(&self.round.to_be_bytes());
        bytes[40..72].copy_from_slice(self.model.as_bytes());
        bytes[72..].copy_from_slice(self.keys.as_bytes());
        bytes
    }

    /// The public seed of the round: SHA-256 of `shuffledp v1 public seed`, a zero byte and the
    /// encoding.
    ///
    /// Everything in it is gathered by, so that a server that wants another seed for some clients
    /// only splits them off into a batch of their own. When a round opens and closes is not in it,
    /// for that is not gathered by.
    pub fn public_seed(&self) -> [u8; 32] {
        Sha256::new().chain_update(b"shuffledp v1 public seed\0").chain_update(self.to_bytes()).finalize().into()
    }

    /// The inverse of [`to_bytes`](Self::to_bytes); any 104 bytes are a context.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let (mut task, mut round, mut model, mut keys) = ([0; 32], [0; 8], [0; 32], [0; 32]);
        task.copy_from_slice(&bytes[..32]);
        round.copy_from_slice(&bytes[32..40]);
        model.copy_from_slice(&bytes[40..72]);
        keys.copy_from_slice(&bytes[72..]);
        Self { task: TaskHash(task), round: u64::from_be_bytes(round), model: ModelHash(model), keys: KeysHash(keys) }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self::from_bytes(&reader.array("context")?))
    }
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let decoded = base16ct::lower::decode(text, &mut bytes).ok()?;
    (decoded.len() == N).then_some(bytes)
}
