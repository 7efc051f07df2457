//! ε after every round of different kinds, composed incrementally: never below the truth, hardly
//! above what composing everything anew gives.
#![allow(clippy::unwrap_used)]

use shuffledp_accounting::accountant::{Accountant, Running};
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{Mechanism, Output, RandomizerSpec, Release, Round, Scheme};

const DELTA: f64 = 1e-7;

/// No two alike: samples of different sizes, and three randomizers.
fn round(i: u64) -> Round {
    let scheme = Scheme::subsampled(60_000, 400 + 3 * i).unwrap();
    let mechanism = match i % 3 {
        0 => Mechanism::LdpSgd { local_epsilon: 2.0 },
        1 => Mechanism::Any { local_epsilon: 1.5 },
        _ => Mechanism::Krr { local_epsilon: 2.0, categories: 5 },
    };
    Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() }
}

/// Both sides: what is kept is at most 0.1 % above what is composed anew, and below it by no more
/// than two upper bounds on one number may differ.
#[test]
fn after_every_round_it_is_what_composing_anew_gives() {
    let (mut accountant, mut running) = (Accountant::new(), Running::default());
    let mut last = 0.0;
    for i in 0..48 {
        accountant.compose(round(i), 1 + i % 2).unwrap();
        let epsilon = running.epsilon(&accountant, DELTA).unwrap();
        // More rounds leak no less, but for the lattice that a new composition is on.
        assert!(epsilon >= last * (1.0 - 1e-4), "{i}: {epsilon} after {last}");
        last = epsilon;
        if i % 6 == 5 {
            let anew = accountant.epsilon(DELTA).unwrap();
            assert!(epsilon <= anew * 1.001, "{i}: {epsilon} and {anew}");
            assert!(epsilon >= anew * (1.0 - 1e-4), "{i}: {epsilon} and {anew}");
        }
    }
}

/// Different Gaussian outputs are one, whose ε is known: never below it.
#[test]
fn it_is_never_below_the_truth() {
    let (mut accountant, mut running) = (Accountant::new(), Running::default());
    let mut squares = 0.0;
    for i in 0..200_i32 {
        let mu = 0.01 + 0.0001 * f64::from(i);
        accountant.compose_release(Release::new(Output::Gaussian { mu }).unwrap(), 1).unwrap();
        squares += mu * mu;
        let epsilon = running.epsilon(&accountant, DELTA).unwrap();
        let mu = squares.sqrt();
        let delta =
            normal::upper_tail(epsilon / mu - mu / 2.0) - epsilon.exp() * normal::upper_tail(epsilon / mu + mu / 2.0);
        assert!(delta <= DELTA, "{i}: δ is {delta:e} at ε = {epsilon}");
        assert!(delta >= 0.97 * DELTA, "{i}: δ is {delta:e} at ε = {epsilon}");
    }
}

/// A ledger that lost rounds, or another δ, is not mixed up with what was kept.
#[test]
fn another_question_starts_anew() {
    let many = |rounds: std::ops::Range<u64>| {
        let mut accountant = Accountant::new();
        rounds.for_each(|i| accountant.compose(round(i), 1).unwrap());
        accountant
    };
    let mut running = Running::default();
    running.epsilon(&many(0..14), DELTA).unwrap();
    for (accountant, delta) in [(many(0..10), DELTA), (many(3..13), DELTA), (many(3..13), 1e-10), (many(0..3), DELTA)] {
        let (kept, anew) = (running.epsilon(&accountant, delta).unwrap(), accountant.epsilon(delta).unwrap());
        assert!((kept / anew - 1.0).abs() < 1e-3, "{kept} and {anew}");
    }
    assert!(running.epsilon(&many(0..10), 0.0).is_err());
    assert!(running.epsilon(&Accountant::new(), DELTA).unwrap() <= 0.0);
}
