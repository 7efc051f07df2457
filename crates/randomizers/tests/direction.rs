//! The expansion of a seed: its bits are a wire format, and its normals are normal.
#![allow(clippy::unwrap_used)]

mod common;

use common::statistics::{FALSE_ALARM, REJECTED, chi_square_p, normal_p};
use shuffledp_accounting::numerics::normal;
use shuffledp_randomizers::{direction, norms};

fn normals(seed: u64, dimension: usize) -> Vec<f32> {
    let mut all = vec![0.0; dimension];
    direction::fill(seed, &mut all);
    all
}

#[test]
fn what_a_thread_remembers_is_what_was_asked_for() {
    for (seed, dimension) in [(1, 70), (1, 70), (1, 5), (2, 5), (2, 600), (1, 600), (1, 0)] {
        direction::with_normals(seed, dimension, |remembered| assert_eq!(remembered, normals(seed, dimension)));
    }
}

fn fnv1a(words: &[f32]) -> u64 {
    words
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn another_implementation_gets_the_same_bits() {
    assert_eq!(direction::VERSION, 1);
    let mut lines = 0;
    for line in include_str!("data/direction/v1.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let hexadecimal = |i: usize| u64::from_str_radix(fields[i], 16).unwrap();
        let z = normals(fields[0].parse().unwrap(), fields[1].parse().unwrap());
        assert_eq!(u64::from(z[0].to_bits()), hexadecimal(3), "{line}");
        assert_eq!(u64::from(z[z.len() - 1].to_bits()), hexadecimal(4), "{line}");
        assert_eq!(fnv1a(&z), hexadecimal(2), "{line}");
        assert_eq!(norms::l2_norm(&z).to_bits(), hexadecimal(5), "{line}");
        lines += 1;
    }
    assert_eq!(lines, 9);
}

#[test]
fn a_longer_direction_begins_with_the_shorter_one() {
    let long = normals(99, 2000);
    for dimension in [0, 1, 31, 32, 64, 511, 512, 513, 1999] {
        assert_eq!(normals(99, dimension), long[..dimension]);
    }
}

/// Goodness of fit of `sample` in 64 cells of equal mass.
fn normality_p(sample: impl IntoIterator<Item = f32>) -> f64 {
    let mut observed = [0_u64; 64];
    for z in sample {
        observed[((normal::cdf(f64::from(z)) * 64.0) as usize).min(63)] += 1;
    }
    let total: u64 = observed.iter().sum();
    chi_square_p(&observed, &[total as f64 / 64.0; 64])
}

#[test]
fn normals_are_normal_in_the_middle() {
    let z = normals(1, 1 << 20);
    let p = normality_p(z.iter().copied());
    assert!(p > FALSE_ALARM, "p = {p:e}");
    // A scale that is off by 1 %, and a sign that is off by 1 %.
    assert!(normality_p(z.iter().map(|z| 1.01 * z)) < REJECTED);
    assert!(normality_p(z.iter().enumerate().map(|(i, &z)| if i % 50 == 0 { z.abs() } else { z })) < REJECTED);
}

#[test]
fn tails_moments_and_neighbours_are_those_of_normals() {
    let z: Vec<f64> = normals(2, 1 << 20).into_iter().map(f64::from).collect();
    let n = z.len() as f64;
    // E z = 0, E z² = 1 (variance 2), E z³ = 0 (15), E z⁴ = 3 (96), P(z > 4) = 3.17e-5, E z_i
    // z_{i+lag} = 0 (1): lag 32 is the other half of a pair.
    let z_score = |sum: f64, mean: f64, variance: f64| (sum - n * mean) / (n * variance).sqrt();
    let moment = |power: i32| z.iter().map(|z| z.powi(power)).sum::<f64>();
    let tail = normal::upper_tail(4.0);
    let beyond = z.iter().filter(|z| z.abs() > 4.0).count() as f64;
    let lagged = |lag: usize| z.iter().zip(&z[lag..]).map(|(x, y)| x * y).sum::<f64>();
    // Radii of one pair are shared: squares are uncorrelated all the same.
    let squares = z.iter().zip(&z[32..]).map(|(x, y)| (x * x - 1.0) * (y * y - 1.0)).sum::<f64>();
    for (what, score) in [
        ("mean", z_score(moment(1), 0.0, 1.0)),
        ("variance", z_score(moment(2), 1.0, 2.0)),
        ("third", z_score(moment(3), 0.0, 15.0)),
        ("fourth", z_score(moment(4), 3.0, 96.0)),
        ("tail", z_score(beyond, 2.0 * tail, 2.0 * tail)),
        ("lag 1", z_score(lagged(1), 0.0, 1.0)),
        ("lag 32", z_score(lagged(32), 0.0, 1.0)),
        ("lag 64", z_score(lagged(64), 0.0, 1.0)),
        ("squares", z_score(squares, 0.0, 4.0)),
    ] {
        assert!(normal_p(score) > FALSE_ALARM, "{what}: z = {score}");
    }
}
