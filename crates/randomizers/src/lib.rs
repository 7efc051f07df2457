//! Local randomizers: what a client sends, how many bits it takes, and what a server makes of a
//! shuffled batch.
//!
//! One file per mechanism, each an implementation of [`Randomizer`]. Follow one report:
//! [`Randomizer::randomize`] (clip, then flip coins of exact probability) → [`Randomizer::encode`]
//! (fixed length) → the shuffle → [`Randomizer::decode`] (what no input could have produced is
//! rejected) → [`Aggregator::add`] → [`Aggregator::mean`] (unbiased, but for [`top_set`]).
//! [`Randomizer::spec`] tells `accounting` what was promised.
//!
//! Whoever learns only at run time which mechanism it is goes through [`dispatch`] or [`erased`];
//! [`estimate`] makes shares and means with intervals of a batch; and [`audit`] runs the code and
//! measures what it gives away.
//!
//! Coins, indices and seeds come from a [`Randomness`]: [`ReleaseRng`] for anything that leaves a
//! client, [`SimulationRng`] for experiments.

pub mod audit;
pub mod clip;
pub mod clopper_pearson;
pub mod coin;
mod deviates;
pub mod direction;
pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod dispatch;
pub mod duchi;
pub mod erased;
pub mod error;
pub mod estimate;
pub mod exact;
pub mod gaussian;
mod grid;
pub mod hadamard;
pub mod k_subset;
pub mod krr;
pub mod laplace;
pub mod likelihood;
pub mod noise;
pub mod norms;
mod packed_code;
pub mod priv_unit;
pub mod r_1;
pub mod r_inf;
pub mod randomizer;
pub mod randomness;
mod real_frame;
pub mod rotation;
pub mod rounded_gaussian;
mod running_sums;
pub mod sample;
pub mod saved_sums;
pub mod shuffle;
pub mod signed_counts;
pub mod signed_index;
pub mod sums;
pub mod top_set;
pub mod uniform;
mod word_code;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use duchi::Duchi;
pub use error::{RandomizerError, Result};
pub use gaussian::Gaussian;
pub use k_subset::KSubset;
pub use krr::Krr;
pub use laplace::Laplace;
pub use likelihood::Likelihood;
pub use priv_unit::PrivUnit;
pub use r_1::R1;
pub use r_inf::RInf;
pub use randomizer::{Aggregator, PublicSeed, Randomizer};
pub use randomness::{Randomness, ReleaseRng, SimulationRng};
pub use rounded_gaussian::RoundedGaussian;
pub use top_set::TopSet;
