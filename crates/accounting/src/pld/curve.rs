//! A lattice from a hockey-stick curve.

use super::LossLattice;
use super::minorant::Minorant;
use crate::numerics::elementary::{exp, exp_m1};
use crate::numerics::horner::trimmed;
use std::marker::PhantomData;

/// Values of a hockey-stick curve at the losses `(first + i)·spacing`, each at least the truth.
pub(crate) struct Curve {
    pub(crate) spacing: f64,
    pub(crate) first: i64,
    pub(crate) deltas: Vec<f64>,
    /// The largest shift of a loss by rounding.
    pub(crate) loss_error: f64,
}

impl Curve {
    /// The loss distribution whose curve connects the dots.
    ///
    /// Between two lattice points a hockey-stick curve is below its chord (in e^ε), so the chords
    /// through values that are at least the truth dominate. Where rounding made the dots not
    /// convex, their greatest convex minorant is still above every convex curve below the dots, the
    /// truth's own chords included. The last value is charged at infinity. With
    /// `u(x) = x·δ(−ln x)`, the slope between two lattice points is the mass above:
    /// `(δ_j − e^{−h}δ_{j+1})/(1 − e^{−h})`.
    pub(crate) fn into_lattice(self) -> LossLattice {
        let infinity = self.deltas.last().copied().unwrap_or(1.0);
        let (keep, add) = (exp(-self.spacing), -exp_m1(-self.spacing));
        let mut minorant = Minorant::new(self.spacing);
        for pair in self.deltas.windows(2).rev() {
            minorant.push((pair[0] - infinity - keep * (pair[1] - infinity)) / add);
        }
        let (first, masses) = trimmed(self.first, minorant.masses(1.0, 8.0 * f64::EPSILON));
        LossLattice {
            rounding: PhantomData,
            spacing: self.spacing,
            first,
            masses,
            infinity,
            // Differences of neighbouring values lose what two dots have in common: a spacing's
            // worth of digits, twice.
            relative_error: 64.0 * f64::EPSILON * self.deltas.len() as f64,
            loss_error: self.loss_error,
            remainder: None,
        }
    }
}

/// Values of a hockey-stick curve at losses `index·spacing` from 0 on, each at least the truth.
pub(crate) struct HalfCurve {
    spacing: f64,
    /// (index, e^ε − 1, δ), the index increasing from 0.
    dots: Vec<(i64, f64, f64)>,
}

impl HalfCurve {
    /// No values yet.
    pub(crate) fn new(spacing: f64) -> Self {
        Self { spacing, dots: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.dots.len()
    }

    /// Adds the value at the next loss.
    pub(crate) fn push(&mut self, index: i64, delta: f64) {
        self.dots.push((index, exp_m1(index as f64 * self.spacing), delta));
    }

    /// The loss distribution whose curve connects the dots, of a mechanism whose neighbouring
    /// datasets may be exchanged: at −ε the curve is `1 − e^{−ε} + e^{−ε}·δ(ε)`.
    pub(crate) fn into_symmetric_lattice(self) -> LossLattice {
        // Slopes at t = 1 are at most (1 − δ(0))/2, or the curve would not be convex there with its
        // mirror image: so no dot allows δ(0) to be more than this.
        let most = |dot: &(i64, f64, f64)| (dot.2 + 0.5 * dot.1) / (1.0 + 0.5 * dot.1);
        let at_zero = self.dots.iter().map(most).fold(f64::INFINITY, f64::min) * (1.0 + 8.0 * f64::EPSILON);
        let half = self.hull(at_zero);
        lattice(self.spacing, &half, &half)
    }

    /// The loss distribution of P against Q, of their curve (this one) and that of Q against P
    /// (`reverse`), on the same lattice: at −ε the curve is `1 − e^{−ε} + e^{−ε}·reverse(ε)`. Both
    /// begin with the same value, the total variation.
    pub(crate) fn lattice(&self, reverse: &Self) -> LossLattice {
        debug_assert!(self.spacing.to_bits() == reverse.spacing.to_bits());
        let first = |curve: &Self| curve.dots.first().map_or(1.0, |dot| dot.2);
        let at_zero = first(self).min(first(reverse));
        lattice(self.spacing, &self.hull(at_zero), &reverse.hull(at_zero))
    }

    /// The same where the dots of both curves are upper bounds, each of which may be above the
    /// truth by another amount.
    pub(crate) fn convex_lattice(&self, reverse: &Self) -> LossLattice {
        debug_assert!(self.spacing.to_bits() == reverse.spacing.to_bits());
        let at_zero = self.convex_at_zero(reverse);
        lattice(self.spacing, &self.hull(at_zero), &reverse.hull(at_zero))
    }

    /// At least the true δ(0), and about the largest one with which both curves together are convex
    /// at ε = 0. **Direction: up.**
    ///
    /// With slopes a of this curve and b of the reverse one to the right of t = 1, and their value
    /// v there, the slope of `1 − t + t·reverse(1/t)` to the left of 1 is v − 1 − b: it must not
    /// exceed a. For every v the smallest slopes are those to one of the dots, so v − 1 − a − b
    /// increases with v; the truth's v, with slopes that are no larger than these, is not above its
    /// root.
    fn convex_at_zero(&self, reverse: &Self) -> f64 {
        let first = |curve: &Self| curve.dots.first().map_or(1.0, |dot| dot.2);
        let slope = |curve: &Self, value: f64| {
            curve.dots.iter().skip(1).map(|dot| (dot.2 - value) / dot.1).fold(f64::INFINITY, f64::min)
        };
        let is_convex = |value: f64| value - 1.0 - slope(self, value) - slope(reverse, value) <= 0.0;
        let (mut low, mut high) = (0.0, first(self).min(first(reverse)).min(1.0));
        if self.dots.len() < 2 || reverse.dots.len() < 2 || is_convex(high) {
            return high;
        }
        // Sixty halvings leave less than the rounding of a slope's numerator.
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if is_convex(middle) { low = middle } else { high = middle }
        }
        high * (1.0 + 64.0 * f64::EPSILON)
    }

