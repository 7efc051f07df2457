//! Wang, Balle, Kasiviswanathan: Subsampled Rényi differential privacy and analytical moments
//! accountant (AISTATS 2019).

use super::series::{ln_1p_exp, ln_up};
use crate::error::Result;
use crate::numerics::elementary::ln;
use crate::numerics::gamma::ln_binomial;
use crate::numerics::log_sum::{ln_expm1, log_sum_exp};
use crate::rdp::{Orders, RenyiCurve};
use std::f64::consts::LN_2;

/// Orders above it are not tried: an order costs as many summands, and their sequence need not be
/// log-concave.
pub const MAX_ORDER: f64 = 8192.0;

/// Upper-bounds the Rényi divergence of a mechanism on a random sample without replacement, at an
/// integer `order` of at least 2, from its own curve `ε(j)` at the integers `2..=order` and from
/// `ε(∞)` (ε0 for an ε0-DP mechanism; `+∞` if none):
/// ```text
/// e^((λ−1)ε'(λ)) ≤ 1 + γ²·C(λ,2)·min{4(e^ε(2) − 1), e^ε(2)·min{2, (e^ε(∞) − 1)²}}
///                    + Σ_{j=3}^λ γ^j·C(λ,j)·e^((j−1)ε(j))·min{2, (e^ε(∞) − 1)^j}.
/// ```
/// Wang, Balle, Kasiviswanathan 2019, Theorem 9. **Direction: up**: each summand is a logarithm
/// rounded up, and all are positive. `+∞` where the curve is.
pub fn renyi_upper(rate: f64, order: f64, epsilon: impl Fn(u64) -> f64, epsilon_infinity: f64) -> f64 {
    let ln_rate = ln(rate);
    let ln_range = ln_expm1(epsilon_infinity);
    let summand = |j: u64| {
        let power = j as f64;
        let divergence = epsilon(j);
        let capped = (power - 1.0) * divergence + LN_2.min(power * ln_range);
        let factor = if j == 2 { capped.min(2.0 * LN_2 + ln_expm1(divergence)) } else { capped };
        // The cap may cancel against the divergence, whose error is relative to itself.
        let size = 4.0 * power + power * divergence;
        ln_up(&[power * ln_rate, ln_binomial(order, power), factor], size)
    };
    let ln_excess = ln_up(&[log_sum_exp((2..=order as u64).map(summand))], order.sqrt());
    ln_up(&[ln_1p_exp(ln_excess)], 0.0) / (order - 1.0) * (1.0 + 4.0 * f64::EPSILON)
}

/// The curve of a subsampled mechanism, with the mechanism's own curve tabulated once.
///
/// At rates near 1 the theorem's value exceeds that of no sampling at all; the smaller of the two
/// is taken. (Rényi divergence is quasi-convex, and without the victim in the sample both
/// hypotheses agree: sampling cannot hurt.)
pub struct Subsampled {
    rate: f64,
    epsilon_infinity: f64,
    /// ε(j) at index j; the first two entries are not used.
    epsilon: Vec<f64>,
}

impl Subsampled {
    /// Tabulates `epsilon` at the integers up to `max_order`.
    pub fn new(rate: f64, epsilon_infinity: f64, max_order: f64, epsilon: impl Fn(f64) -> f64) -> Self {
        let epsilon = (0..=max_order as u64).map(|j| if j < 2 { 0.0 } else { epsilon(j as f64) }).collect();
        Self { rate, epsilon_infinity, epsilon }
    }
}

impl RenyiCurve for Subsampled {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        let at = |j: u64| self.epsilon.get(j as usize).copied().unwrap_or(f64::INFINITY);
        Ok(renyi_upper(self.rate, order, at, self.epsilon_infinity).min(at(order as u64)))
    }
}
