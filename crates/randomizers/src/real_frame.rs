//! Vectors of f32, four bytes a coordinate.

use crate::error::{RandomizerError, Result};

/// How finite numbers of absolute value up to `largest` are written: little-endian IEEE 754.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RealCode {
    largest: f32,
}

impl RealCode {
    /// `largest` must be finite. `None` otherwise.
    pub(crate) fn new(largest: f64) -> Option<Self> {
        // As f32 it may have been rounded down.
        let largest = (largest as f32).next_up();
        largest.is_finite().then_some(Self { largest })
    }

    pub(crate) fn encode(self, report: &[f32], frame: &mut [u8]) {
        assert_eq!(frame.len(), 4 * report.len(), "a frame of another length");
        frame.chunks_exact_mut(4).zip(report).for_each(|(bytes, x)| bytes.copy_from_slice(&x.to_le_bytes()));
    }

    pub(crate) fn decode(self, frame: &[u8], dimension: u32) -> Result<Box<[f32]>> {
        let right = 4 * dimension as usize;
        if frame.len() != right {
            let given = frame.len();
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let report: Box<[f32]> = frame.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        // NaN compares false.
        if report.iter().all(|x| x.abs() <= self.largest) {
            Ok(report)
        } else {
            Err(RandomizerError::report(format!("a coordinate is NaN or beyond ±{}", self.largest)))
        }
    }
}
