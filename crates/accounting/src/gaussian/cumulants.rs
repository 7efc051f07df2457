//! The cumulants of a log-normal likelihood ratio, all of them positive.

use super::scaled::Scaled;
use super::series::{Mirror, Series, convolve_up};

/// `r_j = κ_j/(j−1)!` for `j = 1, 2, …`, where `κ_j` are the cumulants of `w = exp(N(−s/2, s))`:
/// upper bounds, a few ulps per order above the truth.
///
/// `E[w^j] = e^(s·j(j−1)/2)`, one factor `e^s` for each pair among `j` points. So `κ_j` counts the
/// connected graphs on `j` points with weight `e^s − 1` per edge, and is positive. From
/// `A(x) = Σ E[w^j] x^j/j!` follows `A'(x) = A(e^s·x)`; with `A = e^C` that is
/// `C'(x) = exp(C(e^s·x) − C(x))`, in coefficients
///
/// `m·r_(m+1) = Σ_(j=1)^m (e^(js) − 1)·r_j·r_(m+1−j)`, `r_1 = 1`.
///
/// Every term is positive: nothing cancels, however small or large `s` is. **Direction: up** at
/// every step.
#[derive(Debug, Clone)]
pub(super) struct Cumulants {
    s: f64,
    /// `(e^(js) − 1)·r_j`, with a zero at `j = 0`.
    edged: Series,
    /// `r_j`, with a zero at `j = 0`.
    plain: Mirror,
}

impl Cumulants {
    pub(super) fn new(s: f64) -> Self {
        let mut cumulants = Self { s, edged: Series::default(), plain: Mirror::new() };
        cumulants.push(Scaled::ZERO);
        cumulants.push(Scaled::ONE);
        cumulants
    }

    fn push(&mut self, value: Scaled) {
        // j·s rounds once; at most x·2^−53 in the exponent, which exp_m1_up's own allowance does
        // not cover.
        let exponent = (self.plain.len() as f64 * self.s).next_up();
        self.edged.push(value.times_up(Scaled::exp_m1_up(exponent)));
        self.plain.push(value);
    }

    /// Makes `r_j` known for all `j ≤ order`.
    pub(super) fn extend(&mut self, order: usize) {
        while self.plain.len() <= order {
            let m = self.plain.len() - 1;
            self.push(convolve_up(&self.edged, &self.plain, m + 1, 1, m).over_up(m as f64));
        }
    }

    /// At least `r_j`; `j` must have been reached by [`extend`](Self::extend).
    pub(super) fn get(&self, j: usize) -> Scaled {
        self.plain.get(j)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_cumulants_are_those_of_the_textbook() {
        // Johnson, Kotz, Balakrishnan 14.3: with q = e^s, κ_2 = q − 1, κ_3 = (q − 1)²(q + 2),
        // κ_4 = (q − 1)²(q^4 + 2q³ + 3q² − 3) − 3(q − 1)².
        for s in [1e-3_f64, 0.3, 2.0] {
            let mut cumulants = Cumulants::new(s);
            cumulants.extend(4);
            let (q, u) = (s.exp(), s.exp_m1());
            let value = |j: usize| cumulants.get(j).mantissa * 2_f64.powf(cumulants.get(j).exponent);
            let fourth = u * u * (q.powi(4) + 2.0 * q.powi(3) + 3.0 * q * q - 6.0);
            for (j, exact, tolerance) in [(2, u, 1e-14), (3, u * u * (q + 2.0) / 2.0, 1e-14), (4, fourth / 6.0, 1e-9)] {
                assert!((value(j) / exact - 1.0).abs() < tolerance, "s = {s}, κ_{j}: {} against {exact}", value(j));
            }
        }
    }
}
