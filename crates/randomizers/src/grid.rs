//! Vectors rounded to whole steps, and their reports in as few bytes a coordinate as hold them.

use crate::error::{RandomizerError, Result};
use crate::randomness::Randomness;

/// Bits of a fraction of a step.
pub(crate) const FRACTION_BITS: u32 = 32;

/// One step, in fractions.
pub(crate) const ONE: u64 = 1 << FRACTION_BITS;

/// The largest number of steps between 0 and the bound.
pub(crate) const MAX_STEPS: u32 = 1 << 28;

/// Returns |x·scale| in units of 2^−32 steps, rounded to the nearest, and whether x is negative.
/// The bound itself is a whole number of steps.
#[inline]
pub(crate) fn fixed_point(x: f32, scale: f64) -> (u64, bool) {
    // Clipped to MAX_STEPS, so it fits; `as` would saturate, and takes NaN to 0.
    ((f64::from(x).abs() * scale * ONE as f64 + 0.5) as u64, x < 0.0)
}

/// A signed number of steps. `size` is at most MAX_STEPS and a few.
#[inline]
pub(crate) fn signed(size: u64, is_negative: bool) -> i32 {
    let size = size as i32;
    if is_negative { -size } else { size }
}

/// A multiple of 2^−32 of a step, uniform below one step.
#[inline]
pub(crate) fn dither<R: Randomness + ?Sized>(rng: &mut R) -> u64 {
    u64::from(rng.half_bits())
}

/// How whole numbers between −limit and limit are written: `x + limit`, little-endian, in as few
/// bytes as hold 2·limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffsetCode {
    limit: u32,
}

impl OffsetCode {
    /// For numbers of absolute value up to `limit` < 2^31, so that 2·limit fits a u32.
    pub(crate) fn new(limit: u32) -> Option<Self> {
        (limit <= i32::MAX as u32).then_some(Self { limit })
    }

    pub(crate) fn limit(self) -> u32 {
        self.limit
    }

    /// Clamps values beyond the range to its ends; this is post-processing.
    #[inline]
    pub(crate) fn clamp(self, x: i64) -> i32 {
        let limit = i64::from(self.limit);
        x.clamp(-limit, limit) as i32
    }

    pub(crate) fn width(self) -> usize {
        (u32::BITS - (2 * self.limit).leading_zeros()).div_ceil(8).max(1) as usize
    }

    pub(crate) fn encode(self, report: &[i32], frame: &mut [u8]) {
        let width = self.width();
        assert_eq!(frame.len(), width * report.len(), "a frame of another length");
        for (bytes, &x) in frame.chunks_exact_mut(width).zip(report) {
            // Between 0 and 2·limit.
            let word = x.wrapping_add_unsigned(self.limit) as u32;
            bytes.copy_from_slice(&word.to_le_bytes()[..width]);
        }
    }

    pub(crate) fn decode(self, frame: &[u8], dimension: u32) -> Result<Box<[i32]>> {
        let right = self.width() * dimension as usize;
        if frame.len() != right {
            let given = frame.len();
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let words: Vec<u32> = match self.width() {
            1 => words::<1>(frame),
            2 => words::<2>(frame),
            3 => words::<3>(frame),
            _ => words::<4>(frame),
        };
        if words.iter().all(|&word| word <= 2 * self.limit) {
            // Between −limit and limit, which fit.
            Ok(words.iter().map(|&word| (i64::from(word) - i64::from(self.limit)) as i32).collect())
        } else {
            Err(RandomizerError::report(format!("a coordinate is beyond ±{}", self.limit)))
        }
    }
}

/// Little-endian words of `WIDTH` ≤ 4 bytes. The width is known to the compiler: three times as
/// fast.
fn words<const WIDTH: usize>(frame: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..WIDTH].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    frame.chunks_exact(WIDTH).map(word).collect()
}
