//! Means of numbers and of vectors.
//!
//! A number in [−a, a] goes through R_inf of one coordinate: + with probability ½ + x/(2ac), so the
//! share of + has mean ½ + x̄/(2ac), and limits of the one are limits of the other. The estimate
//! has variance `(a²c² − mean of x²)/n`.
//!
//! A vector's coordinates have bounded reports whose second moment is known whatever the input:
//! Bernstein's inequality, which needs neither many reports nor reports that are alike.

use super::{Confidence, Interval, independent};
use crate::error::{RandomizerError, Result};
use crate::r_inf::RInf;
use crate::randomizer::{Aggregator, Randomizer};

/// A mechanism whose decoded reports are bounded, coordinate by coordinate.
pub trait BoundedReports: Randomizer<Input = [f32]> {
    /// At least E[Y²] of a coordinate Y of a decoded report, for every input.
    fn second_moment(&self) -> f64;

    /// At least |Y − E[Y]|, always.
    fn largest_deviation(&self) -> f64;
}

/// The mean of numbers, sent through R_inf of one coordinate.
pub fn of_numbers(
    mechanism: &RInf,
    reports: &<RInf as Randomizer>::Aggregator,
    confidence: Confidence,
) -> Result<Interval> {
    let estimates = reports.mean()?;
    let ([estimate], &[sum]) = (&estimates[..], reports.sums()) else {
        return Err(RandomizerError::aggregate(
            "reports of one coordinate are needed; for vectors there is of_vectors",
        ));
    };
    // + less −, and + and − together: both have the parity of the other.
    let positive = (reports.count() as i64 + sum) as u64 / 2;
    let (lower, upper) = independent::limits(positive, reports.count(), confidence.miss(1));
    let bound = f64::from(mechanism.bound());
    let [lower, upper] = [lower, upper].map(|limit| (mechanism.magnitude() * (2.0 * limit - 1.0)).clamp(-bound, bound));
    Ok(Interval { estimate: *estimate, lower, upper })
}

/// The mean of vectors, coordinate by coordinate.
pub fn of_vectors<M: BoundedReports>(
    mechanism: &M,
    reports: &M::Aggregator,
    confidence: Confidence,
) -> Result<Vec<Interval>> {
    let estimates = reports.mean()?;
    let miss = confidence.miss(estimates.len());
    let width = half_width(mechanism.second_moment(), mechanism.largest_deviation(), reports.count(), miss);
    Ok(estimates
        .into_iter()
        .map(|estimate| Interval { estimate, lower: estimate - width, upper: estimate + width })
        .collect())
}

/// Bernstein's inequality: independent deviations of at most `largest`, with variances of at most
/// `variance`, have a mean of at least t with probability at most `2·exp(−nt²/(2v + 2Mt/3))`;
/// solved for t at `miss`. **Direction: up.**
fn half_width(variance: f64, largest: f64, count: u64, miss: f64) -> f64 {
    let n = count as f64;
    let logarithm = (2.0 / miss).ln();
    let linear = largest * logarithm / 3.0;
    let width = (linear + (linear * linear + 2.0 * n * variance * logarithm).sqrt()) / n;
    // A few roundings, far below this.
    width * (1.0 + 1e-12)
}
