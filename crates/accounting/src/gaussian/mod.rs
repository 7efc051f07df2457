//! The Gaussian randomizer under the shuffler: `N(0, σ²C²)` on every coordinate of a vector clipped
//! to norm `C`.
//!
//! Replacing a record moves it by up to `2C`, so everything depends on `s = μ² = (2/σ)²` and on who
//! participates.
//!
//! | module | what it holds |
//! |---|---|
//! | `scaled`, `series` | positive numbers without overflow, and their convolutions, rounded up |
//! | `cumulants` | cumulants of the log-normal likelihood ratio of one report |
//! | `moments` | [`PairMoments`]: all integer moments of the pair's likelihood ratio |
//! | `pair` | [`PairCurve`]: both directions, every order; why the reverse direction is never the larger |
//! | `reports` | sums of the likelihood ratios of single reports, by their laws |
//! | `loss` | [`PairLoss`]: the pair's loss distribution, both ways round |
//! | `local` | [`LocalCurve`]: proven, from the local guarantee and the sampling alone |

mod cumulants;
mod local;
mod loss;
mod moments;
mod pair;
mod reports;
mod scaled;
mod series;

pub use local::{LocalCurve, LocalRdp, revealed_renyi};
pub use loss::PairLoss;
pub(crate) use loss::Way;
pub use moments::{MAX_MOMENT_ORDER, PairMoments};
pub(crate) use pair::gaussian_mu;
pub use pair::{Pair, PairCurve};

use crate::catalogue::Method;

/// The methods of this module, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[&LocalRdp, &Pair, &PairLoss];
