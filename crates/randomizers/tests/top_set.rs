//! top-set: its rotation is a wire format, its sets have their size whatever the input, its reports
//! have the claimed law, and its estimate has the documented bias.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::exact::{EXPONENTIALS, ratio_is_within};
use common::statistics::{FALSE_ALARM, REJECTED, fit_p};
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{LocalStructure, Mechanism, RandomizerSpec};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_randomizers::rotation::{self, Rotation};
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{
    Aggregator, Likelihood, PublicSeed, Randomizer, RandomizerError, Randomness, ReleaseRng, SimulationRng, TopSet,
};

fn candidate(word: u64) -> SignedIndex {
    SignedIndex { index: (word / 2) as u32, is_positive: word % 2 == 1 }
}

fn candidates(mechanism: &TopSet) -> impl Iterator<Item = SignedIndex> {
    (0..mechanism.size().candidates).map(candidate)
}

fn own_set(mechanism: &TopSet, input: &[f32]) -> Vec<SignedIndex> {
    candidates(mechanism).filter(|&candidate| mechanism.is_chosen(input, candidate)).collect()
}

/// A seed of its own for every number.
fn seed(number: u64) -> PublicSeed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    PublicSeed(bytes)
}

fn parsed_seed(hexadecimal: &str) -> PublicSeed {
    let byte = |i: usize| u8::from_str_radix(&hexadecimal[2 * i..2 * i + 2], 16).unwrap();
    PublicSeed(std::array::from_fn(byte))
}

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn another_implementation_gets_the_same_signs() {
    assert_eq!(rotation::VERSION, 1);
    let mut lines = 0;
    for line in include_str!("data/rotation/v1.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let dimension: u32 = fields[1].parse().unwrap();
        let rotation = Rotation::new(parsed_seed(fields[0]), dimension);
        let signs: String = (0..dimension as usize).map(|i| if rotation.is_negative(i) { '1' } else { '0' }).collect();
        assert_eq!(signs.matches('1').count(), fields[2].parse::<usize>().unwrap(), "{line}");
        assert_eq!(&signs[..signs.len().min(64)], fields[3], "{line}");
        assert_eq!(fnv1a(&signs), u64::from_str_radix(fields[4], 16).unwrap(), "{line}");
        lines += 1;
    }
    assert_eq!(lines, 8);
}

#[test]
fn another_implementation_gets_the_same_sets_and_probabilities() {
    let mut lines = 0;
    for line in include_str!("data/rotation/top_sets.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let input: Vec<f32> = fields[3].split(',').map(|x| x.parse().unwrap()).collect();
        let expected: Vec<SignedIndex> = fields[4].split(',').map(|word| candidate(word.parse().unwrap())).collect();
        let mechanism =
            TopSet::new(number(1), input.len() as u32, 4.0, number(2)).unwrap().in_round(parsed_seed(fields[0]));
        assert_eq!(own_set(&mechanism, &input), expected, "{line}");
        let mut total = 0.0;
        for report in candidates(&mechanism) {
            let claimed = number(if expected.contains(&report) { 5 } else { 6 });
            let probability = mechanism.ln_likelihood(&report, &input).exp() / mechanism.size().candidates as f64;
            // 1 − t may be as small as e^−ε0, and t is rounded down by less than four units of
            // 2^−52.
            let rounding = 2e-15 * (1.0 + number(1).exp());
            assert!((probability / claimed - 1.0).abs() < rounding, "{line}: {probability}");
            total += probability;
        }
        assert!((total - 1.0).abs() < 1e-13, "{line}: {total}");
        lines += 1;
    }
    assert_eq!(lines, 127);
}

