//! No report of a vector mechanism is more than e^ε0 times likelier under one input than under
//! another: by enumeration where reports are discrete, by quadrature for PrivUnit.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "common/statistics_continuous.rs"]
mod continuous;

use shuffledp_accounting::numerics::log_sum::log_sum_exp;
use shuffledp_accounting::scheme::LocalGuarantee;
use shuffledp_randomizers::{DiscreteGaussian, DiscreteLaplace, Likelihood, PrivUnit, Randomizer};

/// The largest ln-ratio of the likelihoods of one report under two inputs, over all reports and
/// inputs.
fn largest_ln_ratio(
    reports: &[Box<[i32]>],
    inputs: &[Vec<f32>],
    likelihood: impl Fn(&Box<[i32]>, &[f32]) -> f64,
) -> f64 {
    let spread = |report| {
        let values: Vec<f64> = inputs.iter().map(|input| likelihood(report, input)).collect();
        values.iter().fold(f64::MIN, |a, &b| a.max(b)) - values.iter().fold(f64::MAX, |a, &b| a.min(b))
    };
    reports.iter().map(spread).fold(0.0, f64::max)
}

/// Everything that fits a frame.
fn all_reports(mechanism: &DiscreteLaplace, dimension: usize) -> Vec<Box<[i32]>> {
    // The ends are the first that a frame refuses.
    let width = mechanism.frame_len() / dimension;
    let mut frame = vec![0; mechanism.frame_len()];
    let lowest = mechanism.decode(&frame).unwrap()[0];
    let limit = -lowest;
    frame[..width].copy_from_slice(&(2 * limit + 1).to_le_bytes()[..width]);
    assert!(mechanism.decode(&frame).is_err());
    let mut reports: Vec<Vec<i32>> = vec![vec![]];
    for _ in 0..dimension {
        reports = reports.iter().flat_map(|r| (lowest..=limit).map(move |x| [&r[..], &[x]].concat())).collect();
    }
    reports.into_iter().map(Into::into).collect()
}

#[test]
fn discrete_laplace_by_enumeration() {
    // Inputs on the grid, between its points, outside of the ball, and far outside.
    let one: Vec<Vec<f32>> = (-30..=30).map(|i| vec![i as f32 / 20.0]).collect();
    let two: Vec<Vec<f32>> = (-6..=6)
        .flat_map(|i| (-6..=6).map(move |j| vec![i as f32 / 4.3, j as f32 / 5.1]))
        .chain([vec![9.0, -9.0]])
        .collect();
    for (local_epsilon, steps, inputs) in
        [(0.5, 3, &one), (1.0, 10, &one), (3.0, 10, &one), (20.0, 4, &one), (4.0, 2, &two), (9.0, 3, &two)]
    {
        let dimension = inputs[0].len();
        let mechanism = DiscreteLaplace::with_steps(local_epsilon, dimension as u32, 1.0, steps).unwrap();
        let reports = all_reports(&mechanism, dimension);
        // Probabilities add up: nothing was left out.
        for input in inputs.iter().step_by(7) {
            let total = log_sum_exp(reports.iter().map(|report| mechanism.ln_likelihood(report, input)));
            assert!(total.abs() < 1e-12, "{total:e}");
        }
        let largest = largest_ln_ratio(&reports, inputs, |report, input| mechanism.ln_likelihood(report, input));
        // Sums of a few logarithms of size up to 32 + ε0: 1e-13 is their rounding.
        assert!(largest <= local_epsilon + 1e-13 * (32.0 + local_epsilon), "{largest} > {local_epsilon}");
        assert!(largest > local_epsilon * 0.999, "less than ε0 is spent: {largest} of {local_epsilon}");
        // Without clipping: a mechanism told that inputs are half as large as they are.
        let unclipped = DiscreteLaplace::with_steps(2.0 * local_epsilon, dimension as u32, 2.0, 2 * steps).unwrap();
        let broken = largest_ln_ratio(&reports, inputs, |report, input| unclipped.ln_likelihood(report, input));
        assert!(broken > local_epsilon * 1.1, "not seen: {broken}");
    }
}

#[test]
fn scale_of_the_discrete_laplace_in_whole_numbers() {
    for local_epsilon in [1e-3, 0.1, 1.0 / 3.0, 1.0, 2.0, 7.3, 50.0, 1000.0] {
        for steps in [1, 2, 1000, 1024, 30_011] {
            let Ok(mechanism) = DiscreteLaplace::with_steps(local_epsilon, 1, 1.0, steps) else {
                assert!(local_epsilon < f64::from(steps) / 2.0_f64.powi(24));
                continue;
            };
            // 2s/scale ≤ ε0 as rationals: ε0 = mantissa·2^exponent exactly.
            let (numerator, denominator) = mechanism.noise().scale();
            let bits = local_epsilon.to_bits();
            let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
            let shift = 1075 - (bits >> 52) as i32;
            let spent = 2 * u128::from(steps) * u128::from(denominator);
            assert!(spent.leading_zeros() as i32 > shift, "the comparison would overflow");
            assert!(spent << shift <= mantissa * u128::from(numerator), "{local_epsilon} {steps}");
            // And not much is wasted.
            assert!((spent as f64 / numerator as f64) > local_epsilon * (1.0 - 1e-6), "{local_epsilon} {steps}");
        }
    }
}

