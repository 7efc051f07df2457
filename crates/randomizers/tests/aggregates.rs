//! An aggregate does not depend on the order of the reports, nor on who added up which.
#![allow(clippy::unwrap_used)]

use shuffledp_randomizers::{
    Aggregator, DiscreteGaussian, Duchi, Gaussian, KSubset, Krr, PublicSeed, R1, RInf, Randomizer, SimulationRng,
    TopSet,
};

/// The bits of the mean, all at once, backwards, and merged from three unequal parts.
fn check<M: Randomizer>(mechanism: &M, inputs: &[&M::Input]) {
    let mut rng = SimulationRng::from_seed(1);
    let reports: Vec<M::Report> =
        (0..3000).map(|i| mechanism.randomize(inputs[i % inputs.len()], &mut rng).unwrap()).collect();
    let of = |reports: &[M::Report], backwards: bool| {
        let mut aggregator = mechanism.aggregator();
        if backwards {
            reports.iter().rev().for_each(|report| aggregator.add(report));
        } else {
            reports.iter().for_each(|report| aggregator.add(report));
        }
        aggregator
    };
    let bits = |aggregator: M::Aggregator| {
        assert_eq!(aggregator.count(), 3000);
        aggregator.mean().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let forwards = bits(of(&reports, false));
    assert_eq!(bits(of(&reports, true)), forwards);
    let mut merged = of(&reports[1700..], false);
    merged.merge(of(&reports[..10], true)).unwrap();
    merged.merge(of(&reports[10..1700], false)).unwrap();
    assert_eq!(bits(merged), forwards);
}

#[test]
fn order_and_merging_leave_no_trace() {
    let (x, y): (Vec<f32>, Vec<f32>) = (0..70).map(|j| ((j as f32).sin(), (j as f32).cos() * 0.1)).unzip();
    check(&RInf::new(2.0, 70, 1.0).unwrap(), &[&x, &y]);
    check(&R1::new(2.0, 70, 1.0).unwrap(), &[&x, &y]);
    check(&Duchi::new(2.0, 70, 1.0).unwrap(), &[&x, &y]);
    check(&Duchi::new(2.0, 1, 1.0).unwrap(), &[&x[..1], &y[..1]]);
    check(&Krr::new(2.0, 9).unwrap(), &[&3, &8, &8]);
}

/// Reports decode to the length that the formula says, whichever they are.
#[test]
fn every_report_is_as_long_as_every_other() {
    let mut rng = SimulationRng::from_seed(2);
    let x: Vec<f32> = (0..100).map(|j| (j as f32).sin()).collect();
    let length = |mean: Vec<f64>| mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (r_inf, r_1, duchi) =
        (RInf::new(2.0, 100, 0.7).unwrap(), R1::new(2.0, 100, 0.7).unwrap(), Duchi::new(2.0, 100, 0.7).unwrap());
    for _ in 0..100 {
        let mut sum = r_inf.aggregator();
        sum.add(&r_inf.randomize(&x, &mut rng).unwrap());
        assert!((length(sum.mean().unwrap()) / r_inf.magnitude() - 1.0).abs() < 1e-14);
        let mut sum = r_1.aggregator();
        sum.add(&r_1.randomize(&x, &mut rng).unwrap());
        assert!((length(sum.mean().unwrap()) / (10.0 * r_1.magnitude()) - 1.0).abs() < 1e-14);
        // The grid of 2^−32 is off by at most half of it per coordinate.
        let mut sum = duchi.aggregator();
        sum.add(&duchi.randomize(&x, &mut rng).unwrap());
        assert!((length(sum.mean().unwrap()) / duchi.magnitude() - 1.0).abs() < 10.0 * 2.0_f64.powi(-33));
    }
}

/// An aggregate that went to another process and came back goes on as if nothing had happened, and
/// altered bytes are refused.
fn check_saved<M: Randomizer>(mechanism: &M, input: &M::Input) {
    let mut rng = SimulationRng::from_seed(3);
    let reports: Vec<M::Report> = (0..200).map(|_| mechanism.randomize(input, &mut rng).unwrap()).collect();
    let (mut whole, mut first) = (mechanism.aggregator(), mechanism.aggregator());
    reports.iter().for_each(|report| whole.add(report));
    reports[..120].iter().for_each(|report| first.add(report));
    let saved = first.save();
    let mut again = mechanism.aggregator();
    again.load(&saved).unwrap();
    assert_eq!(again.save(), saved);
    reports[120..].iter().for_each(|report| again.add(report));
    assert_eq!((again.count(), again.mean().unwrap()), (200, whole.mean().unwrap()));
    // Another version, a byte less, a byte more, a word more, nothing, and a number of reports that
    // nobody can count.
    let altered = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut altered = saved.clone();
        change(&mut altered);
        altered
    };
    for wrong in [
        altered(&|bytes| bytes[0] = 2),
        altered(&|bytes| bytes.truncate(saved.len() - 1)),
        altered(&|bytes| bytes.push(0)),
        altered(&|bytes| bytes.extend([0; 8])),
        altered(&Vec::clear),
        altered(&|bytes| bytes[8] = 0x7f),
    ] {
        assert!(again.load(&wrong).is_err());
        assert_eq!(again.count(), 200);
    }
}

#[test]
fn a_saved_aggregate_goes_on() {
    let x: Vec<f32> = (0..70).map(|j| (j as f32).sin()).collect();
    check_saved(&RInf::new(2.0, 70, 1.0).unwrap(), &x);
    check_saved(&R1::new(2.0, 70, 1.0).unwrap(), &x);
    check_saved(&Duchi::new(2.0, 70, 1.0).unwrap(), &x);
    check_saved(&Gaussian::new(2.0, 70, 1.0).unwrap(), &x);
    check_saved(&DiscreteGaussian::new(2.0, 70, 1.0).unwrap(), &x);
    check_saved(&TopSet::new(2.0, 70, 1.0, 0.2).unwrap().in_round(PublicSeed([7; 32])), &x);
    check_saved(&Krr::new(2.0, 9).unwrap(), &3);
    check_saved(&KSubset::new(1.0, 9).unwrap(), &3);
}

/// Sums that no reports have: counts of categories that are not as many as the reports, signs that
/// are more, directions longer than 1.
#[test]
fn impossible_sums_are_refused() {
    fn check<M: Randomizer>(mechanism: &M, input: &M::Input, word: u64) {
        let mut aggregator = mechanism.aggregator();
        aggregator.add(&mechanism.randomize(input, &mut SimulationRng::from_seed(4)).unwrap());
        let mut saved = aggregator.save();
        let end = saved.len();
        saved[end - 8..].copy_from_slice(&word.to_le_bytes());
        assert!(aggregator.load(&saved).is_err());
    }
    check(&Krr::new(2.0, 9).unwrap(), &3, 5);
    check(&Krr::new(2.0, 9).unwrap(), &3, u64::MAX);
    check(&KSubset::new(1.0, 9).unwrap(), &3, 2);
    check(&RInf::new(2.0, 3, 1.0).unwrap(), &[0.0; 3], (-2_i64).cast_unsigned());
    check(&R1::new(2.0, 3, 1.0).unwrap(), &[0.0; 3], i64::MIN.cast_unsigned());
    check(&Duchi::new(2.0, 3, 1.0).unwrap(), &[0.0; 3], 1.5_f64.to_bits());
    check(&Gaussian::new(2.0, 3, 1.0).unwrap(), &[0.0; 3], f64::NAN.to_bits());
}
