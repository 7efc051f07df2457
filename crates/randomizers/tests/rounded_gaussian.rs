//! The rounded Gaussian against a second implementation, and its sampler against the normal law;
//! the same checks see broken samplers.
#![allow(clippy::unwrap_used)]

mod common;

use common::statistics::{FALSE_ALARM, REJECTED, fit_p, normal_p};
use shuffledp_accounting::numerics::log_sum::log_sum_exp;
use shuffledp_accounting::numerics::normal;
use shuffledp_randomizers::exact::ExactNormal;
use shuffledp_randomizers::{Likelihood, Randomizer, RoundedGaussian, SimulationRng, uniform};

fn lines(kind: &str) -> Vec<Vec<&'static str>> {
    let lines = include_str!("data/rounded_gaussian/v1.txt").lines();
    let fields = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let lines: Vec<_> = fields.filter(|fields| fields[0] == kind).map(|fields| fields[1..].to_vec()).collect();
    assert!(lines.len() > 1, "{kind}");
    lines
}

fn named(fields: &[&str]) -> SimulationRng {
    SimulationRng::named(std::array::from_fn(|i| fields[i].parse().unwrap()))
}

#[test]
fn probabilities_are_those_of_another_implementation() {
    for fields in lines("law") {
        let mechanism = RoundedGaussian::new(fields[0].parse().unwrap(), 1, 1.0).unwrap();
        let input = [fields[1].parse().unwrap()];
        let claimed: f64 = fields[3].parse().unwrap();
        let report = Box::from([fields[2].parse::<i8>().unwrap()]);
        let computed = mechanism.ln_likelihood(&report, &input);
        // Logarithms of tails lose 1e-14 of their size, and differences of neighbouring tails a
        // digit or two.
        assert!((computed - claimed).abs() <= 1e-12 * (1.0 + claimed.abs()), "{fields:?}: {computed}");
    }
}

#[test]
fn the_probabilities_of_all_reports_add_up() {
    for sigma in [0.0625, 0.3, 1.0, 5.0, 1e4] {
        let mechanism = RoundedGaussian::new(sigma, 1, 1.0).unwrap();
        for x in [-1.0_f32, -0.2, 0.0, 0.7, 3.0] {
            let reports = (i8::MIN..=i8::MAX).filter(|&y| {
                let mut frame = vec![0; mechanism.frame_len()];
                let is_in_range = (-mechanism.largest()..=mechanism.largest()).contains(&y);
                if is_in_range {
                    mechanism.encode(&Box::from([y]), &mut frame);
                    assert_eq!(*mechanism.decode(&frame).unwrap(), [y]);
                }
                is_in_range
            });
            let total = log_sum_exp(reports.map(|y| mechanism.ln_likelihood(&Box::from([y]), &[x])));
            assert!(total.abs() < 1e-12, "{sigma} {x}: {total:e}");
        }
    }
}

#[test]
fn draws_are_those_of_another_implementation() {
    for fields in lines("draws") {
        let mut rng = named(&fields);
        let count: usize = fields[4].parse().unwrap();
        let normal = ExactNormal::new();
        let draws: Vec<i64> = (0..count).map(|_| normal.draw(&mut rng)).collect();
        assert_eq!(draws[0], fields[6].parse::<i64>().unwrap());
        assert_eq!(draws[count - 1], fields[7].parse::<i64>().unwrap());
        let bytes = draws.iter().flat_map(|x| x.to_le_bytes());
        let digest = bytes
            .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        assert_eq!(format!("{digest:016x}"), fields[5]);
    }
}

#[test]
fn frames_are_those_of_another_implementation() {
    for fields in lines("report") {
        let input: Vec<f32> = fields[5].split(',').map(|x| x.parse::<f32>().unwrap() / 16.0).collect();
        let mechanism = RoundedGaussian::new(fields[0].parse().unwrap(), input.len() as u32, 1.0).unwrap();
        let report = mechanism.randomize(&input, &mut named(&fields[1..])).unwrap();
        let mut frame = vec![0; mechanism.frame_len()];
        mechanism.encode(&report, &mut frame);
        let hexadecimal: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal, fields[6]);
        assert_eq!(mechanism.decode(&frame).unwrap(), report);
    }
}

