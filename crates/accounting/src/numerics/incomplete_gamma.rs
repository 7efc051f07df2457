//! The regularised incomplete gamma functions `P(a, x)` and `Q(a, x)`, and their inverses.

use super::beta::{PowerTerm, Tail};
use super::beta_inverse::MAX_POLISH;
use super::deviance::{deviance, ln_1p_minus};
use super::gamma::stirling_error;
use super::log_concave_root::log_concave_root;
use super::tail_integral::decaying_integral;
use crate::numerics::elementary::{exp, ln};

/// From this shape on the tail is integrated; below, series and fraction take at most a few hundred
/// steps.
const INTEGRATE_FROM: f64 = 30.0;

/// Steps after which series or fraction is declared not to converge, and the answer NaN.
const MAX_STEPS: u32 = 20_000;

/// Largest |ln x| searched by the inverses.
const MAX_LN: f64 = 708.0;

/// `(P(a, x), Q(a, x))`, the lower and upper tail at `x` of the Gamma(a, 1) distribution, `a > 0`.
///
/// Formula: tail = `x^a e^−x/Γ(a)` × factor, the power term by Loader's form
/// `√(a/2π)·exp(−S(a) − D(a, x))`. The factor, always for the tail that does not contain the mean,
/// is Gauss–Legendre quadrature for `a ≥ 30`; below that the positive series DLMF 8.7.1 (lower) or
/// the continued fraction DLMF 8.9.2 (upper). Direction: none; `docs/numerics.md` has the held
/// error, about `10⁻¹⁵·(1 + |ln tail|)`. Edge cases: `(0, 1)` for `x ≤ 0`, `(1, 0)` at `x = ∞`; NaN
/// for NaN, for `a` not positive and finite, and if an iteration does not converge. Held to
/// `a ≥ ½`; below, an upper tail formed as one minus the lower keeps only absolute accuracy.
pub fn regularised_gamma(a: f64, x: f64) -> (f64, f64) {
    let tail = gamma_tail(a, x);
    (tail.lower(), tail.upper())
}

/// `(ln P(a, x), ln Q(a, x))`, finite where the tail itself underflows. Edge cases as for
/// [`regularised_gamma`].
pub fn ln_regularised_gamma(a: f64, x: f64) -> (f64, f64) {
    let tail = gamma_tail(a, x);
    (tail.ln_lower(), tail.ln_upper())
}

/// `x` with `P(a, x) = p`: the lower quantile of Gamma(a, 1).
///
/// Method: Newton on `ln P` as a function of `ln x`, in which it is concave, then one step on `x`
/// itself; for `p > ½` the exact upper tail `1 − p` is solved instead. Direction: none; who needs a
/// bound checks the answer. Edge cases: 0 at `p = 0` and where `x` would be below `10⁻³⁰⁷`; `∞` at
/// `p = 1`; NaN for `p` outside `[0, 1]`, NaN, or `a` not positive and finite.
pub fn inverse_regularised_gamma(a: f64, p: f64) -> f64 {
    if p > 0.5 { solve(a, 1.0 - p, false) } else { solve(a, p, true) }
}

/// `x` with `Q(a, x) = q`: the upper quantile, for `q` too small to be written as `1 − p`.
///
/// Method, direction and edge cases as for [`inverse_regularised_gamma`], with the ends exchanged.
pub fn inverse_regularised_gamma_upper(a: f64, q: f64) -> f64 {
    if q > 0.5 { solve(a, 1.0 - q, true) } else { solve(a, q, false) }
}