#[test]
fn rényi_divergence_of_the_discrete_gaussian_by_enumeration() {
    for (sigma, steps) in [(0.5, 4), (1.0, 4), (2.0, 16)] {
        let mechanism = DiscreteGaussian::with_steps(sigma, 1, 1.0, steps).unwrap();
        let LocalGuarantee::Concentrated { mu } = mechanism.spec().local_guarantee() else { panic!() };
        let variance = mechanism.noise_variance_in_steps() as f64;
        // At order λ what counts lies λ times as far as the inputs are apart.
        let reach = (20.0 * variance.sqrt()) as i32 + 2 * 40 * steps as i32;
        let divergence = |order: f64, inputs: &[Box<[f32]>; 2], scale: f64| {
            let ln = |i: usize| -> Vec<f64> {
                let values: Vec<f64> =
                    (-reach..=reach).map(|y| scale * mechanism.ln_likelihood(&Box::from([y]), &inputs[i])).collect();
                let total = log_sum_exp(values.iter().copied());
                values.iter().map(|value| value - total).collect()
            };
            let (p, q) = (ln(0), ln(1));
            log_sum_exp(p.iter().zip(&q).map(|(p, q)| order * p + (1.0 - order) * q)) / (order - 1.0)
        };
        let worst = mechanism.worst_case_inputs();
        for order in [1.5, 2.0, 8.0, 40.0] {
            let claimed = order * mu * mu / 2.0;
            let exact = divergence(order, &worst, 1.0);
            assert!(exact <= claimed, "σ = {sigma}, λ = {order}: {exact} > {claimed}");
            // The radius has two steps more than this vector in one dimension needs, and the
            // variance is rounded up to a whole number.
            let slack =
                (f64::from(steps) / f64::from(steps + 2)).powi(2) * (sigma * f64::from(steps + 2)).powi(2) / variance;
            assert!(exact > 0.95 * claimed * slack, "σ = {sigma}, λ = {order}: {exact} of {claimed}");
            // Noise of 0.6 of its σ.
            assert!(divergence(order, &worst, 1.0 / 0.36) > claimed, "not seen");
        }
    }
}

#[test]
fn priv_unit_by_quadrature() {
    for dimension in [2, 3, 10, 300, 100_000, 1_000_000] {
        for local_epsilon in [0.1, 1.0, 4.0, 12.0, 50.0] {
            // In few dimensions the cap of a large ε0 is narrower than heights in f64 can say; its
            // mass is tested by itself.
            if dimension < 10 && local_epsilon > 12.0 {
                continue;
            }
            let mechanism = PrivUnit::new(local_epsilon, dimension, 1.0).unwrap();
            let edge = continuous::jump(|t| mechanism.density_at_height(t));
            let (outside, inside) = (mechanism.density_at_height(-0.5), mechanism.density_at_height(1.0));
            // The density takes two values, here at heights where either could be.
            assert!((inside / outside).ln() <= local_epsilon + 1e-13, "d = {dimension}, ε0 = {local_epsilon}");
            assert!((inside / outside).ln() >= local_epsilon - 1e-9, "d = {dimension}, ε0 = {local_epsilon}");
            // It is a density, of the cap that accounting was told, and m is its mean. Simpson's
            // rule with 4000 cells on functions this smooth errs by 1e-10 at most.
            let cap = continuous::over_heights(dimension, edge, 1.0, |_| 1.0);
            assert!((cap / mechanism.cap_mass() - 1.0).abs() < 1e-8, "d = {dimension}, ε0 = {local_epsilon}: {cap}");
            let total = outside * continuous::over_heights(dimension, -1.0, edge, |_| 1.0) + inside * cap;
            assert!((total - 1.0).abs() < 1e-8, "d = {dimension}, ε0 = {local_epsilon}: {total}");
            let mean = outside * continuous::over_heights(dimension, -1.0, edge, |t| t)
                + inside * continuous::over_heights(dimension, edge, 1.0, |t| t);
            let claimed = 1.0 / mechanism.magnitude();
            assert!((mean / claimed - 1.0).abs() < 1e-7, "d = {dimension}, ε0 = {local_epsilon}: {mean} {claimed}");
            // A cap of the same densities but 1 % wider is not a law at all.
            let wider = continuous::over_heights(dimension, edge * 0.99, 1.0, |_| 1.0);
            let broken = outside * (1.0 - wider) + inside * wider;
            assert!((broken - 1.0).abs() > 1e-8, "not seen");
        }
    }
}

#[test]
fn priv_unit_of_short_vectors_is_a_mixture() {
    let mechanism = PrivUnit::new(2.0, 3, 1.0).unwrap();
    let report: Box<[i16]> = Box::from([i16::MAX, 0, 0]);
    let [along, against] = [1.0, -1.0].map(|x| mechanism.ln_likelihood(&report, &[x, 0.0, 0.0]).exp());
    let half = mechanism.ln_likelihood(&report, &[0.5, 0.0, 0.0]).exp();
    assert!((half - (0.75 * along + 0.25 * against)).abs() < 1e-12);
    assert!(((along / against).ln() - 2.0).abs() < 1e-12);
    assert!(mechanism.ln_likelihood(&report, &[0.0; 3]).abs() < 1e-12);
}
