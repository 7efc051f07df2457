//! Rényi divergences of one round, order by order.

use super::LossLattice;
use crate::numerics::elementary::{exp, exp_m1, ln};
use crate::numerics::log_sum::log_add;
use std::sync::Arc;

/// A lattice that is asked for its Rényi divergences at many orders.
pub(crate) struct Divergences {
    lattice: Arc<LossLattice>,
    atoms: Vec<Atom>,
    /// The greatest loss that has mass, or 0.
    greatest: f64,
}

/// Truncated mass does not matter up to this share of a moment.
const HARMLESS: f64 = 1e-6;

/// A lattice point that has mass.
struct Atom {
    loss: f64,
    mass: f64,
    /// `e^{−loss} − 1`, whatever the order.
    falls: f64,
}

impl Divergences {
    pub(crate) fn new(lattice: Arc<LossLattice>) -> Self {
        let atoms: Vec<_> = lattice
            .iter()
            .filter(|(_, mass)| *mass > 0.0)
            .map(|(loss, mass)| Atom { loss, mass, falls: exp_m1(-loss) })
            .collect();
        // The common factor of a moment must come from a point that has mass: relative to any
        // other, nothing that matters can vanish.
        let greatest = atoms.iter().map(|atom| atom.loss).fold(0.0, f64::max);
        Self { lattice, atoms, greatest }
    }

    /// At least the Rényi divergence of the round at `order`; `+∞` for a lattice that is not of a
    /// pair.
    ///
    /// The windows are the same for P and Q, so `E_P[1 − e^{−ℓ}; kept] = P(kept) − Q(kept) = 0`,
    /// and the moment's excess over 1 is `Σ m·(e^{(λ−1)ℓ} − 1 − (λ−1)(1 − e^{−ℓ}))`, whose terms
    /// are all non-negative: nothing cancels.
    pub(crate) fn upper(&self, order: f64) -> f64 {
        self.upper_with_cut(order).0
    }

    /// The same, and whether what was cut off is more than [`HARMLESS`] of it.
    pub(crate) fn upper_with_cut(&self, order: f64) -> (f64, bool) {
        let Some(remainder) = &self.lattice.remainder else { return (f64::INFINITY, false) };
        let theta = order - 1.0;
        let shift = (theta * self.greatest - 600.0).max(0.0);
        let scale = exp(-shift);
        let mut sum = 0.0;
        for Atom { loss, mass, falls } in &self.atoms {
            let term = if (theta * loss).abs() < 1e-2 && loss.abs() < 1e-2 {
                excess_series(theta, *loss) * scale
            } else if shift > 0.0 {
                exp(theta * loss - shift) - scale * (1.0 - theta * falls)
            } else {
                // Close to order 1 both are about θℓ, and their sum is of the order of θℓ²: the
                // ones must not come in.
                exp_m1(theta * loss) + theta * falls
            };
            sum += mass * term;
        }
        let (ln_kept, ln_cut) = (ln(sum) + shift, remainder.ln_renyi_moment(order));
        let ln_excess = log_add(ln_kept, ln_cut);
        let is_cut = ln_cut > ln_kept + ln(HARMLESS);
        let divergence = log_add(0.0, ln_excess) / theta;
        // Masses that are off by a share e change the excess by that share; losses that are off by
        // η change the divergence by η.
        (divergence * (1.0 + 1e-11 + 2.0 * self.lattice.relative_error) + self.lattice.loss_error, is_cut)
    }
}

/// `e^{θℓ} − 1 − θ(1 − e^{−ℓ})` for small θℓ and ℓ: the sum over j ≥ 2 of
/// `(θ^j + (−1)^j θ)·ℓ^j/j!`.
fn excess_series(theta: f64, loss: f64) -> f64 {
    let (mut power, mut term, mut sign, mut sum) = (theta, loss, -1.0, 0.0);
    for j in 2..12 {
        power *= theta;
        term *= loss / f64::from(j);
        sign = -sign;
        sum += (power + sign * theta) * term;
    }
    sum
}
