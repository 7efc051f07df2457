//! Limits for the mean probability of independent events that need not be alike: each client's
//! report has a probability of its own.

use crate::clopper_pearson;

/// Limits of `(p_1 + … + p_n)/n` from how many of the n events occurred; each is missed with
/// probability at most `miss/2`, which is at most ¼. **Direction: outwards.**
///
/// Clopper–Pearson, although the count is not binomial. Hoeffding 1956 ("On the distribution of the
/// number of successes in independent trials", Theorem 4): for c ≥ np̄ + 1, P(S ≥ c) is at most
/// that of a binomial of the same mean. The lower limit fails where S reaches the first c with
/// P(Bin(n, p̄) ≥ c) < miss/2 ≤ ¼; for np̄ > 1, P(Bin(n, p̄) ≥ np̄) > ¼ (Greenberg, Mohri 2014), so
/// that c ≥ np̄ + 1. For np̄ ≤ 1 every c ≥ 2 is. What is left is S = 1, where Hoeffding points the
/// other way: there P(S ≥ 1) ≤ np̄ gives the limit miss/(2n). The upper limit is the lower one of
/// what did not occur.
pub(super) fn limits(occurred: u64, trials: u64, miss: f64) -> (f64, f64) {
    (lower(occurred, trials, miss / 2.0), 1.0 - lower(trials - occurred, trials, miss / 2.0))
}

fn lower(occurred: u64, trials: u64, miss: f64) -> f64 {
    match occurred {
        1 => miss / trials as f64,
        _ => clopper_pearson::lower(occurred, trials, miss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(S = s) for all s, by convolution.
    fn law(probabilities: &[f64]) -> Vec<f64> {
        probabilities.iter().fold(vec![1.0], |law, p| {
            let mut next = vec![0.0; law.len() + 1];
            for (s, mass) in law.iter().enumerate() {
                next[s] += mass * (1.0 - p);
                next[s + 1] += mass * p;
            }
            next
        })
    }

    /// The exact probability that each limit misses, over events as unlike as can be.
    #[test]
    fn neither_limit_misses_more_often_than_allowed() {
        let mut worst = 0.0_f64;
        for n in [1, 2, 5, 20, 60] {
            for likely in 0..=n {
                for (high, low) in [(0.9, 0.1), (1.0, 0.0), (0.5, 0.01), (0.02, 0.001), (1.0, 0.3)] {
                    let probabilities: Vec<f64> = (0..n).map(|i| if i < likely { high } else { low }).collect();
                    let mean = probabilities.iter().sum::<f64>() / n as f64;
                    for miss in [0.5, 0.1, 0.01] {
                        let (mut below, mut above) = (0.0, 0.0);
                        for (s, mass) in law(&probabilities).into_iter().enumerate() {
                            let (lower, upper) = limits(s as u64, n as u64, miss);
                            below += if upper < mean - 1e-12 { mass } else { 0.0 };
                            above += if lower > mean + 1e-12 { mass } else { 0.0 };
                        }
                        assert!(
                            below <= miss / 2.0 && above <= miss / 2.0,
                            "{n} {likely} {high} {low} {miss}: {below} {above}"
                        );
                        worst = worst.max(above / miss);
                    }
                }
            }
        }
        // The limits are not idle: somewhere nearly all that is allowed is used.
        assert!(worst > 0.35, "{worst}");
    }
}
