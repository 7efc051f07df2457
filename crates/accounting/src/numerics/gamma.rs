//! `ln Γ`, the Stirling error and the logarithm of binomial coefficients.

use super::deviance::atanh_tail;
use crate::numerics::elementary::{ln, ln_1p};

/// `½ ln(2π)`.
pub(super) const LN_SQRT_2_PI: f64 = 0.918_938_533_204_672_8;

/// `stirling_error(k)` for `k = 1..=16`, rounded from 60 digits.
const STIRLING_ERROR_OF_INTEGER: [f64; 16] = [
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
    0.00694284010720953,
    0.006408994188004207,
    0.0059513701127588475,
    0.005554733551962801,
    0.0052076559196096404,
];

/// `B_{2k}/(2k(2k − 1))`, `k = 8` down to 1: Stirling's series, highest power first for Horner.
const STIRLING_SERIES: [f64; 8] = [
    -0.029550653594771242,
    0.00641025641025641,
    -0.0019175269175269176,
    0.0008417508417508417,
    -0.0005952380952380953,
    0.0007936507936507937,
    -0.002777777777777778,
    0.08333333333333333,
];

/// `ln Γ(x)` for `x > 0`.
///
/// Citation: the `lgamma_r` of `libm` (FreeBSD msun), about one ulp, also near the zeros 1 and 2.
/// Edge cases: `∞` at 0 and at `∞`; NaN for negative `x` and NaN.
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    libm::lgamma_r(x).0
}

/// Stirling error `S(x) = ln Γ(x + 1) − (x + ½) ln x + x − ½ ln(2π)`, for real `x > 0`, to full
/// relative accuracy.
///
/// Citation: Loader (2000), `stirlerr`. From 16 on Stirling's series, whose first neglected term is
/// below `10⁻¹⁷` of the sum; below, the recurrence `S(x) = S(x + 1) + atanh(v)/v − 1`,
/// `v = 1/(2x + 1)`, in which every term is positive, so nothing cancels (subtracting `ln Γ` would
/// lose a digit for every factor of ten in `x`). Integers come from a table. Direction: none, a few
/// ulps either way. Edge cases: `∞` at 0, 0 at `∞`, NaN for negative `x` and NaN.
pub fn stirling_error(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x >= 16.0 {
        return stirling_series(x);
    }
    if x.fract() == 0.0 {
        return STIRLING_ERROR_OF_INTEGER.get(x as usize - 1).copied().unwrap_or(f64::NAN);
    }
    let mut shifted = x;
    let mut sum = 0.0;
    while shifted < 16.0 {
        sum += stirling_step(shifted);
        shifted += 1.0;
    }
    sum + stirling_series(shifted)
}

fn stirling_series(x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    // Plain products, not fused ones: without the machine's own instruction a fused product is a
    // slow call.
    STIRLING_SERIES.iter().fold(0.0, |sum, &c| sum * square + c) * inverse
}

/// `S(x) − S(x + 1) = (x + ½) ln(1 + 1/x) − 1 = atanh(v)/v − 1`, positive.
fn stirling_step(x: f64) -> f64 {
    let v = 1.0 / (2.0 * x + 1.0);
    let v_squared = v * v;
    if v_squared <= 0.2 {
        return v_squared * atanh_tail(v_squared);
    }
    // x < 0.618: at worst the difference keeps 0.14 of its larger term, which costs three bits.
    (x + 0.5) * (ln_1p(x.recip())) - 1.0
}

