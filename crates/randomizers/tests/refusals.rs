//! Invalid parameters, inputs and reports are refused, and then nothing is sent or changed.
#![allow(clippy::unwrap_used)]

use shuffledp_randomizers::clip::LinfClip;
use shuffledp_randomizers::{Aggregator, Duchi, Krr, R1, RInf, Randomizer, RandomizerError, Result, SimulationRng};

const BAD_VECTORS: [&[f32]; 8] = [
    &[],
    &[0.0],
    &[0.0, 0.0],
    &[0.0, 0.0, 0.0, 0.0],
    &[f32::NAN, 0.0, 0.0],
    &[0.0, 0.0, f32::NAN],
    &[0.0, f32::INFINITY, 0.0],
    &[0.0, f32::NEG_INFINITY, 0.0],
];

fn refuses_bad_vectors<M: Randomizer<Input = [f32]>>(mechanism: &M) {
    let mut rng = SimulationRng::from_seed(1);
    for input in BAD_VECTORS {
        let refused = mechanism.randomize(input, &mut rng);
        assert!(matches!(refused, Err(RandomizerError::Input { .. })), "{input:?}: {refused:?}");
    }
    // Extremes that are numbers are fine.
    for input in [[0.0, -0.0, 1e-45], [f32::MAX, -f32::MAX, f32::MAX], [f32::MIN_POSITIVE; 3]] {
        mechanism.randomize(&input, &mut rng).unwrap();
    }
}

#[test]
fn vectors() {
    let r_inf = RInf::new(1.0, 3, 1.0).unwrap();
    refuses_bad_vectors(&r_inf);
    refuses_bad_vectors(&R1::new(1.0, 3, 1.0).unwrap());
    refuses_bad_vectors(&Duchi::new(1.0, 3, 1.0).unwrap());
    for x in [f32::NAN, f32::INFINITY] {
        assert!(r_inf.randomize_coordinate(0, x, &mut SimulationRng::from_seed(1)).is_err());
    }
}

#[test]
fn one_bad_number_anywhere_in_a_long_vector() {
    let mechanism = Duchi::new(1.0, 77, 1.0).unwrap();
    for position in 0..77 {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut input = [0.1; 77];
            input[position] = bad;
            assert!(mechanism.randomize(&input, &mut SimulationRng::from_seed(1)).is_err(), "{bad} at {position}");
        }
    }
}

#[test]
fn the_message_does_not_give_the_input_away() {
    let message =
        Krr::new(1.0, 10).unwrap().randomize(&4711, &mut SimulationRng::from_seed(1)).unwrap_err().to_string();
    assert!(message.contains("10") && !message.contains("4711"), "{message}");
}

#[test]
fn categories() {
    let mut rng = SimulationRng::from_seed(1);
    for (mechanism, categories) in [(Krr::binary(1.0).unwrap(), 2), (Krr::new(1.0, 300).unwrap(), 300)] {
        for input in [categories, categories + 1, u64::MAX] {
            assert!(matches!(mechanism.randomize(&input, &mut rng), Err(RandomizerError::Input { .. })));
        }
    }
}

/// The constructors of vector mechanisms by their names in messages.
fn vector_mechanisms(epsilon: f64, dimension: u32, bound: f32) -> [Result<()>; 4] {
    [
        RInf::new(epsilon, dimension, bound).map(drop),
        R1::new(epsilon, dimension, bound).map(drop),
        Duchi::new(epsilon, dimension, bound).map(drop),
        Duchi::ldp_sgd(epsilon, dimension, bound).map(drop),
    ]
}

#[test]
fn parameters() {
    let named = |result: Result<()>, name: &str| {
        let message = result.expect_err(name).to_string();
        assert!(message.contains(name), "{message}");
    };
    for epsilon in [0.0, -1.0, 1e-300, 1e-19, f64::NAN, f64::INFINITY] {
        vector_mechanisms(epsilon, 3, 1.0).into_iter().for_each(|refused| named(refused, "local-epsilon"));
        named(Krr::binary(epsilon).map(drop), "local-epsilon");
        named(Krr::new(epsilon, 5).map(drop), "local-epsilon");
    }
    for bound in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        vector_mechanisms(1.0, 3, bound).into_iter().for_each(|refused| named(refused, "clip"));
    }
    vector_mechanisms(1.0, 0, 1.0).into_iter().for_each(|refused| named(refused, "dimension"));
    named(R1::new(1.0, (1 << 31) + 1, 1.0).map(drop), "dimension");
    for categories in [0, 1, (1 << 28) + 1, u64::MAX] {
        named(Krr::new(1.0, categories).map(drop), "categories");
    }
}

