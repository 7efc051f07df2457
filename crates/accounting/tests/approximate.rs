//! The (ε0, δ0) route as the catalogue gives it: the numbers it must reach, what must be monotone, and what it refuses.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::{Bound, Standing};
use shuffledp_accounting::catalogue::{Options, Target, ask, method, survey};
use shuffledp_accounting::pair::{Direction, upper};
use shuffledp_accounting::pld::{LossLattice, Rounds};
use shuffledp_accounting::published::fmt21;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::sync::Arc;

fn round(scheme: Scheme, mechanism: Mechanism) -> Round {
    Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("a valid mechanism") }
}

fn answer(id: &str, round: Round, rounds: u64, target: Target) -> Bound {
    let question = Question::new(round, rounds).expect("a valid question");
    ask(method(id).expect("a registered method"), &question, target, &Options::default()).expect("an answer")
}

fn epsilon(id: &str, scheme: Scheme, mechanism: Mechanism, rounds: u64, delta: f64) -> f64 {
    answer(id, round(scheme, mechanism), rounds, Target::EpsilonAt { delta }).value
}

const GAUSSIAN: &str = "gaussian-approximate-pld";
const DISCRETE: &str = "discrete-gaussian-approximate-pld";
const FIXED: &str = "approximate-pld";

fn check_in() -> Scheme {
    Scheme::check_in(60_000, 0.1, 0.0).expect("a valid scheme")
}

#[test]
fn the_gaussian_headline_is_reached_and_is_the_default() {
    let question = Question::new(round(check_in(), Mechanism::Gaussian { sigma: 5.0 }), 5540).unwrap();
    let survey = survey(&question, Target::EpsilonAt { delta: 1e-5 }, &Options::default()).unwrap();
    let best = survey.best_upper(Standing::Rigorous).unwrap();
    assert_eq!(best.id, GAUSSIAN);
    assert!((best.value / 3.16 - 1.0).abs() < 0.01, "{}", best.value);
    assert!(best.note.contains("taken as (ε0, δ0) = (2."), "{}", best.note);
}

#[test]
fn where_noise_is_small_the_local_guarantee_is_the_default() {
    let question = Question::new(round(check_in(), Mechanism::Gaussian { sigma: 1.0 }), 100).unwrap();
    let survey = survey(&question, Target::EpsilonAt { delta: 1e-5 }, &Options::default()).unwrap();
    assert_eq!(survey.best_upper(Standing::Rigorous).unwrap().id, "gaussian-local-rdp");
    // The route itself says so, and does not invent a number.
    let route = survey.bounds.iter().find(|bound| bound.id == GAUSSIAN).unwrap();
    assert!(route.value.is_infinite() && route.note.contains("exceeds δ"), "{route:?}");
}

/// The search may stop anywhere; this is where it should. A fine scan over ε0, with the two steps written out.
#[test]
fn the_search_finds_what_a_scan_finds() {
    use shuffledp_accounting::published::gdp;
    let (clients, sigma, delta) = (5_000, 5.0, 1e-6);
    for (sampled, rounds) in [(5_000, 3), (500, 200)] {
        let scheme = Scheme::subsampled(clients, sampled).unwrap();
        let found = epsilon(GAUSSIAN, scheme, Mechanism::Gaussian { sigma }, rounds, delta);
        let (mut reached, mut undercut) = (false, false);
        for step in 0..60 {
            let local_epsilon = 1.8 + 0.04 * f64::from(step);
            let local_delta = gdp::delta_upper(2.0 / sigma, local_epsilon);
            let (k, n) = (sampled as f64, clients as f64);
            let tau = k / n * local_delta + 2.0 * k * (1.0 - 1.0 / n) * (-local_epsilon).exp() * local_delta;
            let pair = upper::any_ldp(&scheme, local_epsilon).unwrap();
            let lattice = Arc::new(LossLattice::new(&pair, Direction::Up, 128.0));
            let composed = Rounds::new(Direction::Up, vec![(lattice, rounds)]);
            let fits =
                |epsilon: f64| composed.delta(epsilon).unwrap() + (1.0 + epsilon.exp()) * rounds as f64 * tau <= delta;
            reached |= fits(found * (1.0 + 1e-3));
            undercut |= fits(found * (1.0 - 1e-3));
        }
        assert!(reached && !undercut, "{found}: reached {reached}, undercut {undercut}");
    }
}

