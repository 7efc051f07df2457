//! "Rényi differential privacy in the shuffle model: enhanced amplification bounds" (arXiv
//! 2401.04306).

mod corollary_1;
mod theorem_2;
mod theorem_3;

pub use corollary_1::{Corollary1, printed_pair_at_far_corner};
pub use theorem_2::{Corollary2, Theorem2, gaussian_mu, renyi_asymptotic};
pub use theorem_3::Theorem3;
