//! Amplification by subsampling without replacement, for approximate DP.

use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p};

/// Covers the handful of roundings of [`epsilon_upper`].
const SLACK: f64 = 8.0 * f64::EPSILON;

/// Upper-bounds the ε of an (ε, δ)-DP mechanism that is run on a random sample:
/// `ε' = ln(1 + γ(e^ε − 1))`.
///
/// Ullman 2017 (lecture notes CS7880); Balle, Barthe, Gaboardi 2018, Theorem 9, for a uniformly
/// random set of fixed size and replace-one adjacency. **Direction: up.** `ε + ln(γ + (1−γ)e^(−ε))`
/// where `e^ε` would lose `1` or overflow.
pub fn epsilon_upper(rate: f64, epsilon: f64) -> f64 {
    let value =
        if epsilon < 1.0 { ln_1p(rate * exp_m1(epsilon)) } else { epsilon + ln(rate + (1.0 - rate) * exp(-epsilon)) };
    // Sampling never hurts. The second form subtracts: its error is that of ε.
    let slack = if epsilon < 1.0 { 0.0 } else { SLACK * epsilon };
    (inflate(value.max(0.0), SLACK) + slack).min(epsilon)
}

/// The δ that belongs to it: `δ' = γδ`, rounded up.
pub fn delta_upper(rate: f64, delta: f64) -> f64 {
    (rate * delta).next_up().min(delta)
}
