//! What a server keeps of signed indices: per index, the + less the −.

use crate::error::{RandomizerError, Result};
use crate::randomizer::Aggregator;
use crate::signed_index::SignedIndex;

/// Per coordinate, + reports less − reports: exact, whatever the order.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedCounts {
    sums: Vec<i64>,
    count: u64,
    magnitude: f64,
}

impl SignedCounts {
    /// Of indices below `length`, a + of which decodes to `magnitude`.
    pub(crate) fn new(length: usize, magnitude: f64) -> Self {
        Self { sums: vec![0; length], count: 0, magnitude }
    }

    /// The differences themselves.
    pub fn sums(&self) -> &[i64] {
        &self.sums
    }

    /// What a difference of 1 adds to the mean. No reports: no estimate.
    pub(crate) fn step(&self) -> Result<f64> {
        if self.count == 0 {
            return Err(RandomizerError::aggregate("there are no reports yet"));
        }
        Ok(self.magnitude / self.count as f64)
    }
}

impl Aggregator for SignedCounts {
    type Report = SignedIndex;

    #[inline]
    fn add(&mut self, report: &SignedIndex) {
        self.sums[report.index as usize] += if report.is_positive { 1 } else { -1 };
        self.count += 1;
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        if self.sums.len() != other.sums.len() || self.magnitude.to_bits() != other.magnitude.to_bits() {
            return Err(RandomizerError::aggregate("the two aggregates are of different mechanisms"));
        }
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, other)| *sum += other);
        self.count += other.count;
        Ok(())
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn mean(&self) -> Result<Vec<f64>> {
        let step = self.step()?;
        Ok(self.sums.iter().map(|&sum| sum as f64 * step).collect())
    }
}
