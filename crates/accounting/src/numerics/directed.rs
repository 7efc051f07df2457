//! Arithmetic that says which way it rounds.
//!
//! NaN stays NaN and an infinite operand stays infinite. A finite result that overflows upward is
//! `+∞`, a bound that claims nothing. No rounding mode is switched: the exact rounding error
//! decides whether the neighbouring float is needed, so an exact operation stays exact.

use super::compensated::{two_product, two_sum};

/// The smallest float `≥ a + b`, or its neighbour above.
pub fn add_up(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if sum.is_finite() {
        // Not `error > 0`: should the error be unknown, step up too.
        return if error <= 0.0 { sum } else { sum.next_up() };
    }
    // Finite operands whose sum overflowed downward: −∞ would be below the true sum.
    if sum < 0.0 && a.is_finite() && b.is_finite() { f64::MIN } else { sum }
}

/// The largest float `≤ a + b`, or its neighbour below.
pub fn add_down(a: f64, b: f64) -> f64 {
    -add_up(-a, -b)
}

/// A float `≥ a·b`, at most one neighbour above the nearest. `0·∞` is NaN.
pub fn mul_up(a: f64, b: f64) -> f64 {
    let (product, error) = two_product(a, b);
    if product.is_finite() {
        if product == 0.0 && product.is_sign_negative() {
            // Zero or an underflow from below: either way zero is above.
            return product;
        }
        // Below 2⁻⁹⁶⁰ the error itself may underflow and look exact.
        let exact = error <= 0.0 && (product.abs() > 1e-288 || a == 0.0 || b == 0.0);
        return if exact { product } else { product.next_up() };
    }
    if product < 0.0 && a.is_finite() && b.is_finite() { f64::MIN } else { product }
}

/// A float `≤ a·b`, at most one neighbour below the nearest. `0·∞` is NaN.
pub fn mul_down(a: f64, b: f64) -> f64 {
    -mul_up(-a, b)
}

/// A float `≥ Σ x_i` of non-negative terms; a few ulps above the exact sum at most, however many
/// the terms.
///
/// Method: the rounding errors of the running sum are themselves summed upward. Holds for terms of
/// either sign, except that a sum which overflows on the way is `+∞`. Edge cases: 0 for no terms;
/// `+∞` if a term is; NaN if a term is.
pub fn sum_up(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, error, special) = running_sum(terms);
    if special.is_nan() {
        return f64::NAN;
    }
    if sum.is_finite() { add_up(sum, error) } else { f64::INFINITY }
}

/// A float `≤ Σ x_i` of non-negative terms; a few ulps below the exact sum at most.
///
/// Edge cases: as for [`sum_up`], except that a sum of finite terms which overflows is the largest
/// finite float.
pub fn sum_down(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, error, special) = running_sum(terms.into_iter().map(|x| -x));
    if special.is_nan() || special.is_infinite() {
        return -special;
    }
    if sum.is_finite() { -add_up(sum, error) } else { f64::MAX }
}

/// `(s, e, special)`: running sum, an upper bound on what its roundings lost, and the sum of the
/// non-finite terms.
fn running_sum(terms: impl IntoIterator<Item = f64>) -> (f64, f64, f64) {
    let (mut sum, mut error, mut special) = (0.0, 0.0, 0.0);
    for term in terms {
        if !term.is_finite() {
            special += term;
        }
        let (next, lost) = two_sum(sum, term);
        sum = next;
        if sum.is_finite() {
            error = add_up(error, lost);
        }
    }
    (sum, error, special)
}

/// A float `≥ value·(1 + relative)`, for `value ≥ 0`, `relative ≥ 0`: pays for a relative error
/// once, upward.
///
/// Always at least one float above `value`: a zero is taken for an underflow and becomes the
/// smallest positive float. Edge cases: `∞` stays `∞`; NaN, and a negative `value` or `relative`,
/// give NaN, since "up" would not mean "safe" there.
pub fn inflate(value: f64, relative: f64) -> f64 {
    if value >= 0.0 && relative >= 0.0 {
        if value == 0.0 && relative.is_infinite() {
            return f64::INFINITY;
        }
        return mul_up(value, add_up(1.0, relative)).next_up();
    }
    f64::NAN
}

