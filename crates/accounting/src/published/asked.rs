//! Reads the parameters that a bound needs from a question, or gives the reason why the bound does
//! not apply.

use crate::error::{AccountingError, Result};
use crate::scheme::Question;

/// ε0 of a randomizer that is ε0-LDP with no δ0.
pub(super) fn pure_epsilon(question: &Question) -> Result<f64> {
    question.randomizer().pure_epsilon().ok_or_else(|| {
        AccountingError::not_applicable("the bound is for ε0-LDP randomizers, and this one is not (it has a δ0)")
    })
}

/// (k, n) where a fixed number of clients participates.
pub(super) fn fixed_size(question: &Question) -> Result<(u64, u64)> {
    let scheme = question.scheme();
    match scheme.fixed_size() {
        Some(sampled) => Ok((sampled, scheme.clients())),
        None => Err(AccountingError::not_applicable(
            "the bound is for a fixed number of participants, and at check-in the number is random",
        )),
    }
}

/// n where all clients participate.
pub(super) fn everyone(question: &Question) -> Result<u64> {
    let (sampled, clients) = fixed_size(question)?;
    if sampled == clients {
        Ok(clients)
    } else {
        Err(AccountingError::not_applicable(
            "the bound is for the shuffle of all clients, and here only some of them participate",
        ))
    }
}

/// (k, n) where a proper subset of fixed size participates.
pub(super) fn proper_subset(question: &Question) -> Result<(u64, u64)> {
    let (sampled, clients) = fixed_size(question)?;
    if sampled < clients {
        Ok((sampled, clients))
    } else {
        Err(AccountingError::not_applicable(
            "the bound is for a sample of the clients, and here all of them participate",
        ))
    }
}

/// The effective rate and n at check-in.
pub(super) fn check_in(question: &Question) -> Result<(f64, u64)> {
    let scheme = question.scheme();
    match scheme.check_in_rate() {
        Some(rate) => Ok((rate, scheme.clients())),
        None => Err(AccountingError::not_applicable("the bound is for shuffled check-in")),
    }
}
