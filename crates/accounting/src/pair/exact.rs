//! Divergences of a pair by summation over its outcomes.

use super::rows::{Resolution, Row, Rows};
use super::walks::Walks;
use super::{Direction, LinearPair};
use crate::numerics::directed::{deflate, inflate};
use crate::numerics::elementary::{exp, exp_m1, ln, ln_1p, powi};
use crate::numerics::log_sum::log_add;
use std::cell::Cell;

/// Covers the relative error of the outcomes' probabilities and of summing some millions of them.
const RELATIVE_ERROR: f64 = 4e-12;

/// Relative rounding error of the two terms whose difference an outcome contributes.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Pairs with fewer outcomes than this are summed outcome by outcome; larger ones in blocks.
const EXACT_OUTCOMES: f64 = 4e6;

impl LinearPair {
    /// At least the hockey-stick divergence `E_W[(P − e^ε Q)₊]`, for any real ε.
    pub fn delta_upper(&self, epsilon: f64) -> f64 {
        let rows = self.rows_to_sum(Direction::Up);
        inflate(self.hockey_stick(&rows, epsilon, ROUNDING), RELATIVE_ERROR) + rows.remainder.mass_upper()
    }

    /// At most the hockey-stick divergence.
    pub fn delta_lower(&self, epsilon: f64) -> f64 {
        let rows = self.rows_to_sum(Direction::Down);
        deflate(self.hockey_stick(&rows, epsilon, -ROUNDING), RELATIVE_ERROR)
    }

    /// At least the Rényi divergence at `order`, any real above 1.
    pub fn renyi_upper(&self, order: f64) -> f64 {
        let rows = self.rows_to_sum(Direction::Up);
        let ln_excess = log_add(self.ln_renyi_excess(&rows, order), rows.remainder.ln_renyi_moment(order));
        inflate(log_add(0.0, ln_excess) / (order - 1.0), RELATIVE_ERROR)
    }

    /// At most the Rényi divergence at `order`, any real above 1.
    pub fn renyi_lower(&self, order: f64) -> f64 {
        let ln_excess = self.ln_renyi_excess(&self.rows_to_sum(Direction::Down), order);
        deflate(log_add(0.0, ln_excess) / (order - 1.0), RELATIVE_ERROR)
    }

    fn rows_to_sum(&self, direction: Direction) -> Rows {
        let trials = self.trials as f64;
        let outcomes = if self.neutral.0 > 0.0 { powi(trials, 3) / 6.0 } else { powi(trials, 2) / 2.0 };
        let resolution = if outcomes <= EXACT_OUTCOMES { Resolution::EXACT } else { Resolution::FINE };
        self.rows(direction, resolution)
    }

    /// `Σ w·[(L+U) − e^ε(L−U)]₊ = Σ w·[U(1+e^ε) − L(e^ε−1)]₊` with U = uD, each difference moved by
    /// `rounding` of its terms.
    fn hockey_stick(&self, rows: &Rows, epsilon: f64, rounding: f64) -> f64 {
        let (sum, difference) = (1.0 + exp(epsilon), exp_m1(epsilon));
        self.sum_over_walks(rows, |outcome| {
            let (gain, loss) = (outcome.tilt * sum, outcome.level * difference);
            (gain - loss + rounding * (gain.abs() + loss.abs())).max(0.0)
        })
    }

    /// `ln(E_W[P^λ Q^{1−λ}] − 1)`, without cancellation.
    ///
    /// Averaging D and −D, `P^λQ^{1−λ} − L` becomes `L·2·sinh(λℓ/2)·sinh((λ−1)ℓ/2)/cosh(ℓ/2)`, ℓ
    /// the loss: all terms are positive.
    fn ln_renyi_excess(&self, rows: &Rows, order: f64) -> f64 {
        // A common factor exp(shift) keeps large orders finite. It must come from an outcome that
        // has mass: a term that vanishes next to that one's is then really nothing.
        let mut shift = 0.0;
        if (order - 1.0) * self.max_loss > 600.0 {
            let greatest = Cell::new(0.0_f64);
            self.sum_over_walks(rows, |outcome| {
                greatest.set(greatest.get().max(outcome.loss()));
                0.0
            });
            shift = ((order - 1.0) * greatest.get() - 600.0).max(0.0);
        }
        let sum = self.sum_over_walks(rows, |outcome| {
            let loss = outcome.loss();
            let vanishing = exp_m1(-order * loss) * exp_m1((1.0 - order) * loss) / (1.0 + exp(-loss));
            outcome.level * exp((order - 1.0) * loss - shift) * vanishing
        });
        ln(sum) + shift
    }

    /// `Σ_rows weight · E_D[term]` over the walks that are kept. At k = n an outcome without any
    /// clone has density 0 under both hypotheses and is passed over.
    fn sum_over_walks(&self, rows: &Rows, term: impl Fn(Outcome) -> f64) -> f64 {
        let u = self.tilt_step;
        let mut total = 0.0;
        let mut walks = Walks::new(rows);
        for Row { weight, signals, floor } in &rows.rows {
            let level = floor + u * *signals as f64;
            if level <= 0.0 {
                continue;
            }
            let (half, count) = rows.upper_half(*signals);
            let masses = walks.masses(*signals, 0..count);
            let mut row = 0.0;
            for (ups, mass) in (half..).zip(masses).filter(|(_, mass)| *weight * **mass > 0.0) {
                let downs = signals - ups;
                let (tilt, smaller) = (u * (ups - downs) as f64, floor + 2.0 * u * downs as f64);
                row += mass * term(Outcome { level, tilt, smaller });
                if ups > downs {
                    row += mass * term(Outcome { level, tilt: -tilt, smaller });
                }
            }
            total += weight * row;
        }
        total
    }
}

/// One outcome: densities `level ± tilt`, the smaller of which is also given because it may be
/// tiny.
struct Outcome {
    level: f64,
    tilt: f64,
    smaller: f64,
}

impl Outcome {
    /// The absolute value of its privacy loss.
    fn loss(&self) -> f64 {
        ln_1p(2.0 * self.tilt.abs() / self.smaller)
    }
}
