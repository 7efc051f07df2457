//! Estimates from shuffled batches: unbiased, as variable as the formula says, and covered as often
//! as promised.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_randomizers::estimate::mean::{self, BoundedReports};
use shuffledp_randomizers::estimate::{Confidence, Coverage, Interval, histogram};
use shuffledp_randomizers::{Aggregator, Duchi, Krr, R1, RInf, Randomizer, SimulationRng, shuffle};

const REPETITIONS: u64 = 400;

/// A batch of reports, encoded, shuffled, decoded and added up.
fn collect<M: Randomizer>(mechanism: &M, inputs: &[impl std::borrow::Borrow<M::Input>], seed: u64) -> M::Aggregator {
    let mut rng = SimulationRng::from_seed(seed);
    let mut frames: Vec<Vec<u8>> = inputs
        .iter()
        .map(|input| {
            let mut frame = vec![0; mechanism.frame_len()];
            mechanism.encode(&mechanism.randomize(input.borrow(), &mut rng).unwrap(), &mut frame);
            frame
        })
        .collect();
    shuffle::permute(&mut frames, &mut rng);
    let mut aggregator = mechanism.aggregator();
    frames.iter().for_each(|frame| aggregator.add(&mechanism.decode(frame).unwrap()));
    aggregator
}

fn each(confidence: f64) -> Confidence {
    Confidence::new(confidence, Coverage::Each).unwrap()
}

fn covers(interval: &Interval, truth: f64) -> bool {
    interval.lower <= truth && truth <= interval.upper
}

/// The most misses that REPETITIONS intervals of this confidence have, except once in a million
/// times, about.
fn most_misses(confidence: f64) -> f64 {
    let mean = (1.0 - confidence) * REPETITIONS as f64;
    // Bernstein for the binomial: ln(1e6) = 13.8.
    mean + 13.8 / 3.0 + (2.0 * 13.8 * mean).sqrt()
}

/// 300 clients over four categories.
fn categories() -> (Vec<u64>, [f64; 4]) {
    let inputs: Vec<u64> = (0..300).map(|i| [0, 0, 0, 1, 1, 2][i % 6]).collect();
    (inputs, [1.0 / 2.0, 1.0 / 3.0, 1.0 / 6.0, 0.0])
}

#[test]
fn shares_are_unbiased_with_the_variance_of_the_formula_and_covered() {
    let krr = Krr::new(1.0, 4).unwrap();
    let (inputs, truth) = categories();
    let mut misses = [0; 4];
    let mut naive_misses = 0;
    let mut moments = [[0.0; 2]; 4];
    for seed in 0..REPETITIONS {
        let counts = collect(&krr, &inputs, seed);
        let shares = histogram::shares(&krr, &counts, each(0.9)).unwrap();
        for (j, interval) in shares.iter().enumerate() {
            misses[j] += u32::from(!covers(interval, truth[j]));
            moments[j][0] += interval.estimate / REPETITIONS as f64;
            moments[j][1] += (interval.estimate - truth[j]).powi(2) / REPETITIONS as f64;
        }
        // The planted defect: reports taken at face value, with limits of the same width.
        let raw = counts.counts()[0] as f64 / 300.0;
        let width = (shares[0].upper - shares[0].lower) / 2.0;
        naive_misses += u32::from((raw - truth[0]).abs() > width);
    }
    assert!(f64::from(naive_misses) > most_misses(0.9), "{naive_misses}");
    for (j, [mean, square]) in moments.into_iter().enumerate() {
        assert!(f64::from(misses[j]) <= most_misses(0.9), "category {j}: {} misses", misses[j]);
        let variance = histogram::variance(&krr, 4, truth[j], 300);
        // Five standard errors; the square of a nearly normal variable has a relative standard
        // error of √(2/400).
        assert!((mean - truth[j]).abs() < 5.0 * (variance / REPETITIONS as f64).sqrt(), "category {j}: {mean}");
        assert!(
            (square / variance - 1.0).abs() < 5.0 * (2.0 / REPETITIONS as f64).sqrt(),
            "category {j}: {square} {variance}"
        );
        // A wrong formula, the binomial one without the division by t, would be noticed.
        let truth_coin = krr.truth_coin().probability();
        assert!((square / (variance * truth_coin) - 1.0).abs() > 5.0 * (2.0 / REPETITIONS as f64).sqrt());
    }
}

