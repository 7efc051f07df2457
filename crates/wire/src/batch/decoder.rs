//! Reads a batch from whatever pieces it arrives in.

use super::header::{BatchEnd, BatchHeader};
use crate::error::{Result, WireError};
use crate::keys::VerifyingKey;
use crate::signed::{SIGNATURE_LEN, Signed};
use sha2::{Digest, Sha256};

/// A decoded part of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchEvent<'a> {
    /// The header, verified. Comes first and once.
    Header(BatchHeader),
    /// A record, not yet covered by a verified signature: nothing may be done for good before
    /// [`BatchEvent::End`].
    Record(&'a [u8]),
    /// Everything has come and the shuffler signed it. Comes last and once.
    End,
}

/// Reads a batch that the holder of one key signed. Holds a record at most, and no more bytes than
/// have come.
#[derive(Debug)]
pub struct BatchDecoder {
    key: VerifyingKey,
    state: State,
    partial: Partial,
    hash: Sha256,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Header,
    Records { record_len: usize, left: u64 },
    End,
    Done,
    Failed,
}

impl BatchDecoder {
    /// Of the shuffler's key.
    pub fn new(key: VerifyingKey) -> Self {
        Self { key, state: State::Header, partial: Partial::default(), hash: Sha256::new() }
    }

    /// Takes bytes off the front of `input` and says what they complete; `None` when more are
    /// needed. To be called until it answers `None`, with each piece that arrives. After an error
    /// it only fails.
    ///
    /// ```
    /// # use shuffledp_wire::{BatchDecoder, BatchEvent, Result};
    /// # fn of(pieces: &[&[u8]], key: shuffledp_wire::VerifyingKey) -> Result<u64> {
    /// let mut decoder = BatchDecoder::new(key);
    /// let mut records = 0;
    /// for piece in pieces {
    ///     let mut piece = *piece;
    ///     while let Some(event) = decoder.next_event(&mut piece)? {
    ///         if let BatchEvent::Record(_) = event {
    ///             records += 1;
    ///         }
    ///     }
    /// }
    /// decoder.finish()?; // or the stream broke off
    /// # Ok(records)
    /// # }
    /// ```
    pub fn next_event<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<BatchEvent<'s>>> {
        // Failed until it turns out otherwise, so that no early return forgets.
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Header => {
                let Some(bytes) = self.partial.complete(input, BatchHeader::LEN + SIGNATURE_LEN) else {
                    self.state = State::Header;
                    return Ok(None);
                };
                let header = Signed::<BatchHeader>::decode(bytes)?.verify(&self.key)?;
                self.hash.update(bytes);
                self.state = State::Records { record_len: header.record_len as usize, left: header.count };
                Ok(Some(BatchEvent::Header(header)))
            }
            State::Records { record_len, left } => {
                let Some(bytes) = self.partial.complete(input, record_len) else {
                    self.state = State::Records { record_len, left };
                    return Ok(None);
                };
                self.hash.update(bytes);
                self.state = if left > 1 { State::Records { record_len, left: left - 1 } } else { State::End };
                Ok(Some(BatchEvent::Record(bytes)))
            }
            State::End => {
                let Some(bytes) = self.partial.complete(input, BatchEnd::LEN + SIGNATURE_LEN) else {
                    self.state = State::End;
                    return Ok(None);
                };
                let end = Signed::<BatchEnd>::decode(bytes)?.verify(&self.key)?;
                if end.hash != *self.hash.finalize_reset() {
                    return Err(WireError::Batch { reason: "its hash is not that of its records" });
                }
                self.state = State::Done;
                Ok(Some(BatchEvent::End))
            }
            State::Done if input.is_empty() => {
                self.state = State::Done;
                Ok(None)
            }
            State::Done => Err(WireError::TrailingBytes { message: "batch", extra: input.len() }),
            State::Failed => Err(WireError::Batch { reason: "an earlier part was refused" }),
        }
    }

    /// Refuses a stream that ended before [`BatchEvent::End`].
    pub fn finish(self) -> Result<()> {
        match self.state {
            State::Done => Ok(()),
            State::Header => Err(WireError::Truncated { message: "batch", field: "header" }),
            State::Records { .. } => Err(WireError::Truncated { message: "batch", field: "records" }),
            State::End => Err(WireError::Truncated { message: "batch", field: "end" }),
            State::Failed => Err(WireError::Batch { reason: "an earlier part was refused" }),
        }
    }
}

/// A part that has arrived in pieces. A part that lies whole in the input is not copied.
#[derive(Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    given: bool,
}

impl Partial {
    /// `len` bytes, as soon as there are so many.
    fn complete<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8], len: usize) -> Option<&'s [u8]> {
        if std::mem::take(&mut self.given) {
            self.bytes.clear();
        }
        if self.bytes.is_empty()
            && let Some((whole, rest)) = input.split_at_checked(len)
        {
            *input = rest;
            return Some(whole);
        }
        let (piece, rest) = input.split_at(input.len().min(len - self.bytes.len()));
        self.bytes.extend_from_slice(piece);
        *input = rest;
        self.given = self.bytes.len() == len;
        self.given.then_some(&self.bytes)
    }
}
