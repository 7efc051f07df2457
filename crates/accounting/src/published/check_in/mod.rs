//! Liew, Hasegawa, Takahashi: Shuffled check-in: privacy amplification towards practical
//! distributed learning (arXiv 2206.03151).
//!
//! Two errors run through the paper. **Inclusion**: given that k clients came, its Theorem 1 takes
//! the victim to be among them with probability γ, the check-in rate; it is k/n. With k/n the bound
//! *grows* with k, so Lemma 5 and the Chernoff step of Theorems 2 and 3 fail. **Conversion**: Lemma
//! 3 states the smallest Rényi divergence that (ε, δ) allows as if it were the largest; (ε, δ)-DP
//! with δ > 0 bounds no Rényi divergence at all. Everything in its section 4.2 stands on that
//! lemma.

mod approaches;
mod baseline;
mod dp_to_renyi;
mod theorem_2;
mod theorem_3;

pub use approaches::{Approach1, Approach2};
pub use baseline::{Baseline, StrongComposition, speakers_upper};
pub use dp_to_renyi::smallest_renyi;
pub use theorem_2::{Theorem2, renyi_as_printed};
pub use theorem_3::{Theorem3, renyi_lower_as_printed};

use super::gdp;
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::powf;
use crate::scheme::{LocalGuarantee, Question};

/// Δ of the Chernoff bounds; the paper uses 1/2 throughout (its Remark 1).
pub const CHERNOFF_DELTA: f64 = 0.5;

/// The δ0 of its Gaussian, `n^(−3/2)` (its Appendix B). It prints neither the δ of its shuffles nor
/// the δ' of its baseline; they are taken to be the same. Kept below 1/2 for a handful of clients.
fn small_delta(clients: u64) -> f64 {
    powf(clients as f64, -1.5).min(0.5)
}

/// (ε0, δ0) of the randomizer, for a Gaussian at the paper's δ0.
fn local_pair(question: &Question) -> Result<(f64, f64)> {
    match question.randomizer().local_guarantee() {
        LocalGuarantee::Pure { epsilon } => Ok((epsilon, 0.0)),
        LocalGuarantee::Approximate { epsilon, delta } => Ok((epsilon, delta)),
        LocalGuarantee::Gaussian { mu } => {
            let delta = small_delta(question.scheme().clients());
            Ok((gdp::epsilon_upper(mu, delta)?, delta))
        }
        LocalGuarantee::Concentrated { .. } => Err(AccountingError::not_applicable(
            "the paper starts from (ε0, δ0), which is not stated for this randomizer; ask with `approximate`",
        )),
    }
}