#[test]
fn all_shares_at_once_are_covered_with_wider_intervals() {
    let krr = Krr::new(1.0, 4).unwrap();
    let (inputs, truth) = categories();
    let all = Confidence::new(0.9, Coverage::All).unwrap();
    let mut misses = 0;
    for seed in 0..REPETITIONS {
        let counts = collect(&krr, &inputs, seed);
        let shares = histogram::shares(&krr, &counts, all).unwrap();
        let single = histogram::shares(&krr, &counts, each(0.9)).unwrap();
        assert!(shares.iter().zip(&single).all(|(all, each)| all.lower <= each.lower && each.upper <= all.upper));
        misses += u32::from(!shares.iter().zip(truth).all(|(interval, truth)| covers(interval, truth)));
    }
    assert!(f64::from(misses) <= most_misses(0.9), "{misses}");
}

#[test]
fn the_mean_of_numbers_is_covered_and_a_wrong_constant_noticed() {
    let right = RInf::new(1.0, 1, 2.0).unwrap();
    let wrong = RInf::new(1.3, 1, 2.0).unwrap();
    let inputs: Vec<[f32; 1]> = (0..500).map(|i| [[2.0, 1.5, -0.25, 2.0][i % 4]]).collect();
    let truth = 1.3125;
    let (mut misses, mut misses_of_wrong) = (0, 0);
    for seed in 0..REPETITIONS {
        let reports = collect(&right, &inputs, seed);
        let interval = mean::of_numbers(&right, &reports, each(0.9)).unwrap();
        misses += u32::from(!covers(&interval, truth));
        misses_of_wrong += u32::from(!covers(&mean::of_numbers(&wrong, &reports, each(0.9)).unwrap(), truth));
    }
    assert!(f64::from(misses) <= most_misses(0.9), "{misses}");
    assert!(f64::from(misses_of_wrong) > most_misses(0.9), "{misses_of_wrong}");
}

fn vectors_are_covered<M: BoundedReports>(mechanism: &M) {
    let inputs: Vec<[f32; 3]> =
        (0..200).map(|i| if i % 2 == 0 { [0.5, -0.2, 0.1] } else { [0.1, 0.2, -0.3] }).collect();
    let truth = [0.3, 0.0, -0.1];
    let mut misses = [0; 3];
    let mut misses_if_narrow = 0;
    for seed in 0..REPETITIONS {
        let intervals = mean::of_vectors(mechanism, &collect(mechanism, &inputs, seed), each(0.9)).unwrap();
        for (j, interval) in intervals.iter().enumerate() {
            misses[j] += u32::from(!covers(interval, truth[j]));
        }
        let narrow = (intervals[0].upper - intervals[0].lower) / 8.0;
        misses_if_narrow += u32::from((intervals[0].estimate - truth[0]).abs() > narrow);
    }
    assert!(misses.iter().all(|&misses| f64::from(misses) <= most_misses(0.9)), "{misses:?}");
    // Intervals of a quarter of the width would be noticed.
    assert!(f64::from(misses_if_narrow) > most_misses(0.9), "{misses_if_narrow}");
}

#[test]
fn means_of_vectors_are_covered() {
    vectors_are_covered(&RInf::new(1.0, 3, 1.0).unwrap());
    vectors_are_covered(&R1::new(1.0, 3, 1.0).unwrap());
    vectors_are_covered(&Duchi::new(1.0, 3, 1.0).unwrap());
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    let krr = Krr::new(1.0, 4).unwrap();
    assert!(histogram::shares(&krr, &krr.aggregator(), each(0.9)).is_err());
    let vectors = RInf::new(1.0, 2, 1.0).unwrap();
    let reports = collect(&vectors, &[[0.0_f32; 2]], 1);
    assert!(mean::of_numbers(&vectors, &reports, each(0.9)).is_err());
    for confidence in [0.4, 1.0, f64::NAN] {
        assert!(Confidence::new(confidence, Coverage::Each).is_err());
    }
}
