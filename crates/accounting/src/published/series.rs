//! Common parts of the published series: logarithms that are rounded up, log-concave sums,
//! `(1+u)^α − 1 − αu`.

use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p};
use crate::numerics::log_sum::{ln_1m_exp, ln_expm1};

/// Each part of a logarithm is held to about this many ulps of itself.
const ULPS: f64 = 4.0;

/// At least `Σ parts`, where `power` counts how often a factor near 1, known to an ulp, was
/// multiplied in.
///
/// **Direction: up.** Every part is good to an ulp or two of itself and every factor to one, so
/// [`ULPS`] of their sum of magnitudes covers the evaluation.
pub(super) fn ln_up(parts: &[f64], power: f64) -> f64 {
    let sum: f64 = parts.iter().sum();
    if sum.is_infinite() {
        // A factor 0 makes the product 0, exactly; an overflow stays vacuous. (0·∞ sums to NaN and
        // stays NaN.)
        return sum;
    }
    let size: f64 = parts.iter().map(|part| part.abs()).sum();
    sum + ULPS * f64::EPSILON * (size + power)
}

/// `ln(part/whole)` for `1 ≤ part ≤ whole`, to full relative accuracy also near 0.
pub(super) fn ln_ratio(part: u64, whole: u64) -> f64 {
    if part > whole / 2 { -ln_1p((whole - part) as f64 / part as f64) } else { ln(part as f64 / whole as f64) }
}

/// `ln(e^x − e^(−x))`, `−∞` at 0; no overflow.
pub(super) fn ln_two_sinh(x: f64) -> f64 {
    if x < 0.5 { ln_expm1(2.0 * x) - x } else { x + ln_1m_exp(-2.0 * x) }
}

/// `ln(1 + e^y)`, to full relative accuracy; no overflow.
pub(super) fn ln_1p_exp(y: f64) -> f64 {
    if y < 0.0 { ln_1p(exp(y)) } else { y + ln_1p(exp(-y)) }
}

/// `⌊count/(2E)⌋ + 1`, `E = e^ε0`, rounded down: fewer clones hide less.
///
/// The floor is what makes this delicate: a quotient that rounds up to an integer would claim one
/// clone too many.
pub(super) fn half_clones_lower(count: f64, local_epsilon: f64) -> f64 {
    // At ε0 = 0 the quotient is exact. Elsewhere e^ε0 is within an ulp and the product within
    // another.
    let margin = if local_epsilon > 0.0 { 1.0 - 4.0 * f64::EPSILON } else { 1.0 };
    (count / (2.0 * exp(local_epsilon)) * margin).floor() + 1.0
}

/// At least `−count/(8E)`, the Chernoff exponent of the published bounds.
pub(super) fn chernoff_exponent_upper(count: f64, local_epsilon: f64) -> f64 {
    -(count / (8.0 * exp(local_epsilon))) * (1.0 - 4.0 * f64::EPSILON)
}

/// At least `ln Σ_{j=first}^{last} e^{t(j)}` for a log-concave sequence, in time of the order of
/// its width.
///
/// Starts at the peak and walks outward until what is left is below 1e-17 of the sum; log-concavity
/// bounds the rest by a geometric series, which is *added*. **Direction: up**, provided that `t` is
/// rounded up. Edge cases: `−∞` for an empty range or if all terms vanish; NaN and `+∞` are passed
/// on.
pub(super) fn ln_sum_log_concave_upper(first: u64, last: u64, ln_term: impl Fn(u64) -> f64) -> f64 {
    if first > last {
        return f64::NEG_INFINITY;
    }
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if ln_term(middle + 1) > ln_term(middle) { low = middle + 1 } else { high = middle }
    }
    let (peak, top) = (low, ln_term(low));
    if !top.is_finite() {
        return top;
    }
    let mut sum = 1.0;
    for rising in [false, true] {
        let end = if rising { last } else { first };
        let (mut at, mut term) = (peak, 1.0_f64);
        while at != end {
            at = if rising { at + 1 } else { at - 1 };
            let next = exp(ln_term(at) - top);
            if next.is_nan() {
                return f64::NAN;
            }
            let ratio = if term > 0.0 { next / term } else { 0.0 };
            term = next;
            sum += term;
            // All further ratios are smaller. (The rounding of this one matters little to what is
            // 1e-17 of the whole.)
            let rest = term * ratio / (1.0 - ratio);
            if ratio < 1.0 && rest < 1e-17 * sum {
                sum += rest;
                break;
            }
        }
    }
    // The terms are positive: the rounding of their sum is a fraction of an ulp per term.
    top + ln(sum) + 1e-14
}

