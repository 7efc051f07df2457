//! The aggregate of signed indices: for each index, the number of + minus the number of −.

use crate::error::Result;
use crate::randomizer::Aggregator;
use crate::running_sums;
use crate::saved_sums;
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

    /// Returns the change of the mean for a difference of 1. Without reports there is no estimate.
    pub(crate) fn step(&self) -> Result<f64> {
        Ok(self.magnitude / running_sums::divisor(self.count)?)
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
        let is_same_mechanism = self.magnitude.to_bits() == other.magnitude.to_bits();
        running_sums::merge(&mut self.sums, other.sums, is_same_mechanism)?;
        self.count += other.count;
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        saved_sums::save(self.count, &self.sums)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        (self.count, self.sums) = saved_sums::load(saved, self.sums.len(), |count, sums: &[i64]| {
            sums.iter()
                .try_fold(0, |sum: u64, more| sum.checked_add(more.unsigned_abs()))
                .is_some_and(|sum| sum <= count)
        })?;
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
