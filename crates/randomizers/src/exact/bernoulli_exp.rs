//! Coins of probability e^−γ.

use crate::randomness::Randomness;
use crate::uniform;

/// Heads with probability exactly `e^(−numerator/denominator)`.
///
/// Follows Algorithm 1 of Canonne, Kamath, Steinke 2020 (Forsythe–von Neumann): for γ ≤ 1 the first
/// K with a failing coin of probability γ/K is odd with probability e^−γ; above 1, whole units are
/// taken off by coins of e^−1. A coin of γ/K is one of γ and one of 1/K, so no product can
/// overflow.
///
/// # Panics
///
/// If `denominator` is 0.
pub fn bernoulli_exp<R: Randomness + ?Sized>(numerator: u128, denominator: u128, rng: &mut R) -> bool {
    assert!(denominator > 0, "γ has no denominator");
    // Ends at the first tail: a large γ costs as little as a small one.
    let units = numerator / denominator;
    let mut taken = 0;
    while taken < units {
        if !below_one(1, 1, rng) {
            return false;
        }
        taken += 1;
    }
    below_one(numerator % denominator, denominator, rng)
}

/// Heads with probability exactly `e^−1`.
pub(super) fn bernoulli_inverse_e<R: Randomness + ?Sized>(rng: &mut R) -> bool {
    below_one(1, 1, rng)
}

/// The coin of e^−γ for γ ≤ 1.
fn below_one<R: Randomness + ?Sized>(numerator: u128, denominator: u128, rng: &mut R) -> bool {
    let mut k = 1_u64;
    // K reaches 2^64 only after as many heads.
    while bernoulli(numerator, denominator, rng) && (k == 1 || uniform::below(k, rng) == 0) {
        k += 1;
    }
    k % 2 == 1
}

/// Heads with probability exactly `numerator/denominator` ≤ 1.
fn bernoulli<R: Randomness + ?Sized>(numerator: u128, denominator: u128, rng: &mut R) -> bool {
    if numerator >= denominator {
        return true;
    }
    match u64::try_from(denominator) {
        // It is below the denominator, so it fits as well.
        Ok(denominator) => uniform::below(denominator, rng) < numerator as u64,
        Err(_) => wide_below(denominator, rng) < numerator,
    }
}

/// A uniform number below `count`, which has more than 64 bits: as many bits as `count` has, drawn
/// until they are below it, twice on average at most.
fn wide_below<R: Randomness + ?Sized>(count: u128, rng: &mut R) -> u128 {
    let unused = (count - 1).leading_zeros();
    loop {
        let bits = (u128::from(rng.bits()) << 64 | u128::from(rng.bits())) >> unused;
        if bits < count {
            return bits;
        }
    }
}
