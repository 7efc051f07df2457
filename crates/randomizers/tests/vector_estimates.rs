//! Decoded vector reports are unbiased, with the variance of the closed form; and a wrong constant
//! would be seen.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
#[path = "common/statistics_continuous.rs"]
mod continuous;

use common::statistics::{FALSE_ALARM, REJECTED, unbiased_p, variance_p};
use shuffledp_randomizers::{
    Aggregator, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, PrivUnit, Randomizer, RoundedGaussian,
    SimulationRng,
};

/// One report, through its encoding and an aggregate, as a server would see it.
fn decoded<M: Randomizer<Input = [f32]>>(mechanism: &M, input: &[f32], rng: &mut SimulationRng) -> Vec<f64> {
    let report = mechanism.randomize(input, rng).unwrap();
    let mut frame = vec![0; mechanism.frame_len()];
    mechanism.encode(&report, &mut frame);
    let mut aggregator = mechanism.aggregator();
    aggregator.add(&mechanism.decode(&frame).unwrap());
    aggregator.mean().unwrap()
}

fn scaled(x: Vec<f64>, factor: f64) -> Vec<f64> {
    x.iter().map(|x| x * factor).collect()
}

fn truth(input: &[f32]) -> Vec<f64> {
    input.iter().map(|&x| f64::from(x)).collect()
}

/// Both checks on a right sampler, and both on one whose decoded reports are `defect` times too
/// long: a wrong constant.
fn check<M: Randomizer<Input = [f32]>>(mechanism: &M, input: &[f32], variances: &[f64], n: u64, defect: f64) {
    let (truth, total) = (truth(input), variances.iter().sum());
    let mut rng = SimulationRng::from_seed(17);
    let reports: Vec<Vec<f64>> = (0..n).map(|_| decoded(mechanism, input, &mut rng)).collect();
    let sampler = |factor: f64| {
        let mut next = reports.iter();
        move || scaled(next.next().unwrap().clone(), factor)
    };
    let unbiased = unbiased_p(&truth, variances, n, sampler(1.0));
    assert!(unbiased > FALSE_ALARM, "biased: {unbiased:e}");
    let variance = variance_p(&truth, total, n, sampler(1.0));
    assert!(variance > FALSE_ALARM, "variance: {variance:e}");
    let unbiased = unbiased_p(&truth, variances, n, sampler(defect));
    assert!(unbiased < REJECTED, "bias not seen: {unbiased:e}");
    let variance = variance_p(&truth, total, n, sampler(defect));
    assert!(variance < REJECTED, "wrong variance not seen: {variance:e}");
}

/// Per coordinate, the variance of a decoded PrivUnit report: V has second moments E[t²] along u
/// and (1 − E[t²])/(d − 1) across.
fn priv_unit_variances(mechanism: &PrivUnit, input: &[f32]) -> Vec<f64> {
    let dimension = input.len() as u32;
    let edge = continuous::jump(|t| mechanism.density_at_height(t));
    let square = |t: f64| t * t;
    let (outside, inside) = (mechanism.density_at_height(-0.5), mechanism.density_at_height(1.0));
    let along = outside * continuous::over_heights(dimension, -1.0, edge, square)
        + inside * continuous::over_heights(dimension, edge, 1.0, square);
    let across = (1.0 - along) / f64::from(dimension - 1);
    let norm_squared: f64 = truth(input).iter().map(|x| x * x).sum();
    truth(input)
        .iter()
        .map(|x| {
            let share = x * x / norm_squared;
            // Rounding to the grid adds about (1/32767)²/6 to each second moment.
            let rounding = 1.0 / 32767.0_f64.powi(2) / 6.0;
            mechanism.magnitude().powi(2) * (along * share + across * (1.0 - share) + rounding) - x * x
        })
        .collect()
}

#[test]
fn priv_unit() {
    // On the sphere and inside the ball, few and more dimensions.
    for (local_epsilon, input, n) in [
        (2.0, vec![1.2_f32, 1.6], 60_000),
        (5.0, vec![0.0, -1.0, 0.5, 0.2], 60_000),
        (10.0, (0..50).map(|j| if j % 3 == 0 { 0.45 } else { -0.1 }).collect(), 40_000),
    ] {
        let mechanism = PrivUnit::new(local_epsilon, input.len() as u32, 2.0).unwrap();
        check(&mechanism, &input, &priv_unit_variances(&mechanism, &input), n, 1.05);
    }
}

#[test]
fn priv_unit_with_another_coin_is_biased() {
    // Reports of one ε0 decoded with the constant of another, whose coin is 1 % away from it.
    let input = [1.0_f32, 0.0, 0.0];
    let right = PrivUnit::new(3.0, 3, 1.0).unwrap();
    let wrong = PrivUnit::new(3.15, 3, 1.0).unwrap();
    let drift = wrong.cap_probability() * (1.0 - wrong.cap_mass()) - right.cap_probability() * (1.0 - right.cap_mass());
    assert!(drift.abs() < 0.03, "{drift}");
    let constant = right.magnitude() / wrong.magnitude();
    let mut rng = SimulationRng::from_seed(3);
    let variances = priv_unit_variances(&right, &input);
    let p = unbiased_p(&truth(&input), &variances, 60_000, || scaled(decoded(&wrong, &input, &mut rng), constant));
    assert!(p < REJECTED, "{p:e}");
}

