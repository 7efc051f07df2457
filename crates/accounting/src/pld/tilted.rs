//! A loss distribution seen from where the answer lies.
//!
//! FFTs err by a share of the *largest* mass, but δ lives in the tail. Multiplying every mass by
//! `e^{θ·loss}` moves the bulk to the tail that is asked about; it commutes with convolution, and
//! is undone exactly when δ is read.

use super::intervals::Intervals;
use super::{Direction, LossLattice, Rounding};
use crate::numerics::elementary::{exp, exp_m1, ln};
use crate::numerics::horner::{horner, horner_reversed};

/// P-masses `exp(ln_scale − θ·loss)·masses[i]` at `loss = (first + i)·spacing`; `masses` sum to 1.
#[derive(Debug, Clone)]
pub(super) struct Tilted {
    pub(super) theta: f64,
    pub(super) spacing: f64,
    pub(super) first: i64,
    pub(super) masses: Vec<f64>,
    pub(super) ln_scale: f64,
    /// P-mass at infinity, not tilted.
    pub(super) infinity: f64,
    /// Tilted mass that lay below a window and is not among `masses`; it may stand at any loss.
    /// Upper bounds only.
    pub(super) lost: f64,
}

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

impl Tilted {
    /// Tilts one round. Its relative error, and that of the exponentials, goes into the scale, in
    /// the lattice's direction.
    pub(super) fn new<D: Rounding>(lattice: &LossLattice<D>, theta: f64) -> Self {
        let error = lattice.relative_error + 8.0 * U * (1.0 + theta * lattice.reach());
        let reference = lattice.cumulant(theta);
        let masses = lattice.iter().map(|(loss, mass)| mass * exp(theta * loss - reference)).collect();
        let mut tilted = Self {
            theta,
            spacing: lattice.spacing,
            first: lattice.first,
            masses,
            ln_scale: reference + D::DIRECTION.sign() * error,
            infinity: lattice.infinity,
            lost: 0.0,
        };
        tilted.normalise();
        tilted
    }

    pub(super) fn normalise(&mut self) {
        let sum: f64 = self.masses.iter().sum();
        self.masses.iter_mut().for_each(|mass| *mass /= sum);
        self.lost /= sum;
        self.ln_scale += ln(sum);
    }

    /// Mean and variance of the tilted loss, in units of the spacing. Chooses windows; nothing
    /// rests on it.
    pub(super) fn moments(&self) -> (f64, f64) {
        let (mut mean, mut squares) = (0.0, 0.0);
        let centre = self.first as f64 + self.masses.len() as f64 / 2.0;
        for (i, mass) in self.masses.iter().enumerate() {
            let index = (self.first + i as i64) as f64 - centre;
            mean += mass * index;
            squares += mass * index * index;
        }
        (centre + mean, (squares - mean * mean).max(0.0))
    }

    /// At least `ln Σ masses[i]·e^{φ·loss}` (also for negative φ).
    pub(super) fn cumulant_upper(&self, phi: f64) -> f64 {
        let last = self.first + self.masses.len() as i64 - 1;
        let edge = if phi >= 0.0 { last } else { self.first };
        let factor = exp(-phi.abs() * self.spacing);
        let sum = if phi >= 0.0 { horner(&self.masses, factor) } else { horner_reversed(&self.masses, factor) };
        // A step of a chain rounds twice and takes four masses; the powers of `factor` inherit its
        // own rounding, 2U for each mass, and those of its fourth power, 3U for four.
        ln(sum) + 8.0 * U * self.masses.len() as f64 + phi * edge as f64 * self.spacing
    }

    /// Moves the masses to a lattice of `ratio` times the spacing, in `direction`. The ratio is a
    /// power of two, of any size: time and memory are those of the masses.
    ///
    /// With a power of two the division of an index by the ratio is exact. Where an index is so
    /// small next to the ratio that its distance from the upper end is lost, the share of that end
    /// is rounded to 1, which is one of the roundings that are charged.
    pub(super) fn coarsened(&self, ratio: f64, direction: Direction) -> Self {
        if ratio <= 1.0 {
            return self.clone();
        }
        let width = ratio * self.spacing;
        let last = self.first + self.masses.len() as i64 - 1;
        let cell_of = |index: i64| (index as f64 / ratio).floor();
        let from = cell_of(self.first);
        let mut intervals = Intervals::new(from as i64, (cell_of(last) - from) as usize + 1);
        // For an atom at this part of its cell: its upper share in P-mass, and the tilts of both
        // ends relative to it.
        let shares = |part: f64| {
            let d = part * width;
            let share = exp_m1(-d) / exp_m1(-width);
            (share, exp(self.theta * (width - d)), exp(-self.theta * d))
        };
        // Residues repeat only where there are fewer of them than masses.
        let is_tabulated = ratio <= self.masses.len() as f64;
        let residues = if is_tabulated { ratio as i64 } else { 0 };
        let table: Vec<_> = (0..residues).map(|i| shares(i as f64 / ratio)).collect();
        for (i, mass) in self.masses.iter().enumerate() {
            let index = self.first + i as i64;
            let at = index as f64 / ratio;
            let cell = (at.floor() - from) as usize;
            let (share, to_high, to_low) =
                if is_tabulated { table[index.rem_euclid(residues) as usize] } else { shares(at - at.floor()) };
            intervals.high[cell] += mass * share * to_high;
            intervals.low[cell] += mass * (1.0 - share) * to_low;
            intervals.spread[cell] += mass * share * (1.0 - share) * to_low;
        }
        let (first, masses) = intervals.into_masses(direction, width, self.theta);
        let mut coarse = Self { first, masses, spacing: width, ..*self };
        // A handful of roundings per mass, and no mass is a sum of more terms than there are.
        coarse.ln_scale += direction.sign() * 16.0 * U * (self.masses.len() as f64 + self.theta * width);
        coarse.normalise();
        coarse
    }
}