/// `ln C(n, k)` for real `0 ≤ k ≤ n`, `C(n, k) = Γ(n+1)/(Γ(k+1) Γ(n−k+1))`.
///
/// Formula: for `k ≤ n/2`, `k ln(n/k) − (n−k) ln(1 − k/n) + ½
/// ln(n/(2πk(n−k))) + S(n) − S(k) − S(n−k)`; the two large terms are both positive, so nothing of
/// the size of `n ln n` is ever subtracted (differences of `ln Γ` cost `10⁻⁶` at `n = 10⁹`). When
/// `n` and `k` are integers and `C(n, k) ≤ 2⁵³` the coefficient is formed exactly. Direction: none.
/// Rounding: full *relative* accuracy when `k` and `n − k` are at least 1; for fractional `k` below
/// 1 the answer tends to 0 and the error, about `10⁻¹⁶`, is then absolute. Edge cases: 0 at `k = 0`
/// and `k = n`; `−∞` for `k < 0` or `k > n`; NaN for NaN, `n < 0` or infinite arguments.
pub fn ln_binomial(n: f64, k: f64) -> f64 {
    if n.is_nan() || k.is_nan() || n < 0.0 || n.is_infinite() {
        return f64::NAN;
    }
    if k < 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    let rest = n - k;
    let (small, large) = if k <= rest { (k, rest) } else { (rest, k) };
    if small == 0.0 {
        return 0.0;
    }
    if let Some(exact) = exact_coefficient(n, small) {
        return ln(exact);
    }
    let share = small / n;
    let leading = large.mul_add(-ln_1p(-share), -small * ln(share));
    let half_log = -0.5 * ln(share * large) - LN_SQRT_2_PI;
    leading + (half_log + (stirling_error(n) - stirling_error(small) - stirling_error(large)))
}

/// `C(n, k)` when both are integers and every partial product stays an exact float.
fn exact_coefficient(n: f64, k: f64) -> Option<f64> {
    if k > 30.0 || k.fract() != 0.0 || n.fract() != 0.0 {
        return None;
    }
    let limit = 9_007_199_254_740_992.0; // 2⁵³
    let mut coefficient = 1.0;
    let mut step = 1.0;
    while step <= k {
        // C(n−k+step, step)·step is an integer, so the division is exact as long as the product is.
        coefficient *= n - k + step;
        if coefficient > limit {
            return None;
        }
        coefficient /= step;
        step += 1.0;
    }
    Some(coefficient)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;

    #[test]
    fn small_coefficients_are_exact() {
        assert_eq!(ln_binomial(5.0, 2.0), 10.0_f64.ln());
        assert_eq!(ln_binomial(1e9, 1.0), 1e9_f64.ln());
        assert_eq!(ln_binomial(30.0, 15.0), 155_117_520.0_f64.ln());
    }

    #[test]
    fn edges() {
        assert_eq!(ln_binomial(7.0, 0.0), 0.0);
        assert_eq!(ln_binomial(7.0, 7.0), 0.0);
        assert_eq!(ln_binomial(7.0, 8.0), f64::NEG_INFINITY);
        assert_eq!(ln_binomial(7.0, -1.0), f64::NEG_INFINITY);
        for bad in [(f64::NAN, 1.0), (1.0, f64::NAN), (-1.0, 0.0), (f64::INFINITY, 1.0)] {
            assert!(ln_binomial(bad.0, bad.1).is_nan(), "{bad:?}");
        }
        assert!(ln_gamma(-0.5).is_nan() && ln_gamma(f64::NAN).is_nan() && ln_gamma(0.0) == f64::INFINITY);
        assert!(stirling_error(-1.0).is_nan() && stirling_error(0.0) == f64::INFINITY);
        assert_eq!(stirling_error(f64::INFINITY), 0.0);
    }

    #[test]
    fn pascal_holds_across_the_exact_limit() {
        // C(n, k) = C(n−1, k−1) + C(n−1, k), with k/n and 1 − k/n the two shares; n = 60 is exact
        // in part only.
        for n in 20..200 {
            for k in 1..n {
                let (n, k) = (f64::from(n), f64::from(k));
                let ratio = ln_binomial(n - 1.0, k - 1.0) - ln_binomial(n, k);
                // Each logarithm is below 140 and good to about 2 ulps of itself:
                // 4·140·2⁻⁵³ ≈ 6e-14.
                assert!((ratio - (k / n).ln()).abs() < 6e-14, "{n} {k}");
            }
        }
    }

    #[test]
    fn stirling_table_agrees_with_the_recurrence() {
        for (index, &tabulated) in STIRLING_ERROR_OF_INTEGER.iter().enumerate() {
            let mut x = index as f64 + 1.0;
            let mut sum = 0.0;
            while x < 20.0 {
                sum += stirling_step(x);
                x += 1.0;
            }
            assert!(((sum + stirling_series(x)) / tabulated - 1.0).abs() < 8.0 * f64::EPSILON, "{index}");
        }
    }
}
