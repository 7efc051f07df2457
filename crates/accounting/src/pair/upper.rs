//! Which linear pair dominates one round: the rigorous rows of the table in `docs/theory/pair.md`.

use super::linear::{Cells, LinearPair, MAX_SIGNALS, Weights};
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1};
use crate::scheme::{Participation, Scheme};

/// Local ε above which the two densities of an outcome differ by more than floats resolve:
/// `e^32 ≈ 8e13` clients would be needed before shuffling hides anything.
pub(crate) const MAX_LOCAL_EPSILON: f64 = 32.0;

/// The pair that dominates a randomizer whose density takes two values of ratio `E = e^ε0`, the
/// higher on a set of blanket measure `q ≤ 1/2` whatever the input.
///
/// The privacy blanket γω = inf_x R_x has γ = 1/(1+(E−1)q); of k participating clients N ~ Bin(k,
/// γ) draw from it, and each such draw is in the victim's first high set, its second, or neither,
/// with probabilities (q, q, 1−2q). At check-in, absence is a symbol that everyone may send: the
/// randomizer stays two-level over all n clients with γ' = rγ+1−r and γ'q' = rγq.
pub fn two_level(scheme: &Scheme, local_epsilon: f64, high_mass: f64) -> Result<LinearPair> {
    let (_, e_minus_1) = exponentials(local_epsilon)?;
    let q = crate::error::require(
        high_mass > 0.0 && high_mass <= 0.5,
        "high-mass",
        "above 0 and at most 1/2 (larger high sets overlap)",
        high_mass,
    )?;
    let gamma = 1.0 / (1.0 + e_minus_1 * q);
    let scheme = &computable(scheme, gamma * q)?;
    let n = scheme.clients() as f64;
    // 1 − γ without cancellation.
    let outside = e_minus_1 * q * gamma;
    let (trials, heard, offset) = trials(scheme);
    let cells = Cells {
        signal: heard * gamma * q,
        neutral: heard * gamma * (1.0 - 2.0 * q) + (1.0 - heard),
        rest: heard * outside,
    };
    LinearPair::new(trials, cells, Weights { offset, low: 1.0 / n, gap: e_minus_1 / n, neutral: 1.0 / n })
}

/// The pair that dominates *every* ε0-LDP randomizer (Feldman, McMillan, Talwar 2021, "Hiding among
/// the clones").
///
/// Each other client is a clone of the victim's first or second extremal law with probability
/// e^{−ε0}/2 each; the victim's two laws mix these as E : 1 and 1 : E. Clients that stay away at
/// check-in are seen to be missing, and hide nobody but count for the sampling rate k/n.
pub fn any_ldp(scheme: &Scheme, local_epsilon: f64) -> Result<LinearPair> {
    let (e, e_minus_1) = exponentials(local_epsilon)?;
    let scheme = &computable(scheme, exp(-local_epsilon) / 2.0)?;
    let n = scheme.clients() as f64;
    // κ = 2E/(E+1) normalises the mixture over the clones' base measure.
    let kappa = 2.0 / (1.0 + 1.0 / e);
    let (trials, heard, offset) = trials(scheme);
    let cells = Cells {
        signal: heard * exp(-local_epsilon) / 2.0,
        neutral: 1.0 - heard,
        rest: heard * -exp_m1(-local_epsilon),
    };
    LinearPair::new(trials, cells, Weights { offset, low: kappa / n, gap: kappa * e_minus_1 / n, neutral: 1.0 / n })
}

/// Populations of a plain shuffle beyond this are treated as this many: the messages of the other
/// clients may be revealed, which is post-processing undone, so fewer clients are an upper bound.
const MAX_SHUFFLED: u64 = 10_000_000_000;

/// The scheme whose pair is computed: the same, but for plain shuffles of more than
/// [`MAX_SHUFFLED`], and for check-ins of which more than [`MAX_SIGNALS`] are expected to fall into
/// a signal cell, each client that is heard with probability `signal` into either. Fewer clients
/// are an upper bound there too: the others decide for themselves whether to come. A sample of
/// fixed size has no such argument: who is in it depends on who else is.
fn computable(scheme: &Scheme, signal: f64) -> Result<Scheme> {
    match scheme.participation() {
        Participation::Everyone => Scheme::shuffle(scheme.clients().min(MAX_SHUFFLED)),
        Participation::FixedSize { .. } => Ok(*scheme),
        Participation::CheckIn { rate, drop_out } => {
            let heard = scheme.check_in_rate().unwrap_or(rate);
            let most = MAX_SIGNALS * (1.0 - 1e-9) / (2.0 * heard * signal);
            // The conversion saturates.
            Scheme::check_in(scheme.clients().min(most as u64), rate, drop_out)
        }
    }
}

/// (number of trials, probability that a trial is a heard client, density of the victim not being
/// among them).
///
/// Fixed size: k clients surely participate, and the victim is not one of them with probability 1 −
/// k/n. Check-in: all n clients are trials, heard at rate r; an unheard one is a neutral outcome of
/// weight 1/n.
pub(super) fn trials(scheme: &Scheme) -> (u64, f64, f64) {
    match (scheme.fixed_size(), scheme.check_in_rate()) {
        (Some(k), _) => (k, 1.0, (scheme.clients() - k) as f64 / scheme.clients() as f64),
        (None, rate) => (scheme.clients(), rate.unwrap_or(1.0), 0.0),
    }
}

pub(super) fn exponentials(local_epsilon: f64) -> Result<(f64, f64)> {
    if local_epsilon <= MAX_LOCAL_EPSILON {
        Ok((exp(local_epsilon), exp_m1(local_epsilon)))
    } else {
        Err(AccountingError::not_applicable(format!(
            "a local epsilon of {local_epsilon} is above {MAX_LOCAL_EPSILON}, where shuffling hides nothing"
        )))
    }
}