/// A float `≤ value·(1 − relative)` and `≥ 0`, for `value ≥ 0`, `relative ≥ 0`; at least one float
/// below a positive `value`.
///
/// Edge cases: 0 for `relative ≥ 1` and for `value = 0`; otherwise `∞` stays `∞`; NaN as for
/// [`inflate`].
pub fn deflate(value: f64, relative: f64) -> f64 {
    if value >= 0.0 && relative >= 0.0 {
        if value == 0.0 || relative >= 1.0 {
            return 0.0;
        }
        if value.is_infinite() {
            return value;
        }
        return mul_down(value, add_down(1.0, -relative)).next_down().max(0.0);
    }
    f64::NAN
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn exact_operations_stay_exact() {
        assert_eq!(
            (add_up(1.0, 2.0), mul_up(3.0, 0.5), sum_up([0.5, 0.25]), sum_down([0.5, 0.25])),
            (3.0, 1.5, 0.75, 0.75)
        );
    }

    #[test]
    fn one_tenth_and_two_tenths() {
        // As floats, 0.1 + 0.2 lies strictly between two floats; nearest rounding goes up here.
        assert_eq!(add_up(0.1, 0.2), 0.1 + 0.2);
        assert_eq!(add_down(0.1, 0.2), (0.1_f64 + 0.2).next_down());
        assert_eq!(add_up(1.0, 1e-300), 1.0_f64.next_up());
        assert_eq!(add_down(1.0, 1e-300), 1.0);
        assert_eq!(mul_up(5e-324, 0.1), 5e-324);
        assert_eq!((mul_down(5e-324, 0.1), mul_up(-5e-324, 0.1)), (0.0, 0.0));
    }

    #[test]
    fn many_small_terms_are_not_lost() {
        // Plain summation answers exactly 1 and would be unsound.
        let terms = || std::iter::once(1.0).chain(std::iter::repeat_n(1e-17, 1000));
        assert!(terms().sum::<f64>() <= 1.0);
        let (low, high) = (sum_down(terms()), sum_up(terms()));
        assert!(low <= 1.0 + 1e-14 && 1.0 + 1e-14 <= high && high - low <= 2.0 * f64::EPSILON, "{low} {high}");
    }

    #[test]
    fn infinities_and_nan() {
        assert_eq!((add_up(INF, 1.0), add_up(-INF, 1.0), add_up(f64::MAX, f64::MAX)), (INF, -INF, INF));
        assert_eq!((add_up(f64::MIN, f64::MIN), add_down(f64::MAX, f64::MAX)), (f64::MIN, f64::MAX));
        assert_eq!((mul_up(f64::MAX, 2.0), mul_up(f64::MIN, 2.0), mul_down(f64::MAX, 2.0)), (INF, f64::MIN, f64::MAX));
        assert_eq!((sum_up([f64::MAX, f64::MAX]), sum_down([f64::MAX, f64::MAX]), sum_up([])), (INF, f64::MAX, 0.0));
        assert_eq!((sum_up([1.0, INF]), sum_down([1.0, INF])), (INF, INF));
        assert!(sum_up([1.0, f64::NAN, INF]).is_nan() && sum_down([f64::NAN]).is_nan());
        assert!(add_up(INF, -INF).is_nan() && mul_up(0.0, INF).is_nan() && add_up(f64::NAN, 1.0).is_nan());
        assert!(inflate(f64::NAN, 0.1).is_nan() && inflate(-1.0, 0.1).is_nan() && deflate(1.0, f64::NAN).is_nan());
        assert_eq!(
            (inflate(INF, 0.0), inflate(0.0, 0.0), deflate(INF, 0.5), deflate(1.0, 2.0)),
            (INF, 5e-324, INF, 0.0)
        );
    }

    proptest! {
        #[test]
        fn sums_enclose_the_exact_one(terms in prop::collection::vec(0_u64..1 << 53, 0..50), scale in -40_i32..0) {
            // Integers below 2⁵³ times a power of two are floats, and their sum fits u128: the
            // truth is exact.
            let truth: u128 = terms.iter().map(|&t| u128::from(t)).sum();
            let unit = 2.0_f64.powi(scale);
            let floats = || terms.iter().map(|&t| t as f64 * unit);
            let (low, high) = (sum_down(floats()) / unit, sum_up(floats()) / unit);
            prop_assert!(low as u128 <= truth && truth <= high as u128);
            prop_assert!(high <= low.next_up().next_up());
        }

        #[test]
        fn products_enclose(a in any::<f64>(), b in any::<f64>()) {
            let (low, high) = (mul_down(a, b), mul_up(a, b));
            prop_assert!(high.is_nan() && low.is_nan() || low <= a * b && a * b <= high);
        }

        #[test]
        fn inflation_pays(value in 0.0_f64..1e300, relative in 0.0_f64..1e-3) {
            prop_assert!(inflate(value, relative) > value * (1.0 + relative) || value == 0.0);
            prop_assert!(inflate(value, relative) <= value * (1.0 + relative) * (1.0 + 1e-15) + 1e-322);
            prop_assert!(deflate(value, relative) < value * (1.0 - relative) || value == 0.0);
            prop_assert!(deflate(value, relative) >= value * (1.0 - relative) * (1.0 - 1e-15) - 1e-322);
        }
    }
}