/// A source of deviates, right or broken.
type Sampler = Box<dyn FnMut() -> f64>;

const DRAWS: u64 = 10_000_000;

/// Draws in units of a deviation.
fn deviates(seed: u64) -> impl FnMut() -> f64 {
    let (normal, mut rng) = (ExactNormal::new(), SimulationRng::from_seed(seed));
    move || normal.draw(&mut rng) as f64 / 2.0_f64.powi(56)
}

/// Chi-square of deviates in cells of a width of 1/8 from −4.25 to 4.25, and the two tails. Edges
/// of columns are edges of cells, and the tails are where the sampler's last box begins.
fn cells_p(draw: impl FnMut() -> f64) -> f64 {
    let edges: Vec<f64> = (-34..=34).map(|i| f64::from(i) / 8.0).collect();
    let tail = normal::cdf(edges[0]);
    let inner = edges.windows(2).map(|pair| {
        // Differences in the tail that is smaller.
        let (a, b) = if pair[0] >= 0.0 { (-pair[1], -pair[0]) } else { (pair[0], pair[1]) };
        normal::cdf(b) - normal::cdf(a)
    });
    let probabilities: Vec<f64> = [tail].into_iter().chain(inner).chain([tail]).collect();
    let mut draw = draw;
    fit_p(&probabilities, DRAWS, || {
        let x = draw();
        edges.partition_point(|&edge| edge <= x)
    })
}

#[test]
fn draws_are_normal() {
    let p = cells_p(deviates(1));
    assert!(p > FALSE_ALARM, "{p:e}");
}

#[test]
fn broken_draws_are_seen() {
    let broken: [(&str, Sampler); 6] = [
        ("σ too small by 2 %", {
            let mut draw = deviates(2);
            Box::new(move || 0.98 * draw())
        }),
        ("a bias of 1 %", {
            let mut draw = deviates(3);
            Box::new(move || draw() + 0.01)
        }),
        ("no tail beyond 4.25", {
            let mut draw = deviates(4);
            Box::new(move || {
                loop {
                    let x = draw();
                    if x.abs() < 4.25 {
                        return x;
                    }
                }
            })
        }),
        ("a tail twice as heavy", {
            let (mut draw, mut rng) = (deviates(5), SimulationRng::from_seed(50));
            Box::new(move || {
                loop {
                    let x = draw();
                    if x.abs() >= 2.0 || uniform::below(2, &mut rng) == 0 {
                        return x;
                    }
                }
            })
        }),
        ("one column left out in one of three draws", {
            let (mut draw, mut rng) = (deviates(6), SimulationRng::from_seed(60));
            Box::new(move || {
                loop {
                    let x = draw();
                    if !(1.0..1.03125).contains(&x) || uniform::below(3, &mut rng) > 0 {
                        return x;
                    }
                }
            })
        }),
        ("a sign that comes too often", {
            let (mut draw, mut rng) = (deviates(7), SimulationRng::from_seed(70));
            Box::new(move || if uniform::below(50, &mut rng) == 0 { draw().abs() } else { draw() })
        }),
    ];
    for (what, draw) in broken {
        let p = cells_p(draw);
        assert!(p < REJECTED, "{what}: {p:e}");
    }
}

/// Within a column the last digits are as likely one as zero, whatever the first are.
#[test]
fn the_lowest_digits_are_even() {
    let (normal, mut rng) = (ExactNormal::new(), SimulationRng::from_seed(8));
    let mut ones = [0_u64; 48];
    let n = 500_000;
    for _ in 0..n {
        let x = normal.draw(&mut rng);
        ones.iter_mut().enumerate().for_each(|(digit, ones)| *ones += (x >> digit & 1) as u64);
    }
    for (digit, &ones) in ones.iter().enumerate() {
        let p = normal_p((ones as f64 - n as f64 / 2.0) / (n as f64 / 4.0).sqrt());
        assert!(p > FALSE_ALARM, "digit {digit}: {p:e}");
    }
}

