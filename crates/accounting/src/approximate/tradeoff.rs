//! Which (ε0, δ0) a randomizer satisfies.

use crate::error::Result;
use crate::numerics::directed::inflate;
use crate::published::gdp;
use crate::rdp::{Orders, ln_delta_from_renyi, minimise_over_orders};
use crate::scheme::{LocalGuarantee, RandomizerSpec};

/// For every ε0 from [`least_epsilon`](Self::least_epsilon) on, a δ0 with which the randomizer is (ε0, δ0)-LDP.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tradeoff {
    /// One pair is known, and with it every larger ε0 at the same δ0.
    Fixed { epsilon: f64, delta: f64 },
    /// μ-GDP: the exact curve.
    Gaussian { mu: f64 },
    /// Rényi divergence at most `μ²λ/2` at every order λ.
    Concentrated { mu: f64 },
}

/// Orders tried for [`Tradeoff::Concentrated`]. The best is about `ε0/μ² + ½`.
const MAX_ORDER: f64 = 1e9;

/// No smaller ε0 is used: below it the two laws of the pair differ by less than their rounding, and there is nothing left to gain.
const LEAST: f64 = 1e-6;

impl Tradeoff {
    /// `None` for a pure randomizer: its δ0 is 0.
    pub(crate) fn of(randomizer: &RandomizerSpec) -> Option<Self> {
        match randomizer.local_guarantee() {
            LocalGuarantee::Pure { .. } => None,
            LocalGuarantee::Approximate { epsilon, delta } => Some(Self::Fixed { epsilon, delta }),
            LocalGuarantee::Gaussian { mu } => Some(Self::Gaussian { mu }),
            LocalGuarantee::Concentrated { mu } => Some(Self::Concentrated { mu }),
        }
    }

    /// The smallest ε0 of the curve that is used.
    pub(super) fn least_epsilon(self) -> f64 {
        match self {
            Self::Fixed { epsilon, .. } => epsilon.max(LEAST),
            Self::Gaussian { .. } | Self::Concentrated { .. } => LEAST,
        }
    }

    /// At least the δ0 that belongs to `local_epsilon`, which is not below [`least_epsilon`](Self::least_epsilon). **Direction: up.**
    ///
    /// Gaussian: Balle, Wang 2018, Theorem 8, both inputs a diameter apart (closer ones have a smaller μ, and δ0 grows with it). Concentrated: the
    /// conversion of Canonne, Kamath, Steinke 2020, Proposition 12, at the best order; every order is valid.
    pub(super) fn delta_upper(self, local_epsilon: f64) -> Result<f64> {
        match self {
            Self::Fixed { delta, .. } => Ok(delta),
            Self::Gaussian { mu } => Ok(gdp::delta_upper(mu, local_epsilon)),
            Self::Concentrated { mu } => {
                let (_, ln_delta) = minimise_over_orders(Orders::Reals, MAX_ORDER, |order| {
                    let renyi = inflate(0.5 * mu * mu * order, 4.0 * f64::EPSILON);
                    Ok(ln_delta_from_renyi(renyi, order, local_epsilon))
                })?;
                Ok(inflate(ln_delta.exp(), 4.0 * f64::EPSILON).min(1.0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_curve_is_below_the_one_by_renyi_divergence() {
        for mu in [0.01, 0.4, 2.0, 9.0] {
            for multiple in [0.0, 0.5, 1.0, 4.0, 8.0] {
                let epsilon = mu * (multiple + 0.5 * mu);
                let exact = Tradeoff::Gaussian { mu }.delta_upper(epsilon).unwrap();
                let renyi = Tradeoff::Concentrated { mu }.delta_upper(epsilon).unwrap();
                assert!(exact <= renyi * (1.0 + 1e-12) && renyi <= 1.0, "μ = {mu}, ε0 = {epsilon}: {exact} {renyi}");
                // The conversion loses a factor of about √(2π)·z and no more, z standard deviations out.
                assert!(renyi < 30.0 * exact, "μ = {mu}, ε0 = {epsilon}: {exact} {renyi}");
            }
        }
    }
}