fn solve(a: f64, p: f64, lower: bool) -> f64 {
    if !(p >= 0.0 && a > 0.0 && a.is_finite()) {
        return f64::NAN;
    }
    if p == 0.0 {
        return if lower { 0.0 } else { f64::INFINITY };
    }
    let sign = if lower { 1.0 } else { -1.0 };
    let target = ln(p);
    let ln_tail = |tail: &Tail| if lower { tail.ln_lower() } else { tail.ln_upper() };
    let evaluate = |w: f64| {
        let tail = gamma_tail(a, exp(sign * w));
        (ln_tail(&tail), tail.slope(lower))
    };
    let w = sign * log_concave_root(sign * ln(a), -MAX_LN, MAX_LN, target, evaluate);
    if w <= -MAX_LN {
        return 0.0;
    }
    // A logarithm of size w fixes x to |w| ulps only: one more step, on x.
    let x = exp(w);
    let tail = gamma_tail(a, x);
    let step = sign * (ln_tail(&tail) - target) / tail.slope(lower);
    if step.is_nan() || step.abs() > MAX_POLISH { f64::NAN } else { x * (1.0 - step) }
}

/// The tail of Gamma(a, 1) at `x` that excludes the mean.
fn gamma_tail(a: f64, x: f64) -> Tail {
    if x.is_nan() || !(a > 0.0 && a.is_finite()) {
        return Tail::UNKNOWN;
    }
    if x <= 0.0 || x.is_infinite() {
        return Tail::empty(x <= 0.0);
    }
    let term =
        PowerTerm { exponent: -stirling_error(a) - deviance(a, x), scale: a * (0.5 * std::f64::consts::FRAC_1_PI) };
    // Just above the mean of a small shape the fraction crawls and gathers rounding, the series
    // does not. For a ≥ ½ the upper tail is then at least erfc(√1.5) = 0.08, and one minus the
    // lower costs it four bits at most.
    let is_lower = x <= a || x < 0.5 || (x < 1.5 && a >= 0.5);
    let factor = match (is_lower, a >= INTEGRATE_FROM) {
        (true, true) => integrated_lower(a, x),
        (true, false) => positive_series(a, x),
        (false, true) => integrated_upper(a, x),
        (false, false) => continued_fraction(a, x),
    };
    Tail { term, factor, is_lower }
}

/// `∫_0^x (t/x)^(a−1) e^(x−t) dt/x`.
fn integrated_lower(a: f64, x: f64) -> f64 {
    let rate = ((a - x) - 1.0) / x;
    let fall = |s: f64| rate * s - (a - 1.0) * ln_1p_minus(-s / x);
    decaying_integral(fall, rate, (a - 1.0) / x / x, x) / x
}

/// `∫_x^∞ (t/x)^(a−1) e^(x−t) dt/x`.
fn integrated_upper(a: f64, x: f64) -> f64 {
    let rate = ((x - a) + 1.0) / x;
    let fall = |s: f64| rate * s - (a - 1.0) * ln_1p_minus(s / x);
    decaying_integral(fall, rate, (a - 1.0) / x / x, f64::INFINITY) / x
}

/// `(1/a)·Σ_j x^j/((a+1)…(a+j))`.
fn positive_series(a: f64, x: f64) -> f64 {
    let mut sum = 1.0;
    let mut term = 1.0;
    for step in 1..=MAX_STEPS {
        term *= x / (a + f64::from(step));
        sum += term;
        if term <= 1e-17 * sum {
            return sum / a;
        }
    }
    f64::NAN
}