    /// The greatest convex minorant of the dots, no larger than `at_zero`.
    ///
    /// In t = e^ε every hockey-stick curve is convex, so it is still above the truth. The slope at
    /// t is minus the Q-mass of losses above ln t: each change of slope is a Q-mass. The last value
    /// is charged at infinite loss.
    fn hull(&self, at_zero: f64) -> Half {
        let infinity = self.dots.iter().map(|dot| dot.2).fold(f64::INFINITY, f64::min);
        let mut hull: Vec<(i64, f64, f64)> = Vec::with_capacity(self.dots.len());
        let slope = |a: &(i64, f64, f64), b: &(i64, f64, f64)| (b.2 - a.2) / (b.1 - a.1);
        let mut before = at_zero;
        for (index, excess, delta) in &self.dots {
            // Curves do not increase.
            before = delta.min(before);
            let dot = (*index, *excess, before);
            while let [.., a, b] = hull.as_slice() {
                if slope(a, b) < slope(b, &dot) {
                    break;
                }
                hull.pop();
            }
            hull.push(dot);
        }
        let mass = |(i, dot): (usize, &(i64, f64, f64))| {
            let after = hull.get(i + 1).map_or(0.0, |next| slope(dot, next));
            (dot.0, dot.1, (after - slope(&hull[i - 1], dot)).max(0.0))
        };
        Half { masses: hull.iter().enumerate().skip(1).map(mass).collect(), infinity }
    }
}

/// The losses above 0 of P against Q.
struct Half {
    /// (index, e^loss − 1, Q-mass), the index increasing; the P-mass is e^loss times the Q-mass.
    masses: Vec<(i64, f64, f64)>,
    /// P-mass at infinite loss.
    infinity: f64,
}

impl Half {
    fn last(&self) -> i64 {
        self.masses.last().map_or(0, |mass| mass.0)
    }
}

/// The lattice of P against Q from the losses of either against the other. What has loss ℓ for Q
/// against P has loss −ℓ here, and its P-mass is the one that is known. What is left of the P-mass
/// is at loss 0: by `δ(0) = P(ℓ > 0) − Q(ℓ > 0)` from either side, the Q-mass then comes to 1 less
/// what the reverse charges at infinity, as it must.
fn lattice(spacing: f64, forward: &Half, reverse: &Half) -> LossLattice {
    let middle = reverse.last() as usize;
    let mut masses = vec![0.0; middle + forward.last() as usize + 1];
    let mut rest = 1.0 - forward.infinity;
    for (index, excess, mass) in &forward.masses {
        masses[middle + *index as usize] = mass * (1.0 + excess);
        rest -= mass * (1.0 + excess);
    }
    for (index, _, mass) in &reverse.masses {
        masses[middle - *index as usize] = *mass;
        rest -= mass;
    }
    let count = (forward.masses.len().max(reverse.masses.len()) + 1) as f64;
    masses[middle] = rest.max(0.0) + 4.0 * f64::EPSILON * count;
    let (first, masses) = trimmed(-(middle as i64), masses);
    LossLattice {
        rounding: PhantomData,
        spacing,
        first,
        masses,
        infinity: forward.infinity,
        // A mass is a difference of two slopes, each a rounded quotient of rounded differences.
        relative_error: 64.0 * f64::EPSILON * count,
        // Dots stand where e^ε − 1 was rounded to.
        loss_error: 4.0 * f64::EPSILON * forward.last().max(reverse.last()) as f64 * spacing,
        remainder: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_is_not_symmetric_has_its_own_curve_on_either_side() {
        let (p, q) = ([0.6, 0.3, 0.1], [0.3, 0.3, 0.4]);
        let divergence = |p: &[f64; 3], q: &[f64; 3], epsilon: f64| -> f64 {
            p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
        };
        let spacing = 1.0 / 64.0;
        let half = |p: &[f64; 3], q: &[f64; 3]| {
            let mut curve = HalfCurve::new(spacing);
            (0..200).for_each(|i| curve.push(i, divergence(p, q, i as f64 * spacing)));
            curve
        };
        let lattice = half(&p, &q).lattice(&half(&q, &p));
        for (i, value) in (-150..150).zip(lattice.curve_upper(spacing, -150, 300)) {
            let exact = divergence(&p, &q, f64::from(i) * spacing);
            assert!(value >= exact && value <= exact + 1e-10, "ε = {i}/64: {value} against {exact}");
        }
    }
}
