//! The regularised incomplete beta function, both tails to full relative accuracy.

pub use super::beta_inverse::{inverse_regularised_beta, inverse_regularised_beta_upper};
use super::binomial::scaled_exp;
use super::compensated::{Proportion, two_sum};
use super::deviance::{deviance_two_part, ln_1p_minus};
use super::gamma::stirling_error;
use super::tail_integral::decaying_integral;
use crate::numerics::elementary::{ln, ln_1p};

/// From here on (both parameters) the tail is integrated; below, the continued fraction takes at
/// most a few hundred steps.
const INTEGRATE_FROM: f64 = 30.0;

/// Steps after which the continued fraction or the series is declared not to converge, and the
/// answer NaN.
const MAX_STEPS: u32 = 20_000;

/// `(I_x(a, b), 1 − I_x(a, b))`, the lower and upper tail at `x` of the Beta(a, b) distribution,
/// `a, b > 0`.
///
/// Formula: tail = `x^a y^b/B(a, b)` × factor. The power term is Loader's saddle-point form (all
/// terms of one sign). The factor, always for the tail that does not contain the mean, is
/// Gauss–Legendre quadrature when both parameters are at least 30, and otherwise the continued
/// fraction `BFRAC` of A. R. DiDonato, A. H. Morris, "Algorithm 708", ACM TOMS 18 (1992), equation
/// (9); the other tail is one minus it, and is not small. Direction: none; `docs/numerics.md` has
/// the held error, about `10⁻¹⁵·(1 + |ln tail|)`. Rounding matters in `(a+b)·x`, `1 − x` and
/// `a + b`: all three are carried with their residuals. Edge cases: `(0, 1)` at `x ≤ 0` and
/// `(1, 0)` at `x ≥ 1`, so that a point outside the support is still answered; NaN for NaN, for
/// parameters that are not positive and finite, and if an iteration does not converge. Held to
/// `a, b ≥ ½`; for smaller parameters a tail near 0 that had to be formed as one minus the other
/// keeps only absolute accuracy.
pub fn regularised_beta(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    regularised(a, b, Proportion::from_value(x.clamp(0.0, 1.0)))
}

/// [`regularised_beta`] for `x` given by its complement `y = 1 − x`, which may be as small as
/// `10⁻³⁰⁰`.
pub fn regularised_beta_of_complement(a: f64, b: f64, y: f64) -> (f64, f64) {
    let (upper, lower) = regularised_beta(b, a, y);
    (lower, upper)
}

/// `(ln I_x(a, b), ln(1 − I_x(a, b)))`, finite where the tail itself underflows.
///
/// Edge cases as for [`regularised_beta`]; a tail of 0 is `−∞`.
pub fn ln_regularised_beta(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    let tail = beta_tail(a, b, Proportion::from_value(x.clamp(0.0, 1.0)));
    (tail.ln_lower(), tail.ln_upper())
}

/// [`regularised_beta`] for a proportion that carries its residuals.
pub(super) fn regularised(a: f64, b: f64, split: Proportion) -> (f64, f64) {
    let tail = beta_tail(a, b, split);
    (tail.lower(), tail.upper())
}

/// One tail in factored form, `√scale·exp(exponent)·factor`, and which one it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) term: PowerTerm,
    pub(super) factor: f64,
    pub(super) is_lower: bool,
}

impl Tail {
    pub(super) const UNKNOWN: Self =
        Self { term: PowerTerm { exponent: f64::NAN, scale: f64::NAN }, factor: f64::NAN, is_lower: true };

    /// A tail that is exactly zero.
    pub(super) const fn empty(is_lower: bool) -> Self {
        Self { term: PowerTerm { exponent: f64::NEG_INFINITY, scale: 1.0 }, factor: 1.0, is_lower }
    }

    fn direct(&self) -> f64 {
        let value = scaled_exp(self.term.exponent, self.term.scale.sqrt() * self.factor);
        // Above 1 only by rounding; `min` would turn NaN into 1.
        if value > 1.0 { 1.0 } else { value }
    }

    fn ln_direct(&self) -> f64 {
        let value = self.term.exponent + 0.5 * ln(self.term.scale) + ln(self.factor);
        if value > 0.0 { 0.0 } else { value }
    }

    fn of(&self, lower: bool) -> f64 {
        if lower == self.is_lower { self.direct() } else { 1.0 - self.direct() }
    }

    fn ln_of(&self, lower: bool) -> f64 {
        if lower == self.is_lower { self.ln_direct() } else { ln_1p(-self.direct()) }
    }

    pub(super) fn lower(&self) -> f64 {
        self.of(true)
    }

    pub(super) fn upper(&self) -> f64 {
        self.of(false)
    }

    pub(super) fn ln_lower(&self) -> f64 {
        self.ln_of(true)
    }

    pub(super) fn ln_upper(&self) -> f64 {
        self.ln_of(false)
    }

    /// `power term / tail`: the logarithmic derivative of the asked tail in the natural coordinate
    /// (logit or logarithm).
    pub(super) fn slope(&self, lower: bool) -> f64 {
        if lower == self.is_lower {
            return 1.0 / self.factor;
        }
        scaled_exp(self.term.exponent, self.term.scale.sqrt()) / self.of(lower)
    }
}

/// `√scale·exp(exponent)`, kept apart because the exponent may be far below `−745`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerTerm {
    pub(super) exponent: f64,
    pub(super) scale: f64,
}

