//! Which pair: cells, their probabilities under W and their weights in the two densities.

use crate::error::{AccountingError, Result};
use crate::numerics::elementary::ln_1p;

/// Counts `(a, b, c, rest) ~ W = Multinomial(trials; π, π, ρ, rest)` with
///
/// `P/W = o + x·a + y·b + z·c` and `Q/W = o + y·a + x·b + z·c`.
///
/// `a` and `b` are the *signal* cells (exchanging them exchanges P and Q), `c` is a *neutral* cell.
/// All weights are non-negative, `x ≥ y`, and `E_W[P/W] = E_W[Q/W] = 1`.
///
/// With `M = a + b` and `D = a − b` the densities are `L ± u·D`, where the *level*
/// `L = o + (x+y)/2·M + z·c` and `u = (x−y)/2`; given M, D is a symmetric walk of M steps. The
/// privacy loss is `2·artanh(u·D/L)`. The smallest density of any walk, `o + y·M + z·c`, is the
/// *floor* of M and c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearPair {
    pub(super) trials: u64,
    /// Probability that a trial falls into either signal cell, 2π, and its complement.
    pub(super) signal: (f64, f64),
    /// Probability of the neutral cell *given no signal*, ρ/(1−2π), and its complement.
    pub(super) neutral: (f64, f64),
    pub(super) offset: f64,
    /// Level per signal: (x+y)/2.
    pub(super) level_step: f64,
    /// y, kept apart because (x+y)/2 − u would cancel.
    pub(super) floor_step: f64,
    /// Half the difference of the signal weights: u = (x−y)/2.
    pub(super) tilt_step: f64,
    /// z.
    pub(super) neutral_step: f64,
    /// The largest privacy loss of any outcome, at a = trials: `ln((o + x·k)/(o + y·k))`.
    pub(super) max_loss: f64,
}

/// The cells of a [`LinearPair`]: probabilities π (each signal cell), ρ (neutral), and the
/// remainder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells {
    pub(crate) signal: f64,
    pub(crate) neutral: f64,
    /// 1 − 2π − ρ, given by the caller because subtraction would cancel.
    pub(crate) rest: f64,
}

/// The weights of a [`LinearPair`]: o, y, x − y, z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    pub(crate) offset: f64,
    pub(crate) low: f64,
    /// x − y, given by the caller because subtraction would cancel at small ε0.
    pub(crate) gap: f64,
    pub(crate) neutral: f64,
}

/// How far E_W\[P/W\] may be from 1 before the parameters are called inconsistent: rounding of the
/// inputs only.
const NORMALISATION: f64 = 1e-9;

/// The windows of M and D grow with the square root of the number of signals; beyond this they
/// would fill the memory.
pub(super) const MAX_SIGNALS: f64 = 1e11;

impl LinearPair {
    /// Checks that the cells are probabilities and that both densities have mass 1.
    pub(crate) fn new(trials: u64, cells: Cells, weights: Weights) -> Result<Self> {
        let Cells { signal, neutral, rest } = cells;
        let Weights { offset, low, gap, neutral: neutral_step } = weights;
        if trials as f64 * 2.0 * signal > MAX_SIGNALS {
            return Err(AccountingError::not_applicable(
                "more than 1e11 clones are expected in a round, too many to sum over",
            ));
        }
        let pair = Self {
            trials,
            signal: complements(2.0 * signal, neutral + rest),
            neutral: if neutral > 0.0 {
                complements(neutral / (neutral + rest), rest / (neutral + rest))
            } else {
                (0.0, 1.0)
            },
            offset,
            level_step: low + gap / 2.0,
            floor_step: low,
            tilt_step: gap / 2.0,
            neutral_step,
            max_loss: ln_1p(gap * trials as f64 / (offset + low * trials as f64)),
        };
        let trials = trials as f64;
        let mass = offset + trials * ((2.0 * low + gap) * signal + neutral_step * neutral);
        let total = 2.0 * signal + neutral + rest;
        let sound = [signal, neutral, rest, offset, low, gap, neutral_step].iter().all(|w| *w >= 0.0)
            && (mass - 1.0).abs() < NORMALISATION
            && (total - 1.0).abs() < NORMALISATION;
        if sound {
            Ok(pair)
        } else {
            Err(AccountingError::numerical(format!(
                "the dominating pair cannot be represented in floating point (mass {mass}, probability {total}); use a \
                 smaller local epsilon"
            )))
        }
    }

    /// The level `L = o + (x+y)/2·M + z·c`.
    pub(super) fn level(&self, signals: f64, neutrals: f64) -> f64 {
        self.offset + self.level_step * signals + self.neutral_step * neutrals
    }

    /// The floor `o + y·M + z·c`.
    pub(super) fn floor(&self, signals: f64, neutrals: f64) -> f64 {
        self.offset + self.floor_step * signals + self.neutral_step * neutrals
    }

    /// u = (x−y)/2: how much one unit of D tilts the densities.
    pub(crate) fn tilt_step(&self) -> f64 {
        self.tilt_step
    }

    /// About the standard deviation of the loss of one round: `2u·√E[M]` (the mean level is 1), and
    /// no more than the largest loss. Chooses grids; nothing rests on it.
    pub(crate) fn typical_loss(&self) -> f64 {
        let signals = self.trials as f64 * self.signal.0;
        (2.0 * self.tilt_step * signals.sqrt()).min(self.max_loss)
    }
}

/// Two probabilities that are each other's complement but for rounding: the smaller is believed.
fn complements(p: f64, q: f64) -> (f64, f64) {
    if p <= q { (p, 1.0 - p) } else { (1.0 - q, q) }
}
