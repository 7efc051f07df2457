//! Where a binomial has its mass, and how little lies outside: Chernoff's bound in deviance form.

use crate::numerics::binomial;

/// A binomial law with its parameter and the complement of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binomial {
    pub(super) trials: u64,
    pub(super) p: f64,
    pub(super) q: f64,
}

/// Masses are recomputed from Loader's form this often; in between they follow from the ratio of neighbours, at the cost of
/// three roundings a step.
const ANCHOR_EVERY: usize = 512;

impl Binomial {
    pub(super) fn mean(&self) -> f64 {
        self.trials as f64 * self.p
    }

    /// `−trials·KL(x/trials ‖ p)`: at least the logarithm of the tail on the far side of x (Chernoff, Hoeffding 1963).
    /// **Direction: up**, by a few ulps. 0 at the mean; `−∞` where the outcome is impossible.
    pub(super) fn ln_tail(&self, x: f64) -> f64 {
        let trials = self.trials as f64;
        let exponent = binomial::deviance(x, self.mean()) + binomial::deviance(trials - x, trials * self.q);
        -exponent * (1.0 - 1e-12)
    }

    /// The outcomes `low..=high` outside of which, on either side, there is at most mass `exp(ln_cut)`.
    pub(super) fn window(&self, ln_cut: f64) -> (u64, u64) {
        let mean = self.mean().clamp(0.0, self.trials as f64);
        let (below, above) = (mean.floor() as u64, (mean.ceil() as u64).min(self.trials));
        // Invariant: everything at or beyond `outside` is negligible; `inside` is kept.
        let mut low = 0;
        if self.ln_tail(0.0) <= ln_cut {
            let (mut outside, mut inside) = (0, below);
            while inside - outside > 1 {
                let middle = outside + (inside - outside) / 2;
                if self.ln_tail(middle as f64) <= ln_cut { outside = middle } else { inside = middle }
            }
            low = (outside + 1).min(below);
        }
        let mut high = self.trials;
        if self.ln_tail(self.trials as f64) <= ln_cut {
            let (mut inside, mut outside) = (above, self.trials);
            while outside - inside > 1 {
                let middle = inside + (outside - inside) / 2;
                if self.ln_tail(middle as f64) <= ln_cut { outside = middle } else { inside = middle }
            }
            high = (outside.saturating_sub(1)).max(above);
        }
        (low, high)
    }

    /// The masses of `low..=high`, to a relative error of about 1e-12.
    pub(super) fn masses(&self, low: u64, high: u64) -> Vec<f64> {
        let mut masses = Vec::with_capacity((high - low + 1) as usize);
        let odds = self.p / self.q;
        for anchor in (low..=high).step_by(ANCHOR_EVERY) {
            let mut mass = binomial::pmf_with_complement(anchor, self.trials, self.p, self.q);
            masses.push(mass);
            // x and trials − x + 1, exact: counts are below 2^53, and converting them would take longer than the rest of a step.
            let (mut up, mut down) = (anchor as f64, (self.trials - anchor) as f64 + 1.0);
            let last = high.min(anchor + ANCHOR_EVERY as u64 - 1);
            masses.extend((anchor + 1..=last).map(|x| {
                (up, down) = (up + 1.0, down - 1.0);
                mass = if mass < f64::MIN_POSITIVE {
                    binomial::pmf_with_complement(x, self.trials, self.p, self.q)
                } else {
                    mass * (down / up * odds)
                };
                mass
            }));
        }
        masses
    }
}
