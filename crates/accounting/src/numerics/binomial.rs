//! Binomial probabilities and tails for the exact float `p`, to `n = 10⁹` and beyond.

use super::beta::{self, ln_power_term};
use super::compensated::Proportion;
pub use super::deviance::deviance;
use crate::numerics::elementary::{exp, ln, ln_1p};

/// `P(X = k)` for `X ~ Binomial(n, p)`.
///
/// Citation: Loader (2000): `√(n/(2πk(n−k))) · exp(S(n) − S(k) − S(n−k) − D(k, np) − D(n−k,
/// n(1−p)))`. Direction: none; relative error about `10⁻¹⁵·(1 + |ln pmf|)`, see `docs/numerics.md`.
/// Rounding matters in `n·p` and `1 − p`: both are carried with their residuals, so the answer is
/// for the float `p` as given and not for a neighbour (at `n = 10⁹`, 37 σ out, the neighbour
/// differs by `10⁻¹⁰`). Edge cases: point masses at `p = 0` and `p = 1`; 0 for `k > n`; NaN for `p`
/// outside `[0, 1]` or NaN. Counts above `2⁵³` are rounded to a float first.
pub fn pmf(k: u64, n: u64, p: f64) -> f64 {
    pmf_of(k, n, Proportion::from_value(p))
}

/// [`pmf`] for `p` and `q = 1 − p` given separately.
///
/// The smaller of the two is believed as it stands and the other is taken as its exact complement:
/// a `q = 10⁻²⁰` survives that `p = 1` has forgotten. Edge cases: NaN when `p + q` is further from
/// 1 than `10⁻¹⁵`, since then it is unclear what was meant.
pub fn pmf_with_complement(k: u64, n: u64, p: f64, q: f64) -> f64 {
    pmf_of(k, n, proportion(p, q))
}

/// `ln P(X = k)`, finite where [`pmf`] underflows; relative error of the logarithm is a few ulps.
///
/// Edge cases: `−∞` where the probability is 0, NaN as for [`pmf`].
pub fn ln_pmf(k: u64, n: u64, p: f64) -> f64 {
    ln_pmf_of(k, n, Proportion::from_value(p))
}

/// [`ln_pmf`] for `p` and `q` given separately, as in [`pmf_with_complement`].
pub fn ln_pmf_with_complement(k: u64, n: u64, p: f64, q: f64) -> f64 {
    ln_pmf_of(k, n, proportion(p, q))
}

/// `P(X ≤ k) = I_{1−p}(n − k, k + 1)`, with full relative accuracy when it is small.
///
/// Citation: DLMF 8.17.5. Direction: none; error as for [`beta::regularised_beta`].
/// Edge cases: 1 for `k ≥ n`; NaN for `p` outside `[0, 1]` or NaN.
pub fn lower_tail(k: u64, n: u64, p: f64) -> f64 {
    tails(k, n, Proportion::from_value(p)).0
}

/// `P(X ≥ k) = I_p(k, n − k + 1)`, with full relative accuracy when it is small.
///
/// Edge cases: 1 for `k = 0`, 0 for `k > n`; NaN for `p` outside `[0, 1]` or NaN.
pub fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    upper_tail_of(k, n, Proportion::from_value(p))
}

/// [`lower_tail`] for `p` and `q` given separately, as in [`pmf_with_complement`].
pub fn lower_tail_with_complement(k: u64, n: u64, p: f64, q: f64) -> f64 {
    tails(k, n, proportion(p, q)).0
}

/// [`upper_tail`] for `p` and `q` given separately, as in [`pmf_with_complement`].
pub fn upper_tail_with_complement(k: u64, n: u64, p: f64, q: f64) -> f64 {
    upper_tail_of(k, n, proportion(p, q))
}

fn upper_tail_of(k: u64, n: u64, split: Proportion) -> f64 {
    match k.checked_sub(1) {
        None => tails(n, n, split).0,
        Some(below) => tails(below, n, split).1,
    }
}

/// `(P(X ≤ k), P(X > k))`.
fn tails(k: u64, n: u64, split: Proportion) -> (f64, f64) {
    if !is_proportion(split) {
        return (f64::NAN, f64::NAN);
    }
    if k >= n {
        return (1.0, 0.0);
    }
    let (upper, lower) = beta::regularised(k as f64 + 1.0, (n - k) as f64, split);
    (lower, upper)
}

fn pmf_of(k: u64, n: u64, split: Proportion) -> f64 {
    ln_terms(k, n, split).map_or_else(|value| value, |(exponent, scale)| scaled_exp(exponent, scale.sqrt()))
}

fn ln_pmf_of(k: u64, n: u64, split: Proportion) -> f64 {
    ln_terms(k, n, split).map_or_else(ln, |(exponent, scale)| exponent + 0.5 * ln(scale))
}

