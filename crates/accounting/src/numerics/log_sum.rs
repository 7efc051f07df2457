//! Sums of numbers held as logarithms, with and without sign.
//!
//! NaN is propagated, never dropped: a maximum that skips NaN would turn a failed term into a
//! smaller sum.

use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p};
use std::ops::{Add, Mul, Neg};

/// `ln(e^a + e^b)`.
///
/// Formula: `max + ln(1 + e^(min − max))`; error at most about one ulp of the larger argument plus
/// one of the result. Direction: none. Edge cases: `−∞` is an absent term; `+∞` wins; NaN in either
/// gives NaN.
pub fn log_add(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if large.is_infinite() {
        return large;
    }
    large + ln_1p(exp(small - large))
}

/// `ln Σ e^(x_i)` in one pass, rescaling when a new maximum comes.
///
/// Direction: none; the terms are positive, so the relative error of the sum is at most `n` ulps,
/// plus that of the exponents. Edge cases: `−∞` for no terms; `+∞` if any term is `+∞`; NaN if any
/// is NaN, whatever the others are.
pub fn log_sum_exp(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    let mut sum = 0.0;
    let mut infinite = false;
    for term in terms {
        if term.is_nan() {
            return f64::NAN;
        }
        if term.is_infinite() {
            infinite |= term > 0.0;
        } else if term <= largest {
            sum += exp(term - largest);
        } else {
            // exp(−∞) = 0 clears the empty start.
            sum = 1.0 + sum * exp(largest - term);
            largest = term;
        }
    }
    if infinite { f64::INFINITY } else { largest + ln(sum) }
}

/// A real number as sign and logarithm of its size, for sums whose terms overflow or underflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedLog {
    /// `ln |value|`; `−∞` for zero.
    pub ln_abs: f64,
    /// `−1`, `0` or `1`; NaN when the number is unknown.
    pub sign: f64,
}

impl SignedLog {
    /// Zero.
    pub const ZERO: Self = Self { ln_abs: f64::NEG_INFINITY, sign: 0.0 };

    const UNKNOWN: Self = Self { ln_abs: f64::NAN, sign: f64::NAN };

    /// The number `value`.
    pub fn from_value(value: f64) -> Self {
        Self::new(ln(value.abs()), value)
    }

    /// `sign·e^ln_abs`, where only the sign of `sign` counts; NaN in either gives an unknown
    /// number.
    pub fn new(ln_abs: f64, sign: f64) -> Self {
        if ln_abs.is_nan() || sign.is_nan() {
            Self::UNKNOWN
        } else if sign == 0.0 || (ln_abs.is_infinite() && ln_abs < 0.0) {
            Self::ZERO
        } else {
            Self { ln_abs, sign: sign.signum() }
        }
    }

    /// `+e^ln_abs`.
    pub fn positive(ln_abs: f64) -> Self {
        Self::new(ln_abs, 1.0)
    }

    /// The number itself; overflows to `±∞` and underflows to 0 as [`f64::exp`] does.
    pub fn value(self) -> f64 {
        if self.sign == 0.0 { 0.0 } else { self.sign * exp(self.ln_abs) }
    }
}

impl Add for SignedLog {
    type Output = Self;

    /// Sum; opposite signs cancel as `ln|e^a − e^b| = a + ln(1 − e^(b−a))`, and `∞ − ∞` is unknown.
    fn add(self, other: Self) -> Self {
        if self.sign.is_nan() || other.sign.is_nan() {
            return Self::UNKNOWN;
        }
        if self.sign * other.sign >= 0.0 {
            let sign = if self.sign == 0.0 { other.sign } else { self.sign };
            return Self::new(log_add(self.ln_abs, other.ln_abs), sign);
        }
        let (small, large) = if self.ln_abs < other.ln_abs { (self, other) } else { (other, self) };
        Self::new(large.ln_abs + ln_1m_exp(small.ln_abs - large.ln_abs), large.sign)
    }
}

impl Mul for SignedLog {
    type Output = Self;

    /// Product; `0·∞` is unknown.
    fn mul(self, other: Self) -> Self {
        let ln_abs = self.ln_abs + other.ln_abs;
        let sign = self.sign * other.sign;
        if ln_abs.is_nan() || sign.is_nan() { Self::UNKNOWN } else { Self::new(ln_abs, sign) }
    }
}

impl Neg for SignedLog {
    type Output = Self;

    fn neg(self) -> Self {
        Self { ln_abs: self.ln_abs, sign: -self.sign }
    }
}

/// `Σ x_i` of signed logarithms: positive and negative parts apart, one subtraction at the end.
///
/// Direction: none. What cancels in that one subtraction is lost, and no more: the absolute error
/// is a few ulps of the larger part. Edge cases: zero for no terms; unknown (NaN) if any term is,
/// or if both parts are infinite.
pub fn signed_log_sum_exp(terms: impl IntoIterator<Item = SignedLog>) -> SignedLog {
    let (mut plus, mut minus) = (Vec::new(), Vec::new());
    for term in terms {
        if term.sign.is_nan() || term.ln_abs.is_nan() {
            return SignedLog::UNKNOWN;
        }
        if term.sign > 0.0 {
            plus.push(term.ln_abs);
        } else if term.sign < 0.0 {
            minus.push(term.ln_abs);
        }
    }
    SignedLog::new(log_sum_exp(plus), 1.0) + SignedLog::new(log_sum_exp(minus), -1.0)
}

