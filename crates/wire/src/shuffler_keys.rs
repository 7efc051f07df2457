//! The shuffler's announcement of its keys.

use crate::codec::sealed::Body;
use crate::codec::{MAX_COUNT, Reader, require, types};
use crate::error::Result;
use crate::ids::KeyId;
use crate::keys::{HpkePublicKey, MAX_KEYS, check_keys, read_keys, write_keys};

/// The shuffler's keys and its promise, signed with the key that the task names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShufflerKeys {
    /// The keys that the outer layer is sealed to, newest first.
    pub keys: Vec<(KeyId, HpkePublicKey)>,
    /// No batch with fewer reports is ever released. A client with a higher floor does not take
    /// part.
    pub min_batch: u64,
}

impl Body for ShufflerKeys {
    const NAME: &'static str = "shuffler keys";
    const TYPE: u8 = types::SHUFFLER_KEYS;
    const SIGNATURE_CONTEXT: &'static [u8] = b"shuffledp v1 signature shuffler-keys\0";
    const MAX_LEN: usize = 2 + 1 + MAX_KEYS * 33 + 8;

    fn write(&self, bytes: &mut Vec<u8>) {
        write_keys(bytes, &self.keys);
        bytes.extend_from_slice(&self.min_batch.to_be_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { keys: read_keys(reader, Self::NAME)?, min_batch: reader.u64("min_batch")? })
    }

    fn check(&self) -> Result<()> {
        check_keys(&self.keys, Self::NAME)?;
        require((1..=MAX_COUNT).contains(&self.min_batch), Self::NAME, "min_batch", "has to be between 1 and 2^53")
    }
}
