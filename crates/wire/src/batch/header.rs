//! The header before the records, and the end after them.

use crate::codec::sealed::Body;
use crate::codec::{Reader, require, types};
use crate::error::Result;
use crate::ids::{BatchId, RoundContext};
use crate::report::is_inner_len;
use crate::signed::SIGNATURE_LEN;

/// No batch has more records.
const MAX_RECORDS: u64 = 1 << 32;

/// The identity and length of a batch. It has its own signature, so that a server refuses a batch
/// that is not from its shuffler before it reads a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// Its name.
    pub batch: BatchId,
    /// The round context of all its reports.
    pub context: RoundContext,
    /// How many records follow.
    pub count: u64,
    /// Bytes of each: [`inner_len`](crate::inner_len) of the task's payload.
    pub record_len: u32,
}

impl BatchHeader {
    /// Length of its encoding.
    pub const LEN: usize = 2 + BatchId::LEN + RoundContext::LEN + 8 + 4;

    /// Bytes of the whole stream.
    pub const fn stream_len(&self) -> u64 {
        let ends = Self::LEN + BatchEnd::LEN + 2 * SIGNATURE_LEN;
        // Saturates where the header would be refused anyway.
        self.count.saturating_mul(self.record_len as u64).saturating_add(ends as u64)
    }
}

impl Body for BatchHeader {
    const NAME: &'static str = "batch header";
    const TYPE: u8 = types::BATCH_HEADER;
    const SIGNATURE_CONTEXT: &'static [u8] = b"shuffledp v1 signature batch-header\0";
    const MAX_LEN: usize = Self::LEN;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.batch.as_bytes());
        bytes.extend_from_slice(&self.context.to_bytes());
        bytes.extend_from_slice(&self.count.to_be_bytes());
        bytes.extend_from_slice(&self.record_len.to_be_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            batch: BatchId::from_bytes(reader.array("batch")?),
            context: RoundContext::read(reader)?,
            count: reader.u64("count")?,
            record_len: reader.u32("record_len")?,
        })
    }

    fn check(&self) -> Result<()> {
        require((1..=MAX_RECORDS).contains(&self.count), Self::NAME, "count", "has to be between 1 and 2^32")?;
        let reason = "has to be between 68 and 16777283";
        require(is_inner_len(self.record_len as usize), Self::NAME, "record_len", reason)
    }
}

/// The end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchEnd {
    /// SHA-256 of everything before: header, its signature, records.
    pub hash: [u8; 32],
}

impl BatchEnd {
    /// Length of its encoding.
    pub const LEN: usize = 2 + 32;
}

impl Body for BatchEnd {
    const NAME: &'static str = "batch end";
    const TYPE: u8 = types::BATCH_END;
    const SIGNATURE_CONTEXT: &'static [u8] = b"shuffledp v1 signature batch-end\0";
    const MAX_LEN: usize = Self::LEN;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.hash);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { hash: reader.array("hash")? })
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }
}
