//! Loader's deviance, the part of a binomial, Poisson, beta or gamma density that must not lose
//! digits.

use crate::numerics::elementary::{ln, ln_1p};

/// `1/(2k + 3)`, the coefficients of `(atanh(v)/v − 1)/v²` in powers of `v²`.
const ATANH_COEFFICIENTS: [f64; 24] = {
    let mut table = [0.0; 24];
    let mut k = 0;
    while k < 24 {
        table[k] = 1.0 / (2.0 * k as f64 + 3.0);
        k += 1;
    }
    table
};

/// `Σ_k v^(2k)/(2k + 3)` for `0 ≤ v² ≤ 0.2`.
///
/// Stops at the first term that cannot change the sum; at `v² = 0.2` the term after the table is
/// below `2⁻⁵³` of the sum.
pub(super) fn atanh_tail(v_squared: f64) -> f64 {
    let mut sum = 0.0;
    let mut power = 1.0;
    for coefficient in ATANH_COEFFICIENTS {
        let term = coefficient * power;
        sum += term;
        if term <= 1e-18 {
            break;
        }
        power *= v_squared;
    }
    sum
}

/// `ln(1 + u) − u`, never positive, for `u > −1`; full relative accuracy also as `u → 0`, where it
/// is `−u²/2`.
///
/// Formula: with `v = u/(2 + u)`, `ln(1 + u) = 2 atanh v` and `2v − u = −u·v`, so the answer is
/// `−u·v + 2v³·Σ v^(2k)/(2k + 3)`. Outside `−0.6 < u < 1.5` the direct difference loses less than
/// two bits. Edge cases: `−∞` at `u = −1`, NaN below.
pub(super) fn ln_1p_minus(u: f64) -> f64 {
    if u > -0.6 && u < 1.5 {
        let v = u / (2.0 + u);
        let v_squared = v * v;
        2.0 * v * v_squared * atanh_tail(v_squared) - u * v
    } else {
        ln_1p(u) - u
    }
}

/// Deviance `D(x, m) = x ln(x/m) + m − x ≥ 0` for `x ≥ 0`, `m > 0`, with full relative accuracy.
///
/// Citation: C. Loader, "Fast and accurate computation of binomial probabilities" (2000), function
/// `bd0`; written here as `−x·(ln(1 + u) − u)`, `u = (m − x)/x`, which needs no switch of formula
/// near `x = m`. Direction: none, a few ulps either way. Rounding matters in `m − x` when `m` was
/// itself rounded (`m = n·p`): internal callers use the two-part form. Edge cases: `D(0, m) = m`;
/// `D(x, 0) = ∞` for `x > 0`; negative or NaN arguments give NaN.
pub fn deviance(x: f64, mean: f64) -> f64 {
    deviance_two_part(x, mean, 0.0)
}

/// [`deviance`] for a mean known as `mean + mean_low`.
///
/// The low part enters where it matters, in `m − x`; in the quotient by `x` its effect is below one
/// ulp.
pub(super) fn deviance_two_part(x: f64, mean: f64, mean_low: f64) -> f64 {
    if x.is_nan() || mean.is_nan() || x < 0.0 || mean < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return mean + mean_low;
    }
    if mean == 0.0 || mean.is_infinite() || x.is_infinite() {
        return if mean.is_infinite() && x.is_infinite() { f64::NAN } else { f64::INFINITY };
    }
    let u = ((mean - x) + mean_low) / x;
    if u <= -1.0 || u.is_infinite() {
        // x/m beyond 2⁵³ either way: u cannot hold it, the plain formula can.
        return x * (ln(x) - ln(mean)) + mean - x;
    }
    if u < -0.6 {
        // Close to −1 the quotient u has lost the ratio; m/x has not.
        return -x * (ln(mean / x) - u);
    }
    -x * ln_1p_minus(u)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;

    #[test]
    fn ln_1p_minus_is_continuous_across_the_switch() {
        for switch in [-0.6_f64, 1.5] {
            let inside = ln_1p_minus(switch * (1.0 - 1e-15));
            let outside = ln_1p_minus(switch * (1.0 + 1e-15));
            assert!((inside / outside - 1.0).abs() < 1e-14, "{switch}: {inside} {outside}");
        }
    }

    #[test]
    fn ln_1p_minus_near_zero_is_minus_half_the_square() {
        // The plain difference would answer 0 here.
        let u = 1e-9;
        assert!((ln_1p_minus(u) / (-0.5 * u * u * (1.0 - 2.0 * u / 3.0)) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn deviance_edges() {
        assert_eq!(deviance(0.0, 3.0), 3.0);
        assert_eq!(deviance(3.0, 3.0), 0.0);
        assert_eq!(deviance(3.0, 0.0), f64::INFINITY);
        assert!(deviance(f64::NAN, 1.0).is_nan() && deviance(1.0, f64::NAN).is_nan() && deviance(-1.0, 1.0).is_nan());
        assert!(deviance(1e300, 1e-300) > 1e302 && deviance(1e-300, 1e300) >= 1e300);
    }
}
