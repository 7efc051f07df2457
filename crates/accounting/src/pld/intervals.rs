//! Mass on the intervals of a lattice, moved to its points: outward to dominate, inward to be
//! dominated.
//!
//! In the coordinate `x = e^{−loss} = Q/P` the hockey-stick divergences are the means of convex
//! functions of x under P, so "dominates" is "larger in convex order". Splitting an atom between
//! the two ends of its interval, keeping P-mass and Q-mass, spreads it: that is *connect the dots*
//! (Doroshenko et al. 2022). For the other direction the spread is taken back with interest:
//! between two lattice points, the chord of the curve `u(x) = E(x − X)₊` is above the curve by at
//! most `Δx·Σ p·t(1−t)`, t the share of the upper end; lowering u by the larger of the two
//! neighbouring amounts at each lattice point leaves a piecewise linear curve below u with kinks on
//! the lattice only.

use super::Direction;
use super::minorant::Minorant;
use crate::numerics::elementary::{exp, powf};
use crate::numerics::horner::trimmed;

/// Masses on the intervals `[(first+i)·h, (first+i+1)·h]` of a lattice, each already split between
/// the ends.
///
/// Masses may be *tilted*, multiplied by `e^{θ·loss}` of the lattice point they belong to.
pub(super) struct Intervals {
    pub(super) first: i64,
    /// The mass assigned to the lower end of each interval.
    pub(super) low: Vec<f64>,
    /// The mass assigned to the upper end.
    pub(super) high: Vec<f64>,
    /// `Σ p·t(1−t)` over the interval's atoms, tilted as the lower end. Used by [`Direction::Down`]
    /// only.
    pub(super) spread: Vec<f64>,
}

/// Below this share of the largest mass, [`Direction::Down`] rounds to the lower end instead: first
/// order, of nothing.
const NEGLIGIBLE: f64 = 1e-18;

/// Attempts at a convex curve, each with more of the upper tail rounded to the lower end.
const ATTEMPTS: u32 = 16;

impl Intervals {
    pub(super) fn new(first: i64, count: usize) -> Self {
        Self { first, low: vec![0.0; count], high: vec![0.0; count], spread: vec![0.0; count] }
    }

    /// The index of the first lattice point that has mass, and the masses from there on. `theta` is
    /// the tilt of the masses.
    pub(super) fn into_masses(self, direction: Direction, spacing: f64, theta: f64) -> (i64, Vec<f64>) {
        let first = self.first;
        trimmed(first, self.moved(direction, spacing, theta))
    }

    /// Masses at the lattice points `first ..= first + count`.
    fn moved(mut self, direction: Direction, spacing: f64, theta: f64) -> Vec<f64> {
        if direction == Direction::Down {
            let lattice = Lattice { spacing, up: exp(theta * spacing) };
            self.round_tails_down(lattice.up);
            for attempt in 0..ATTEMPTS {
                match self.contracted(&lattice) {
                    Ok(masses) => return masses,
                    Err(interval) => {
                        let from = interval.saturating_sub(1 << attempt);
                        self.round_down(from, self.low.len(), lattice.up);
                    }
                }
            }
            self.round_down(0, self.low.len(), lattice.up);
        }
        self.ends()
    }

    fn ends(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.low.len() + 1];
        for (i, (low, high)) in self.low.iter().zip(&self.high).enumerate() {
            masses[i] += low;
            masses[i + 1] += high;
        }
        masses
    }

    /// Moves all mass of the intervals `from..to` to their lower ends. `up` = e^{θh} is the tilt
    /// between neighbours.
    fn round_down(&mut self, from: usize, to: usize, up: f64) {
        for i in from..to {
            self.low[i] += self.high[i] / up;
            self.high[i] = 0.0;
            self.spread[i] = 0.0;
        }
    }

    fn round_tails_down(&mut self, up: f64) {
        let mass = |i: usize| self.low[i] + self.high[i];
        let count = self.low.len();
        let floor = NEGLIGIBLE * (0..count).map(mass).fold(0.0, f64::max);
        let from = (0..count).find(|i| mass(*i) > floor).unwrap_or(count);
        let to = (0..count).rfind(|i| mass(*i) > floor).map_or(0, |i| i + 1);
        // The outermost kept interval on either side is rounded as well, so that the lowering
        // starts from 0.
        let (from, to) = ((from + 1).min(count), to.saturating_sub(1));
        self.round_down(0, from, up);
        self.round_down(to.max(from), count, up);
    }

    /// The masses of the greatest convex curve below the lowered one, with kinks on the lattice. If
    /// it becomes negative, the interval where it does.
    ///
    /// Seen from the top (the largest loss, the smallest x), the slope of u between two points is
    /// the mass above, and the lowering changes it by `(c_j − c_{j+1})/Δx`. All quantities are
    /// P-masses without tilt, relative to the middle of the lattice.
    fn contracted(&self, lattice: &Lattice) -> Result<Vec<f64>, usize> {
        let ends = self.ends();
        let points = ends.len();
        let middle = (points / 2) as f64;
        // Turns a tilted mass at point j into a plain one, and weights it with nothing else.
        let plain = |j: usize| powf(lattice.up, middle - j as f64);
        let (grow, shrink) = (exp(lattice.spacing), exp(-lattice.spacing));
        // c_j = x_j(1 − e^{−h})·g_j, g_j the larger spread of the two intervals at j in units of
        // the one above it.
        let spread = |i: usize| if i < self.spread.len() { self.spread[i] * plain(i) } else { 0.0 };
        let g = |j: usize| if j == 0 { spread(0) } else { spread(j).max(grow * spread(j - 1)) };
        let mut minorant = Minorant::new(lattice.spacing);
        let mut above = 0.0;
        for j in (0..points - 1).rev() {
            // The interval from point j+1 down to point j.
            above += ends[j + 1] * plain(j + 1);
            let slope = minorant.push(above - (g(j) - shrink * g(j + 1)));
            if slope < 0.0 || !slope.is_finite() {
                return Err(j);
            }
        }
        above += ends[0] * plain(0);
        let mut masses = minorant.masses(above, -8.0 * f64::EPSILON);
        masses.iter_mut().enumerate().for_each(|(j, mass)| *mass /= plain(j));
        if masses.iter().all(|mass| mass.is_finite()) { Ok(masses) } else { Err(0) }
    }
}

/// The lattice that intervals belong to.
struct Lattice {
    spacing: f64,
    /// e^{θh}, the tilt between neighbours.
    up: f64,
}
