//! Sums as bytes: how an aggregate gets from one process to another.
//!
//! A byte that says the version, the number of reports, and the sums: little-endian words of 64
//! bits. A mechanism checks what its own sums can be; here only their number and form are checked.

use crate::error::{RandomizerError, Result};

/// Another one is another format.
const VERSION: u8 = 1;

/// Bytes of a word.
const WORD: usize = 8;

/// More reports are not counted: every sum of so many is still exact.
const MAX_REPORTS: u64 = 1 << 53;

/// A sum that is kept as 64 bits.
pub trait Sum: Copy {
    /// Its bits.
    fn to_word(self) -> u64;
    /// The sum of these bits. `None` if it is none, such as NaN.
    fn of_word(word: u64) -> Option<Self>;
}

impl Sum for u64 {
    fn to_word(self) -> u64 {
        self
    }

    fn of_word(word: u64) -> Option<Self> {
        Some(word)
    }
}

impl Sum for i64 {
    fn to_word(self) -> u64 {
        self.cast_unsigned()
    }

    fn of_word(word: u64) -> Option<Self> {
        Some(word.cast_signed())
    }
}

impl Sum for f64 {
    fn to_word(self) -> u64 {
        self.to_bits()
    }

    fn of_word(word: u64) -> Option<Self> {
        Some(Self::from_bits(word)).filter(|sum| sum.is_finite())
    }
}

/// The bytes of `sums` over `count` reports.
pub(crate) fn save<T: Sum>(count: u64, sums: &[T]) -> Vec<u8> {
    let words = sums.iter().map(|sum| sum.to_word());
    let mut saved = Vec::with_capacity(1 + WORD * (1 + sums.len()));
    saved.push(VERSION);
    std::iter::once(count).chain(words).for_each(|word| saved.extend(word.to_le_bytes()));
    saved
}

/// The number of reports and the sums of these bytes, if there are `length` of them and
/// `is_possible` with that number of reports.
pub(crate) fn load<T: Sum>(
    saved: &[u8],
    length: usize,
    is_possible: impl FnOnce(u64, &[T]) -> bool,
) -> Result<(u64, Vec<T>)> {
    let refused =
        |reason: &str| RandomizerError::aggregate(format!("the saved aggregate is not one of these: {reason}"));
    let Some((&VERSION, words)) = saved.split_first() else { return Err(refused("it is of another version")) };
    let (words, rest) = words.as_chunks::<WORD>();
    let Some((count, sums)) = words.split_first() else { return Err(refused("it has no sums")) };
    if sums.len() != length || !rest.is_empty() {
        return Err(refused("it is of another size"));
    }
    let count = u64::from_le_bytes(*count);
    let sums: Option<Vec<T>> = sums.iter().map(|word| T::of_word(u64::from_le_bytes(*word))).collect();
    let sums = sums.filter(|sums| count <= MAX_REPORTS && is_possible(count, sums));
    Ok((count, sums.ok_or_else(|| refused("no reports add up to its sums"))?))
}
