//! Mechanisms by their specs do what the typed ones do.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::{category_randomizer, vector_randomizer};
use shuffledp_randomizers::{Aggregator, PublicSeed, RInf, Randomizer, SimulationRng};

const SHAPE: VectorShape = VectorShape { dimension: 3, clip: 0.5 };

fn spec(mechanism: Mechanism) -> RandomizerSpec {
    RandomizerSpec::new(mechanism).unwrap()
}

fn vector_mechanisms() -> [Mechanism; 11] {
    let local_epsilon = 2.0;
    [
        Mechanism::RInf { local_epsilon },
        Mechanism::R1 { local_epsilon },
        Mechanism::R2 { local_epsilon },
        Mechanism::LdpSgd { local_epsilon },
        Mechanism::PrivUnit { local_epsilon, dimension: 3 },
        // Its estimate is biased, by less than what is asked for here.
        Mechanism::TopSet { local_epsilon, dimension: 3, share: 0.25 },
        Mechanism::Gaussian { sigma: 1.0 },
        Mechanism::DiscreteGaussian { sigma: 1.0 },
        Mechanism::RoundedGaussian { sigma: 1.0 },
        Mechanism::Laplace { local_epsilon },
        Mechanism::DiscreteLaplace { local_epsilon },
    ]
}

#[test]
fn the_estimate_of_every_mechanism_is_near_the_mean() {
    let input = [0.2, -0.1, 0.05];
    for mechanism in vector_mechanisms() {
        let randomizer = vector_randomizer(spec(mechanism), SHAPE).unwrap();
        assert_eq!((randomizer.dimension(), randomizer.spec()), (3, spec(mechanism)));
        let mut rng = SimulationRng::from_seed(5);
        let mut frame = vec![0; randomizer.frame_len()];
        let mut halves = [randomizer.aggregator(), randomizer.aggregator()];
        for i in 0..40_000 {
            randomizer.randomize_into(&input, &mut rng, &mut frame).unwrap();
            halves[i % 2].add_frame(&frame).unwrap();
        }
        let [mut all, other] = halves;
        all.merge(other).unwrap();
        assert_eq!(all.count(), 40_000);
        for (estimate, truth) in all.mean().unwrap().iter().zip(input) {
            // No coordinate of one report deviates by more than 5 in the mean square: six standard
            // deviations of the mean of 40,000.
            assert!((estimate - f64::from(truth)).abs() < 6.0 * 5.0 / 200.0, "{mechanism:?}: {estimate} {truth}");
        }
        assert!(randomizer.randomize_into(&[0.1, 0.2], &mut rng, &mut frame).is_err());
        assert!(randomizer.randomize_into(&input, &mut rng, &mut []).is_err());
        assert!(all.add_frame(&vec![0; randomizer.frame_len() + 1]).is_err());
    }
}

#[test]
fn frames_are_those_of_the_typed_mechanism() {
    let typed = RInf::new(2.0, 3, 0.5).unwrap();
    let erased = vector_randomizer(typed.spec(), SHAPE).unwrap();
    let (mut one, mut two) = (SimulationRng::from_seed(9), SimulationRng::from_seed(9));
    let mut aggregate = typed.aggregator();
    let mut frames = erased.aggregator();
    for _ in 0..100 {
        let report = typed.randomize(&[0.1, 0.2, 0.3], &mut one).unwrap();
        let (mut expected, mut frame) = (vec![0; typed.frame_len()], vec![0; erased.frame_len()]);
        typed.encode(&report, &mut expected);
        erased.randomize_into(&[0.1, 0.2, 0.3], &mut two, &mut frame).unwrap();
        assert_eq!(expected, frame);
        aggregate.add(&report);
        frames.add_frame(&frame).unwrap();
    }
    assert_eq!(aggregate.mean().unwrap(), frames.mean().unwrap());
}

#[test]
fn only_public_randomness_changes_with_the_round() {
    for mechanism in vector_mechanisms() {
        let randomizer = vector_randomizer(spec(mechanism), SHAPE).unwrap();
        let rounds = [PublicSeed([1; 32]), PublicSeed([2; 32])].map(|seed| randomizer.in_round(seed));
        assert!(rounds.iter().all(|round| round.spec() == spec(mechanism)), "{mechanism:?}");
        assert!(rounds.iter().all(|round| round.frame_len() == randomizer.frame_len()), "{mechanism:?}");
        let reports = rounds.each_ref().map(|round| {
            let (mut rng, mut frame) = (SimulationRng::from_seed(3), vec![0; round.frame_len()]);
            let mut one = || {
                round.randomize_into(&[0.5, 0.1, 0.2], &mut rng, &mut frame).unwrap();
                frame.clone()
            };
            (0..50).map(|_| one()).collect::<Vec<_>>()
        });
        // Reports of one round are nothing to another, if it rotates.
        let is_rotated = matches!(mechanism, Mechanism::TopSet { .. });
        assert_eq!(reports[0] != reports[1], is_rotated, "{mechanism:?}");
        let merged = rounds[0].aggregator().merge(rounds[1].aggregator());
        assert_eq!(merged.is_err(), is_rotated, "{mechanism:?}");
    }
}

#[test]
fn categories_too() {
    let krr = category_randomizer(spec(Mechanism::Krr { local_epsilon: 1.0, categories: 5 })).unwrap();
    assert_eq!(krr.categories(), 5);
    let mut rng = SimulationRng::from_seed(1);
    let mut frame = vec![0; krr.frame_len()];
    assert!(krr.randomize_into(5, &mut rng, &mut frame).is_err());
    let mut aggregate = krr.aggregator();
    for _ in 0..20_000 {
        krr.randomize_into(3, &mut rng, &mut frame).unwrap();
        aggregate.add_frame(&frame).unwrap();
    }
    assert!((aggregate.mean().unwrap()[3] - 1.0).abs() < 0.1);
}

#[test]
fn what_does_not_fit_is_refused() {
    for mechanism in [Mechanism::Any { local_epsilon: 1.0 }, Mechanism::Rr { local_epsilon: 1.0 }] {
        assert!(vector_randomizer(spec(mechanism), SHAPE).is_err(), "{mechanism:?}");
    }
    assert!(category_randomizer(spec(Mechanism::RInf { local_epsilon: 1.0 })).is_err());
    // Accounting was told another dimension than is run.
    assert!(vector_randomizer(spec(Mechanism::PrivUnit { local_epsilon: 1.0, dimension: 4 }), SHAPE).is_err());
    let top_set = Mechanism::TopSet { local_epsilon: 1.0, dimension: 4, share: 0.25 };
    assert!(vector_randomizer(spec(top_set), SHAPE).is_err());
    let randomizer = |local_epsilon| vector_randomizer(spec(Mechanism::R1 { local_epsilon }), SHAPE).unwrap();
    let mut one = randomizer(1.0).aggregator();
    assert!(one.merge(randomizer(1.5).aggregator()).is_err());
    assert!(
        one.merge(vector_randomizer(spec(Mechanism::RInf { local_epsilon: 1.0 }), SHAPE).unwrap().aggregator())
            .is_err()
    );
    assert!(one.merge(randomizer(1.0).aggregator()).is_ok());
}
