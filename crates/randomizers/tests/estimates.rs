//! Estimates are unbiased and vary as the closed forms say: R_inf a²d²c², R_1 a²dc² (a²Dc² before
//! the filling is cut off), Duchi B².
#![allow(clippy::unwrap_used)]

mod common;

use common::statistics::{FALSE_ALARM, REJECTED, unbiased_p, variance_p};
use shuffledp_accounting::numerics::gamma::ln_gamma;
use shuffledp_randomizers::{Aggregator, Duchi, Krr, R1, RInf, Randomizer, SimulationRng};

const EPSILON: f64 = 1.2;

/// c = (e^ε0+1)/(e^ε0−1), not from the code under test.
fn debias() -> f64 {
    (EPSILON.exp() + 1.0) / (EPSILON.exp() - 1.0)
}

/// Decodes one report.
fn decoded<M: Randomizer>(mechanism: &M, report: &M::Report) -> Vec<f64> {
    let mut one = mechanism.aggregator();
    one.add(report);
    one.mean().unwrap()
}

fn widened(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

/// Runs both checks on `mechanism`, then on decoders that are wrong by a constant factor of 1.1 and
/// by a shift.
fn check<M: Randomizer<Input = [f32]>>(
    mechanism: &M,
    input: &[f32],
    clipped: &[f32],
    squared_length: f64,
    variances: &[f64],
    n: u64,
) {
    let truth = widened(clipped);
    let claimed = squared_length - truth.iter().map(|x| x * x).sum::<f64>();
    let run = |factor: f64, shift: f64| {
        let mut rng = SimulationRng::from_seed(77);
        let mut sample = || {
            let report = mechanism.randomize(input, &mut rng).unwrap();
            let mut vector = decoded(mechanism, &report);
            vector.iter_mut().for_each(|x| *x = *x * factor + shift);
            vector
        };
        (unbiased_p(&truth, variances, n, &mut sample), variance_p(&truth, claimed, n, &mut sample))
    };
    let (bias, variance) = run(1.0, 0.0);
    assert!(bias > FALSE_ALARM, "biased, p = {bias:e}");
    assert!(variance > FALSE_ALARM, "another variance, p = {variance:e}");
    let (bias, variance) = run(1.1, 0.0);
    assert!(bias < REJECTED && variance < REJECTED, "a wrong constant passed: {bias:e}, {variance:e}");
    let shift = 8.0 * (variances[0] / n as f64).sqrt();
    assert!(run(1.0, shift).0 < REJECTED, "a shift passed");
}

#[test]
fn r_inf() {
    let (a, d) = (0.5, 4);
    let mechanism = RInf::new(EPSILON, d, a).unwrap();
    let clipped = [0.5, -0.5, 0.45, 0.5];
    let c = debias();
    let coordinate = f64::from(a).powi(2) * f64::from(d) * c * c;
    let variances: Vec<f64> = widened(&clipped).iter().map(|x| coordinate - x * x).collect();
    check(&mechanism, &[0.5, -0.5, 0.45, 0.9], &clipped, f64::from(d) * coordinate, &variances, 100_000);
    assert!((mechanism.magnitude().powi(2) / (f64::from(d) * coordinate) - 1.0).abs() < 1e-14);
}

#[test]
fn r_1_of_a_full_and_of_a_filled_dimension() {
    let c = debias();
    for (input, clipped) in [
        (vec![1.0_f32, 0.0, 0.0, 0.0], vec![1.0_f32, 0.0, 0.0, 0.0]),
        (vec![0.5, 0.0, -0.25], vec![0.5, 0.0, -0.25]),
        (vec![0.0, 3.0, 0.0, 0.0, -1.0], vec![0.0, 0.75, 0.0, 0.0, -0.25]),
    ] {
        let mechanism = R1::new(EPSILON, input.len() as u32, 1.0).unwrap();
        // Every coordinate of every report is ±ac.
        let variances: Vec<f64> = widened(&clipped).iter().map(|x| c * c - x * x).collect();
        check(&mechanism, &input, &clipped, input.len() as f64 * c * c, &variances, 100_000);
    }
}

#[test]
fn duchi() {
    let c = debias();
    for (input, clipped) in
        [(vec![0.6_f32, 0.0, -0.8], vec![0.6_f32, 0.0, -0.8]), (vec![0.0, 8.0], vec![0.0, 1.0]), (vec![0.9], vec![0.9])]
    {
        let d = input.len() as f64;
        let mechanism = Duchi::new(EPSILON, input.len() as u32, 1.0).unwrap();
        let length = c * std::f64::consts::PI.sqrt() * (ln_gamma((d + 1.0) / 2.0) - ln_gamma(d / 2.0)).exp();
        assert!((mechanism.magnitude() / length - 1.0).abs() < 1e-13);
        let variances: Vec<f64> = widened(&clipped).iter().map(|x| length * length / d - x * x).collect();
        check(&mechanism, &input, &clipped, length * length, &variances, 100_000);
    }
}

#[test]
fn duchi_in_a_high_dimension_along_its_input() {
    // ⟨decoded, x⟩ has mean ‖x‖² and second moment B²‖x‖²/d.
    let d = 1000;
    let input: Vec<f32> = (0..d).map(|j| ((j * 37 % 101) as f32 - 50.0) / 1000.0).collect();
    let square: f64 = widened(&input).iter().map(|x| x * x).sum();
    let mechanism = Duchi::new(EPSILON, d, 1.0).unwrap();
    let variance = mechanism.magnitude().powi(2) * square / f64::from(d) - square * square;
    let run = |factor: f64| {
        let mut rng = SimulationRng::from_seed(5);
        unbiased_p(&[square], &[variance], 40_000, || {
            let report = mechanism.randomize(&input, &mut rng).unwrap();
            let along = decoded(&mechanism, &report).iter().zip(&input).map(|(v, &x)| v * f64::from(x)).sum::<f64>();
            vec![factor * along]
        })
    };
    let p = run(1.0);
    assert!(p > FALSE_ALARM, "p = {p:e}");
    // The constant of another dimension: √(d+1 over d) is too fine to see, √(π/2) left out is not.
    assert!(run((std::f64::consts::PI / 2.0).sqrt().recip()) < REJECTED);
}

/// B against products of exact ratios: Γ((d+1)/2)/Γ(d/2)·√π is π/2·(3/2)(5/4)… for even d and
/// 1·2·(4/3)(6/5)… for odd d.
#[test]
fn duchis_constant_at_every_dimension() {
    let tails =
        |d: u32| Duchi::new(EPSILON, d, 1.0).unwrap().magnitude() / Duchi::new(EPSILON, 1, 1.0).unwrap().magnitude();
    let (mut even, mut odd) = (std::f64::consts::FRAC_PI_2, 1.0);
    for k in 1..2000_u32 {
        assert!((tails(2 * k - 1) / odd - 1.0).abs() < 1e-12, "d = {}", 2 * k - 1);
        assert!((tails(2 * k) / even - 1.0).abs() < 1e-12, "d = {}", 2 * k);
        odd *= f64::from(2 * k) / f64::from(2 * k - 1);
        even *= f64::from(2 * k + 1) / f64::from(2 * k);
    }
    // √(πd/2)·(1 − 1/(4d) + 1/(32d²)) from there on.
    let d = 4e9_f64;
    assert!((tails(4_000_000_000) / ((std::f64::consts::PI * d / 2.0).sqrt() * (1.0 - 0.25 / d)) - 1.0).abs() < 1e-14);
}

#[test]
fn shares_of_categories() {
    // Clients hold 0, 1, 2 and 3 in the proportions 4 : 3 : 2 : 1; a report's indicator of category
    // k varies by P(1−P), P = q + t·share.
    let holdings = [0_u64, 0, 0, 0, 1, 1, 1, 2, 2, 3];
    let truth = [0.4, 0.3, 0.2, 0.1];
    let mechanism = Krr::new(EPSILON, 4).unwrap();
    let (p, q) = (EPSILON.exp() / (EPSILON.exp() + 3.0), 1.0 / (EPSILON.exp() + 3.0));
    let variances = truth.map(|share| {
        let reported = q + (p - q) * share;
        reported * (1.0 - reported) / (p - q).powi(2)
    });
    let run = |factor: f64| {
        let (mut rng, mut client) = (SimulationRng::from_seed(9), 0);
        unbiased_p(&truth, &variances, 400_000, || {
            client += 1;
            let report = mechanism.randomize(&holdings[client % 10], &mut rng).unwrap();
            decoded(&mechanism, &report).iter().map(|x| x * factor).collect()
        })
    };
    let p = run(1.0);
    assert!(p > FALSE_ALARM, "p = {p:e}");
    assert!(run(1.05) < REJECTED);
}
