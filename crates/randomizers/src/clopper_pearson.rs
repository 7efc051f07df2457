//! Exact confidence limits for a probability (Clopper, Pearson 1934): no normal approximation,
//! right at any count.

use shuffledp_accounting::numerics::beta::{inverse_regularised_beta, inverse_regularised_beta_upper};

/// Far above the error of the inverse beta function, and far below what a limit can resolve: limits
/// move outwards by it.
const SLACK: f64 = 1e-9;

/// At most the probability, except with probability `miss`: the p at which `successes` or more of
/// `trials` have probability `miss`. **Direction: down.**
pub fn lower(successes: u64, trials: u64, miss: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    let (limit, _) = inverse_regularised_beta(successes as f64, (trials - successes) as f64 + 1.0, miss);
    // NaN would be no limit at all; 0 always is one.
    if limit.is_finite() { limit * (1.0 - SLACK) } else { 0.0 }
}

/// At least the probability, except with probability `miss`: the p at which `successes` or fewer of
/// `trials` have probability `miss`. **Direction: up.**
pub fn upper(successes: u64, trials: u64, miss: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    let (limit, _) = inverse_regularised_beta_upper(successes as f64 + 1.0, (trials - successes) as f64, miss);
    if limit.is_finite() { (limit * (1.0 + SLACK)).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::numerics::beta::regularised_beta;

    #[test]
    fn limits_are_where_the_tails_have_the_asked_probability() {
        for (successes, trials, miss) in
            [(1, 10, 0.05), (3, 10, 0.025), (9, 10, 0.01), (500, 10_000, 1e-6), (1, 1, 0.05)]
        {
            let (k, n) = (successes as f64, trials as f64);
            // P(Bin(n, p) ≥ k) = I_p(k, n − k + 1).
            let low = lower(successes, trials, miss);
            assert!((regularised_beta(k, n - k + 1.0, low).0 / miss - 1.0).abs() < 1e-5, "{successes}/{trials}");
            let high = upper(successes, trials, miss);
            if successes < trials {
                assert!((regularised_beta(k + 1.0, n - k, high).1 / miss - 1.0).abs() < 1e-5, "{successes}/{trials}");
            }
            assert!(low < k / n && k / n <= high);
        }
    }

    #[test]
    fn the_ends_have_closed_forms() {
        // 0 of n: upper 1 − miss^(1/n), the "rule of three".
        assert!((upper(0, 100, 0.05) - (1.0 - 0.05_f64.powf(0.01))).abs() < 1e-8);
        assert!((lower(100, 100, 0.05) - 0.05_f64.powf(0.01)).abs() < 1e-8);
        assert_eq!((lower(0, 100, 0.05), upper(100, 100, 0.05)), (0.0, 1.0));
    }
}
