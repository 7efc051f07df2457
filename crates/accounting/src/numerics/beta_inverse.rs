//! Quantiles of the beta distribution, for probabilities down to `10⁻³⁰⁰`.

use super::beta::beta_tail;
use super::compensated::Proportion;
use super::log_concave_root::log_concave_root;
use crate::numerics::elementary::{exp, ln};

/// Largest |logit| searched: beyond it `x` or `1 − x` is subnormal.
const MAX_LOGIT: f64 = 708.0;

/// A last step longer than this means the search has not settled (parameters far outside the held
/// range): the answer is NaN.
pub(super) const MAX_POLISH: f64 = 1e-3;

/// `(x, 1 − x)` with `I_x(a, b) = p`: the lower quantile of Beta(a, b), both parts to full relative
/// accuracy.
///
/// Method: Newton on `ln I` as a function of `logit x`, in which it is concave, so that the steps
/// cannot diverge; then one step on the smaller of `x` and `1 − x` itself. For `p > ½` the upper
/// tail `1 − p` (exact) is solved instead. Direction: none. The error is that of
/// [`super::beta::regularised_beta`] carried to `x`; who needs a bound checks the answer, or
/// bisects with [`super::bisect`]. Edge cases: `(0, 1)` at `p = 0`, and where `x` would be below
/// `10⁻³⁰⁷`; `(1, 0)` at `p = 1`; NaN for `p` outside `[0, 1]`, NaN, or parameters that are not
/// positive and finite.
pub fn inverse_regularised_beta(a: f64, b: f64, p: f64) -> (f64, f64) {
    if p > 0.5 { solve(a, b, 1.0 - p, false) } else { solve(a, b, p, true) }
}

/// `(x, 1 − x)` with `1 − I_x(a, b) = q`: the upper quantile, for `q` too small to be written as
/// `1 − p`.
///
/// Method, direction and edge cases as for [`inverse_regularised_beta`].
pub fn inverse_regularised_beta_upper(a: f64, b: f64, q: f64) -> (f64, f64) {
    if q > 0.5 { solve(a, b, 1.0 - q, true) } else { solve(a, b, q, false) }
}

/// The point whose lower (or upper) tail is `p ≤ ½`.
fn solve(a: f64, b: f64, p: f64, lower: bool) -> (f64, f64) {
    let valid = p >= 0.0 && a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite();
    if !valid {
        return (f64::NAN, f64::NAN);
    }
    if p == 0.0 {
        return if lower { (0.0, 1.0) } else { (1.0, 0.0) };
    }
    // The upper tail is the lower one seen from the other side: solve in ±logit, in which the asked
    // tail increases.
    let sign = if lower { 1.0 } else { -1.0 };
    let target = ln(p);
    let evaluate = |w: f64| {
        let tail = beta_tail(a, b, at_logit(sign * w));
        (if lower { tail.ln_lower() } else { tail.ln_upper() }, tail.slope(lower))
    };
    let w = sign * log_concave_root(sign * ln(a / b), -MAX_LOGIT, MAX_LOGIT, target, evaluate);
    if w.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if w <= -MAX_LOGIT {
        return (0.0, 1.0);
    }
    if w >= MAX_LOGIT {
        return (1.0, 0.0);
    }
    polish(a, b, at_logit(w), target, lower)
}

/// One Newton step on the smaller part, because a logit of size `w` only fixes it to `|w|` ulps.
fn polish(a: f64, b: f64, split: Proportion, target: f64, lower: bool) -> (f64, f64) {
    let tail = beta_tail(a, b, split);
    let excess = if lower { tail.ln_lower() - target } else { target - tail.ln_upper() };
    let step = -excess / tail.slope(lower);
    if step.is_nan() || step.abs() > MAX_POLISH {
        return (f64::NAN, f64::NAN);
    }
    if split.x <= split.y {
        let x = split.x * (1.0 + step * split.y);
        (x, 1.0 - x)
    } else {
        let y = split.y * (1.0 - step * split.x);
        (1.0 - y, y)
    }
}

/// `x = 1/(1 + e^−w)`, with the smaller of `x` and `1 − x` taken as exact.
fn at_logit(w: f64) -> Proportion {
    let small = exp(-w.abs());
    let small = small / (1.0 + small);
    if w < 0.0 { Proportion::from_value(small) } else { Proportion::from_complement(small) }
}
