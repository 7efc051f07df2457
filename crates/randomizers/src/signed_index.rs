//! An index and a sign in as few whole bytes as hold them.

use crate::error::{RandomizerError, Result};

/// One coordinate and the sign it was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedIndex {
    /// Which coordinate.
    pub index: u32,
    /// Was it +?
    pub is_positive: bool,
}

/// How signed indices below a count are written: `2·index + [+]`, little-endian, in ⌈(⌈log2 count⌉ + 1)/8⌉ bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedIndexCode {
    count: u32,
}

impl SignedIndexCode {
    pub(crate) fn new(count: u32) -> Self {
        Self { count }
    }

    pub(crate) fn frame_len(self) -> usize {
        let index_bits = u32::BITS - (self.count - 1).leading_zeros();
        (index_bits + 1).div_ceil(8) as usize
    }

    pub(crate) fn encode(self, report: SignedIndex, frame: &mut [u8]) {
        let word = 2 * u64::from(report.index) + u64::from(report.is_positive);
        frame.copy_from_slice(&word.to_le_bytes()[..self.frame_len()]);
    }

    pub(crate) fn decode(self, frame: &[u8]) -> Result<SignedIndex> {
        if frame.len() != self.frame_len() {
            let (given, right) = (frame.len(), self.frame_len());
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let mut word = [0; 8];
        word[..frame.len()].copy_from_slice(frame);
        let word = u64::from_le_bytes(word);
        match u32::try_from(word / 2) {
            Ok(index) if index < self.count => Ok(SignedIndex { index, is_positive: word % 2 == 1 }),
            _ => Err(RandomizerError::report(format!("its index is not below {}", self.count))),
        }
    }
}
