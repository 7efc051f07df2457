//! A lattice from a hockey-stick curve.

use super::lattice::trimmed;
use super::minorant::Minorant;
use super::{Direction, LossLattice};

/// Values of a hockey-stick curve at the losses `(first + i)·spacing`, each at least the truth.
pub(crate) struct Curve {
    pub(crate) spacing: f64,
    pub(crate) first: i64,
    pub(crate) deltas: Vec<f64>,
    /// What a loss may have been moved by.
    pub(crate) loss_error: f64,
}

impl Curve {
    /// The loss distribution whose curve connects the dots.
    ///
    /// Between two lattice points a hockey-stick curve is below its chord (in e^ε), so the chords through values that are at least the truth dominate. Where rounding made
    /// the dots not convex, their greatest convex minorant is still above every convex curve below the dots, the truth's own chords included. The last value is
    /// charged at infinity. With `u(x) = x·δ(−ln x)`, the slope between two lattice points is the mass above: `(δ_j − e^{−h}δ_{j+1})/(1 − e^{−h})`.
    pub(crate) fn into_lattice(self) -> LossLattice {
        let infinity = self.deltas.last().copied().unwrap_or(1.0);
        let (keep, add) = ((-self.spacing).exp(), -(-self.spacing).exp_m1());
        let mut minorant = Minorant::new(self.spacing);
        for pair in self.deltas.windows(2).rev() {
            minorant.push((pair[0] - infinity - keep * (pair[1] - infinity)) / add);
        }
        let (first, masses) = trimmed(self.first, minorant.masses(1.0, 8.0 * f64::EPSILON));
        LossLattice {
            direction: Direction::Up,
            spacing: self.spacing,
            first,
            masses,
            infinity,
            // Differences of neighbouring values lose what two dots have in common: a spacing's worth of digits, twice.
            relative_error: 64.0 * f64::EPSILON * self.deltas.len() as f64,
            loss_error: self.loss_error,
            remainder: None,
        }
    }
}
