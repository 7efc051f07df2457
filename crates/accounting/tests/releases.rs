//! Outputs that are not shuffled: against mpmath, and composed with rounds that are.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde::Deserialize;
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{Mechanism, Output, RandomizerSpec, Release, Round, Scheme};

#[derive(Deserialize)]
struct Case {
    output: Output,
    count: u64,
    epsilon: f64,
    delta: f64,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/releases/releases.json")).unwrap()
}

fn released(output: Output, count: u64) -> Accountant {
    let mut accountant = Accountant::new();
    accountant.compose_release(Release::new(output).unwrap(), count).unwrap();
    accountant
}

fn round() -> Round {
    Round {
        scheme: Scheme::subsampled(10_000, 500).unwrap(),
        randomizer: RandomizerSpec::new(Mechanism::Any { local_epsilon: 1.0 }).unwrap(),
    }
}

/// Never below the truth. Above it by what a lattice costs: the loss's variance grows by a share of
/// 1/(6·128²), which moves δ at six deviations by 36 times half of that, and next to the largest
/// loss of all, where nothing else is left, by more.
#[test]
fn delta_is_above_the_truth_and_near_it() {
    for Case { output, count, epsilon, delta } in cases() {
        let upper = released(output, count).delta(epsilon).unwrap();
        assert!(upper >= delta, "{output:?}, {count} times, at {epsilon}: {upper:e} < {delta:e}");
        assert!(upper <= delta * 1.02 + 1e-14, "{output:?}, {count} times, at {epsilon}: {upper:e} against {delta:e}");
    }
}

/// Reading ε at the true δ gives back at least the ε it is the δ of. (Next to δ = 1, δ hardly
/// depends on ε.)
#[test]
fn epsilon_is_above_the_truth_and_near_it() {
    for Case { output, count, epsilon, delta } in cases().into_iter().filter(|case| case.delta < 0.5) {
        let upper = released(output, count).epsilon(delta).unwrap();
        assert!(upper >= epsilon, "{output:?}, {count} times, at δ = {delta:e}: {upper} < {epsilon}");
        assert!(upper <= epsilon * 1.02 + 1e-3, "{output:?}, {count} times, at δ = {delta:e}: {upper} > {epsilon}");
    }
}

#[test]
fn a_release_adds_to_rounds_and_the_order_does_not_matter() {
    let gaussian = Release::new(Output::Gaussian { mu: 0.2 }).unwrap();
    let response = Release::new(Output::RandomizedResponse { noise: 0.9, buckets: 4 }).unwrap();
    let (mut forth, mut back, mut alone) = (Accountant::new(), Accountant::new(), Accountant::new());
    forth.compose(round(), 50).unwrap();
    forth.compose_release(gaussian, 1).unwrap();
    forth.compose_release(response, 3).unwrap();
    for _ in 0..3 {
        back.compose_release(response, 1).unwrap();
    }
    back.compose_release(gaussian, 1).unwrap();
    back.compose(round(), 50).unwrap();
    alone.compose(round(), 50).unwrap();
    let (a, b, c) = (forth.epsilon(1e-6).unwrap(), back.epsilon(1e-6).unwrap(), alone.epsilon(1e-6).unwrap());
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    assert!(a > c * 1.01, "{a} {c}");
    let parts = c + released(gaussian.output(), 1).epsilon(1e-6).unwrap() + 3.0 * response.pure_epsilon().unwrap();
    assert!(a < parts, "{a} {parts}");
}

/// Rounds with a δ0 are searched over; releases take part in that.
#[test]
fn a_release_adds_to_rounds_with_a_delta() {
    let randomizer = RandomizerSpec::new(Mechanism::Gaussian { sigma: 8.0 }).unwrap();
    let noisy = Round { scheme: Scheme::shuffle(5_000).unwrap(), randomizer };
    let mut accountant = Accountant::new();
    accountant.compose(noisy, 10).unwrap();
    let before = accountant.epsilon(1e-6).unwrap();
    accountant.compose_release(Release::new(Output::Laplace { epsilon: 0.1 }).unwrap(), 5).unwrap();
    let after = accountant.epsilon(1e-6).unwrap();
    assert!(after > before && after < before + 0.5 + 1e-6, "{before} {after}");
}

#[test]
fn saved_releases_come_back() {
    let mut accountant = Accountant::new();
    accountant.compose(round(), 2).unwrap();
    accountant.compose_release(Release::new(Output::Laplace { epsilon: 0.3 }).unwrap(), 4).unwrap();
    let text = accountant.save().unwrap();
    assert_eq!(Accountant::load(&text).unwrap(), accountant);
    let refused = Accountant::load(&text.replace("0.3", "-0.3"));
    assert!(matches!(refused, Err(AccountingError::State { .. })), "{refused:?}");
    // What was saved before there were releases.
    let before = serde_json::to_string(&serde_json::json!({
        "shuffledp_accountant": 1, "adjacency": "replace-one", "ledger": []
    }));
    assert!(Accountant::load(&before.unwrap()).unwrap().is_empty());
}

