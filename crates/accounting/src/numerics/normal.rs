//! The standard normal distribution: both tails, the logarithm far out, quantiles.

use super::compensated::two_product;
use super::gamma::LN_SQRT_2_PI;
use crate::numerics::elementary::{exp, ln, ln_1p};

/// `1/√2` as a sum of two floats.
const FRAC_1_SQRT_2_HIGH: f64 = std::f64::consts::FRAC_1_SQRT_2;
const FRAC_1_SQRT_2_LOW: f64 = -4.833646656726457e-17;

/// `√(2π)`.
const SQRT_2_PI: f64 = 2.5066282746310007;

/// `Φ(x) = ½ erfc(−x/√2)`, with full relative accuracy in the lower tail down to `Φ(−37) ≈ 10⁻³⁰⁰`.
///
/// Citation: `erfc` of `libm` (FreeBSD msun), below one ulp. Direction: none. Rounding matters in
/// `x/√2`: at `x = −37` half an ulp there is `10⁻¹³` of `Φ`. The residual of the division is
/// therefore carried, and paid by one derivative step. Edge cases: 0 at `−∞`, 1 at `∞`, NaN for
/// NaN. Below `x = −38.5` the answer underflows; use [`ln_cdf`].
pub fn cdf(x: f64) -> f64 {
    let (scaled, rounded_away) = two_product(-x, FRAC_1_SQRT_2_HIGH);
    if !scaled.is_finite() {
        return 0.5 * libm::erfc(scaled);
    }
    let residual = (-x).mul_add(FRAC_1_SQRT_2_LOW, rounded_away);
    // erfc'(t) = −(2/√π)·e^(−t²); a correction of at most 1e-13, so its own error does not matter.
    let correction = std::f64::consts::FRAC_2_SQRT_PI * exp(-scaled * scaled) * residual;
    0.5 * (libm::erfc(scaled) - correction)
}

/// `1 − Φ(x) = Φ(−x)`, with full relative accuracy in the upper tail.
pub fn upper_tail(x: f64) -> f64 {
    cdf(-x)
}

/// `ln Φ(x)`, to `x = −10⁸` and further: until `x²/2` overflows.
///
/// Formula: `ln(½ erfc)` down to `−20`; below,
/// `−x²/2 − ½ ln(2π) − ln(−x) + ln(1 − 1/x² + 3/x⁴ − 15/x⁶ + …)` (DLMF 7.12.1), whose seventh term
/// is `10⁻¹⁴` at `−20` against a sum of 200: below one ulp. For positive `x`, `ln(1 − Φ(−x))`.
/// Direction: none. Edge cases: `−∞` at `−∞`, 0 at `∞`, NaN for NaN.
pub fn ln_cdf(x: f64) -> f64 {
    if x > 0.0 {
        return ln_1p(-cdf(-x));
    }
    if x >= -20.0 || x.is_nan() {
        return ln(cdf(x));
    }
    let inverse_square = 1.0 / (x * x);
    // 1 − u(1 − 3u(1 − 5u(…)))
    let series = [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(1.0, |sum, odd| 1.0 - odd * inverse_square * sum);
    -0.5 * x * x - LN_SQRT_2_PI - ln(-x) + ln(series)
}

/// `Φ⁻¹(p)`.
///
/// Method: the rational start of Abramowitz & Stegun 26.2.23 (absolute error below `4.5·10⁻⁴`),
/// then Newton, which squares it: on `ln Φ` in the tail, and on `Φ − ½` near the centre, so that
/// `p → ½` keeps its relative accuracy. Direction: none. Edge cases: `−∞` at 0, `∞` at 1, NaN
/// outside `[0, 1]` and for NaN.
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 { -lower_quantile(1.0 - p) } else { lower_quantile(p) }
}

/// The point with upper tail `q`, `Φ⁻¹(1 − q)`, for `q` too small to be written as `1 − p`.
///
/// Edge cases: `∞` at 0, `−∞` at 1, NaN outside `[0, 1]` and for NaN.
pub fn upper_quantile(q: f64) -> f64 {
    -quantile(q)
}

