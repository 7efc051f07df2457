//! More clients or more noise never cost more, and more rounds never less.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{Options, Survey, Target, survey};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

/// Lattices differ from one question to the next, which moves a bound by about this share.
const LATTICE: f64 = 2e-3;

fn ask(scheme: Scheme, mechanism: Mechanism, rounds: u64, delta: f64) -> Survey {
    let round = Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() };
    survey(&Question::new(round, rounds).unwrap(), Target::EpsilonAt { delta }, &Options::default()).unwrap()
}

fn upper(scheme: Scheme, mechanism: Mechanism, rounds: u64, delta: f64) -> f64 {
    ask(scheme, mechanism, rounds, delta).best_upper(Standing::Rigorous).unwrap().value
}

fn lower(scheme: Scheme, mechanism: Mechanism, rounds: u64, delta: f64) -> f64 {
    ask(scheme, mechanism, rounds, delta).best_lower().map_or(0.0, |bound| bound.value)
}

/// Checks that `values` do not increase, but for what lattices move them.
fn assert_falls(what: &str, values: impl IntoIterator<Item = (f64, f64)>) {
    let mut least = f64::INFINITY;
    for (at, value) in values {
        assert!(value <= least * (1.0 + LATTICE) + 1e-9, "{what}: {value} at {at}, after {least}");
        least = least.min(value);
    }
}

#[test]
fn more_clients_do_not_cost_more_at_check_in() {
    for (mechanism, rounds, delta) in [
        (Mechanism::Krr { local_epsilon: 0.1, categories: 2 }, 10_000, 1e-12),
        (Mechanism::Krr { local_epsilon: 0.1, categories: 10 }, 10_000, 1e-12),
        (Mechanism::Sequential { local_epsilon: 4.0 }, 10, 1e-9),
    ] {
        let at = |clients: f64| upper(Scheme::check_in(clients as u64, 0.3, 0.0).unwrap(), mechanism, rounds, delta);
        let values = [1e6, 1e9, 1e11, 1e12, 1e13, 1e15].map(|clients| (clients, at(clients)));
        assert_falls(&format!("{mechanism:?}"), values);
    }
}

/// A δ0 stays, however many there are, and is not what is asked about.
#[test]
fn more_clients_do_not_cost_more_with_a_local_delta() {
    let mechanism = Mechanism::Approximate { local_epsilon: 0.5, local_delta: 1e-14 };
    for (rounds, delta) in [(10, 1e-11), (10, 1e-12), (2, 1e-12), (1, 1e-13)] {
        let at = |clients: f64| upper(Scheme::shuffle(clients as u64).unwrap(), mechanism, rounds, delta);
        let values = [1e4, 1e5, 1e6, 5e6, 5e7, 1e9, 1e12].map(|clients| (clients, at(clients)));
        assert_falls(&format!("{rounds} rounds, δ = {delta:e}"), values);
    }
}

#[test]
fn more_clients_do_not_cost_more_with_heavy_tails() {
    for mechanism in [Mechanism::Gaussian { sigma: 2.0 }, Mechanism::DiscreteGaussian { sigma: 6.0 }] {
        let at = |clients: f64| upper(Scheme::shuffle(clients as u64).unwrap(), mechanism, 100, 1e-5);
        assert_falls(&format!("{mechanism:?}"), [1e6, 1e8, 3e8, 1e9, 6e13].map(|clients| (clients, at(clients))));
    }
}

#[test]
fn more_noise_does_not_cost_more() {
    for scheme in [Scheme::shuffle(60_000_000_000_000).unwrap(), Scheme::check_in(10_000, 0.1, 0.0).unwrap()] {
        let at = |sigma: f64| upper(scheme, Mechanism::DiscreteGaussian { sigma }, 10, 1e-8);
        assert_falls(&format!("{scheme:?}"), [2.0, 4.6, 6.0, 20.0].map(|sigma| (sigma, at(sigma))));
    }
}

#[test]
fn more_rounds_do_not_lose_less() {
    let check_in = Scheme::check_in(100_000, 0.2, 0.0).unwrap();
    for (scheme, sigma, delta, rounds) in [
        (check_in, 0.5, 1e-9, [1_000, 10_000, 30_000, 100_000]),
        (check_in, 1.0, 1e-9, [1, 10, 100, 1_000]),
        (Scheme::shuffle(1_000).unwrap(), 1.0, 1e-9, [1, 10, 100, 1_000]),
    ] {
        let at = |rounds: u64| lower(scheme, Mechanism::Gaussian { sigma }, rounds, delta);
        let mut most = 0.0;
        for (rounds, value) in rounds.map(|rounds| (rounds, at(rounds))) {
            assert!(value >= most * (1.0 - LATTICE), "σ = {sigma}: {value} in {rounds} rounds, {most} in fewer");
            most = f64::max(most, value);
        }
        assert!(most > 1.0, "σ = {sigma}: {most}");
    }
}
