//! Whole numbers up to a largest one, in as few whole bytes as hold them.

use crate::error::{RandomizerError, Result};

/// How words of 0 to `last` are written: little-endian, in as many bytes as `last` takes, and one
/// at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordCode {
    last: u64,
}

impl WordCode {
    pub(crate) fn up_to(last: u64) -> Self {
        Self { last }
    }

    pub(crate) fn frame_len(self) -> usize {
        let bits = u64::BITS - self.last.leading_zeros();
        bits.div_ceil(8).max(1) as usize
    }

    pub(crate) fn encode(self, word: u64, frame: &mut [u8]) {
        frame.copy_from_slice(&word.to_le_bytes()[..self.frame_len()]);
    }

    /// Refuses another length, and words above the last.
    pub(crate) fn decode(self, frame: &[u8]) -> Result<u64> {
        let (given, right) = (frame.len(), self.frame_len());
        if given != right {
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let mut word = [0; 8];
        word[..given].copy_from_slice(frame);
        let word = u64::from_le_bytes(word);
        if word > self.last {
            return Err(RandomizerError::report(format!(
                "it says {word}, and this mechanism says at most {}",
                self.last
            )));
        }
        Ok(word)
    }
}
