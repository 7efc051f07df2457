//! The law of `Bin(h, 1−p) + Bin(K−h, p)`: how many of K clients send a 1, h of whom hold one.

use super::window::Binomial;
use crate::numerics::binomial;
use crate::numerics::elementary::exp;

/// The masses of the sum on a window.
pub(super) struct BinarySum {
    /// The smallest count of the window.
    #[cfg(test)]
    first: u64,
    pub(super) masses: Vec<f64>,
}

impl BinarySum {
    /// The masses of a window outside of which there is at most about `exp(ln_cut)`, from both ends
    /// inward.
    ///
    /// The generating function `(p+qz)^h (q+pz)^{K−h}` satisfies a first-order differential
    /// equation, hence with `d_j = (h−j)q² + (K−h−j)p²`
    /// `pq(j+1)·s_{j+1} = d_j·s_j + pq(K−j+1)·s_{j−1}`. While d_j ≥ 0 all terms are non-negative,
    /// and beyond it those of the mirrored recurrence are: nothing cancels.
    pub(super) fn new(clients: u64, ones: u64, p: f64, ln_cut: f64) -> Self {
        let (k, h, q) = (clients as f64, ones as f64, 1.0 - p);
        let parts = Parts::new(clients, ones, p);
        let (first, last) = parts.window(ln_cut);
        let (c, pq) = (p * p + q * q, p * q);
        let drift = |j: f64| (h - j) * q * q + (k - h - j) * p * p;
        let length = (last - first + 1) as usize;
        let mut masses = vec![0.0; length];
        // The last j with d_j ≥ 0, as an index into the window.
        let turning = (h * q * q + (k - h) * p * p) / c;
        let turn = ((turning.floor() - first as f64).max(0.0) as usize).min(length - 1);
        let (rising, falling) = masses.split_at_mut(turn + 1);
        // The last two masses.
        let (mut before, mut last) = (0.0, 0.0);
        for (i, mass) in rising.iter_mut().enumerate() {
            let next = if i < 2 {
                parts.mass(first + i as u64)
            } else {
                let j = (first + i as u64 - 1) as f64;
                // The division waits for no mass, so that the processor need not wait for it.
                let inverse = 1.0 / (pq * (j + 1.0));
                drift(j).max(0.0) * inverse * last + pq * (k - j + 1.0) * inverse * before
            };
            *mass = next;
            (before, last) = (last, next);
        }
        // Mirrored: pq(K−j+1)·s_{j−1} = −d_j·s_j + pq(j+1)·s_{j+1}.
        let highest = first + length as u64 - 1;
        for (i, mass) in falling.iter_mut().rev().enumerate() {
            let next = if i < 2 {
                parts.mass(highest - i as u64)
            } else {
                let j = (highest - i as u64 + 1) as f64;
                let inverse = 1.0 / (pq * (k - j + 1.0));
                (-drift(j)).max(0.0) * inverse * last + pq * (j + 1.0) * inverse * before
            };
            *mass = next;
            (before, last) = (last, next);
        }
        Self {
            #[cfg(test)]
            first,
            masses,
        }
    }
}

/// How far from its mean the sum is with all but `exp(ln_cut)` on either side, by Bernstein:
/// `t²/(2(Kpq + t/3)) = −ln_cut`.
pub(super) fn reach(clients: u64, p: f64, ln_cut: f64) -> f64 {
    let third = -ln_cut / 3.0;
    third + (third * third - 2.0 * ln_cut * clients as f64 * p * (1.0 - p)).sqrt()
}

/// The two binomials that are added.
struct Parts {
    hold: Binomial,
    rest: Binomial,
    p: f64,
}

/// Window ends whose largest term is below `exp(ln_cut − SLACK)` are moved inward: a recurrence
/// must not start from an underflow. What this cuts off is nothing next to `exp(ln_cut)`, even with
/// as many terms and counts as there are clients.
const SLACK: f64 = 60.0;

/// Terms below this share of the largest are left out of a sum.
const NEGLIGIBLE: f64 = 1e-22;

impl Parts {
    fn new(clients: u64, ones: u64, p: f64) -> Self {
        let hold = Binomial { trials: ones, p: 1.0 - p, q: p };
        let rest = Binomial { trials: clients - ones, p, q: 1.0 - p };
        Self { hold, rest, p }
    }

