//! Shares of categories from randomized response.
//!
//! With t the probability that the truth is sent whatever else is drawn, p = t + (1−t)/m and
//! q = (1−t)/m, category j is reported by a share of clients with mean q + t·s_j. So
//! `(share of reports − q)/t` is unbiased for s_j, with variance
//! `(s_j·p(1−p) + (1−s_j)·q(1−q))/(n·t²)`.

use super::{Confidence, Interval, independent};
use crate::error::Result;
use crate::krr::{CategoryCounts, Krr};
use crate::randomizer::Aggregator;

/// The share of every category among those who reported.
pub fn shares(mechanism: &Krr, counts: &CategoryCounts, confidence: Confidence) -> Result<Vec<Interval>> {
    let estimates = counts.mean()?;
    let miss = confidence.miss(estimates.len());
    let truth = mechanism.truth_coin();
    let (t, q) = (truth.probability(), truth.probability_of(false) / estimates.len() as f64);
    let share = |(estimate, &occurred): (f64, &u64)| {
        let (lower, upper) = independent::limits(occurred, counts.count(), miss);
        let [lower, upper] = [lower, upper].map(|limit| ((limit - q) / t).clamp(0.0, 1.0));
        Interval { estimate, lower, upper }
    };
    Ok(estimates.into_iter().zip(counts.counts()).map(share).collect())
}

/// The variance of the estimate of a category that a share `s` of `clients` hold: exact.
pub fn variance(mechanism: &Krr, categories: u64, s: f64, clients: u64) -> f64 {
    let truth = mechanism.truth_coin();
    let (t, q) = (truth.probability(), truth.probability_of(false) / categories as f64);
    let p = t + q;
    (s * p * (1.0 - p) + (1.0 - s) * q * (1.0 - q)) / (clients as f64 * t * t)
}
