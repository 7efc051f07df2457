//! The mass that the windows cut off, and an upper bound on its contribution.

use super::LinearPair;
use crate::numerics::elementary::{atanh, exp, ln_1p, powi, sinh, tanh};
use std::f64::consts::LN_2;

/// A set of outcomes outside of the windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// At least the logarithm of its mass `E_W[L; cut]`.
    pub(super) ln_mass: f64,
    /// At least its M.
    pub(super) signals: f64,
    /// At most its L.
    pub(super) level: f64,
    /// Its walks satisfy |D| > `deviations`·√M, a factor `exp(−deviations²/2)` of `ln_mass` (0: any
    /// walk).
    pub(super) deviations: f64,
}

/// Everything that was cut off.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Remainder {
    cuts: Vec<Cut>,
    tilt_step: f64,
    max_loss: f64,
}

impl Remainder {
    pub(super) fn new(pair: &LinearPair, cuts: Vec<Cut>) -> Self {
        Self { cuts, tilt_step: pair.tilt_step, max_loss: pair.max_loss }
    }

    /// At least the P-mass that was cut off. It is charged to δ, as if its loss were infinite.
    ///
    /// `P = L + uD ≤ 2L`, hence the factor 2.
    pub(crate) fn mass_upper(&self) -> f64 {
        self.cuts.iter().map(|cut| 2.0 * exp(cut.ln_mass)).sum::<f64>() * (1.0 + 1e-12)
    }

    /// At least the logarithm of `E_W[P^λ Q^{1−λ}; cut]`; `−∞` if nothing was cut.
    ///
    /// The loss `2·artanh(v)` of `v = uD/L ≥ 0` is at most `C·v` with `C` its slope at the largest
    /// v, so with `t = (λ−1)·C·u/L` and Hoeffding's bound for the tilted walk,
    /// `E[e^{(λ−1)·loss}; |D| > z√M] ≤ cosh(t)^M · exp(−(z−√M·tanh t)₊²/2)`; walks with D < 0
    /// contribute at most their mass. Never more than the largest loss of the pair allows.
    pub(crate) fn ln_renyi_moment(&self, order: f64) -> f64 {
        let moment = |cut: &Cut| {
            let greatest = (order - 1.0) * self.max_loss;
            let slope = self.tilt_step / cut.level;
            let v = (slope * cut.signals).min(tanh(self.max_loss / 2.0));
            let walk = if v < 1.0 && v > 0.0 {
                let t = (order - 1.0) * (2.0 * atanh(v) / v) * slope;
                let reach = (cut.deviations - cut.signals.sqrt() * tanh(t)).max(0.0);
                cut.signals * ln_cosh(t) + (powi(cut.deviations, 2) - reach * reach) / 2.0
            } else {
                f64::INFINITY
            };
            cut.ln_mass + 2.0 * LN_2 + walk.min(greatest).max(0.0)
        };
        crate::numerics::log_sum::log_sum_exp(self.cuts.iter().map(moment)) + 1e-9
    }
}

/// `ln cosh t` for t ≥ 0, to a few units in the last place: it is multiplied by a number of
/// clients.
fn ln_cosh(t: f64) -> f64 {
    if t < 1.0 { ln_1p(2.0 * powi(sinh(t / 2.0), 2)) } else { t + ln_1p(exp(-2.0 * t)) - LN_2 }
}