#[test]
fn merging_takes_releases_along() {
    let laplace = Release::new(Output::Laplace { epsilon: 0.3 }).unwrap();
    let mut one = released(laplace.output(), 2);
    one.merge(&released(laplace.output(), 3)).unwrap();
    assert_eq!((one.releases().len(), one.releases()[0].count), (1, 5));
}

#[test]
fn the_local_epsilon_is_the_sum() {
    let mut accountant = released(Output::Laplace { epsilon: 0.25 }, 2);
    accountant.compose(round(), 3).unwrap();
    assert!((accountant.local_epsilon() - 3.5).abs() < 1e-12);
    accountant.compose_release(Release::new(Output::Gaussian { mu: 1.0 }).unwrap(), 1).unwrap();
    assert!(accountant.local_epsilon().is_infinite());
}

#[test]
fn the_exported_distribution_bounds_what_is_asked() {
    let mut accountant = released(Output::Gaussian { mu: 0.3 }, 2);
    accountant.compose(round(), 20).unwrap();
    let loss = accountant.loss_distribution().unwrap();
    assert!(loss.losses.windows(2).all(|pair| pair[0] < pair[1]));
    for epsilon in [0.0, 0.2, 1.0, 1.5] {
        let terms = loss.losses.iter().zip(&loss.probabilities).filter(|(l, _)| **l > epsilon);
        let delta: f64 = terms.map(|(l, p)| p * -(epsilon - l).exp_m1()).sum::<f64>() + loss.infinity;
        let asked = accountant.delta(epsilon).unwrap();
        // Two compositions of the same lattices, one tilted: they differ by what the FFT costs.
        assert!((delta / asked - 1.0).abs() < 1e-3, "{epsilon}: {delta:e} {asked:e}");
    }
    let randomizer = RandomizerSpec::new(Mechanism::Approximate { local_epsilon: 1.0, local_delta: 1e-9 }).unwrap();
    accountant.compose(Round { randomizer, ..round() }, 1).unwrap();
    // A twentieth of the clients participates: so much of the δ0 is mass at infinity.
    assert!(accountant.loss_distribution().unwrap().infinity >= loss.infinity + 0.05e-9);
}

#[test]
fn what_is_not_a_release_is_refused() {
    for output in [
        Output::Gaussian { mu: 0.0 },
        Output::Gaussian { mu: f64::NAN },
        Output::Gaussian { mu: 1e4 },
        Output::Laplace { epsilon: -1.0 },
        Output::Laplace { epsilon: f64::INFINITY },
        Output::RandomizedResponse { noise: 0.0, buckets: 2 },
        Output::RandomizedResponse { noise: 1.0, buckets: 2 },
        Output::RandomizedResponse { noise: 0.5, buckets: 1 },
        Output::SampledGaussian { rate: 0.0, mu: 1.0 },
        Output::SampledGaussian { rate: 1.0, mu: 1.0 },
        Output::SampledGaussian { rate: f64::NAN, mu: 1.0 },
        Output::SampledGaussian { rate: 0.5, mu: 21.0 },
    ] {
        assert!(matches!(Release::new(output), Err(AccountingError::OutOfRange { .. })), "{output:?}");
    }
    let mut accountant = released(Output::Gaussian { mu: 900.0 }, 1);
    assert!(accountant.compose_release(Release::new(Output::Gaussian { mu: 1.0 }).unwrap(), 0).is_err());
    assert!(accountant.epsilon(1e-6).unwrap() > 400_000.0);
    accountant.compose_release(Release::new(Output::Gaussian { mu: 900.0 }).unwrap(), 1).unwrap();
    assert!(matches!(accountant.epsilon(1e-6), Err(AccountingError::Numerical { .. })));
}

/// A thousand steps of DP-SGD. Google's dp_accounting 0.6.0 says 2.84345 for the pair that two
/// neighbours attain on the line (PLDAccountant, REPLACE_ONE), on a lattice that rounds up too.
#[test]
fn a_poisson_sample_of_a_gaussian_is_at_least_what_its_neighbours_attain() {
    let steps = released(Output::SampledGaussian { rate: 0.01, mu: 1.0 }, 1000);
    let epsilon = steps.epsilon(1e-5).unwrap();
    assert!((2.83..2.86).contains(&epsilon), "{epsilon}");
    // Less is sampled, or there is more noise: more private.
    for (rate, mu) in [(0.005, 1.0), (0.01, 0.5)] {
        let less = released(Output::SampledGaussian { rate, mu }, 1000).epsilon(1e-5).unwrap();
        assert!(less < epsilon, "{rate}, {mu}: {less}");
    }
    // Nobody is more private in the sample than without one.
    let whole = released(Output::Gaussian { mu: 0.2 }, 10).epsilon(1e-5).unwrap();
    let nearly = released(Output::SampledGaussian { rate: 1.0 - 1e-9, mu: 0.1 }, 10).epsilon(1e-5).unwrap();
    assert!((nearly / whole - 1.0).abs() < 1e-3, "{nearly} and {whole}");
    let (once, text) = (released(Output::SampledGaussian { rate: 0.01, mu: 1.0 }, 3), steps.save().unwrap());
    assert_eq!(Accountant::load(&text).unwrap(), steps);
    assert!(once.local_epsilon().is_infinite() && once.delta(1.0).unwrap() < 0.01);
}