/// `(1+u)^α − 1 − αu ≥ 0` for `α > 1` or `α < 0`, given `ln(1+u)`, to a relative error of about
/// 1e-14.
///
/// Near 0 it is `α(α−1)u²/2`, far below its parts, so there the binomial series is summed from its
/// second power on. Elsewhere at most a factor of ten cancels: `(1+u)·((1+u)^(α−1) − 1) − (α−1)u`
/// stays exact as `α → 1`, where `(1+u)^α − (1 + αu)` would not. Edge cases: at `u = −1`, `α − 1`
/// for `α > 0` and `+∞` for `α < 0`; overflows to `+∞`.
pub(super) fn power_excess(u: f64, ln_1p_u: f64, alpha: f64) -> f64 {
    if u.abs() <= 0.25 && (alpha * u).abs() <= 0.5 {
        let mut term = alpha * (alpha - 1.0) / 2.0 * u * u;
        let mut sum = term;
        for i in 2..60_u32 {
            let i = f64::from(i);
            term *= (alpha - i) / (i + 1.0) * u;
            sum += term;
            if term.abs() <= 1e-18 * sum.abs() {
                break;
            }
        }
        sum
    } else if alpha > 0.0 {
        let beta = alpha - 1.0;
        if u <= -1.0 { beta } else { (1.0 + u) * exp_m1(beta * ln_1p_u) - beta * u }
    } else {
        exp_m1(alpha * ln_1p_u) - alpha * u
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_excess_agrees_with_its_leading_term_and_with_integers() {
        let leading = power_excess(1e-9, 1e-9_f64.ln_1p(), 2.5) / (2.5 * 1.5 / 2.0 * 1e-18);
        assert!((leading - 1.0).abs() < 1e-9);
        // (1+u)² − 1 − 2u = u², whatever the branch.
        for u in [-0.99, -0.3, -1e-5, 1e-12, 0.2, 0.24, 0.3, 7.0, 1e6_f64] {
            let value = power_excess(u, u.ln_1p(), 2.0);
            assert!((value / (u * u) - 1.0).abs() < 1e-13, "{u}: {value}");
        }
        // 1/(1+u) − 1 + u = u²/(1+u).
        for u in [-0.99, -0.3, -1e-5, 0.2, 0.3, 7.0_f64] {
            let value = power_excess(u, u.ln_1p(), -1.0);
            assert!((value / (u * u / (1.0 + u)) - 1.0).abs() < 1e-13, "{u}: {value}");
        }
    }

    #[test]
    fn branches_of_power_excess_meet() {
        for alpha in [1.02, 3.7, -0.02, -5.5_f64] {
            for u in [0.25, -0.25, 0.5 / alpha.abs(), -0.5 / alpha.abs()] {
                if u.abs() > 0.3 {
                    continue;
                }
                let inside = u * (1.0 - 1e-9);
                let outside = u * (1.0 + 1e-9);
                let (a, b) =
                    (power_excess(inside, inside.ln_1p(), alpha), power_excess(outside, outside.ln_1p(), alpha));
                // It grows about like u², so the step of 2e-9 in u shows as a few 1e-9.
                assert!((a / b - 1.0).abs() < 2e-8, "{alpha} {u}: {a} {b}");
            }
        }
    }

    #[test]
    fn log_concave_sum_is_the_binomial_theorem() {
        for (n, x) in [(40_u64, 0.3_f64), (1000, 2.0), (100_000, 1.0), (7, 1e-9)] {
            let ln_term = |j: u64| crate::numerics::gamma::ln_binomial(n as f64, j as f64) + j as f64 * x.ln();
            let value = ln_sum_log_concave_upper(0, n, ln_term);
            let exact = n as f64 * x.ln_1p();
            // ln C(n, j) near the peak is of the size of n ln 2 and good to an ulp of that.
            let tolerance = 1e-13 * (1.0 + exact);
            assert!((value - exact).abs() < tolerance && value > exact - 1e-12 * exact, "{n} {x}: {value} {exact}");
        }
    }

    #[test]
    fn ln_two_sinh_at_both_ends() {
        assert!((ln_two_sinh(1e-8) - 2e-8_f64.ln()).abs() < 1e-14);
        assert!((ln_two_sinh(0.5) - (2.0 * 0.5_f64.sinh()).ln()).abs() < 1e-15);
        assert!((ln_two_sinh(1e6) - 1e6).abs() < 1e-9 && ln_two_sinh(0.0) == f64::NEG_INFINITY);
    }
}
