//! From a Rényi divergence at one order to (ε, δ).

use crate::numerics::elementary::{ln, ln_1p};

/// Upper-bounds ε at `delta`, given Rényi divergence at most `renyi` at `order`:
/// `ε = ρ + [ln(1/δ) + (λ−1)·ln(1−1/λ) − ln λ] / (λ−1)`.
///
/// Canonne, Kamath, Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21 (the conversion
/// quoted by Girgis et al., Lemma 1). **Direction: up**: a few ulps of every term are added. May be
/// negative, which means ε = 0; the caller clamps after minimising. `+∞` if `renyi` is.
pub fn epsilon_from_renyi(renyi: f64, order: f64, delta: f64) -> f64 {
    let tail = -ln(delta);
    let gain = (order - 1.0) * ln_1p(-1.0 / order) - ln(order);
    let slack = 4.0 * f64::EPSILON * (renyi + (tail - gain) / (order - 1.0));
    renyi + (tail + gain) / (order - 1.0) + slack
}

/// Upper-bounds ln δ at `epsilon`, given Rényi divergence at most `renyi` at `order`:
/// `ln δ = (λ−1)(ρ − ε) + (λ−1)·ln(1−1/λ) − ln λ`, the same conversion solved for δ.
///
/// **Direction: up**, as in [`epsilon_from_renyi`]. May be positive, which means that nothing is
/// known.
pub fn ln_delta_from_renyi(renyi: f64, order: f64, epsilon: f64) -> f64 {
    let gain = (order - 1.0) * ln_1p(-1.0 / order) - ln(order);
    let slack = 4.0 * f64::EPSILON * ((order - 1.0) * (renyi + epsilon) - gain);
    (order - 1.0) * (renyi - epsilon) + gain + slack
}
