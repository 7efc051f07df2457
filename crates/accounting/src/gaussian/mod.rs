//! The Gaussian randomizer under the shuffler.

mod cumulants;
mod moments;
mod scaled;
mod series;

pub use moments::{MAX_MOMENT_ORDER, PairMoments};
