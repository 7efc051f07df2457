//! Blocks of neighbouring lattice points, each known by its mass and its barycentre.

use super::sum::Atom;
use crate::numerics::elementary::{exp, from_polar};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// The blocks of a sum as far as they are known: those that start at the multiples of `size`.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) size: i64,
    known: BTreeMap<i64, Atom>,
}

impl Blocks {
    /// Nothing is known yet.
    pub(super) fn new(size: i64) -> Self {
        Self { size, known: BTreeMap::new() }
    }

    /// Takes note of consecutive blocks: each keeps the larger of the masses that it is known to
    /// have.
    pub(super) fn take(&mut self, first: i64, atoms: Vec<Option<Atom>>) {
        for (i, atom) in atoms.into_iter().enumerate() {
            let Some(atom) = atom else { continue };
            let known = self.known.entry(first + i as i64).or_insert(atom);
            if atom.mass > known.mass {
                *known = atom;
            }
        }
    }

    /// All blocks that are known to have mass.
    pub(super) fn into_atoms(self) -> Vec<Atom> {
        self.known.into_values().collect()
    }
}

/// Sums over a block of `size` points, a power of two, of masses that were tilted by e^{θj}: `Σ
/// e^{−θi}·m_i` and `Σ i·e^{−θi}·m_i`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) theta: f64,
    pub(super) size: i64,
}

impl Kernel {
    /// For blocks of so many points.
    pub(super) fn new(theta: f64, size: i64) -> Self {
        Self { theta, size }
    }

    /// `Σ_{i<size} z^i` and `Σ_{i<size} i·z^i` with `z = e^{−θ−iφ}`, by doubling: no quotient of
    /// small differences.
    pub(super) fn at(&self, phi: f64) -> (Complex64, Complex64) {
        let (mut sum, mut moment) = (Complex64::new(1.0, 0.0), Complex64::new(0.0, 0.0));
        let mut length = 1_i64;
        while length < self.size {
            let far = length as f64;
            let power = from_polar(exp(-self.theta * far), -phi * far);
            moment += power * (moment + far * sum);
            sum += power * sum;
            length *= 2;
        }
        (sum, moment)
    }
}