/// Chi-square of reports of one coordinate from `held` against the law of those from `x`.
fn reports_p(mechanism: &RoundedGaussian, x: f32, held: f32, seed: u64) -> f64 {
    let mut rng = SimulationRng::from_seed(seed);
    let n = 500_000;
    let probability = |y: i8| mechanism.ln_likelihood(&Box::from([y]), &[x]).exp();
    let all: Vec<i8> = (-mechanism.largest()..=mechanism.largest()).collect();
    // Cells of fewer than ten expected reports belong to the next one inside.
    let kept: Vec<i8> = all.iter().copied().filter(|&y| probability(y) * n as f64 >= 10.0).collect();
    let (first, last) = (kept[0], kept[kept.len() - 1]);
    let cell = |y: i8| usize::from((y.clamp(first, last) - first) as u8);
    let mut probabilities = vec![0.0; kept.len()];
    all.iter().for_each(|&y| probabilities[cell(y)] += probability(y));
    fit_p(&probabilities, n, || cell(mechanism.randomize(&[held], &mut rng).unwrap()[0]))
}

#[test]
fn reports_have_their_law_and_another_is_seen() {
    for (sigma, x) in [(5.0, 0.0), (5.0, 1.0), (1.5, -0.37), (0.5, 1.0), (0.0625, 0.9)] {
        let mechanism = RoundedGaussian::new(sigma, 1, 1.0).unwrap();
        let p = reports_p(&mechanism, x, x, 9);
        assert!(p > FALSE_ALARM, "σ = {sigma}, x = {x}: {p:e}");
        // A record that is 2 % of the noise away.
        let p = reports_p(&mechanism, x, x - 0.02 * sigma as f32, 10);
        assert!(p < REJECTED, "σ = {sigma}, x = {x}: {p:e}");
    }
}

/// No report is likelier under one input than the Gaussian's profile allows, by enumeration; and
/// noise that is too small by 2 % is seen.
#[test]
fn the_profile_of_one_report_is_below_the_gaussians() {
    for sigma in [0.5, 1.0, 2.0, 5.0] {
        let mechanism = RoundedGaussian::new(sigma, 1, 1.0).unwrap();
        let delta = |mechanism: &RoundedGaussian, epsilon: f64| -> f64 {
            let ln = |y: i8, x: f32| mechanism.ln_likelihood(&Box::from([y]), &[x]);
            (-mechanism.largest()..=mechanism.largest())
                .map(|y| (ln(y, 1.0).exp() - (epsilon + ln(y, -1.0)).exp()).max(0.0))
                .sum()
        };
        let mu = 2.0 / sigma;
        let gaussian =
            |epsilon: f64| normal::cdf(mu / 2.0 - epsilon / mu) - epsilon.exp() * normal::cdf(-mu / 2.0 - epsilon / mu);
        let too_little = RoundedGaussian::new(0.98 * sigma, 1, 1.0).unwrap();
        let mut is_seen = false;
        for i in 0..40 {
            let epsilon = f64::from(i) / 10.0 * mu;
            let (rounded, most) = (delta(&mechanism, epsilon), gaussian(epsilon));
            assert!(rounded <= most * (1.0 + 1e-9) + 1e-15, "σ = {sigma}, ε = {epsilon}: {rounded:e} {most:e}");
            is_seen |= delta(&too_little, epsilon) > most * (1.0 + 1e-6);
        }
        assert!(is_seen, "σ = {sigma}");
    }
}

#[test]
fn frames_are_small() {
    for (sigma, bits) in [(5.0, 5), (4.0 / 3.0 + 1e-9, 5), (1.3, 6), (0.13, 6), (0.0625, 7)] {
        for dimension in [1, 7, 8, 34_720] {
            let mechanism = RoundedGaussian::new(sigma, dimension, 1.0).unwrap();
            assert_eq!(mechanism.frame_len(), (bits * dimension as usize).div_ceil(8), "{sigma} {dimension}");
        }
    }
    // A bit after the last coordinate, and a word that is no coordinate.
    let mechanism = RoundedGaussian::new(5.0, 3, 1.0).unwrap();
    assert!(mechanism.decode(&[0, 0]).is_ok());
    assert!(mechanism.decode(&[0, 0x80]).is_err() && mechanism.decode(&[31, 0]).is_err());
    assert!(mechanism.decode(&[0]).is_err() && mechanism.decode(&[0; 3]).is_err() && mechanism.decode(&[]).is_err());
}
