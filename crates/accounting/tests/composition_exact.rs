//! Composition against a closed form: the reports of a single client are not hidden at all, so T
//! rounds of binary randomized response lose ε0·(T − 2X) with X ~ Bin(T, 1/(e^ε0 + 1)). At large ε0
//! lies are rare and the loss is far from Gaussian, which is what windows and tilts must survive.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use shuffledp_accounting::pair::upper;
use shuffledp_accounting::pld::{Down, LossLattice, Rounding, Rounds, Up};
use shuffledp_accounting::scheme::Scheme;
use std::sync::Arc;

/// δ(ε), from the top of the binomial down.
fn exact(local_epsilon: f64, rounds: u64, epsilon: f64) -> f64 {
    let lie = 1.0 / (local_epsilon.exp() + 1.0);
    let (mut ln_mass, mut sum) = (rounds as f64 * (-lie).ln_1p(), 0.0);
    for lies in 0..rounds {
        let loss = local_epsilon * (rounds as f64 - 2.0 * lies as f64);
        if loss <= epsilon {
            break;
        }
        sum += ln_mass.exp() * -(epsilon - loss).exp_m1();
        ln_mass += ((rounds - lies) as f64 / (lies + 1) as f64).ln() - local_epsilon;
    }
    sum
}

fn composed<D: Rounding>(local_epsilon: f64, rounds: u64) -> Rounds<D> {
    let pair = upper::two_level(&Scheme::shuffle(1).unwrap(), local_epsilon, 0.5).unwrap();
    Rounds::new(vec![(Arc::new(LossLattice::new(&pair, 128.0)), rounds)])
}

/// The closed form itself is off by less than this.
const CLOSED_FORM: f64 = 1e-10;

#[test]
fn rare_lies_are_enclosed() {
    // In the last three, a block of rounds sees so few lies that no window around its mean holds
    // one: what lies below windows must be charged.
    for (local_epsilon, rounds) in [
        (1.0, 600),
        (3.0, 100),
        (7.0, 30_000),
        (8.0, 90_000),
        (10.0, 100_000),
        (15.0, 1_000_000),
        (16.0, 10_000_000),
        (18.0, 100_000),
    ] {
        let (up, down) = (composed::<Up>(local_epsilon, rounds), composed::<Down>(local_epsilon, rounds));
        for lies in [0.0, 1.0, 3.0, 8.0, 30.0] {
            for fraction in [0.1, 1.0] {
                let epsilon = local_epsilon * (rounds as f64 - 2.0 * lies - fraction);
                let truth = exact(local_epsilon, rounds, epsilon);
                let (lower, upper) = (down.delta(epsilon).unwrap(), up.delta(epsilon).unwrap());
                let case = format!("ε0 {local_epsilon}, T {rounds}, ε {epsilon}: {lower:e} ≤ {truth:e} ≤ {upper:e}");
                assert!(lower <= truth * (1.0 + CLOSED_FORM) && truth <= upper * (1.0 + CLOSED_FORM), "{case}");
            }
        }
    }
}

#[test]
fn epsilon_inverts_delta_where_mass_was_lost() {
    for (local_epsilon, rounds) in [(7.0, 30_000), (16.0, 10_000_000)] {
        let up = composed::<Up>(local_epsilon, rounds);
        for delta in [1e-9, 1e-5, 0.1, 0.6, 0.9] {
            let epsilon = up.epsilon(delta).unwrap();
            let truth = exact(local_epsilon, rounds, epsilon);
            assert!(truth <= delta * (1.0 + CLOSED_FORM), "ε0 {local_epsilon}, δ {delta}: ε {epsilon}, truth {truth}");
        }
    }
}
