//! One report of a named randomizer, seen by a server that knows that it is from one of two
//! records.

use super::cells::Cells;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1, ln};
use crate::numerics::normal;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// A report and its likelihood ratio `w = R_x/R_z`: x the victim's other record, z the record that
/// everybody else holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Report {
    /// Two unit Gaussians: `w = exp(μy − μ²/2)`, y standard normal from z.
    Gaussian {
        /// The distance of the records in deviations of the noise.
        mu: f64,
    },
    /// The same, of which only the cell is seen.
    RoundedGaussian {
        /// The distance of the records in deviations of the noise.
        mu: f64,
        /// The cells, as seen from z.
        cells: Cells,
    },
    /// Laplace noise of scale 1, records ε0 apart: `w = exp(|y| − |y − ε0|)`.
    Laplace {
        /// ε0.
        epsilon: f64,
    },
    /// A density of two levels, ratio E, disjoint high sets of base measure q: w is E, 1 or 1/E.
    TwoLevel {
        /// ε0.
        epsilon: f64,
        /// q, at most 1/2.
        high_mass: f64,
    },
}

/// The probabilities of a set of reports from the two records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    /// From x.
    pub(super) p: f64,
    /// From z.
    pub(super) q: f64,
}

const EMPTY: Region = Region { p: 0.0, q: 0.0 };
const FULL: Region = Region { p: 1.0, q: 1.0 };

/// Thresholds of a Gaussian further out than this are not used: tails are floats of full precision
/// up to here.
const REACH: f64 = 37.0;

/// Larger ε0 are left to the one-bit bound.
const MAX_EPSILON: f64 = 300.0;

/// So far to either side of z's mean reports of a Gaussian are told apart.
const TOLD_APART: f64 = 9.5;

impl Report {
    /// Relative error of the probabilities of regions. Gaussian: `a − μ` is rounded, which moves a
    /// tail by up to `37²` units of roundoff. Laplace: an exponent of up to 300 is.
    pub(super) const REGION_ERROR: f64 = 4096.0 * U;

    /// A Gaussian report; refused where the two records are never or always told apart.
    pub(super) fn gaussian(mu: f64) -> Result<Self> {
        usable((1e-9..30.0).contains(&mu))?;
        Ok(Self::Gaussian { mu })
    }

    /// A rounded Gaussian report.
    pub(super) fn rounded_gaussian(mu: f64, cells: Cells) -> Result<Self> {
        Self::gaussian(mu).map(|_| Self::RoundedGaussian { mu, cells })
    }

    /// A Laplace report.
    pub(super) fn laplace(epsilon: f64) -> Result<Self> {
        usable((1e-9..MAX_EPSILON).contains(&epsilon))?;
        Ok(Self::Laplace { epsilon })
    }

    /// A report of a two-level randomizer.
    pub(super) fn two_level(epsilon: f64, high_mass: f64) -> Result<Self> {
        usable((1e-9..MAX_EPSILON).contains(&epsilon) && high_mass > 0.0 && high_mass < 0.5)?;
        Ok(Self::TwoLevel { epsilon, high_mass })
    }

    /// Splits the reports at about this likelihood ratio: (those below, those above). Exactly which
    /// reports are above does not matter to the soundness of anything, only that both regions are
    /// of one split.
    pub(super) fn split(&self, ratio: f64) -> (Region, Region) {
        if ratio <= 0.0 {
            return (EMPTY, FULL);
        }
        match *self {
            Self::Gaussian { mu } => {
                let y = ln(ratio) / mu + 0.5 * mu;
                split_at(mu, y, (y.abs() <= REACH).then_some(y))
            }
            // A cell's ratio is about that of its middle.
            Self::RoundedGaussian { mu, cells } => {
                let y = ln(ratio) / mu + 0.5 * mu;
                split_at(mu, y, cells.nearest(y).filter(|edge| edge.abs() <= REACH))
            }
            Self::Laplace { epsilon } => {
                let y = 0.5 * (epsilon + ln(ratio));
                if y < 0.0 || y >= epsilon {
                    return if y < 0.0 { (EMPTY, FULL) } else { (FULL, EMPTY) };
                }
                let (from_x, from_z) = (0.5 * exp(y - epsilon), 0.5 * exp(-y));
                (Region { p: from_x, q: 1.0 - from_z }, Region { p: 1.0 - from_x, q: from_z })
            }
            Self::TwoLevel { epsilon, high_mass } => {
                let e = exp(epsilon);
                let low = high_mass / (1.0 + exp_m1(epsilon) * high_mass);
                let neither = (1.0 - 2.0 * high_mass) / (1.0 + exp_m1(epsilon) * high_mass);
                // The high set of z, neither high set, the high set of x.
                let [z, rest, x] = [(low, e * low), (neither, neither), (e * low, low)].map(|(p, q)| Region { p, q });
                let join = |a: Region, b: Region| Region { p: a.p + b.p, q: a.q + b.q };
                if ratio * e < 1.0 {
                    (EMPTY, FULL)
                } else if ratio < 1.0 {
                    (z, join(rest, x))
                } else if ratio < e {
                    (join(z, rest), x)
                } else {
                    (FULL, EMPTY)
                }
            }
        }
    }

    /// The likelihood ratios between which reports are told apart; nothing rests on it.
    pub(super) fn range(&self) -> (f64, f64) {
        match *self {
            Self::Gaussian { mu } | Self::RoundedGaussian { mu, .. } => {
                let ratio = |y: f64| exp(mu * y - 0.5 * mu * mu);
                (ratio(-TOLD_APART), ratio(TOLD_APART + mu))
            }
            Self::Laplace { epsilon } | Self::TwoLevel { epsilon, .. } => (exp(-epsilon), exp(epsilon)),
        }
    }
}

/// Two unit Gaussians split at `edge`, as seen from z; if there is none, all reports are on the
/// side of it that `y` is not on.
fn split_at(mu: f64, y: f64, edge: Option<f64>) -> (Region, Region) {
    match edge {
        Some(edge) => {
            let below = Region { p: normal::cdf(edge - mu), q: normal::cdf(edge) };
            (below, Region { p: normal::upper_tail(edge - mu), q: normal::upper_tail(edge) })
        }
        None if y > 0.0 => (FULL, EMPTY),
        None => (EMPTY, FULL),
    }
}

fn usable(holds: bool) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(AccountingError::not_applicable("a report that says next to nothing, or next to everything"))
    }
}
