//! Where a binomial has its mass, and how little lies outside: Chernoff's bound in deviance form.

use crate::numerics::binomial;

/// A binomial law with its parameter and the complement of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binomial {
    pub(crate) trials: u64,
    pub(crate) p: f64,
    pub(crate) q: f64,
}

/// Masses are recomputed from Loader's form this often; in between they follow from the ratio of
/// neighbours, at the cost of three roundings a step.
pub(super) const ANCHOR_EVERY: usize = 512;

impl Binomial {
    pub(super) fn mean(&self) -> f64 {
        self.trials as f64 * self.p
    }

    /// `−trials·KL(x/trials ‖ p)`: at least the logarithm of the tail on the far side of x
    /// (Chernoff, Hoeffding 1963). **Direction: up**, by a few ulps. 0 at the mean; `−∞` where the
    /// outcome is impossible.
    pub(super) fn ln_tail(&self, x: f64) -> f64 {
        let trials = self.trials as f64;
        let exponent = binomial::deviance(x, self.mean()) + binomial::deviance(trials - x, trials * self.q);
        -exponent * (1.0 - 1e-12)
    }

    /// The outcomes `low..=high` outside of which, on either side, there is at most mass
    /// `exp(ln_cut)`.
    pub(crate) fn window(&self, ln_cut: f64) -> (u64, u64) {
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
    pub(crate) fn masses(&self, low: u64, high: u64) -> Vec<f64> {
        let mut masses = vec![0.0; (high - low + 1) as usize];
        for (block, anchor) in masses.chunks_mut(ANCHOR_EVERY).zip((low..).step_by(ANCHOR_EVERY)) {
            let mut known = 0;
            // Where masses underflow, ratios lead nowhere.
            while known < block.len() {
                let x = anchor + known as u64;
                block[known] = binomial::pmf_with_complement(x, self.trials, self.p, self.q);
                known += self.by_ratios(x, &mut block[known..]);
            }
        }
        masses
    }

    /// The masses after that of x, which is the first, as far as none before them underflows: how
    /// many are known then.
    ///
    /// On its own, so that mass and counts stay in registers: each step waits for the one before.
    fn by_ratios(&self, x: u64, masses: &mut [f64]) -> usize {
        let odds = self.p / self.q;
        let mut mass = masses[0];
        // x and trials − x + 1, exact: counts are below 2^53, and converting them would take longer
        // than the rest of a step.
        let (mut up, mut down) = (x as f64, (self.trials - x) as f64 + 1.0);
        for (known, next) in masses.iter_mut().enumerate().skip(1) {
            if mass < f64::MIN_POSITIVE {
                return known;
            }
            (up, down) = (up + 1.0, down - 1.0);
            mass *= down / up * odds;
            *next = mass;
        }
        masses.len()
    }
}