#[test]
fn epsilon_and_delta_are_inverse_to_each_other() {
    for (scheme, sigma, rounds, delta) in [
        (check_in(), 5.0, 5540, 1e-5),
        (Scheme::shuffle(60_000).unwrap(), 5.0, 100, 1e-8),
        (Scheme::subsampled(100_000, 3_000).unwrap(), 3.0, 40, 1e-6),
        (Scheme::shuffle(1_000_000).unwrap(), 2.0, 1, 1e-6),
    ] {
        let mechanism = Mechanism::Gaussian { sigma };
        let epsilon = epsilon(GAUSSIAN, scheme, mechanism, rounds, delta);
        let back = answer(GAUSSIAN, round(scheme, mechanism), rounds, Target::DeltaAt { epsilon }).value;
        // Both searches stop within 1 % of δ of the optimum.
        assert!((back / delta - 1.0).abs() < 0.01, "{scheme:?}: {back:e} {delta:e}");
    }
}

#[test]
fn without_delta_the_route_is_the_clones() {
    let scheme = Scheme::subsampled(100_000, 1_000).unwrap();
    let any = epsilon("any-ldp-pld", scheme, Mechanism::Any { local_epsilon: 2.0 }, 500, 1e-6);
    let tiny = Mechanism::Approximate { local_epsilon: 2.0, local_delta: 1e-30 };
    let route = epsilon(FIXED, scheme, tiny, 500, 1e-6);
    assert!(route >= any && route <= any * (1.0 + 1e-6), "{route} {any}");
    // With δ0 = 0 it is a pure randomizer, and says so.
    let pure =
        Question::new(round(scheme, Mechanism::Approximate { local_epsilon: 2.0, local_delta: 0.0 }), 1).unwrap();
    let target = Target::EpsilonAt { delta: 1e-6 };
    assert!(ask(method(FIXED).unwrap(), &pure, target, &Options::default()).is_err());
    assert!(ask(method("any-ldp-pld").unwrap(), &pure, target, &Options::default()).is_ok());
}

#[test]
fn better_than_the_published_route_for_one_shuffle() {
    let scheme = Scheme::shuffle(100_000).unwrap();
    let mechanism = Mechanism::Approximate { local_epsilon: 1.0, local_delta: 1e-14 };
    let ours = epsilon(FIXED, scheme, mechanism, 1, 1e-6);
    let published = epsilon("clones-closed-form", scheme, mechanism, 1, 1e-6);
    assert!(ours < published, "{ours} {published}");
    // Feldman, McMillan, Talwar charge (e^ε+1)(1+e^−ε0/2)·n·δ0; we charge less.
    let local = (1.0_f64, 1e-14);
    let charged = (1.0 + f64::exp(0.1)) * local.1 * (1.0 + 2.0 * 99_999.0 * (-local.0).exp());
    assert!(charged < fmt21::delta_addition_upper(0.1, local.0, local.1, 100_000));
}

#[test]
fn monotone_in_everything() {
    // Where the search stops moves ε by at most 1e-3 of itself.
    let slack = 1.0 + 1e-3;
    let base = |sigma: f64, clients: u64, rate: f64, rounds: u64| {
        epsilon(GAUSSIAN, Scheme::check_in(clients, rate, 0.0).unwrap(), Mechanism::Gaussian { sigma }, rounds, 1e-6)
    };
    let falls = |values: Vec<f64>| values.windows(2).all(|pair| pair[1] <= pair[0] * slack);
    assert!(falls([2.0, 3.0, 5.0, 9.0, 30.0].map(|sigma| base(sigma, 20_000, 0.2, 50)).to_vec()));
    assert!(falls([2_000, 10_000, 50_000, 400_000].map(|clients| base(5.0, clients, 0.2, 50)).to_vec()));
    assert!(falls([1.0, 0.7, 0.3, 0.05].map(|rate| base(5.0, 20_000, rate, 50)).to_vec()));
    assert!(falls([5_000, 500, 50, 5, 1].map(|rounds| base(5.0, 20_000, 0.2, rounds)).to_vec()));
}

#[test]
fn certain_check_in_and_a_sample_of_all_are_a_shuffle() {
    let mechanism = Mechanism::Gaussian { sigma: 4.0 };
    let shuffle = epsilon(GAUSSIAN, Scheme::shuffle(20_000).unwrap(), mechanism, 20, 1e-6);
    for scheme in [Scheme::check_in(20_000, 1.0, 0.0).unwrap(), Scheme::subsampled(20_000, 20_000).unwrap()] {
        let value = epsilon(GAUSSIAN, scheme, mechanism, 20, 1e-6);
        assert!((value / shuffle - 1.0).abs() < 1e-3, "{scheme:?}: {value} {shuffle}");
    }
}

#[test]
fn the_discrete_gaussian_pays_for_knowing_less() {
    let continuous = epsilon(GAUSSIAN, check_in(), Mechanism::Gaussian { sigma: 5.0 }, 100, 1e-5);
    let discrete = epsilon(DISCRETE, check_in(), Mechanism::DiscreteGaussian { sigma: 5.0 }, 100, 1e-5);
    assert!(continuous < discrete && discrete < 1.15 * continuous, "{continuous} {discrete}");
}

