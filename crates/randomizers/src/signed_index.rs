//! An index and a sign in as few whole bytes as hold them.

use crate::error::Result;
use crate::word_code::WordCode;

/// One coordinate and the sign it was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedIndex {
    /// Which coordinate.
    pub index: u32,
    /// Was it +?
    pub is_positive: bool,
}

/// How signed indices below a count are written: `2·index + [+]`, little-endian, in ⌈(⌈log2
/// count⌉ + 1)/8⌉ bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedIndexCode {
    words: WordCode,
}

impl SignedIndexCode {
    pub(crate) fn new(count: u32) -> Self {
        Self { words: WordCode::up_to(2 * u64::from(count) - 1) }
    }

    pub(crate) fn frame_len(self) -> usize {
        self.words.frame_len()
    }

    pub(crate) fn encode(self, report: SignedIndex, frame: &mut [u8]) {
        self.words.encode(2 * u64::from(report.index) + u64::from(report.is_positive), frame);
    }

    pub(crate) fn decode(self, frame: &[u8]) -> Result<SignedIndex> {
        let word = self.words.decode(frame)?;
        // At most 2·count − 1, so its half fits.
        Ok(SignedIndex { index: (word / 2) as u32, is_positive: word % 2 == 1 })
    }
}