/// Vectors that floating point finds hard: ties, zeros of both signs, the smallest and the largest
/// numbers, and mixtures of them.
fn hard_inputs(dimension: usize) -> Vec<Vec<f32>> {
    let tiny = f32::from_bits(1);
    let filled = |values: &[f32]| (0..dimension).map(|i| values[i % values.len()]).collect::<Vec<f32>>();
    let along = |i: usize, x: f32| {
        let mut input = vec![0.0; dimension];
        input[i] = x;
        input
    };
    vec![
        filled(&[0.0]),
        filled(&[-0.0, 0.0]),
        filled(&[1.0]),
        filled(&[1.0, -1.0]),
        along(0, 1.0),
        along(0, -1.0),
        along(dimension - 1, f32::MAX),
        along(1, tiny),
        filled(&[f32::MAX]),
        filled(&[f32::MAX, -f32::MAX, 0.0]),
        filled(&[tiny]),
        filled(&[tiny, f32::MAX, -1.0]),
        filled(&[f32::MIN_POSITIVE, -tiny, 1e-30]),
        (0..dimension).map(|i| (i as f32 * 1.7).sin()).collect(),
        (0..dimension).map(|i| 0.01 * (i as f32 * 2.9).cos()).collect(),
    ]
}

#[test]
fn a_set_has_its_size_whatever_the_input() {
    for dimension in [2, 3, 8, 37, 100] {
        for share in [0.5, 0.3, 0.1, 1e-9] {
            let mechanism = TopSet::new(1.0, dimension, 1.0, share).unwrap();
            for round in 0..3 {
                let mechanism = mechanism.in_round(seed(round));
                for input in hard_inputs(dimension as usize) {
                    let set = own_set(&mechanism, &input);
                    assert_eq!(set.len() as u64, mechanism.size().chosen, "d = {dimension}, {share}: {input:?}");
                }
            }
        }
    }
}

/// A report's probability times 2^64·2D·M, a whole number: `coin` heads takes the own set, tails
/// all candidates.
fn weight(threshold: u64, is_chosen: bool, chosen: u64, candidates: u64) -> u128 {
    let uniform = ((1 << 64) - u128::from(threshold)) * u128::from(chosen);
    uniform + if is_chosen { u128::from(threshold) * u128::from(candidates) } else { 0 }
}

#[test]
fn the_ratio_of_probabilities_is_at_most_claimed_as_whole_numbers() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        for (dimension, share) in [(2, 0.5), (2, 0.1), (5, 0.3), (16_384, 1.0 / 6.0), (65_536, 1.0 / 16.0)] {
            let mechanism = TopSet::new(epsilon, dimension, 1.0, share).unwrap();
            let (chosen, candidates) = (mechanism.size().chosen, mechanism.size().candidates);
            let truth = mechanism.truth_coin().threshold();
            let [high, low] = [true, false].map(|is_chosen| weight(truth, is_chosen, chosen, candidates));
            assert_eq!(
                high * u128::from(chosen) + low * u128::from(candidates - chosen),
                (u128::from(chosen) * u128::from(candidates)) << 64
            );
            assert!(ratio_is_within(high, low, bits, exponential), "ε0 = {epsilon}, d = {dimension}, {share}");
            // Next to nothing is given away: six units in the last place of 1 − t, or one part in
            // 2^64.
            let lost = 1.0 - high as f64 / low as f64 / epsilon.exp();
            let odds = 1.0 + epsilon.exp() + candidates as f64 / chosen as f64;
            assert!(epsilon > 30.0 || lost < 2e-15 * odds, "ε0 = {epsilon}, d = {dimension}, {share}: {lost:e}");
            // Planted: a few units in the last place too many.
            let too_much = (truth as f64 * (1.0 + 12.0 * f64::EPSILON)) as u64;
            if (0.1..30.0).contains(&epsilon) && too_much < u64::MAX {
                let [high, low] = [true, false].map(|is_chosen| weight(too_much, is_chosen, chosen, candidates));
                assert!(!ratio_is_within(high, low, bits, exponential), "not seen: ε0 = {epsilon}, d = {dimension}");
            }
        }
    }
}