/// `Ok((e, s))` with `pmf = √s·exp(e)`; `Err(pmf)` where the mass is 0, 1 or NaN.
fn ln_terms(k: u64, n: u64, split: Proportion) -> Result<(f64, f64), f64> {
    if !is_proportion(split) {
        return Err(f64::NAN);
    }
    if k > n {
        return Err(0.0);
    }
    let (k, n, rest) = (k as f64, n as f64, (n - k) as f64);
    if split.x == 0.0 || split.y == 0.0 {
        let certain = if split.x == 0.0 { k } else { rest };
        return Err(if certain == 0.0 { 1.0 } else { 0.0 });
    }
    if k == 0.0 {
        return Ok((n * ln_of_complement(split), 1.0));
    }
    if rest == 0.0 {
        return Ok((n * ln_of_complement(split.swapped()), 1.0));
    }
    // x^a y^b/B(a, b) = pmf·ab/(a + b): the same power term that leads the incomplete beta.
    let term = ln_power_term(k, rest, split);
    Ok((term.exponent, n / k / rest * std::f64::consts::FRAC_1_PI * 0.5))
}

/// `ln y`, by way of `x` when `y` is close to 1.
pub(super) fn ln_of_complement(split: Proportion) -> f64 {
    if split.x < 0.5 { ln_1p(-split.x) - split.x_low } else { ln(split.y) + split.y_low / split.y }
}

/// `scale·exp(exponent)` without losing digits to a subnormal intermediate.
pub(super) fn scaled_exp(exponent: f64, scale: f64) -> f64 {
    if exponent < -700.0 {
        let half = exp(0.5 * exponent);
        return (scale * half) * half;
    }
    scale * exp(exponent)
}

fn is_proportion(split: Proportion) -> bool {
    split.x >= 0.0 && split.y >= 0.0
}

fn proportion(p: f64, q: f64) -> Proportion {
    // NaN fails this comparison and lands in the refusal.
    if (p + q - 1.0).abs() <= 1e-15 {
        return if p <= q { Proportion::from_value(p) } else { Proportion::from_complement(q) };
    }
    Proportion::from_value(f64::NAN)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        assert_eq!(pmf(0, 0, 0.3), 1.0);
        assert_eq!((pmf(0, 5, 0.0), pmf(1, 5, 0.0), pmf(5, 5, 1.0), pmf(4, 5, 1.0)), (1.0, 0.0, 1.0, 0.0));
        assert_eq!((pmf(6, 5, 0.3), ln_pmf(6, 5, 0.3)), (0.0, f64::NEG_INFINITY));
        assert_eq!(
            (lower_tail(5, 5, 0.3), lower_tail(9, 5, 0.3), upper_tail(0, 5, 0.3), upper_tail(6, 5, 0.3)),
            (1.0, 1.0, 1.0, 0.0)
        );
        assert_eq!(
            (lower_tail(0, 5, 0.0), upper_tail(1, 5, 0.0), lower_tail(4, 5, 1.0), upper_tail(5, 5, 1.0)),
            (1.0, 0.0, 0.0, 1.0)
        );
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(pmf(1, 2, p).is_nan() && ln_pmf(1, 2, p).is_nan(), "{p}");
            assert!(lower_tail(9, 2, p).is_nan() && upper_tail(0, 2, p).is_nan() && pmf(3, 2, p).is_nan(), "{p}");
        }
        assert!(pmf_with_complement(1, 2, 0.4, 0.5).is_nan());
    }

    #[test]
    fn small_n_by_hand() {
        // 10·0.3³·0.7², where the float 0.3 is off by a third of an ulp: four ulps cover the rest.
        assert!((pmf(3, 5, 0.3) / 0.1323 - 1.0).abs() < 4.0 * f64::EPSILON);
        assert!((upper_tail(4, 5, 0.5) / (6.0 / 32.0) - 1.0).abs() < 4.0 * f64::EPSILON);
        assert!((lower_tail(1, 5, 0.5) / (6.0 / 32.0) - 1.0).abs() < 4.0 * f64::EPSILON);
    }

    #[test]
    fn tails_equal_sums_of_the_mass() {
        for (n, p) in [(1, 0.2), (7, 0.5), (40, 0.9), (100, 0.31), (1000, 0.004), (1000, 0.5)] {
            let mass: Vec<f64> = (0..=n).map(|k| pmf(k, n, p)).collect();
            let total: f64 = mass.iter().sum();
            // 1000 terms, each to about 1e-15·(1 + |ln pmf|), those that matter with |ln| < 20.
            assert!((total - 1.0).abs() < 2e-14, "{n} {p}: {total}");
            let mut lower = 0.0;
            for k in 0..n {
                lower += mass[k as usize];
                let error = (lower_tail(k, n, p) / lower - 1.0).abs();
                assert!(error < 1e-12, "{n} {p} {k}: {error:e}");
                assert!((lower_tail(k, n, p) + upper_tail(k + 1, n, p) - 1.0).abs() < 4.0 * f64::EPSILON);
            }
        }
    }

    #[test]
    fn complement_given_separately_is_believed() {
        let n = 1_000_000_000;
        let q = 1e-12;
        let direct = pmf(3, n, q);
        assert_eq!(pmf_with_complement(n - 3, n, 1.0 - q, q).to_bits(), direct.to_bits());
        assert!(lower_tail_with_complement(n - 3, n, 1.0, 1e-20) > 0.0);
        // What forgetting the residual costs, so that the test above could fail: p rounded to 1 − q
        // moves q by 1e-5 of itself.
        assert!((pmf(n - 3, n, 1.0 - q) / direct - 1.0).abs() > 1e-6);
    }
}
