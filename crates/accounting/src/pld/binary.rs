//! Lattices of pairs whose outcomes are listed one by one, rounded down.

use super::compose::power_of_two;
use super::discretise::PROBABILITY_ERROR;
use super::intervals::Intervals;
use super::{Direction, Down, LossLattice};
use crate::numerics::elementary::{exp, exp_m1};
use crate::pair::Resolution;
use crate::pair::lower::BinaryPair;
use std::marker::PhantomData;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

impl LossLattice<Down> {
    /// Discretises one round of a binary pair, rounded down: P the second record and Q the first,
    /// or the other way round.
    pub(crate) fn binary(pair: &BinaryPair, reverse: bool, per_deviation: f64) -> Self {
        // (P-mass, loss)
        let atoms: Vec<(f64, f64)> = pair
            .outcomes()
            .into_iter()
            .map(|(mass, factor)| if reverse { (mass, -factor) } else { (mass * exp(factor), factor) })
            .collect();
        Self::of_outcomes(&atoms, pair.typical_loss() / per_deviation, pair.loss_error())
    }

    /// Discretises outcomes, each given by its P-mass and its loss, rounded down, with about this
    /// spacing. Every loss, and the relative error of every mass, is within `loss_error` of the
    /// truth, or errs to the safe side.
    pub(crate) fn of_outcomes(atoms: &[(f64, f64)], spacing: f64, loss_error: f64) -> Self {
        let greatest = atoms.iter().map(|(_, loss)| loss.abs()).fold(0.0, f64::max);
        let spacing = power_of_two(spacing.max(2.0 * greatest / Resolution::FINE.points).max(1e-200));
        let count = (greatest / spacing) as i64 + 2;
        let mut intervals = Intervals::new(-count, 2 * count as usize);
        for (mass, loss) in atoms {
            let index = (loss / spacing).floor();
            let share = exp_m1(index * spacing - loss) / exp_m1(-spacing);
            let cell = (index as i64 + count) as usize;
            intervals.high[cell] += mass * share;
            intervals.low[cell] += mass * (1.0 - share);
            intervals.spread[cell] += mass * share * (1.0 - share);
        }
        let (first, masses) = intervals.into_masses(Direction::Down, spacing, 0.0);
        Self {
            rounding: PhantomData,
            spacing,
            first,
            masses,
            infinity: 0.0,
            relative_error: PROBABILITY_ERROR + loss_error + 8.0 * U * (atoms.len() as f64 + count as f64),
            loss_error: loss_error + 16.0 * U * greatest,
            remainder: None,
        }
    }
}