#[test]
fn the_least_and_the_largest_parameters_work() {
    let mut rng = SimulationRng::from_seed(1);
    for epsilon in [1e-17, 1e-9, 36.0, 50.0, 800.0, f64::MAX] {
        for bound in [f32::from_bits(1), 1.0, f32::MAX] {
            vector_mechanisms(epsilon, 1, bound).into_iter().for_each(|made| made.unwrap());
            let duchi = Duchi::new(epsilon, 1, bound).unwrap();
            let report = duchi.randomize(&[bound], &mut rng).unwrap();
            let mut aggregator = duchi.aggregator();
            aggregator.add(&report);
            assert!(aggregator.mean().unwrap()[0].abs() >= f64::from(bound) * (1.0 - 1e-9));
        }
        let krr = Krr::new(epsilon, 3).unwrap();
        assert!(krr.randomize(&2, &mut rng).unwrap() < 3);
    }
}

#[test]
fn a_huge_vector_keeps_its_direction_however_small_the_bound() {
    let huge = [f32::MAX, -f32::MAX, f32::MAX / 2.0];
    for bound in [f32::from_bits(1), 0.3] {
        let r_inf = RInf::new(1.0, 3, bound).unwrap().with_clip(LinfClip::Scale);
        let lean = |input: &[f32], index| r_inf.sign_coin(input, index).threshold();
        assert_eq!(lean(&huge, 0), lean(&[bound; 3], 0));
        assert_eq!(lean(&huge, 1), lean(&[-bound; 3], 1));
        assert!(lean(&huge, 2) > 1 << 63 && lean(&huge, 2) < lean(&huge, 0));
        // Σ|x_j| is 2.5 of the largest: the first Hadamard coordinate of (2, −2, 1)/5 is 1/5.
        let r_1 = R1::new(1.0, 3, bound).unwrap();
        let of_one = |index| r_1.sign_coin(&[bound, 0.0, 0.0], index).probability() - 0.5;
        assert!((r_1.sign_coin(&huge, 0).probability() - 0.5 - of_one(0) / 5.0).abs() < 1e-7);
        let duchi = Duchi::new(1.0, 3, bound).unwrap();
        assert_eq!(duchi.sign_coin(&huge, 4), duchi.sign_coin(&[0.5 * f32::MAX, -0.5 * f32::MAX, 0.25 * f32::MAX], 4));
        assert_ne!(duchi.sign_coin(&huge, 4).threshold(), 1 << 63);
    }
}

#[test]
fn empty_and_mixed_aggregates() {
    let r_1 = |dimension, bound| R1::new(1.0, dimension, bound).unwrap().aggregator();
    let duchi = |dimension, bound| Duchi::new(1.0, dimension, bound).unwrap().aggregator();
    let krr = |epsilon, categories| Krr::new(epsilon, categories).unwrap().aggregator();
    let r_inf = |dimension, bound| RInf::new(1.0, dimension, bound).unwrap().aggregator();
    assert!(r_1(3, 1.0).mean().is_err() && duchi(3, 1.0).mean().is_err());
    assert!(krr(1.0, 3).mean().is_err() && r_inf(3, 1.0).mean().is_err());
    assert!(r_1(3, 1.0).merge(r_1(3, 1.0)).is_ok() && r_1(3, 1.0).merge(r_1(4, 1.0)).is_err());
    assert!(r_1(3, 1.0).merge(r_1(3, 2.0)).is_err() && r_inf(3, 1.0).merge(r_inf(3, 2.0)).is_err());
    assert!(duchi(3, 1.0).merge(duchi(4, 1.0)).is_err() && duchi(3, 1.0).merge(duchi(3, 2.0)).is_err());
    assert!(krr(1.0, 3).merge(krr(1.0, 4)).is_err() && krr(1.0, 3).merge(krr(2.0, 3)).is_err());
}