    /// Counts outside of which, on either side, there is at most `exp(ln_cut)`: Bernstein's
    /// inequality for a sum of independent bits of total variance Kpq, and no further out than
    /// masses can be told from 0.
    fn window(&self, ln_cut: f64) -> (u64, u64) {
        let clients = self.hold.trials + self.rest.trials;
        let mean = self.hold.mean() + self.rest.mean();
        let reach = reach(clients, self.p, ln_cut);
        let (low, high) = ((mean - reach).floor().max(0.0) as u64, ((mean + reach).ceil() as u64).min(clients));
        let centre = (mean.round() as u64).clamp(low, high);
        let tells = |count: u64| self.ln_largest_term(count).1 >= ln_cut - SLACK;
        (nearest_telling(low, centre, tells), nearest_telling(high, centre, tells))
    }

    /// Of the terms `P(hold = i)·P(rest = count − i)` the index of the largest, and its logarithm.
    /// Their ratios `(h−i)(count−i)/((i+1)(K−h−count+i+1))·(q/p)²` decrease with i.
    fn ln_largest_term(&self, count: u64) -> (u64, f64) {
        let (mut low, mut high) = (count.saturating_sub(self.rest.trials), count.min(self.hold.trials));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ratio(count, middle) >= 1.0 { low = middle + 1 } else { high = middle }
        }
        let ln_term = binomial::ln_pmf_with_complement(low, self.hold.trials, self.hold.p, self.hold.q)
            + binomial::ln_pmf_with_complement(count - low, self.rest.trials, self.rest.p, self.rest.q);
        (low, ln_term)
    }

    /// The term at i + 1 over that at i.
    fn ratio(&self, count: u64, i: u64) -> f64 {
        let odds = (1.0 - self.p) / self.p;
        let remaining = (self.rest.trials + i + 1 - count) as f64;
        (self.hold.trials - i) as f64 / (i + 1) as f64 * odds * ((count - i) as f64 / remaining * odds)
    }

    /// One mass: the terms outward from the largest, all positive.
    fn mass(&self, count: u64) -> f64 {
        let (mode, ln_largest) = self.ln_largest_term(count);
        let (low, high) = (count.saturating_sub(self.rest.trials), count.min(self.hold.trials));
        let (mut sum, mut term) = (1.0, 1.0);
        for i in mode..high {
            term *= self.ratio(count, i);
            sum += term;
            if term < NEGLIGIBLE {
                break;
            }
        }
        term = 1.0;
        for i in (low..mode).rev() {
            term /= self.ratio(count, i);
            sum += term;
            if term < NEGLIGIBLE {
                break;
            }
        }
        sum * exp(ln_largest)
    }
}

/// The count nearest to `end`, towards `centre`, that tells something; they all do from there on.
fn nearest_telling(end: u64, centre: u64, tells: impl Fn(u64) -> bool) -> u64 {
    if tells(end) {
        return end;
    }
    let (mut silent, mut telling) = (end, centre);
    while silent.abs_diff(telling) > 1 {
        let middle = silent.midpoint(telling);
        if tells(middle) { telling = middle } else { silent = middle }
    }
    telling
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Convolution of all K bits, one by one.
    fn by_hand(clients: u64, ones: u64, p: f64) -> Vec<f64> {
        let mut law = vec![1.0];
        for i in 0..clients {
            let b = if i < ones { 1.0 - p } else { p };
            let at = |j: usize| law.get(j).copied().unwrap_or(0.0);
            law = (0..=law.len()).map(|j| at(j) * (1.0 - b) + if j > 0 { at(j - 1) * b } else { 0.0 }).collect();
        }
        law
    }

    #[test]
    fn agrees_with_convolution() {
        for (clients, ones, p) in [
            (0, 0, 0.3),
            (1, 0, 0.2),
            (1, 1, 0.2),
            (7, 3, 0.4),
            (60, 0, 0.1),
            (60, 60, 0.1),
            (300, 113, 0.119),
            (300, 7, 0.01),
        ] {
            let sum = BinarySum::new(clients, ones, p, -69.0);
            assert!((sum.masses.iter().sum::<f64>() - 1.0).abs() < 1e-11, "{clients} {ones} {p}: mass is missing");
            for (j, mass) in (sum.first..).zip(&sum.masses) {
                let exact = by_hand(clients, ones, p)[j as usize];
                // The reference itself loses digits of 1 − b.
                assert!(
                    (mass / exact - 1.0).abs() < 4e-12 || (mass - exact).abs() < 1e-25,
                    "{clients} {ones} {p} at {j}: {mass:e} against {exact:e}"
                );
            }
        }
    }
}
