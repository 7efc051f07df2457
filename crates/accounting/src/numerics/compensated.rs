//! Error-free transformations: a float operation together with exactly what it rounded away.

/// `(s, e)` with `s = fl(a + b)` and `s + e = a + b` exactly (Knuth's TwoSum), for any order of
/// magnitudes.
///
/// Exact unless `a + b` overflows, in which case `e` is NaN.
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    (sum, error)
}

/// `(p, e)` with `p = fl(a·b)` and `p + e = a·b` exactly, unless the product overflows or its error
/// underflows.
pub(super) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// A probability together with its complement, each an unevaluated sum of two floats, so that
/// `x + y = 1` to about 106 bits.
///
/// At `n = 10⁹` the rounding of `1 − p` alone moves a binomial probability 37 σ out by `10⁻¹⁰`;
/// keeping the low part is what makes "the binomial for *this* float `p`" a well-defined number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proportion {
    pub(super) x: f64,
    pub(super) x_low: f64,
    pub(super) y: f64,
    pub(super) y_low: f64,
}

impl Proportion {
    /// Takes `x` as exact; `x` must lie in `[0, 1]` or be NaN.
    pub(super) fn from_value(x: f64) -> Self {
        let (y, y_low) = two_sum(1.0, -x);
        Self { x, x_low: 0.0, y, y_low }
    }

    /// Takes the complement `y` as exact.
    pub(super) fn from_complement(y: f64) -> Self {
        Self::from_value(y).swapped()
    }

    /// The same split seen from the other side.
    pub(super) fn swapped(self) -> Self {
        Self { x: self.y, x_low: self.y_low, y: self.x, y_low: self.x_low }
    }

    /// `n·x` as an unevaluated sum, where `n` is itself `n + n_low`.
    pub(super) fn times(self, n: f64, n_low: f64) -> (f64, f64) {
        let (high, low) = two_product(n, self.x);
        (high, low + n.mul_add(self.x_low, n_low * self.x))
    }
}

/// A sum with its rounding errors carried along (Neumaier 1974): off by two units of roundoff of
/// the sum of sizes, whatever the number of terms up to 10⁷.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Accumulator {
    sum: f64,
    rounded_away: f64,
}

impl Accumulator {
    /// Adds a term.
    pub(crate) fn add(&mut self, term: f64) {
        let (sum, error) = two_sum(self.sum, term);
        self.sum = sum;
        self.rounded_away += error;
    }

    /// The sum so far.
    pub(crate) fn total(self) -> f64 {
        self.sum + self.rounded_away
    }
}

impl FromIterator<f64> for Accumulator {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "edge values are exact")]
mod tests {
    use super::*;

    #[test]
    fn two_sum_keeps_what_was_lost() {
        assert_eq!(two_sum(1.0, 1e-20), (1.0, 1e-20));
        assert_eq!(two_sum(1e-20, 1.0), (1.0, 1e-20));
    }

    #[test]
    fn complement_of_a_tiny_probability_is_not_one() {
        let split = Proportion::from_value(1e-20);
        assert!(split.y >= 1.0 && split.y_low == -1e-20);
    }

    #[test]
    fn product_with_a_rounded_complement_keeps_the_residual() {
        // 1 − 0.1 rounds; 10⁹ times the lost part is of the order 10⁻⁸ and must survive.
        let split = Proportion::from_value(0.1).swapped();
        let (high, low) = split.times(1e9, 0.0);
        let (from_p, from_p_low) = two_product(1e9, 0.1);
        let gap = (1e9 - high) - from_p;
        assert!((gap - (low + from_p_low)).abs() < 1e-22, "{gap} {low} {from_p_low}");
    }
}