#[test]
fn no_two_inputs_are_further_apart_than_claimed_by_enumeration() {
    for (epsilon, bits, exponential) in EXPONENTIALS {
        for (dimension, share) in [(2, 0.5), (5, 0.25), (13, 0.1)] {
            let mechanism = TopSet::new(epsilon, dimension, 0.5, share).unwrap().in_round(seed(dimension.into()));
            let (chosen, number) = (mechanism.size().chosen, mechanism.size().candidates);
            let inputs = hard_inputs(dimension as usize);
            for report in candidates(&mechanism) {
                let weight_of = |input: &Vec<f32>| {
                    weight(mechanism.coin_of(input).threshold(), mechanism.is_chosen(input, report), chosen, number)
                };
                let weights: Vec<u128> = inputs.iter().map(weight_of).collect();
                let (high, low) = (weights.iter().max().unwrap(), weights.iter().min().unwrap());
                assert!(ratio_is_within(*high, *low, bits, exponential), "ε0 = {epsilon}, d = {dimension}");
            }
        }
    }
}

/// Of two inputs, those of the audit: their sets have no candidate in common, which lower bounds
/// rely on.
#[test]
fn opposite_inputs_have_disjoint_sets_and_spend_all_of_the_epsilon() {
    for (dimension, share) in [(2, 0.5), (3, 0.25), (40, 0.5), (40, 0.1667), (1000, 0.0625)] {
        for round in 0..20 {
            let mechanism = TopSet::new(2.0, dimension, 0.3, share).unwrap().in_round(seed(round));
            let [one, other] = mechanism.worst_case_inputs();
            let (set, opposite) = (own_set(&mechanism, &one), own_set(&mechanism, &other));
            assert!(set.iter().all(|candidate| !opposite.contains(candidate)), "d = {dimension}, round {round}");
            let ratio = mechanism.ln_likelihood(&set[0], &one) - mechanism.ln_likelihood(&set[0], &other);
            assert!((2.0 - 1e-12..2.0 + 1e-12).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn accounting_is_told_the_share_that_sets_have() {
    for (dimension, share) in [(2, 0.5), (5, 0.3), (9_760, 1.0 / 6.0), (34_720, 0.1667)] {
        let mechanism = TopSet::new(2.0, dimension, 1.0, share).unwrap();
        let input: Vec<f32> = (0..dimension).map(|i| (i as f32).sin()).collect();
        let LocalStructure::TwoLevel { high_mass, epsilon } = mechanism.spec().local_structure() else {
            panic!("not two-level")
        };
        assert_eq!(epsilon.to_bits(), 2.0_f64.to_bits());
        let size = mechanism.size();
        assert_eq!(high_mass.to_bits(), (size.chosen as f64 / size.candidates as f64).to_bits());
        if dimension < 10 {
            assert_eq!(own_set(&mechanism, &input).len(), (high_mass * size.candidates as f64) as usize);
        }
    }
}

/// Goodness of fit of `draws` reports of `input`, made by `sampled`, with the likelihoods of
/// `claimed`.
fn report_p<R: Randomness>(sampled: &TopSet, claimed: &TopSet, input: &[f32], draws: u64, rng: &mut R) -> f64 {
    let number = claimed.size().candidates as f64;
    let law: Vec<f64> =
        candidates(claimed).map(|report| claimed.ln_likelihood(&report, input).exp() / number).collect();
    fit_p(&law, draws, || {
        let report = sampled.randomize(input, rng).unwrap();
        2 * report.index as usize + usize::from(report.is_positive)
    })
}

#[test]
fn reports_have_the_claimed_law_and_a_broken_sampler_is_rejected() {
    let long = [0.3, -0.8, 0.1, 0.9, -0.2, 0.05];
    let short = [0.1, -0.2, 0.05, 0.1, 0.0, 0.3];
    let along = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0];
    for (share, input) in [(0.5, long), (0.25, long), (0.0625, long), (0.25, short), (0.25, along), (0.25, [0.0; 6])] {
        let mechanism = TopSet::new(1.5, 6, 1.0, share).unwrap().in_round(seed(4));
        let p = report_p(&mechanism, &mechanism, &input, 100_000, &mut SimulationRng::from_seed(11));
        assert!(p > FALSE_ALARM, "share {share}, {input:?}: p = {p:e}");
        // Where reports are released the same law takes another path. Its coins cannot be seeded.
        let mut release = ReleaseRng::from_operating_system().unwrap();
        let p = report_p(&mechanism, &mechanism, &input, 100_000, &mut release);
        assert!(p > 1e-12, "share {share}, {input:?}: p = {p:e}");
    }
    let mechanism = TopSet::new(1.5, 6, 1.0, 0.25).unwrap().in_round(seed(4));
    // Planted: a little more of the truth, a little less clipping, another round's rotation.
    for broken in [
        TopSet::new(1.65, 6, 1.0, 0.25).unwrap().in_round(seed(4)),
        TopSet::new(1.5, 6, 0.8, 0.25).unwrap().in_round(seed(4)),
        TopSet::new(1.5, 6, 1.0, 0.25).unwrap().in_round(seed(5)),
    ] {
        let p = report_p(&broken, &mechanism, &short, 100_000, &mut SimulationRng::from_seed(11));
        assert!(p < REJECTED, "not seen: p = {p:e}");
    }
}

/// The mean of the decoded reports of `input` over all coins: t times the mean over its own set,
/// because uniform reports have mean 0.
fn expected_estimate(mechanism: &TopSet, input: &[f32]) -> Vec<f64> {
    let mut all = mechanism.aggregator();
    own_set(mechanism, input).iter().for_each(|candidate| all.add(candidate));
    let coin = mechanism.coin_of(input).probability();
    all.mean().unwrap().into_iter().map(|x| x * coin).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The bias of the expected estimate of `input`: cosine with it for one rotation (on average), its
/// length along it, and the cosine of the average over `rotations`.
fn bias(share: f64, input: &[f32], rotations: u64) -> [f64; 3] {
    let mechanism = TopSet::new(2.0, input.len() as u32, 1.0, share).unwrap();
    let truth: Vec<f64> = input.iter().map(|&x| f64::from(x)).collect();
    let length = dot(&truth, &truth).sqrt();
    let mut average = vec![0.0; input.len()];
    let (mut cosine, mut along) = (0.0, 0.0);
    for round in 0..rotations {
        let estimate = expected_estimate(&mechanism.in_round(seed(round)), input);
        let height = dot(&estimate, &truth) / length;
        cosine += height / dot(&estimate, &estimate).sqrt() / rotations as f64;
        along += height / length / rotations as f64;
        average.iter_mut().zip(estimate).for_each(|(sum, x)| *sum += x);
    }
    [cosine, along, dot(&average, &truth) / length / dot(&average, &average).sqrt()]
}

/// A unit vector whose first `support` coordinates are normal, and the others 0.
fn sparse(dimension: usize, support: usize, seed: u64) -> Vec<f32> {
    let mut rng = SimulationRng::from_seed(seed);
    let mut normal = || normal::quantile((rng.bits() >> 11) as f64 / 2.0_f64.powi(53) + 2.0_f64.powi(-54));
    let x: Vec<f64> = (0..dimension).map(|i| if i < support { normal() } else { 0.0 }).collect();
    let length = dot(&x, &x).sqrt();
    x.into_iter().map(|x| (x / length * (1.0 - 1e-7)) as f32).collect()
}

/// The bias that docs/randomizers.md states. `cargo test --test top_set bias -- --nocapture` prints
/// the table.
#[test]
fn the_bias_is_as_documented() {
    const DIMENSION: usize = 512;
    const ROTATIONS: u64 = 100;
    for share in [0.5, 1.0 / 6.0, 1.0 / 16.0] {
        let z = normal::upper_quantile(share);
        let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        for support in [DIMENSION, 100, 10, 3, 1] {
            let [cosine, along, averaged] = bias(share, &sparse(DIMENSION, support, 3), ROTATIONS);
            println!("share {share:.4}, {support} of {DIMENSION}: {cosine:.3} {along:.3} {averaged:.4}");
            // Dense vectors are like normals; along an axis all coordinates of y are alike.
            let (expected_cosine, expected_along) = match support {
                1 => ((2.0 * share).sqrt(), share / density),
                _ => (2.0 * density / (2.0 * share).sqrt(), 1.0),
            };
            if support >= 100 || support == 1 {
                assert!((cosine - expected_cosine).abs() < 0.02, "{share}, {support}: {cosine}, {expected_cosine}");
                assert!((along - expected_along).abs() < 0.03, "{share}, {support}: {along}, {expected_along}");
            }
            // The residual of a rotation is new each time, and 100 of them leave a tenth of it; not
            // so for vectors with a few coordinates that are not 0.
            let [single, residual] = [cosine, averaged].map(|cosine| (1.0 / (cosine * cosine) - 1.0).max(0.0).sqrt());
            if support >= 100 || support == 1 {
                assert!(residual < 1.5 * single / (ROTATIONS as f64).sqrt() + 1e-6, "{share}, {support}: {averaged}");
            }
        }
    }
}

/// At share 1/2 the own set is the sign of y. Of a vector with three coordinates that are not 0
/// each y_j is one of eight signed sums, so that its average over rotations is known exactly. It
/// does not have the direction of the vector.
#[test]
fn the_direction_of_very_sparse_vectors_stays_biased() {
    let x = sparse(512, 3, 3);
    let x: Vec<f64> = x[..3].iter().map(|&x| f64::from(x)).collect();
    let signs = |pattern: usize| (0..3).map(move |i| if pattern >> i & 1 == 0 { 1.0 } else { -1.0 });
    let mut limit = [0.0; 3];
    for pattern in 0..8 {
        let sum: f64 = signs(pattern).zip(&x).map(|(sign, x)| sign * x).sum();
        limit.iter_mut().zip(signs(pattern)).for_each(|(limit, sign)| *limit += sign * sum.signum() / 8.0);
    }
    let expected = dot(&limit, &x) / (dot(&limit, &limit) * dot(&x, &x)).sqrt();
    let [_, _, averaged] = bias(0.5, &sparse(512, 3, 3), 100);
    assert!((averaged - expected).abs() < 0.01, "{averaged}, not {expected}");
    assert!(expected < 0.95, "{expected}");
}

/// From reports, through frames and shuffled among rounds as a simulation does.
#[test]
fn the_mean_is_found_from_reports() {
    const ROUNDS: u64 = 60;
    let spec = RandomizerSpec::new(Mechanism::TopSet { local_epsilon: 2.0, dimension: 50, share: 0.1667 }).unwrap();
    let mechanism = vector_randomizer(spec, VectorShape { dimension: 50, clip: 2.0 }).unwrap();
    // Half the clients hold one vector, of the clipping norm, half another of a quarter of it.
    let (one, other) = (sparse(50, 50, 1), sparse(50, 50, 2));
    let one: Vec<f32> = one.iter().map(|x| 2.0 * x).collect();
    let other: Vec<f32> = other.iter().map(|x| 0.5 * x).collect();
    let truth: Vec<f64> = one.iter().zip(&other).map(|(&x, &y)| f64::from(x + y) / 2.0).collect();
    let mut average = [0.0; 50];
    let mut frame = vec![0; mechanism.frame_len()];
    for round in 0..ROUNDS {
        let mechanism = mechanism.in_round(seed(round));
        let mut heard = mechanism.aggregator();
        for client in 0..2000 {
            let mut rng = SimulationRng::named([1, 2, round, client]);
            let input = if client % 2 == 0 { &one } else { &other };
            mechanism.randomize_into(input, &mut rng, &mut frame).unwrap();
            heard.add_frame(&frame).unwrap();
        }
        average.iter_mut().zip(heard.mean().unwrap()).for_each(|(sum, x)| *sum += x / ROUNDS as f64);
    }
    let error: Vec<f64> = average.iter().zip(&truth).map(|(x, y)| x - y).collect();
    let (error, length) = (dot(&error, &error).sqrt(), dot(&truth, &truth).sqrt());
    // One report has a variance of 1.67·C² a coordinate: √(50·1.67·4/120,000) = 0.053, and
    // √(1/3)/√60 of ‖x‖ is the residual.
    assert!(error < 0.2 * length, "{error} of {length}");
}

#[test]
fn frames_have_their_length_and_nothing_else_is_decoded() {
    for (dimension, bytes) in [(2, 1), (64, 1), (128, 1), (129, 2), (16_384, 2), (32_768, 2), (32_769, 3)] {
        let mechanism = TopSet::new(2.0, dimension, 1.0, 0.25).unwrap();
        assert_eq!(mechanism.frame_len(), bytes, "d = {dimension}");
        let mut frame = vec![0; bytes];
        let last = mechanism.size().candidates - 1;
        for word in [0, 1, last / 2, last] {
            mechanism.encode(&candidate(word), &mut frame);
            assert_eq!(frame, word.to_le_bytes()[..bytes]);
            assert_eq!(mechanism.decode(&frame).unwrap(), candidate(word));
        }
        assert!(mechanism.decode(&vec![0; bytes + 1]).is_err() && mechanism.decode(&vec![0; bytes - 1]).is_err());
        if let Some(beyond) = (last + 1).to_le_bytes().get(..bytes).filter(|frame| frame.iter().any(|&byte| byte != 0))
        {
            assert!(mechanism.decode(beyond).is_err(), "d = {dimension}");
        }
    }
}

#[test]
fn what_cannot_be_randomized_is_refused_and_flips_no_coin() {
    let mechanism = TopSet::new(1.0, 4, 1.0, 0.25).unwrap();
    for input in [
        &[0.0, f32::NAN, 0.0, 0.0][..],
        &[f32::INFINITY, 0.0, 0.0, 0.0],
        &[f32::NEG_INFINITY, f32::INFINITY, 0.0, 0.0],
        &[0.0; 3],
        &[0.0; 8],
        &[],
    ] {
        let mut rng = SimulationRng::from_seed(1);
        assert!(matches!(mechanism.randomize(input, &mut rng), Err(RandomizerError::Input { .. })), "{input:?}");
        assert_eq!(rng.bits(), SimulationRng::from_seed(1).bits());
    }
    for (epsilon, dimension, clip, share) in [
        (1.0, 4, 1.0, 0.0),
        (1.0, 4, 1.0, -0.1),
        (1.0, 4, 1.0, 0.500_001),
        (1.0, 4, 1.0, f64::NAN),
        (1.0, 4, 1.0, f64::INFINITY),
        (1.0, 0, 1.0, 0.25),
        (1.0, 1, 1.0, 0.25),
        (0.0, 4, 1.0, 0.25),
        (-1.0, 4, 1.0, 0.25),
        (f64::NAN, 4, 1.0, 0.25),
        (1e-30, 4, 1.0, 0.25),
        (1.0, 4, 0.0, 0.25),
        (1.0, 4, f32::NAN, 0.25),
        (1.0, 4, f32::INFINITY, 0.25),
    ] {
        assert!(TopSet::new(epsilon, dimension, clip, share).is_err(), "{epsilon} {dimension} {clip} {share}");
    }
}

#[test]
fn only_aggregates_of_one_round_are_merged() {
    let mechanism = TopSet::new(1.0, 5, 1.0, 0.25).unwrap();
    let with_one = |mechanism: &TopSet| {
        let mut aggregate = mechanism.aggregator();
        aggregate.add(&candidate(3));
        aggregate
    };
    let mut aggregate = with_one(&mechanism.in_round(seed(1)));
    for other in [
        mechanism.in_round(seed(2)),
        TopSet::new(2.0, 5, 1.0, 0.25).unwrap().in_round(seed(1)),
        TopSet::new(1.0, 6, 1.0, 0.25).unwrap().in_round(seed(1)),
        TopSet::new(1.0, 5, 2.0, 0.25).unwrap().in_round(seed(1)),
    ] {
        assert!(aggregate.merge(with_one(&other)).is_err());
        assert_eq!(aggregate.count(), 1);
    }
    aggregate.merge(with_one(&mechanism.in_round(seed(1)))).unwrap();
    assert_eq!(aggregate.count(), 2);
    assert!(mechanism.aggregator().mean().is_err());
}
