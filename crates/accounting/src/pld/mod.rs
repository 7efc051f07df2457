//! Privacy loss distributions on a lattice, and their composition over many rounds.
//!
//! A [`LossLattice`] is one round: P-masses at integer multiples of a spacing, discretised so that
//! it dominates the pair ([`Up`]) or is dominated by it ([`Down`]), each at a cost of second order
//! in the spacing. [`Rounds`] composes them by FFT and is asked for δ(ε) or ε(δ). The error of
//! every step is bounded and charged; `docs/theory/composition.md` has the proofs.

#[cfg(test)]
mod allowances;
mod binary;
pub(crate) mod cache;
mod compose;
mod curve;
mod discretise;
mod export;
mod intervals;
mod kept;
mod lattice;
mod minorant;
mod read;
pub(crate) mod release;
mod renyi;
mod rounding;
mod tilted;

pub use compose::Rounds;
pub(crate) use compose::power_of_two;
pub(crate) use curve::{Curve, HalfCurve};
pub use export::LossDistribution;
pub(crate) use kept::Kept;
pub use lattice::LossLattice;
pub(crate) use renyi::Divergences;
pub use rounding::{Down, Rounding, Up};

use crate::pair::Direction;
