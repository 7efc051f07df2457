//! Girgis, Data, Diggavi: Rényi differential privacy of the subsampled shuffle model in distributed
//! learning (NeurIPS 2021, arXiv 2107.08763).

mod theorem_1;
mod theorem_2;

pub use theorem_1::{Theorem1, renyi_upper};
pub use theorem_2::{Theorem2, TwoRrMoments};

pub(super) use theorem_1::{ln_power_excess_upper, ln_series_term_upper};
