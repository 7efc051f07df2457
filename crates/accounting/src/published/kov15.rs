//! Kairouz, Oh, Viswanath: The composition theorem for differential privacy (ICML 2015).

use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp_m1, ln, ln_1p, tanh};

/// Covers the dozen roundings of [`epsilon_upper`].
const SLACK: f64 = 16.0 * f64::EPSILON;

/// Upper-bounds the ε of `rounds` adaptive rounds of (ε, δ)-DP, at the price of `slack` = δ̃ in δ:
/// ```text
/// ε̃ = min{ Tε,  μ + ε√(2T·ln(e + √(Tε²)/δ̃)),  μ + ε√(2T·ln(1/δ̃)) },   μ = Tε(e^ε − 1)/(e^ε + 1).
/// ```
/// Kairouz, Oh, Viswanath 2015, Theorem 3.4. The δ of the whole is [`total_delta_upper`].
/// **Direction: up.** All parts are positive, so one inflation pays for them. At `slack = 0` it is
/// `Tε`, and at `ε = 0` it is 0.
pub fn epsilon_upper(epsilon: f64, rounds: u64, slack: f64) -> f64 {
    if epsilon == 0.0 {
        return 0.0;
    }
    let rounds = rounds as f64;
    // (e^ε − 1)/(e^ε + 1) = tanh(ε/2): no overflow.
    let drift = rounds * epsilon * tanh(0.5 * epsilon);
    let spread = |ln: f64| epsilon * (2.0 * rounds * ln).sqrt();
    let basic = rounds * epsilon;
    let first = drift + spread(ln(std::f64::consts::E + rounds.sqrt() * epsilon / slack));
    // ln(1/δ̃) ≥ 0, also when δ̃ was rounded to 1.
    let second = drift + spread((-ln(slack)).max(0.0));
    inflate(basic.min(first).min(second), SLACK)
}

/// At least `1 − (1−δ)^T·(1−δ̃)`.
pub fn total_delta_upper(delta: f64, rounds: u64, slack: f64) -> f64 {
    inflate(-exp_m1(rounds as f64 * ln_1p(-delta) + ln_1p(-slack)), SLACK).min(1.0)
}

/// The largest δ̃, rounded down, with `1 − (1−δ)^T·(1−δ̃) ≤ total`; `None` when the rounds alone
/// spend more than `total`.
///
/// Rounding matters: when the rounds spend almost everything, what is left is a small difference.
/// It is taken after both sides were moved against us.
pub fn slack_lower(total: f64, delta: f64, rounds: u64) -> Option<f64> {
    let budget = -ln_1p(-total) * (1.0 - SLACK);
    let spent = rounds as f64 * -ln_1p(-delta) * (1.0 + SLACK);
    // total = 1 − (1−δ)^T exactly leaves δ̃ = 0, which is allowed.
    if spent == 0.0 { Some(total) } else { (spent <= budget).then(|| -exp_m1(spent - budget) * (1.0 - SLACK)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_adds_up() {
        for (total, share, rounds) in [(1e-8, 0.5, 100_000), (0.9, 0.1, 3), (1e-300, 0.3, 7), (1e-5, 0.999, 1 << 53)] {
            let delta = total * share / rounds as f64;
            let slack = slack_lower(total, delta, rounds).unwrap();
            let used = total_delta_upper(delta, rounds, slack);
            // What is left is 1 − share of the total; it is known to an ulp of the total.
            assert!(used <= total * (1.0 + 64.0 * f64::EPSILON) && used >= total * (1.0 - 1e-12), "{total}: {used}");
        }
        assert_eq!(slack_lower(1e-8, 1e-8, 2), None);
        assert_eq!(slack_lower(1e-8, 0.0, 2), Some(1e-8));
    }
}