/// `ln(e^x − 1)` for `x ≥ 0`. Edge cases: `−∞` at 0, `∞` at `∞`, NaN for negative `x` and NaN.
pub fn ln_expm1(x: f64) -> f64 {
    // From 37 on e^−x is below half an ulp of 1, but its logarithm is still right.
    if x > 37.0 { x + ln_1p(-exp(-x)) } else { ln(exp_m1(x)) }
}

/// `ln(1 − e^x)` for `x ≤ 0`.
///
/// Citation: M. Mächler, "Accurately computing log(1 − exp(−|a|))" (2012): switch at `ln 2`.
/// Edge cases: `−∞` at 0, 0 at `−∞`, NaN for positive `x` and NaN.
pub fn ln_1m_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { ln(-exp_m1(x)) } else { ln_1p(-exp(x)) }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn infinities_and_nan() {
        assert_eq!(
            (log_add(-INF, -INF), log_add(-INF, 2.0), log_add(INF, 2.0), log_add(INF, -INF)),
            (-INF, 2.0, INF, INF)
        );
        assert!(log_add(f64::NAN, INF).is_nan() && log_add(-INF, f64::NAN).is_nan());
        assert_eq!((log_sum_exp([]), log_sum_exp([-INF, -INF]), log_sum_exp([1.0, INF, -INF])), (-INF, -INF, INF));
        assert!(log_sum_exp([INF, 1.0, f64::NAN]).is_nan() && log_sum_exp([f64::NAN]).is_nan());
        assert_eq!((ln_expm1(0.0), ln_expm1(INF), ln_1m_exp(0.0), ln_1m_exp(-INF)), (-INF, INF, -INF, 0.0));
        assert!(
            ln_expm1(-1.0).is_nan()
                && ln_1m_exp(1.0).is_nan()
                && ln_expm1(f64::NAN).is_nan()
                && ln_1m_exp(f64::NAN).is_nan()
        );
    }

    #[test]
    fn signed_edges() {
        let (one, big) = (SignedLog::from_value(1.0), SignedLog::positive(INF));
        assert_eq!(one + -one, SignedLog::ZERO);
        assert_eq!(SignedLog::ZERO + SignedLog::ZERO, SignedLog::ZERO);
        assert_eq!(SignedLog::ZERO + one, one);
        assert!((big + -big).value().is_nan() && (big * SignedLog::ZERO).value().is_nan());
        assert_eq!((big + -one).value(), INF);
        assert!((SignedLog::from_value(f64::NAN) + one).value().is_nan());
        assert!(signed_log_sum_exp([one, SignedLog::from_value(f64::NAN)]).value().is_nan());
        assert!(signed_log_sum_exp([big, one, -big]).value().is_nan());
        assert_eq!(signed_log_sum_exp([]), SignedLog::ZERO);
    }

    #[test]
    fn large_exponents_do_not_overflow() {
        assert!((log_sum_exp([1e5, 1e5, 1e5, 1e5]) - (1e5 + 4.0_f64.ln())).abs() < 2.0 * f64::EPSILON * 1e5);
        assert!((ln_expm1(1e-20) - (1e-20_f64).ln()).abs() < 1e-14);
        assert!((ln_expm1(800.0) - 800.0).abs() < f64::EPSILON * 800.0);
    }

    proptest! {
        #[test]
        fn agrees_with_plain_sums(terms in prop::collection::vec(-50.0_f64..50.0, 1..40)) {
            let plain: f64 = terms.iter().map(|x| x.exp()).sum();
            // 40 positive terms, 1 ulp each and 1 per addition, and an exponent of 50 that rounds
            // to 50 ulps.
            prop_assert!((log_sum_exp(terms.iter().copied()) - plain.ln()).abs() < 1e-14);
            let folded = terms.iter().fold(-INF, |sum, &x| log_add(sum, x));
            prop_assert!((folded - plain.ln()).abs() < 40.0 * 1e-14);
        }

        #[test]
        fn signed_sum_agrees(terms in prop::collection::vec(-50.0_f64..50.0, 0..40)) {
            let (plain, size) = terms.iter().fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
            let value = signed_log_sum_exp(terms.iter().map(|&x| SignedLog::from_value(x))).value();
            // Cancellation: the error is against the sum of the sizes.
            prop_assert!((value - plain).abs() <= 60.0 * f64::EPSILON * size);
        }

        #[test]
        fn signed_products(a in -1e100_f64..1e100, b in -1e100_f64..1e100) {
            let product = (SignedLog::from_value(a) * SignedLog::from_value(b)).value();
            // Logarithms up to 460 carry 460 ulps into the exponential.
            prop_assert!((product - a * b).abs() <= 500.0 * f64::EPSILON * (a * b).abs());
        }
    }
}
