//! The law of `Bin(h, 1−p) + Bin(K−h, p)`: how many of K clients send a 1, h of whom hold one.

use super::window::Binomial;

/// The masses of the sum on a window.
pub(super) struct BinarySum {
    /// The smallest count of the window.
    #[cfg(test)]
    first: u64,
    pub(super) masses: Vec<f64>,
}

impl BinarySum {
    /// The masses of `first..=last`, from both ends inward.
    ///
    /// The generating function `(p+qz)^h (q+pz)^{K−h}` satisfies a first-order differential equation, hence with `c = p²+q²`, `A = hq²+(K−h)p²`
    /// `pq(j+1)·s_{j+1} = (A − cj)·s_j + pq(K−j+1)·s_{j−1}`. Up to j = A/c all terms are non-negative, and beyond it those of the mirrored recurrence are: nothing cancels.
    pub(super) fn new(clients: u64, ones: u64, p: f64, ln_cut: f64) -> Self {
        let (k, h, q) = (clients as f64, ones as f64, 1.0 - p);
        let (first, last) = Self::window(clients, ones, p, ln_cut);
        let (a, c, pq) = (h * q * q + (k - h) * p * p, p * p + q * q, p * q);
        let length = (last - first + 1) as usize;
        let mut masses = vec![0.0; length];
        let parts = Parts::new(clients, ones, p, ln_cut);
        let direct = |j: u64| parts.mass(j);
        // The turning point, as an index into the window.
        let turn = (((a / c).floor() - first as f64).max(0.0) as usize).min(length - 1);
        masses[0] = direct(first);
        for i in 1..=turn {
            masses[i] = if i == 1 {
                direct(first + 1)
            } else {
                let j = (first + i as u64 - 1) as f64;
                ((a - c * j) * masses[i - 1] + pq * (k - j + 1.0) * masses[i - 2]) / (pq * (j + 1.0))
            };
        }
        // Mirrored: s_{j−1} from s_j and s_{j+1}, pq(K−j+1)·s_{j−1} = (cj − A)·s_j + pq(j+1)·s_{j+1}.
        let top = length - 1;
        for i in (turn + 1..length).rev() {
            masses[i] = if top - i < 2 {
                direct(first + i as u64)
            } else {
                let j = (first + i as u64 + 1) as f64;
                ((c * j - a) * masses[i + 1] + pq * (j + 1.0) * masses[i + 2]) / (pq * (k - j + 1.0))
            };
        }
        Self {
            #[cfg(test)]
            first,
            masses,
        }
    }

    /// Counts outside of which, on either side, there is at most `exp(ln_cut)`: Bernstein's inequality for a sum of independent bits of total
    /// variance Kpq.
    fn window(clients: u64, ones: u64, p: f64, ln_cut: f64) -> (u64, u64) {
        let (k, h) = (clients as f64, ones as f64);
        let mean = h * (1.0 - p) + (k - h) * p;
        // t²/(2(Kpq + t/3)) = −ln_cut
        let third = -ln_cut / 3.0;
        let reach = third + (third * third - 2.0 * ln_cut * k * p * (1.0 - p)).sqrt();
        ((mean - reach).floor().max(0.0) as u64, ((mean + reach).ceil() as u64).min(clients))
    }
}

/// The two binomials that are added, and the windows that single masses need.
struct Parts {
    hold: Binomial,
    rest: Binomial,
    hold_window: (u64, u64),
    rest_window: (u64, u64),
}

impl Parts {
    fn new(clients: u64, ones: u64, p: f64, ln_cut: f64) -> Self {
        let hold = Binomial { trials: ones, p: 1.0 - p, q: p };
        let rest = Binomial { trials: clients - ones, p, q: 1.0 - p };
        // Terms beyond these windows are below exp(2·ln_cut), nothing next to a mass of about exp(ln_cut).
        let (hold_window, rest_window) = (hold.window(2.0 * ln_cut), rest.window(2.0 * ln_cut));
        Self { hold, rest, hold_window, rest_window }
    }

    /// One mass, as a convolution: a sum of non-negative terms.
    fn mass(&self, count: u64) -> f64 {
        let low = self.hold_window.0.max(count.saturating_sub(self.rest_window.1));
        let high = self.hold_window.1.min(count.saturating_sub(self.rest_window.0));
        if low > high || high > count {
            return 0.0;
        }
        let from_hold = self.hold.masses(low, high);
        let from_rest = self.rest.masses(count - high, count - low);
        from_hold.iter().zip(from_rest.iter().rev()).map(|(a, b)| a * b).sum()
    }
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
            for (j, mass) in (sum.first..).zip(&sum.masses) {
                let exact = by_hand(clients, ones, p)[j as usize];
                assert!((mass / exact - 1.0).abs() < 2e-12, "{clients} {ones} {p} at {j}: {mass:e} against {exact:e}");
            }
        }
    }
}
