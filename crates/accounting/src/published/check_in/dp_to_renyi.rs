//! Lemma 3: from (ε, δ) to Rényi divergence, in the wrong direction.

use crate::numerics::elementary::{exp, ln, ln_1p};
use crate::numerics::log_sum::log_add;

/// Where ln((r−δ)/(1−r)) is searched: far enough out on both sides for every float.
const SEARCH: (f64, f64) = (-700.0, 40.0);

/// The *smallest* Rényi divergence at `order` of a pair with hockey-stick divergence δ at ε:
/// `ε + ln min_{r∈(δ,1)} [r^λ(r−δ)^(1−λ) + (1−r)^λ(e^ε − r + δ)^(1−λ)] / (λ−1)`.
///
/// Asoodeh, Liao, Calmon, Kosut, Sankar 2021, Theorem 3, where it serves to turn Rényi divergence
/// into (ε, δ). Liew, Hasegawa, Takahashi 2022 quote the minimum alone, without ε and ln(·)/(λ−1),
/// as an upper bound on the divergence of any (ε, δ)-DP mechanism (their Lemma 3). It is a lower
/// bound: 0 at δ = 0, whatever ε. The minimum is convex in r and is found by golden section in the
/// logit of r. `+∞` at δ ≥ 1, where nothing is left to minimise over.
pub fn smallest_renyi(epsilon: f64, delta: f64, order: f64) -> f64 {
    if delta >= 1.0 || !epsilon.is_finite() {
        return f64::INFINITY;
    }
    let objective = |logit: f64| {
        let share = 1.0 / (1.0 + exp(-logit));
        let above = (1.0 - delta) * share;
        let ln_above = ln_1p(-delta) - ln_1p(exp(-logit));
        let ln_rest = ln_1p(-delta) - ln_1p(exp(logit));
        let first = order * ln(delta + above) + (1.0 - order) * ln_above;
        let second = order * ln_rest + (1.0 - order) * (epsilon + ln_1p(-above * exp(-epsilon)));
        log_add(first, second)
    };
    let golden = 0.618_033_988_749_894_9;
    let (mut low, mut high) = SEARCH;
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (objective(left), objective(right));
    let mut smallest = at_left.min(at_right);
    // 0.618^50 of 740 is 3e-8: the minimum is flat to the square of it.
    for _ in 0..50 {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = objective(left);
            smallest = smallest.min(at_left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = objective(right);
            smallest = smallest.min(at_right);
        }
    }
    (epsilon + smallest / (order - 1.0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lemma_is_a_lower_bound() {
        // Pure ε-DP says nothing from below: the lemma's value is 0, but randomized response at
        // ε = 1 has D_2 = ln(p²/q + q²/p) with p = e/(1+e), q = 1 − p.
        let p = 1.0_f64.exp() / (1.0 + 1.0_f64.exp());
        let truth = (p * p / (1.0 - p) + (1.0 - p) * (1.0 - p) / p).ln();
        assert!(smallest_renyi(1.0, 0.0, 2.0) < 1e-9 && truth > 0.7, "{truth}");
    }

    #[test]
    fn attained_by_a_pair_of_two_points() {
        // P = (r, 1−r), Q = ((r−δ)e^−ε, rest) has hockey-stick δ at ε; the lemma's minimum is over
        // such pairs.
        let (epsilon, delta, order) = (0.3_f64, 0.01, 3.0);
        let divergence = |r: f64| {
            let q = (r - delta) * (-epsilon).exp();
            (r.powf(order) * q.powf(1.0 - order) + (1.0 - r).powf(order) * (1.0 - q).powf(1.0 - order)).ln()
                / (order - 1.0)
        };
        let scanned = (1..99_000).map(|i| divergence(delta + f64::from(i) * 1e-5)).fold(f64::INFINITY, f64::min);
        let value = smallest_renyi(epsilon, delta, order);
        assert!((value / scanned - 1.0).abs() < 1e-6, "{value} against {scanned}");
    }
}
