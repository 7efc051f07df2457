//! Non-negative numbers with an exponent that cannot overflow.
//!
//! The moments here reach `e^(10¹⁰)` and their ingredients `e^(−10⁷)`; logarithms would hold them
//! but turn every addition into an `exp`. A mantissa and an exponent keep additions and
//! multiplications what they are.

use crate::numerics::elementary::{exp, exp_m1_up, ln, ln_1p};

/// `mantissa·2^exponent` with the mantissa in `[1, 2)`, or zero. The exponent is an integer, held
/// as a float so that the inner loop of a convolution is float arithmetic throughout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scaled {
    pub(super) mantissa: f64,
    pub(super) exponent: f64,
}

/// The exponent of zero: below every other, and finite so that differences of exponents are never
/// NaN.
pub(super) const EXPONENT_OF_ZERO: f64 = -1e18;

/// `ln 2 = LN_2_HIGH + LN_2_LOW` to 85 bits; the high part ends in zeros, so that `k·LN_2_HIGH` is
/// exact for `k < 2^20`.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

impl Scaled {
    pub(super) const ZERO: Self = Self { mantissa: 0.0, exponent: EXPONENT_OF_ZERO };
    pub(super) const ONE: Self = Self { mantissa: 1.0, exponent: 0.0 };

    /// `value·2^exponent`, exactly. `value` must be finite and not negative.
    pub(super) fn new(value: f64, exponent: f64) -> Self {
        debug_assert!(value >= 0.0 && value.is_finite(), "{value}");
        if value == 0.0 {
            return Self::ZERO;
        }
        // A subnormal is first made normal; the factor is a power of two.
        if value < f64::MIN_POSITIVE {
            return Self::new(value * power_of_two(64.0), exponent - 64.0);
        }
        let bits = value.to_bits();
        let power = (bits >> 52) as f64 - 1023.0;
        let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
        Self { mantissa, exponent: exponent + power }
    }

    /// At least the product: one rounding, paid for.
    pub(super) fn times_up(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent + other.exponent).inflated(2.0)
    }

    /// At least the quotient by a positive float.
    pub(super) fn over_up(self, divisor: f64) -> Self {
        Self::new(self.mantissa / divisor, self.exponent).inflated(2.0)
    }

    /// Multiplied by at least `1 + units·2^−53`: pays for that many roundings (and for its own).
    pub(super) fn inflated(self, units: f64) -> Self {
        Self::new(self.mantissa * (1.0 + (0.5 * units + 1.0) * f64::EPSILON), self.exponent)
    }

    /// At least `e^x − 1`, for `x ≥ 0`. One ulp or two above it while `x` is small; relative error
    /// `x·2^−52` beyond.
    pub(super) fn exp_m1_up(x: f64) -> Self {
        if x < 600.0 {
            return Self::new(exp_m1_up(x), 0.0).inflated(0.0);
        }
        // e^x − 1 ≤ e^x = 2^k·e^f. Rounding k·ln 2 moves f by at most x·2^−53.
        let k = (x / std::f64::consts::LN_2).floor();
        let rest = (x - k * LN_2_HIGH) - k * LN_2_LOW;
        Self::new(exp(rest), k).inflated(2.0 * x + 8.0)
    }

    /// At least `ln(1 + self)`, to full relative accuracy however small `self` is.
    pub(super) fn ln_1p_up(self) -> f64 {
        let logarithm = if self.exponent < -1022.0 {
            // ln(1 + x) ≤ x; where even x is below every float, the smallest float is at least it.
            if self.mantissa == 0.0 { 0.0 } else { f64::MIN_POSITIVE }
        } else if self.exponent < 1000.0 {
            ln_1p(self.mantissa * power_of_two(self.exponent))
        } else {
            // ln(1 + x) ≤ ln x + 2^−1000.
            ln(self.mantissa) + self.exponent * std::f64::consts::LN_2
        };
        if logarithm == 0.0 { 0.0 } else { logarithm * (1.0 + 8.0 * f64::EPSILON) }
    }
}

/// The larger of two numbers that are not NaN: unlike `f64::max`, a single instruction.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// `2^d` for an integer `d` in `[−1022, 1023]`; smaller `d` gives `2^−1022`.
///
/// Adding `2^52 + 1023` puts `d + 1023` into the low bits of the mantissa, from where a shift makes
/// it the exponent: no branch and no conversion, so that the loop around it can be vectorised.
#[inline(always)]
pub(super) fn power_of_two(d: f64) -> f64 {
    const SHIFT: f64 = (1_u64 << 52) as f64 + 1023.0;
    f64::from_bits((larger(d, -1022.0) + SHIFT).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for d in [-1022, -1000, -53, -1, 0, 1, 52, 1023] {
            assert_eq!(power_of_two(f64::from(d)).to_bits(), 2_f64.powi(d).to_bits(), "2^{d}");
        }
        assert_eq!(power_of_two(-1e18).to_bits(), f64::MIN_POSITIVE.to_bits());
    }

    #[test]
    fn splits_any_float() {
        for value in [1.0, 1.5, 3.0, 1e-300, 1e300, 5e-324, 0.1] {
            let scaled = Scaled::new(value, 0.0);
            assert!((1.0..2.0).contains(&scaled.mantissa), "{value}: {scaled:?}");
            let halves = (scaled.exponent / 2.0).floor();
            let back = scaled.mantissa * 2_f64.powf(halves) * 2_f64.powf(scaled.exponent - halves);
            assert_eq!(back.to_bits(), value.to_bits());
        }
        assert_eq!(Scaled::new(0.0, 3.0), Scaled::ZERO);
    }

    #[test]
    fn exponentials_meet_where_the_branches_do() {
        let ln = |x: f64| Scaled::exp_m1_up(x).ln_1p_up();
        for x in [1e-300, 1e-9, 0.5, 1.0, 599.9, 600.0, 12_345.678, 1.6e7, 3.3e9] {
            let back = ln(x);
            assert!(back >= x && back <= x * (1.0 + 64.0 * f64::EPSILON), "ln(1 + expm1({x:e})) = {back:e}");
        }
    }
}