#[test]
fn extreme_questions_have_an_answer_or_a_reason() {
    for scheme in [
        Scheme::shuffle(1).unwrap(),
        Scheme::shuffle(2).unwrap(),
        Scheme::shuffle(1 << 53).unwrap(),
        Scheme::subsampled(1 << 53, 1).unwrap(),
        Scheme::check_in(1 << 53, 0.5, 0.0).unwrap(),
        Scheme::check_in(3, 1e-12, 0.0).unwrap(),
    ] {
        for mechanism in [
            Mechanism::Gaussian { sigma: 1e-300 },
            Mechanism::Gaussian { sigma: 1e-3 },
            Mechanism::Gaussian { sigma: 1e300 },
            Mechanism::DiscreteGaussian { sigma: 1e-3 },
            Mechanism::Approximate { local_epsilon: 0.0, local_delta: 0.5 },
            Mechanism::Approximate { local_epsilon: 40.0, local_delta: 1e-9 },
            Mechanism::Approximate { local_epsilon: 1.0, local_delta: 5e-324 },
        ] {
            for rounds in [1, 1_000] {
                let question = Question::new(round(scheme, mechanism), rounds).unwrap();
                for id in [GAUSSIAN, DISCRETE, FIXED] {
                    for target in [
                        Target::EpsilonAt { delta: 1e-300 },
                        Target::EpsilonAt { delta: 0.999 },
                        Target::DeltaAt { epsilon: 0.0 },
                        Target::DeltaAt { epsilon: 1e300 },
                    ] {
                        // `ask` refuses NaN and negative numbers; whatever comes back is a bound or a reason.
                        match ask(method(id).unwrap(), &question, target, &Options::default()) {
                            Ok(bound) => assert!(bound.value >= 0.0),
                            Err(error) => assert!(!error.to_string().is_empty()),
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_accountant_takes_approximate_rounds() {
    let gaussian = round(check_in(), Mechanism::Gaussian { sigma: 5.0 });
    let mut accountant = Accountant::new();
    accountant.compose(gaussian, 5000).unwrap();
    accountant.compose(gaussian, 540).unwrap();
    let alone = epsilon(GAUSSIAN, check_in(), Mechanism::Gaussian { sigma: 5.0 }, 5540, 1e-5);
    let ledger = accountant.epsilon(1e-5).unwrap();
    assert!((ledger / alone - 1.0).abs() < 1e-9, "{ledger} {alone}");

    // Together with others: more than either alone, less than the sum of both at half the δ.
    let pure = round(Scheme::subsampled(60_000, 3_000).unwrap(), Mechanism::LdpSgd { local_epsilon: 2.0 });
    let fixed = round(check_in(), Mechanism::Approximate { local_epsilon: 1.0, local_delta: 1e-15 });
    let single = |round, count| {
        let mut accountant = Accountant::new();
        accountant.compose(round, count).unwrap();
        accountant
    };
    let parts = [single(gaussian, 1000), single(pure, 2000), single(fixed, 500)];
    let mut all = Accountant::new();
    parts.iter().for_each(|part| all.merge(part).unwrap());
    let together = all.epsilon(3e-5).unwrap();
    let apart: f64 = parts.iter().map(|part| part.epsilon(1e-5).unwrap()).sum();
    let largest = parts.iter().map(|part| part.epsilon(3e-5).unwrap()).fold(0.0, f64::max);
    assert!(largest < together && together < apart, "{largest} {together} {apart}");
    let delta = all.delta(together).unwrap();
    // The total variation is shared equally, which fits rounds of one fixed δ0 badly: both searches are a little off.
    assert!((delta / 3e-5 - 1.0).abs() < 0.05, "{delta:e}");

    // Saved and loaded, it says the same.
    let loaded = Accountant::load(&all.save().unwrap()).unwrap();
    assert_eq!(loaded, all);
}

#[test]
fn the_accountant_refuses_what_it_cannot_count() {
    let mut accountant = Accountant::new();
    let hopeless = round(check_in(), Mechanism::Approximate { local_epsilon: 40.0, local_delta: 1e-9 });
    assert!(accountant.compose(hopeless, 1).is_err() && accountant.ledger().is_empty());
    // Too little noise: recorded, and the answer promises nothing.
    accountant.compose(round(check_in(), Mechanism::Gaussian { sigma: 0.5 }), 1000).unwrap();
    assert!(accountant.epsilon(1e-5).unwrap().is_infinite());
    assert!(accountant.delta(1.0).unwrap() >= 1.0);
}
