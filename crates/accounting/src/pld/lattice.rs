//! One round's privacy loss on a lattice.

use super::rounding::{Rounding, Up};
use crate::numerics::directed::{add_up, mul_up};
use crate::numerics::elementary::{exp, exp_m1, ln};
use crate::numerics::horner::{horner, trimmed};
use crate::pair::Direction;
use crate::pair::Remainder;
use std::marker::PhantomData;
use std::sync::Arc;

/// The privacy loss of one round: P-masses at the losses `(first + i)·spacing`, and at infinity.
///
/// Its type says which way it was rounded: an [`Up`] one dominates the round, a
/// [`Down`](super::Down) one is dominated by it.
///
/// Every mass is within `relative_error` of, and every loss within `loss_error` of, those of a
/// distribution that exactly dominates (or is dominated by) the pair. So for T rounds
/// `δ_true(ε) ≤ (1+relative_error)^T · δ_lattice(ε − T·loss_error)`, and conversely.
#[derive(Debug, Clone, PartialEq)]
pub struct LossLattice<D: Rounding = Up> {
    pub(super) rounding: PhantomData<D>,
    pub(super) spacing: f64,
    pub(super) first: i64,
    pub(super) masses: Vec<f64>,
    pub(super) infinity: f64,
    pub(super) relative_error: f64,
    pub(super) loss_error: f64,
    pub(super) remainder: Option<Remainder>,
}

impl<D: Rounding> LossLattice<D> {
    /// Distance between neighbouring losses.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// (loss, P-mass) of every lattice point; what lies at infinity is not among them.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.masses.iter().enumerate().map(|(i, mass)| ((self.first + i as i64) as f64 * self.spacing, *mass))
    }

    /// P-mass whose loss is unbounded, or was cut off and is charged as if it were.
    pub fn infinity(&self) -> f64 {
        self.infinity
    }

    /// The same without its largest losses, which have at most the mass `most`: in a lattice that
    /// was rounded up they are infinite, in one that was rounded down they are not there. The
    /// lowest point stays.
    pub(super) fn without_rare(lattice: &Arc<Self>, most: f64) -> Arc<Self> {
        let (mut kept, mut rare) = (lattice.masses.len(), 0.0);
        while kept > 1 && add_up(rare, lattice.masses[kept - 1]) <= most {
            kept -= 1;
            rare = add_up(rare, lattice.masses[kept]);
        }
        if kept == lattice.masses.len() {
            return Arc::clone(lattice);
        }
        let mut without = Self::clone(lattice);
        let (first, masses) = trimmed(lattice.first, lattice.masses[..kept].to_vec());
        (without.first, without.masses) = (first, masses);
        // Masses are known to a relative error.
        if D::DIRECTION == Direction::Up {
            without.infinity = add_up(lattice.infinity, mul_up(rare, add_up(1.0, lattice.relative_error)));
        }
        Arc::new(without)
    }

    /// At least the absolute value of every finite loss.
    pub(super) fn reach(&self) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        self.first.unsigned_abs().max(last.unsigned_abs()) as f64 * self.spacing
    }

    /// `ln Σ mass·e^{θ·loss}` over the finite part, by Horner's rule. Chooses orders; nothing rests
    /// on it.
    pub(crate) fn cumulant(&self, theta: f64) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        // Σ m_i e^{θ(i − last)h}: terms decrease from the top, so the sum neither overflows nor
        // vanishes.
        ln(horner(&self.masses, exp(-theta * self.spacing))) + theta * last as f64 * self.spacing
    }
}

impl LossLattice<Up> {
    /// At least the hockey-stick divergence of the round at the losses `(first + i)·spacing`, in
    /// one pass from the top.
    ///
    /// With A the mass above ε and G the divergence there, `G(ε−h) = e^{−h}G + (1−e^{−h})A` plus
    /// what the masses in between contribute: no term is negative.
    pub(crate) fn curve_upper(&self, spacing: f64, first: i64, count: usize) -> Vec<f64> {
        let (keep, add) = (exp(-spacing), -exp_m1(-spacing));
        let factor = (1.0 + self.relative_error) * (1.0 + 1e-11);
        let mut curve = vec![0.0; count];
        let (mut above, mut divergence) = (0.0, 0.0);
        let mut next = self.masses.len();
        for (i, value) in curve.iter_mut().enumerate().rev() {
            let epsilon = (first + i as i64) as f64 * spacing - self.loss_error;
            divergence = keep * divergence + add * above;
            while next > 0 {
                let loss = (self.first + next as i64 - 1) as f64 * self.spacing;
                if loss <= epsilon {
                    break;
                }
                divergence += self.masses[next - 1] * -exp_m1(epsilon - loss);
                above += self.masses[next - 1];
                next -= 1;
            }
            *value = divergence * factor + self.infinity;
        }
        curve
    }
}
