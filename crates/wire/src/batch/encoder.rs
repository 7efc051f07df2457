//! Writes a batch, record by record.

use super::header::{BatchEnd, BatchHeader};
use crate::error::{Result, WireError};
use crate::keys::SigningKey;
use crate::report::{inner_header, split};
use crate::signed::Signed;
use sha2::{Digest, Sha256};

/// Appends a batch's bytes to a buffer of the caller's, who sends and empties it as often as it
/// likes. The same header, records and key give the same bytes, so that a batch can be streamed
/// again from where it is stored.
#[derive(Debug, Clone)]
pub struct BatchEncoder {
    hash: Sha256,
    record_len: usize,
    left: u64,
}

impl BatchEncoder {
    /// Appends the signed header.
    pub fn start(header: &BatchHeader, key: &SigningKey, out: &mut Vec<u8>) -> Result<Self> {
        let bytes = Signed::sign(header, key)?.encode();
        out.extend_from_slice(&bytes);
        let hash = Sha256::new().chain_update(&bytes);
        Ok(Self { hash, record_len: header.record_len as usize, left: header.count })
    }

    /// Appends a record: the bytes of an [`InnerReport`](crate::InnerReport).
    pub fn record(&mut self, record: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if record.len() != self.record_len || split(record, inner_header).is_none() {
            return Err(WireError::Batch { reason: "a record is not an inner report of the header's length" });
        }
        self.left = self.left.checked_sub(1).ok_or(WireError::Batch { reason: "more records than the header says" })?;
        self.hash.update(record);
        out.extend_from_slice(record);
        Ok(())
    }

    /// Appends the signed end. Refused before all records were written: a short batch must not look
    /// like a whole one.
    pub fn finish(self, key: &SigningKey, out: &mut Vec<u8>) -> Result<()> {
        if self.left != 0 {
            return Err(WireError::Batch { reason: "fewer records than the header says" });
        }
        let end = BatchEnd { hash: self.hash.finalize().into() };
        out.extend_from_slice(&Signed::sign(&end, key)?.encode());
        Ok(())
    }
}
