//! Vectors rounded to whole steps, and their reports in as few bytes a coordinate as hold them.

use crate::error::{RandomizerError, Result};
use crate::randomness::Randomness;

/// Bits of a fraction of a step.
pub(crate) const FRACTION_BITS: u32 = 32;

/// One step, in fractions.
pub(crate) const ONE: u64 = 1 << FRACTION_BITS;

/// The largest number of steps between 0 and the bound.
pub(crate) const MAX_STEPS: u32 = 1 << 28;

/// |x·scale| in 2^−32 of a step, rounded towards 0; and is it negative?
#[inline]
pub(crate) fn fixed_point(x: f32, scale: f64) -> (u64, bool) {
    // Clipped to MAX_STEPS, so it fits; `as` would saturate, and takes NaN to 0.
    ((f64::from(x).abs() * scale * ONE as f64) as u64, x < 0.0)
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

/// How whole numbers between −limit and limit are written: `x + limit`, little-endian, in as few bytes as hold 2·limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffsetCode {
    limit: u32,
}

impl OffsetCode {
    /// For numbers of absolute value up to `limit` < 2^31.
    pub(crate) fn new(limit: u32) -> Option<Self> {
        (limit <= i32::MAX as u32).then_some(Self { limit })
    }

    pub(crate) fn limit(self) -> u32 {
        self.limit
    }

    /// What lies beyond becomes the end: post-processing.
    #[inline]
    pub(crate) fn clamp(self, x: i64) -> i32 {
        let limit = i64::from(self.limit);
        x.clamp(-limit, limit) as i32
    }

    pub(crate) fn width(self) -> usize {
        (u64::BITS - (2 * u64::from(self.limit)).leading_zeros()).div_ceil(8).max(1) as usize
    }

    pub(crate) fn encode(self, report: &[i32], frame: &mut [u8]) {
        let width = self.width();
        assert_eq!(frame.len(), width * report.len(), "a frame of another length");
        for (bytes, &x) in frame.chunks_exact_mut(width).zip(report) {
            let word = (i64::from(x) + i64::from(self.limit)) as u64;
            bytes.copy_from_slice(&word.to_le_bytes()[..width]);
        }
    }

    pub(crate) fn decode(self, frame: &[u8], dimension: u32) -> Result<Box<[i32]>> {
        let width = self.width();
        let right = width * dimension as usize;
        if frame.len() != right {
            let given = frame.len();
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let coordinate = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(bytes);
            let word = u64::from_le_bytes(word);
            if word <= 2 * u64::from(self.limit) {
                // Between −limit and limit, which fit.
                Ok((word as i64 - i64::from(self.limit)) as i32)
            } else {
                Err(RandomizerError::report(format!("a coordinate is beyond ±{}", self.limit)))
            }
        };
        frame.chunks_exact(width).map(coordinate).collect()
    }
}
