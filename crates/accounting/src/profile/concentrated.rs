//! The profile that follows from concentrated differential privacy.

use crate::numerics::directed::inflate;
use crate::numerics::elementary::{exp, ln, ln_1p};

/// Newton steps towards the best order. Any order is valid.
const STEPS: usize = 6;

/// At least δ(1 + `excess`) of a randomizer whose Rényi divergence is at most `μ²λ/2` at every
/// order λ.
///
/// The conversion of Canonne, Kamath, Steinke 2020, Proposition 12: `δ = exp((λ−1)(μ²λ/2 − ε) +
/// (λ−1)·ln(1 − 1/λ) − ln λ)` for any λ > 1. As λ → 1 the divergence is at most μ²/2 in the sense
/// of Kullback and Leibler, so the total variation is at most μ/2 (Pinsker), and δ(s) ≤ δ(1) is no
/// more. **Direction: up.**
pub(super) fn delta_upper(mu: f64, excess: f64) -> f64 {
    // Rounded down where it overflowed: δ does not increase.
    let epsilon = ln_1p(excess.min(f64::MAX));
    let rho = 0.5 * mu * mu;
    // With x = λ − 1: f(x) = x(ρ(1+x) − ε) + x·ln(x) − (1+x)·ln(1+x), f' = ρ(1 + 2x) − ε +
    // ln(x/(1+x)), f'' > 0.
    let ln_delta = |x: f64| x * (rho * (1.0 + x) - epsilon) + x * ln(x) - (1.0 + x) * ln_1p(x);
    let mut x = ((epsilon / rho - 1.0) / 2.0).max(0.1).max(1.0 / (1.0 + rho));
    for _ in 0..STEPS {
        let slope = rho * (1.0 + 2.0 * x) - epsilon - ln_1p(1.0 / x);
        let curvature = 2.0 * rho + 1.0 / (x * (1.0 + x));
        // Not `clamp`, which panics where x is no number; then Pinsker's bound is the answer.
        x = (x - slope / curvature).max(0.25 * x).min(4.0 * x);
    }
    // A term of the exponent is rounded where it is large.
    let size = x * (rho * (1.0 + x) + epsilon) + 4.0 * (1.0 + x) * ln(1.0 + x).max(1.0);
    let converted = inflate(exp(ln_delta(x)), 8.0 * f64::EPSILON * (1.0 + size));
    // NaN is no bound; Pinsker's is.
    let pinsker = inflate(0.5 * mu, 4.0 * f64::EPSILON);
    if converted < pinsker { converted } else { pinsker }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::gdp;
    use crate::rdp::{Orders, ln_delta_from_renyi, minimise_over_orders};

    #[test]
    fn is_above_the_gaussian_and_not_above_any_order() {
        for mu in [0.002, 0.1, 0.4, 2.0, 6.0] {
            for z in [0.0, 0.3, 1.0, 4.0, 9.0, 30.0] {
                let epsilon: f64 = mu * (z + 0.5 * mu);
                let value = delta_upper(mu, epsilon.exp_m1());
                // A Gaussian has these Rényi divergences.
                assert!(value >= gdp::delta_upper(mu, epsilon) * (1.0 - 1e-12), "μ = {mu}, z = {z}: {value:e}");
                let (_, best) = minimise_over_orders(Orders::Reals, 1e9, |order| {
                    Ok(ln_delta_from_renyi(0.5 * mu * mu * order, order, epsilon))
                })
                .unwrap();
                assert!(value <= best.exp() * (1.0 + 1e-6), "μ = {mu}, z = {z}: {value:e} above {:e}", best.exp());
            }
        }
    }

    /// Losses and noise beyond all floats have an answer, and it is a bound.
    #[test]
    fn neither_end_of_the_floats_panics() {
        for mu in [1e-200, 1e-3, 0.5, 30.0] {
            let mut before = 1.0;
            for excess in [0.0, 1.0, 1e30, 1e300, f64::MAX, f64::INFINITY] {
                let value = delta_upper(mu, excess);
                assert!(value >= 0.0 && value <= before + 0.5 * mu, "μ = {mu}, {excess}: {value}");
                before = value;
            }
        }
        assert!(delta_upper(0.5, f64::INFINITY) < 1e-300);
    }
}
