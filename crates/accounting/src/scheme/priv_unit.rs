//! The cap of PrivUnit that gives the least variance.

use crate::numerics::beta::regularised_beta_of_complement;
use crate::numerics::elementary::{exp_m1, ln, ln_1p};

/// A spherical cap {v : ⟨v, u⟩ ≥ height}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cap {
    /// The height above the equator, between 0 and 1.
    pub height: f64,
    /// Its share of the sphere, at most 1/2.
    pub mass: f64,
}

/// The cap that maximises the length of PrivUnit's mean, hence minimises the variance of the
/// unbiased estimate (Bhowmick et al. 2018, "Protection against reconstruction", section 4.1, with
/// the budget spent on one cap).
///
/// A report is uniform on the cap with probability p, else on the rest;
/// `p(1−q)/((1−p)q) = E = e^ε0` fixes p for a cap of mass q, and the mean has length proportional
/// to `(1−g²)^α·(E−1)/(1+(E−1)q)`, `α = (d−1)/2`, `q = ½·I_{1−g²}(α, ½)`. Golden section on its
/// logarithm in the height g; client and accountant must both use *this* cap, and then no privacy
/// rests on how well it was optimised.
pub fn optimal_cap(local_epsilon: f64, dimension: u64) -> Cap {
    let alpha = (dimension as f64 - 1.0) / 2.0;
    let mass = |height: f64| (regularised_beta_of_complement(alpha, 0.5, height * height).0 / 2.0).min(0.5);
    // ln(1 + (E−1)q), for any ε0.
    let ln_denominator = |q: f64| {
        let x = local_epsilon + ln(q);
        if x > 30.0 { x } else { ln_1p(exp_m1(local_epsilon) * q) }
    };
    let objective = |height: f64| alpha * ln_1p(-height * height) - ln_denominator(mass(height));
    // Beyond it (1−g²)^α < e^{−ε0}, worse than the hemisphere.
    let limit = (-exp_m1(-local_epsilon / alpha)).sqrt().min(1.0);
    let golden = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, limit);
    for _ in 0..80 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if objective(left) >= objective(right) { high = right } else { low = left }
    }
    let height = (low + high) / 2.0;
    Cap { height, mass: mass(height) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_a_fine_scan() {
        for (local_epsilon, dimension) in
            [(0.1, 2), (1.0, 10), (4.0, 100), (8.0, 1000), (16.0, 1_000_000), (50.0, 1_000_000)]
        {
            let alpha = (dimension as f64 - 1.0) / 2.0;
            let value = |height: f64| {
                let q = regularised_beta_of_complement(alpha, 0.5, height * height).0 / 2.0;
                alpha * (-height * height).ln_1p() - (local_epsilon + (q + (1.0 - q) * f64::exp(-local_epsilon)).ln())
            };
            let cap = optimal_cap(local_epsilon, dimension);
            assert!(cap.mass > 0.0 && cap.mass <= 0.5 && (0.0..1.0).contains(&cap.height), "{cap:?}");
            let scale = (local_epsilon / alpha).sqrt().min(1.0);
            let best = (1..400).map(|i| value(f64::from(i) / 400.0 * scale)).fold(f64::NEG_INFINITY, f64::max);
            // The maximum is flat: golden section stops within rounding of it.
            assert!(value(cap.height) >= best - 1e-12 * (1.0 + local_epsilon), "ε0 = {local_epsilon}, d = {dimension}");
        }
    }
}