/// [`quantile`] for `p ≤ ½`; `1 − p` is exact for `p ≥ ½`, so nothing is lost on the way here.
fn lower_quantile(p: f64) -> f64 {
    if p.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 0.5 {
        return 0.0;
    }
    let t = (-2.0 * ln(p)).sqrt();
    let rational = (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    let mut x = rational - t;
    if p > 0.25 {
        for _ in 0..3 {
            let excess = 0.5 * libm::erf(x * FRAC_1_SQRT_2_HIGH) - (p - 0.5);
            x -= excess * SQRT_2_PI * exp(0.5 * x * x);
        }
        return x;
    }
    let target = ln(p);
    for _ in 0..3 {
        let value = ln_cdf(x);
        // φ/Φ, formed as one exponential since both underflow beyond −38.
        let slope = exp(-0.5 * x * x - LN_SQRT_2_PI - value);
        x -= (value - target) / slope;
    }
    x
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges() {
        assert_eq!((cdf(f64::NEG_INFINITY), cdf(f64::INFINITY), cdf(0.0)), (0.0, 1.0, 0.5));
        assert_eq!((cdf(-1e300), cdf(1e300), upper_tail(1e300)), (0.0, 1.0, 0.0));
        assert_eq!((ln_cdf(f64::NEG_INFINITY), ln_cdf(f64::INFINITY)), (f64::NEG_INFINITY, 0.0));
        assert!(cdf(f64::NAN).is_nan() && ln_cdf(f64::NAN).is_nan() && quantile(f64::NAN).is_nan());
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan() && upper_quantile(-1.0).is_nan());
        assert_eq!((quantile(0.0), quantile(1.0), quantile(0.5)), (f64::NEG_INFINITY, f64::INFINITY, 0.0));
        assert_eq!((upper_quantile(0.0), upper_quantile(1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(quantile(5e-324) < -38.0);
    }

    #[test]
    fn far_out_the_logarithm_is_minus_half_the_square() {
        assert!((ln_cdf(-1e8) / -5e15 - 1.0).abs() < 1e-14);
        assert!((ln_cdf(-1e150) / -5e299 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn logarithm_is_continuous_at_the_switch() {
        let (left, right) = (ln_cdf((-20.0_f64).next_down()), ln_cdf(-20.0));
        assert!((left - right).abs() < 4.0 * f64::EPSILON * 204.0, "{left} {right}");
    }

    #[test]
    fn the_residual_of_the_division_is_needed() {
        // Without it, some argument near −37 is off by more than 1e-14: this is what the correction
        // buys.
        let worst = (0..1000)
            .map(|i| -36.0 - f64::from(i) * 1e-3)
            .map(|x| (0.5 * libm::erfc(-x * FRAC_1_SQRT_2_HIGH) / cdf(x) - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst > 1e-14, "{worst:e}");
    }

    proptest! {
        #[test]
        fn tails_add_up(x in -40.0_f64..40.0) {
            prop_assert!((cdf(x) + upper_tail(x) - 1.0).abs() <= 2.0 * f64::EPSILON);
        }

        #[test]
        fn round_trip(ln_p in -700.0_f64..-0.7) {
            let p = ln_p.exp();
            // x to an ulp moves ln Φ by x²·ulp, and x² ≤ 2·|ln p|.
            prop_assert!((cdf(quantile(p)) / p - 1.0).abs() < 4.0 * f64::EPSILON * (2.0 - 2.0 * ln_p));
        }

        #[test]
        fn increasing(x in -38.0_f64..8.0, gap in 1e-9_f64..1.0) {
            prop_assert!(cdf(x) <= cdf(x + gap) && ln_cdf(x) <= ln_cdf(x + gap));
        }

        #[test]
        fn never_panics(x in any::<f64>()) {
            prop_assert!(x.is_nan() || (0.0..=1.0).contains(&cdf(x)) && ln_cdf(x) <= 0.0);
            let _ = quantile(x);
        }
    }
}
