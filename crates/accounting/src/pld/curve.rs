//! A lattice from a hockey-stick curve.

use super::minorant::Minorant;
use super::{Direction, LossLattice};
use crate::numerics::horner::trimmed;

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

/// Values of a hockey-stick curve at losses `index·spacing` from 0 on, each at least the truth, of a mechanism whose
/// neighbouring datasets may be exchanged: at −ε the curve is `1 − e^{−ε} + e^{−ε}·δ(ε)`.
pub(crate) struct SymmetricCurve {
    spacing: f64,
    /// (index, e^ε − 1, δ), the index increasing from 0.
    dots: Vec<(i64, f64, f64)>,
}

impl SymmetricCurve {
    /// No values yet.
    pub(crate) fn new(spacing: f64) -> Self {
        Self { spacing, dots: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.dots.len()
    }

    /// Adds the value at the next loss.
    pub(crate) fn push(&mut self, index: i64, delta: f64) {
        self.dots.push((index, (index as f64 * self.spacing).exp_m1(), delta));
    }

    /// The loss distribution whose curve connects the dots.
    ///
    /// In t = e^ε every hockey-stick curve is convex, so the greatest convex minorant of the dots is still above it. The
    /// slope at t is minus the Q-mass of losses above ln t: each change of slope is a Q-mass, the P-mass is t times it, and
    /// the mirror image at −ε has the P-mass of the other's Q-mass. The last value is charged at infinite loss, and what is
    /// left of the P-mass is at loss 0.
    pub(crate) fn into_lattice(self) -> LossLattice {
        let infinity = self.dots.iter().map(|dot| dot.2).fold(f64::INFINITY, f64::min);
        // The greatest convex minorant: (dot, slope towards the next).
        let mut hull: Vec<(i64, f64, f64)> = Vec::with_capacity(self.dots.len());
        let slope = |a: &(i64, f64, f64), b: &(i64, f64, f64)| (b.2 - a.2) / (b.1 - a.1);
        // Slopes at t = 1 are at most (1 − δ(0))/2, or the curve would not be convex there with its mirror image: so no
        // dot allows δ(0) to be more than this.
        let most = |dot: &(i64, f64, f64)| (dot.2 + 0.5 * dot.1) / (1.0 + 0.5 * dot.1);
        let mut before = self.dots.iter().map(most).fold(f64::INFINITY, f64::min) * (1.0 + 8.0 * f64::EPSILON);
        for (index, excess, delta) in self.dots {
            // Curves do not increase.
            before = delta.min(before);
            let dot = (index, excess, before);
            while let [.., a, b] = hull.as_slice() {
                if slope(a, b) < slope(b, &dot) {
                    break;
                }
                hull.pop();
            }
            hull.push(dot);
        }
        let last = hull.last().map_or(0, |dot| dot.0);
        let mut masses = vec![0.0; 2 * last as usize + 1];
        let (mut rest, middle) = (1.0 - infinity, last as usize);
        for (i, dot) in hull.iter().enumerate().skip(1) {
            let after = hull.get(i + 1).map_or(0.0, |next| slope(dot, next));
            let mass = (after - slope(&hull[i - 1], dot)).max(0.0);
            masses[middle + dot.0 as usize] = mass * (1.0 + dot.1);
            masses[middle - dot.0 as usize] = mass;
            rest -= mass * (2.0 + dot.1);
        }
        let count = hull.len() as f64;
        masses[middle] = rest.max(0.0) + 4.0 * f64::EPSILON * count;
        let (first, masses) = trimmed(-last, masses);
        LossLattice {
            direction: Direction::Up,
            spacing: self.spacing,
            first,
            masses,
            infinity,
            // A mass is a difference of two slopes, each a rounded quotient of rounded differences.
            relative_error: 64.0 * f64::EPSILON * count,
            // Dots stand where e^ε − 1 was rounded to.
            loss_error: 4.0 * f64::EPSILON * last as f64 * self.spacing,
            remainder: None,
        }
    }
}
