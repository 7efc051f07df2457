//! Points of the unit sphere on a fixed grid, two bytes a coordinate.

use crate::error::{RandomizerError, Result};
use crate::randomness::Randomness;

/// Steps of the grid between 0 and 1: the largest number whose negative also fits an i16.
pub(super) const STEPS: i16 = i16::MAX;

/// Rounds a coordinate to one of its two neighbours on the grid, at random, so that the mean is the
/// coordinate itself (to 2^−32 of a step).
#[inline]
pub(super) fn round<R: Randomness + ?Sized>(x: f64, rng: &mut R) -> i16 {
    let dither = f64::from(rng.half_bits()) / 2.0_f64.powi(32);
    let pole = i32::from(STEPS);
    // Above 0, where `as` is the floor.
    let shifted = (x * f64::from(STEPS) + f64::from(pole + 1) + dither) as i32;
    // |x| ≤ 1 up to rounding: a point beyond the pole is the pole.
    (shifted - (pole + 1)).clamp(-pole, pole) as i16
}

/// Could rounding have made `report` from a point of the sphere? So it is if the cube of
/// neighbours, one step either way in every coordinate, reaches both inside the sphere and outside.
/// In whole numbers: a point that is off the sphere by rounding in floating point, 1e-12 or so, is
/// told from no other.
pub(super) fn is_near_sphere(report: &[i16]) -> bool {
    let radius = u64::from(STEPS.unsigned_abs());
    let (mut nearest, mut farthest) = (0_u64, 0_u64);
    for &x in report {
        let size = u64::from(x.unsigned_abs());
        nearest += size.saturating_sub(1).pow(2);
        farthest += (size + 1).pow(2);
    }
    nearest <= radius * radius && radius * radius <= farthest
}

/// Little-endian, coordinate by coordinate.
pub(super) fn encode(report: &[i16], frame: &mut [u8]) {
    assert_eq!(frame.len(), 2 * report.len(), "a frame of another length");
    frame.chunks_exact_mut(2).zip(report).for_each(|(bytes, x)| bytes.copy_from_slice(&x.to_le_bytes()));
}

/// Reads what [`encode`] wrote; −2^15 is never sent, nor a point off the sphere.
pub(super) fn decode(frame: &[u8], dimension: usize) -> Result<Box<[i16]>> {
    if frame.len() != 2 * dimension {
        let (given, right) = (frame.len(), 2 * dimension);
        return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
    }
    let report: Box<[i16]> = frame.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]])).collect();
    if report.contains(&i16::MIN) {
        return Err(RandomizerError::report("a coordinate is beyond the pole"));
    }
    if is_near_sphere(&report) {
        Ok(report)
    } else {
        Err(RandomizerError::report("it is not a point of the sphere, rounded to the grid"))
    }
}
