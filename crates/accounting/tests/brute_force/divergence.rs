//! Divergences of two laws on the same finite space, and products of such pairs.

/// Two laws on one finite space: the view in two neighbouring worlds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Experiment {
    /// The first world.
    pub(crate) p: Vec<f64>,
    /// The second world.
    pub(crate) q: Vec<f64>,
}

impl Experiment {
    pub(crate) fn new([p, q]: [Vec<f64>; 2]) -> Self {
        assert_eq!(p.len(), q.len(), "laws on one space");
        Self { p, q }
    }

    pub(crate) fn len(&self) -> usize {
        self.p.len()
    }

    fn atoms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.p.iter().copied().zip(self.q.iter().copied())
    }

    /// The worlds exchanged: the other direction of every divergence.
    pub(crate) fn reversed(&self) -> Self {
        Self { p: self.q.clone(), q: self.p.clone() }
    }

    /// Total masses, both 1 if nothing was forgotten.
    pub(crate) fn totals(&self) -> (f64, f64) {
        (self.p.iter().sum(), self.q.iter().sum())
    }

    /// `Σ max(0, P − e^ε Q)`, any real ε.
    pub(crate) fn hockey_stick(&self, epsilon: f64) -> f64 {
        let t = epsilon.exp();
        self.atoms().map(|(p, q)| (p - t * q).max(0.0)).sum()
    }

    /// `ln(Σ P^λ Q^(1−λ)) / (λ − 1)`, any real order λ > 1; infinite where P is not absolutely
    /// continuous.
    pub(crate) fn renyi(&self, order: f64) -> f64 {
        assert!(order > 1.0, "order {order}");
        let moment: f64 = self.atoms().filter(|&(p, _)| p > 0.0).map(|(p, q)| p * (p / q).powf(order - 1.0)).sum();
        moment.ln() / (order - 1.0)
    }

    /// Two independent rounds, both seen.
    pub(crate) fn product(&self, next: &Self) -> Self {
        self.then(|_| next)
    }

    /// A round and then one that was chosen knowing what the first one showed.
    pub(crate) fn then<'a>(&self, next: impl Fn(usize) -> &'a Self) -> Self {
        let mut both = Self::default();
        for (view, (p, q)) in self.atoms().enumerate() {
            let next = next(view);
            both.p.extend(next.p.iter().map(|r| p * r));
            both.q.extend(next.q.iter().map(|r| q * r));
        }
        both
    }

    /// With probability `weight` this experiment, told that it was this one.
    pub(crate) fn extend_scaled(&mut self, other: &Self, weight: f64) {
        self.p.extend(other.p.iter().map(|p| weight * p));
        self.q.extend(other.q.iter().map(|q| weight * q));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binary randomized response: `δ(ε) = (E − e^ε)/(E + 1)` between ±ε0, and the Rényi divergence
    /// in closed form.
    #[test]
    fn closed_forms_of_randomized_response() {
        let e = 1.3f64.exp();
        let rr = Experiment::new([vec![e / (e + 1.0), 1.0 / (e + 1.0)], vec![1.0 / (e + 1.0), e / (e + 1.0)]]);
        for epsilon in [-1.2, -0.5, 0.0, 0.7, 1.29] {
            assert!((rr.hockey_stick(epsilon) - (e - f64::exp(epsilon)) / (e + 1.0)).abs() < 1e-15);
        }
        assert!((rr.hockey_stick(-2.0) - (1.0 - f64::exp(-2.0))).abs() < 1e-15);
        for order in [1.5, 2.0, 7.25] {
            let closed = ((e.powf(order) + e.powf(1.0 - order)) / (e + 1.0)).ln() / (order - 1.0);
            assert!((rr.renyi(order) - closed).abs() < 1e-14, "{order}");
            // Independent rounds add up.
            assert!((rr.product(&rr).renyi(order) - 2.0 * closed).abs() < 1e-14);
        }
        // Two rounds, one relabelled: losses ±2ε0 and 0; at ε = 0.4 only the atom of loss 2ε0 = 2.6
        // counts.
        let twice = rr.product(&rr.reversed());
        let closed = (e * e - f64::exp(0.4)) / (e + 1.0).powi(2);
        assert!((twice.hockey_stick(0.4) - closed).abs() < 1e-15);
        assert!(Experiment::new([vec![0.5, 0.5], vec![1.0, 0.0]]).renyi(2.0).is_infinite());
    }
}