/// `x^a y^b/B(a, b)` by Loader's form: `√(ab/(2π(a+b))) · exp(S(a+b) − S(a) − S(b) − D(a,
/// (a+b)x) − D(b, (a+b)y))`.
pub(super) fn ln_power_term(a: f64, b: f64, split: Proportion) -> PowerTerm {
    let (total, total_low) = two_sum(a, b);
    let (mean_a, mean_a_low) = split.times(total, total_low);
    let (mean_b, mean_b_low) = split.swapped().times(total, total_low);
    let deviances = deviance_two_part(a, mean_a, mean_a_low) + deviance_two_part(b, mean_b, mean_b_low);
    let stirling = stirling_error(total) - stirling_error(a) - stirling_error(b);
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let scale = small * (large / total) * (0.5 * std::f64::consts::FRAC_1_PI);
    PowerTerm { exponent: stirling - deviances, scale }
}

/// The tail of Beta(a, b) at `split` that excludes the mean.
pub(super) fn beta_tail(a: f64, b: f64, split: Proportion) -> Tail {
    let valid = a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && split.x >= 0.0 && split.y >= 0.0;
    if !valid {
        return Tail::UNKNOWN;
    }
    if split.x == 0.0 || split.y == 0.0 {
        return Tail::empty(split.x == 0.0);
    }
    let (total, total_low) = two_sum(a, b);
    let (mean, mean_low) = split.times(total, total_low);
    // λ = a − (a+b)x, positive when x lies below the mean.
    let lambda = (a - mean) - mean_low;
    let term = ln_power_term(a, b, split);
    if lambda >= 0.0 {
        tail_below_mean(a, b, split, lambda, term, true)
    } else {
        tail_below_mean(b, a, split.swapped(), -lambda, term, false)
    }
}

/// `I_x(a, b)/(power term)` for `x` not above the mean; `is_lower` says what to call the result.
fn tail_below_mean(a: f64, b: f64, split: Proportion, lambda: f64, term: PowerTerm, is_lower: bool) -> Tail {
    let beyond = (a + b) * split.y;
    if split.y <= 0.5 && (beyond < 0.5 || (beyond < 1.5 && b >= 0.5)) {
        // Only for b < 3/2 and x towards 1: the fraction crawls and gathers rounding there, the
        // other tail's series does not. For b ≥ ½ this tail is then at least erfc(√1.5) = 0.08, and
        // one minus the other costs it four bits at most.
        return Tail { term, factor: positive_series(b, a, split.y), is_lower: !is_lower };
    }
    let factor = if a >= INTEGRATE_FROM && b >= INTEGRATE_FROM {
        integrated(a, b, split, lambda)
    } else {
        continued_fraction(a, b, split, lambda)
    };
    Tail { term, factor, is_lower }
}

/// `∫_0^x (t/x)^(a−1) ((1−t)/y)^(b−1) dt/(xy)`, with the exponent's linear part taken from `λ`,
/// where `a` and `b` cancel.
fn integrated(a: f64, b: f64, split: Proportion, lambda: f64) -> f64 {
    let Proportion { x, y, .. } = split;
    let rate = (lambda - (y - x)) / x / y;
    let curvature = (a - 1.0) / x / x + (b - 1.0) / y / y;
    let fall = |s: f64| rate * s - (a - 1.0) * ln_1p_minus(-s / x) - (b - 1.0) * ln_1p_minus(s / y);
    decaying_integral(fall, rate, curvature, x) / x / y
}

/// `BFRAC`: the even part of the classical fraction, arranged so that only `λ` and `y` carry the
/// small differences.
fn continued_fraction(a: f64, b: f64, split: Proportion, lambda: f64) -> f64 {
    let Proportion { x, y, .. } = split;
    let c = 1.0 + lambda;
    let b_over_a = b / a;
    let one_plus = 1.0 + 1.0 / a;
    let (mut p, mut s) = (1.0, a + 1.0);
    let (mut previous_top, mut previous_bottom) = (0.0, 1.0);
    let (mut top, mut bottom) = (1.0, c / one_plus);
    let mut value = one_plus / c;
    for step in 1..=MAX_STEPS {
        let n = f64::from(step);
        let t = n / a;
        let w = n * (b - n) * x;
        let e = a / s;
        let alpha = (p * (p + b_over_a) * e * e) * (w * x);
        let e = (1.0 + t) / (one_plus + t + t);
        let beta = n + w / s + e * (c + n * (1.0 + y));
        p = 1.0 + t;
        s += 2.0;
        let next_top = alpha * previous_top + beta * top;
        let next_bottom = alpha * previous_bottom + beta * bottom;
        let last = value;
        value = next_top / next_bottom;
        if (value - last).abs() <= 1e-16 * value {
            return value;
        }
        previous_top = top / next_bottom;
        previous_bottom = bottom / next_bottom;
        top = value;
        bottom = 1.0;
    }
    f64::NAN
}

/// `I_x(a, b) = power term/a · Σ_j Π_{i<j} (a+b+i)/(a+1+i)·x`, all terms positive (DLMF 8.17.8 with
/// 15.8.1).
fn positive_series(a: f64, b: f64, x: f64) -> f64 {
    let mut sum = 1.0;
    let mut term = 1.0;
    for step in 0..MAX_STEPS {
        let i = f64::from(step);
        term *= (a + b + i) / (a + 1.0 + i) * x;
        sum += term;
        if term <= 1e-17 * sum {
            return sum / a;
        }
    }
    f64::NAN
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests;