/// `1/(x+1−a − 1(1−a)/(x+3−a − 2(2−a)/(x+5−a − …)))` by the modified Lentz method.
fn continued_fraction(a: f64, x: f64) -> f64 {
    let mut b = (x - a) + 1.0;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / b;
    let mut value = d;
    for step in 1..=MAX_STEPS {
        let n = f64::from(step);
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / numerator.mul_add(d, b);
        c = b + numerator / c;
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() <= f64::EPSILON {
            return value;
        }
    }
    f64::NAN
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn relative(value: f64, truth: f64) -> f64 {
        (value / truth - 1.0).abs()
    }

    #[test]
    fn closed_forms() {
        // P(1, x) = 1 − e^−x and Q(½, x) = erfc(√x).
        for x in [1e-8, 0.1, 1.0, 5.0, 300.0_f64] {
            let (lower, upper) = regularised_gamma(1.0, x);
            assert!(relative(lower, -(-x).exp_m1()) < 4e-15 && relative(upper, (-x).exp()) < 1e-15 * (4.0 + x), "{x}");
            let upper = regularised_gamma(0.5, x).1;
            assert!(relative(upper, libm::erfc(x.sqrt())) < 4e-16 * (10.0 + x), "{x}: {upper}");
        }
    }

    #[test]
    fn integral_and_iteration_agree_where_they_meet() {
        for a in [30.0, 33.3, 100.0, 1000.0] {
            for sigmas in [0.0, 1.0, 5.0, 20.0_f64] {
                let (below, above) = (a * (-sigmas / f64::sqrt(a)).exp(), a + sigmas * f64::sqrt(a));
                assert!(relative(integrated_lower(a, below), positive_series(a, below)) < 5e-15, "{a} {sigmas}");
                assert!(relative(integrated_upper(a, above), continued_fraction(a, above)) < 1e-14, "{a} {sigmas}");
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(regularised_gamma(2.0, 0.0), (0.0, 1.0));
        assert_eq!(regularised_gamma(2.0, -3.0), (0.0, 1.0));
        assert_eq!(regularised_gamma(2.0, f64::INFINITY), (1.0, 0.0));
        for (a, x) in [(f64::NAN, 1.0), (1.0, f64::NAN), (0.0, 1.0), (-1.0, 1.0), (f64::INFINITY, 1.0)] {
            assert!(regularised_gamma(a, x).0.is_nan() && ln_regularised_gamma(a, x).1.is_nan(), "{a} {x}");
        }
        assert_eq!((inverse_regularised_gamma(2.0, 0.0), inverse_regularised_gamma(2.0, 1.0)), (0.0, f64::INFINITY));
        assert_eq!(inverse_regularised_gamma_upper(2.0, 0.0), f64::INFINITY);
        assert!(inverse_regularised_gamma(2.0, -0.1).is_nan() && inverse_regularised_gamma(2.0, f64::NAN).is_nan());
        assert_eq!(inverse_regularised_gamma(0.5, 1e-300), 0.0);
    }

    proptest! {
        #[test]
        fn recurrence(ln_a in -0.69_f64..20.0, sigmas in -15.0_f64..15.0) {
            // Q(a+1, x) = Q(a, x) + x^a e^−x/Γ(a+1) (DLMF 8.8.6), all terms positive.
            let a = ln_a.exp();
            let x = a * (sigmas / a.sqrt()).exp();
            let (_, here) = regularised_gamma(a, x);
            let (_, next) = regularised_gamma(a + 1.0, x);
            let step = (-stirling_error(a) - deviance(a, x)).exp() * (a / (2.0 * std::f64::consts::PI)).sqrt() / a;
            prop_assume!(here > 1e-280);
            prop_assert!((next - here - step).abs() <= 2e-14 * (1.0 - next.ln()) * next, "{} {}: {} {} {}", a, x, here, next, step);
        }

        #[test]
        fn inverse_round_trip(ln_a in -0.69_f64..20.0, ln_p in -690.0_f64..-1e-3) {
            let (a, p) = (ln_a.exp(), ln_p.exp());
            // x is known to an ulp; ln of a tail moves by at most (a + 700 + 40√a)·ulp with it.
            let tolerance = 4.0 * f64::EPSILON * (40.0 * a.sqrt() + 1500.0);
            let x = inverse_regularised_gamma(a, p);
            prop_assert!(x == 0.0 && a < 1.0 || relative(regularised_gamma(a, x).0, p) <= tolerance, "{} {}: {}", a, p, x);
            let x = inverse_regularised_gamma_upper(a, p);
            prop_assert!(relative(regularised_gamma(a, x).1, p) <= tolerance, "{} {}: {}", a, p, x);
        }

        #[test]
        fn never_panics(a in any::<f64>(), x in any::<f64>()) {
            let (lower, upper) = regularised_gamma(a, x);
            prop_assert!(lower.is_nan() && upper.is_nan() || (0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper));
            let _ = inverse_regularised_gamma(a, x);
        }
    }
}
