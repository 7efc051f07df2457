//! Equal rounds have one ε, whether the catalogue is asked about them or the accountant was told.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Mechanism, Output, Question, RandomizerSpec, Release, Round, Scheme};
use std::collections::BTreeSet;

/// Few clients and many, plain, sampled, checking in; randomizers of every structure.
fn settings() -> Vec<(Round, u64)> {
    let schemes = [
        Scheme::shuffle(20).unwrap(),
        Scheme::shuffle(400).unwrap(),
        Scheme::subsampled(60_000, 600).unwrap(),
        Scheme::check_in(20_000, 0.05, 0.1).unwrap(),
    ];
    let mechanisms = [
        Mechanism::Any { local_epsilon: 2.0 },
        Mechanism::Rr { local_epsilon: 1.0 },
        Mechanism::Krr { local_epsilon: 2.0, categories: 8 },
        Mechanism::LdpSgd { local_epsilon: 2.0 },
        Mechanism::PrivUnit { local_epsilon: 4.0, dimension: 100 },
        Mechanism::TopSet { local_epsilon: 2.0, dimension: 1000, share: 0.125 },
        Mechanism::DiscreteLaplace { local_epsilon: 3.0 },
        Mechanism::Sequential { local_epsilon: 1.0 },
        Mechanism::Approximate { local_epsilon: 1.0, local_delta: 1e-12 },
        Mechanism::Gaussian { sigma: 4.0 },
        // Too little noise for shuffling to hide anything: only the local guarantee is left.
        Mechanism::Gaussian { sigma: 0.05 },
        Mechanism::DiscreteGaussian { sigma: 6.0 },
        Mechanism::RoundedGaussian { sigma: 6.0 },
    ];
    let mut settings = Vec::new();
    for (place, scheme) in schemes.into_iter().enumerate() {
        for (kind, mechanism) in mechanisms.into_iter().enumerate() {
            let rounds = [1, 10, 1000][(place + kind) % 3];
            settings.push((Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() }, rounds));
        }
    }
    settings
}

fn told(round: Round, rounds: u64) -> Accountant {
    let mut accountant = Accountant::new();
    accountant.compose(round, rounds).unwrap();
    accountant
}

fn best(round: Round, rounds: u64, target: Target) -> (f64, &'static str) {
    let question = Question::new(round, rounds).unwrap();
    let survey = catalogue::survey(&question, target, &Options::default()).unwrap();
    let best = survey.best_upper(Standing::Rigorous).unwrap();
    (best.value, best.id)
}

#[test]
fn the_accountant_has_the_catalogues_best_epsilon() {
    let delta = 1e-6;
    let mut ids = BTreeSet::new();
    for (round, rounds) in settings() {
        let (best, id) = best(round, rounds, Target::EpsilonAt { delta });
        let accountant = told(round, rounds);
        let epsilon = accountant.epsilon(delta).unwrap();
        assert_eq!(epsilon.to_bits(), best.to_bits(), "{round:?} {rounds}: {epsilon} and {best} by {id}");
        assert!(accountant.is_within(epsilon, delta).unwrap(), "{round:?} {rounds}");
        assert!(!accountant.is_within(epsilon.next_down(), delta).unwrap(), "{round:?} {rounds}");
        assert!(!accountant.is_within(f64::NAN, delta).unwrap(), "{round:?} {rounds}");
        ids.insert(id);
    }
    // The settings are such that not always the same method wins.
    let expected = ["displacement-one-bit-pld", "local-composition", "rr-envelope-pld", "two-level-pld"];
    assert!(ids.len() >= 6 && expected.iter().all(|id| ids.contains(id)), "{ids:?}");
}

#[test]
fn the_accountant_has_the_catalogues_best_delta() {
    for (round, rounds) in settings().into_iter().step_by(3) {
        // Where ε at 1e-6 is.
        let epsilon = told(round, rounds).epsilon(1e-6).unwrap();
        let epsilon = if epsilon.is_finite() { 0.9 * epsilon } else { 1.0 };
        let (best, id) = best(round, rounds, Target::DeltaAt { epsilon });
        let delta = told(round, rounds).delta(epsilon).unwrap();
        assert_eq!(delta.to_bits(), best.to_bits(), "{round:?} {rounds}: {delta} and {best} by {id}");
    }
}

/// A composition of different mechanisms never costs more than the sum of all local ε.
#[test]
fn local_epsilons_add_up_at_the_most() {
    let round =
        |mechanism| Round { scheme: Scheme::shuffle(5).unwrap(), randomizer: RandomizerSpec::new(mechanism).unwrap() };
    let mut accountant = told(round(Mechanism::Rr { local_epsilon: 1.0 }), 1);
    accountant.compose(round(Mechanism::Any { local_epsilon: 0.5 }), 1).unwrap();
    accountant.compose_release(Release::new(Output::Laplace { epsilon: 0.25 }).unwrap(), 1).unwrap();
    let local = accountant.local_epsilon();
    assert!((local - 1.75).abs() < 1e-14);
    assert!(accountant.epsilon(1e-12).unwrap() <= local && accountant.is_within(local, 1e-12).unwrap());
    assert!(!accountant.is_within(0.5 * local, 1e-12).unwrap());
    assert!(accountant.delta(local).unwrap().abs() < f64::MIN_POSITIVE);
    assert!(accountant.delta(0.9 * local).unwrap() > 0.0);
}
