//! Estimates from a batch of reports: shares and means, with confidence intervals that hold at any
//! number of reports.
//!
//! The estimand is the histogram or the mean *of the clients in the batch*; their inputs are fixed,
//! only their coins are random. No interval rests on a normal approximation. [`histogram`]: shares
//! of categories from randomized response. [`mean`]: means of numbers and of vectors.

pub mod histogram;
mod independent;
pub mod mean;

use crate::error::{Result, require};

/// An unbiased estimate, and an interval that covers the truth with at least the asked confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The unbiased estimate. It may lie outside of what is possible, and then outside of the
    /// interval: cutting it off would be a bias.
    pub estimate: f64,
    /// The truth is at least this.
    pub lower: f64,
    /// The truth is at most this.
    pub upper: f64,
}

/// The set of estimates that the confidence covers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Each interval by itself.
    Each,
    /// All intervals at once: each may miss with its share only (Bonferroni).
    All,
}

/// How sure the intervals are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    confidence: f64,
    coverage: Coverage,
}

impl Confidence {
    /// At least ½: below it the limits would not be proven, and nobody wants them.
    pub fn new(confidence: f64, coverage: Coverage) -> Result<Self> {
        require((0.5..1.0).contains(&confidence), "confidence", "at least 0.5 and below 1", confidence)?;
        Ok(Self { confidence, coverage })
    }

    /// With what probability one of `intervals` may miss.
    fn miss(self, intervals: usize) -> f64 {
        match self.coverage {
            Coverage::Each => 1.0 - self.confidence,
            Coverage::All => (1.0 - self.confidence) / intervals as f64,
        }
    }
}