#[test]
fn priv_unit_of_nothing_and_of_too_much() {
    let mechanism = PrivUnit::new(4.0, 3, 1.0).unwrap();
    let mut rng = SimulationRng::from_seed(4);
    // 0: every direction alike. A vector of length 5 is clipped to 1.
    let isotropic = vec![mechanism.magnitude().powi(2) / 3.0; 3];
    assert!(unbiased_p(&[0.0; 3], &isotropic, 30_000, || decoded(&mechanism, &[0.0; 3], &mut rng)) > FALSE_ALARM);
    let clipped = [0.6_f32, 0.0, -0.8];
    let variances = priv_unit_variances(&mechanism, &clipped);
    let truth = truth(&clipped);
    assert!(unbiased_p(&truth, &variances, 30_000, || decoded(&mechanism, &[3.0, 0.0, -4.0], &mut rng)) > FALSE_ALARM);
}

const INPUT: [f32; 4] = [0.3, -0.45, 0.0, 0.05];

/// E‖error‖² of a mechanism whose noise is 1 % too small.
fn shrunk(x: Vec<f64>) -> Vec<f64> {
    x.iter().zip(INPUT).map(|(y, x)| f64::from(x) + 0.99 * (y - f64::from(x))).collect()
}

fn noise_off_by_one_percent_is_seen<M: Randomizer<Input = [f32]>>(mechanism: &M, variance: f64, n: u64) {
    let mut rng = SimulationRng::from_seed(8);
    let total = 4.0 * variance;
    let p = variance_p(&truth(&INPUT), total, n, || decoded(mechanism, &INPUT, &mut rng));
    assert!(p > FALSE_ALARM, "{p:e}");
    let p = variance_p(&truth(&INPUT), total, n, || shrunk(decoded(mechanism, &INPUT, &mut rng)));
    assert!(p < REJECTED, "{p:e}");
}

#[test]
fn gaussian() {
    let mechanism = Gaussian::new(0.5, 4, 1.0).unwrap();
    check(&mechanism, &INPUT, &[mechanism.variance(); 4], 100_000, 1.05);
    noise_off_by_one_percent_is_seen(&mechanism, mechanism.variance(), 200_000);
}

#[test]
fn laplace() {
    let mechanism = Laplace::new(4.0, 4, 1.0).unwrap();
    check(&mechanism, &INPUT, &[mechanism.variance(); 4], 200_000, 1.05);
    noise_off_by_one_percent_is_seen(&mechanism, mechanism.variance(), 400_000);
}

#[test]
fn discrete_gaussian() {
    // A fine grid, and one so coarse that rounding at random is most of what happens: f(1−f) steps²
    // per coordinate.
    for steps in [4, 512] {
        let mechanism = DiscreteGaussian::with_steps(0.5, 4, 1.0, steps).unwrap();
        let variances = INPUT.map(|x| {
            let fraction = (f64::from(x.abs()) / mechanism.step()).fract();
            (mechanism.noise_variance_in_steps() as f64 + fraction * (1.0 - fraction)) * mechanism.step().powi(2)
        });
        check(&mechanism, &INPUT, &variances, 100_000, 1.1);
    }
    let mechanism = DiscreteGaussian::new(0.5, 4, 1.0).unwrap();
    noise_off_by_one_percent_is_seen(&mechanism, mechanism.variance_upper(), 200_000);
}

#[test]
fn rounded_gaussian() {
    let mechanism = RoundedGaussian::new(0.5, 4, 1.0).unwrap();
    check(&mechanism, &INPUT, &[mechanism.variance(); 4], 100_000, 1.05);
    noise_off_by_one_percent_is_seen(&mechanism, mechanism.variance(), 200_000);
    // σ²C² and a forty-eighth of it.
    let relative = RoundedGaussian::new(3.0, 4, 0.1).unwrap().variance() / f64::from(0.1_f32).powi(2) / 9.0;
    assert!((relative - 49.0 / 48.0).abs() < 1e-12, "{relative}");
}

#[test]
fn discrete_laplace() {
    for steps in [4, 1024] {
        let mechanism = DiscreteLaplace::with_steps(4.0, 4, 1.0, steps).unwrap();
        let variances = INPUT.map(|x| {
            let fraction = (f64::from(x.abs()) / mechanism.step()).fract();
            (mechanism.noise().variance() + fraction * (1.0 - fraction)) * mechanism.step().powi(2)
        });
        check(&mechanism, &INPUT, &variances, 200_000, 1.05);
    }
    let mechanism = DiscreteLaplace::new(4.0, 4, 1.0).unwrap();
    noise_off_by_one_percent_is_seen(&mechanism, mechanism.variance_upper(), 400_000);
}

#[test]
fn the_variance_that_accounting_and_planning_use() {
    // σC and hardly more: the price of rounding without bias or excess is at most 0.8 % of σ.
    for dimension in [1, 10, 1000, 1_000_000] {
        let mechanism = DiscreteGaussian::new(1.0, dimension, 2.0).unwrap();
        let deviation = mechanism.variance_upper().sqrt() / 2.0;
        assert!((1.0..1.0081).contains(&deviation), "{dimension}: {deviation}");
    }
    let mechanism = DiscreteLaplace::new(1.0, 1_000_000, 2.0).unwrap();
    let against_continuous = mechanism.variance_upper() / Laplace::new(1.0, 1_000_000, 2.0).unwrap().variance();
    assert!((1.0 - 1e-7..1.0 + 1e-6).contains(&against_continuous), "{against_continuous}");
}
