//! Statistical checks as functions of a sampler: the same function runs on a mechanism and on a
//! broken one.
//!
//! Each answers with a p-value. A correct sampler is below [`FALSE_ALARM`] for one seed in a
//! million (z = 4.9): seeds are fixed, so this was settled when the test was written. A planted
//! defect must fall below [`REJECTED`], which is a thousand times less.

use shuffledp_accounting::numerics::incomplete_gamma::regularised_gamma;
use shuffledp_accounting::numerics::normal::upper_tail;

/// Probability with which a check refuses a correct sampler.
pub(crate) const FALSE_ALARM: f64 = 1e-6;
/// A planted defect must give a p-value below this.
pub(crate) const REJECTED: f64 = 1e-9;

/// P(|N(0,1)| > |z|).
pub(crate) fn normal_p(z: f64) -> f64 {
    2.0 * upper_tail(z.abs())
}

/// Pearson's chi-square test with all cells given: P(χ²_{cells−1} > statistic). Every expected
/// count must be at least 5, as the approximation wants.
pub(crate) fn chi_square_p(observed: &[u64], expected: &[f64]) -> f64 {
    assert_eq!(observed.len(), expected.len());
    assert!(expected.iter().all(|&expected| expected >= 5.0), "cells too small for a chi-square test");
    let total: u64 = observed.iter().sum();
    assert!((expected.iter().sum::<f64>() / total as f64 - 1.0).abs() < 1e-9, "expected counts do not add up");
    let statistic: f64 = observed.iter().zip(expected).map(|(&o, &e)| (o as f64 - e) * (o as f64 - e) / e).sum();
    regularised_gamma((observed.len() - 1) as f64 / 2.0, statistic / 2.0).1
}

/// Counts `n` draws from `sample`, which answers with a cell.
pub(crate) fn histogram(cells: usize, n: u64, mut sample: impl FnMut() -> usize) -> Vec<u64> {
    let mut counts = vec![0; cells];
    (0..n).for_each(|_| counts[sample()] += 1);
    counts
}

/// Goodness of fit: `n` draws against the probabilities of the cells.
pub(crate) fn fit_p(probabilities: &[f64], n: u64, sample: impl FnMut() -> usize) -> f64 {
    let expected: Vec<f64> = probabilities.iter().map(|p| p * n as f64).collect();
    chi_square_p(&histogram(probabilities.len(), n, sample), &expected)
}

/// Unbiased? The p-value of the worst coordinate, times the number of coordinates (Bonferroni).
/// `variances` are those of one decoded report, per coordinate, *from the closed form*.
pub(crate) fn unbiased_p(truth: &[f64], variances: &[f64], n: u64, mut decoded: impl FnMut() -> Vec<f64>) -> f64 {
    let mut sums = vec![0.0; truth.len()];
    for _ in 0..n {
        sums.iter_mut().zip(decoded()).for_each(|(sum, x)| *sum += x);
    }
    let worst = (0..truth.len())
        .map(|j| ((sums[j] - n as f64 * truth[j]) / (n as f64 * variances[j]).sqrt()).abs())
        .fold(0.0, f64::max);
    (truth.len() as f64 * normal_p(worst)).min(1.0)
}

/// Is the mean of E‖decoded − truth‖² the one claimed? Two-sided, with the standard error from the
/// sample.
pub(crate) fn variance_p(truth: &[f64], claimed: f64, n: u64, mut decoded: impl FnMut() -> Vec<f64>) -> f64 {
    let errors: Vec<f64> =
        (0..n).map(|_| decoded().iter().zip(truth).map(|(x, truth)| (x - truth) * (x - truth)).sum::<f64>()).collect();
    let mean = errors.iter().sum::<f64>() / n as f64;
    let spread = errors.iter().map(|error| (error - mean) * (error - mean)).sum::<f64>() / (n - 1) as f64;
    // Where every report is equally far off, what is left is rounding: 1e-12 of the value.
    normal_p((mean - claimed) / ((spread / n as f64).sqrt() + 1e-12 * claimed))
}
