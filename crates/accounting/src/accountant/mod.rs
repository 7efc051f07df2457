//! A running accountant: told of each round as it happens, asked for ε or δ at any time.
//!
//! # What may depend on earlier outputs
//!
//! The *inputs and randomizers' parameters that only the clients see* (the model a gradient is taken at) may: that is adaptive composition. The
//! parameters of a round told to the accountant (n, k, rate, ε0, and whether there is a next round) must not: the numbers hold for a sequence fixed
//! in advance. Where they may depend on earlier outputs, compose the largest sequence that could happen and ask once, or stop by a preset
//! budget with a privacy filter; see `docs/theory/composition.md`.
//!
//! # Rounds with a δ0
//!
//! Gaussian, discrete Gaussian and (ε0, δ0)-LDP rounds are replaced by ideal ones, and the total variation to those is charged to δ
//! (`docs/theory/approximate.md`). Which ε0 a Gaussian round is taken at is decided when the accountant is asked: each kind of such rounds gets an
//! equal part of the total variation, and how much there is of it is chosen for the smallest answer.

mod state;

use crate::approximate::Idealised;
use crate::error::{AccountingError, Result, require_delta, require_epsilon};
use crate::scheme::{MAX_COUNT, Round};
use serde::{Deserialize, Serialize};

/// One line of the ledger: a round, and how often it happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The round.
    pub round: Round,
    /// How often, at least once.
    pub count: u64,
}

/// Composes rounds of any parameters and says how private they are together, with the tightest rigorous pair of each.
///
/// Its state is the list of (round, count); loss distributions are derived from it and remembered.
///
/// ```
/// use shuffledp_accounting::accountant::Accountant;
/// use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, Round, Scheme};
///
/// let round = Round {
///     scheme: Scheme::subsampled(1_000_000, 1_000)?,
///     randomizer: RandomizerSpec::new(Mechanism::LdpSgd { local_epsilon: 2.0 })?,
/// };
/// let mut accountant = Accountant::new();
/// accountant.compose(round, 100_000)?;
/// let epsilon = accountant.epsilon(1e-8)?;
/// assert!((0.1456..0.1458).contains(&epsilon));
/// # Ok::<(), shuffledp_accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Accountant {
    ledger: Vec<Entry>,
}

impl Accountant {
    /// Nothing happened yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `round` happened `count` times. Nothing is recorded if the round cannot be accounted for.
    pub fn compose(&mut self, round: Round, count: u64) -> Result<()> {
        crate::error::require((1..=MAX_COUNT).contains(&count), "count", "between 1 and 2^53", count)?;
        Idealised::default().add(&round, count)?;
        match self.ledger.iter_mut().find(|entry| entry.round == round) {
            Some(entry) => match entry.count.checked_add(count).filter(|total| *total <= MAX_COUNT) {
                Some(total) => entry.count = total,
                None => return Err(AccountingError::numerical("more than 2^53 repetitions of one round")),
            },
            None => self.ledger.push(Entry { round, count }),
        }
        Ok(())
    }

    /// Everything that `other` was told happened as well. All or nothing.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let mut merged = self.clone();
        for entry in &other.ledger {
            merged.compose(entry.round, entry.count)?;
        }
        *self = merged;
        Ok(())
    }

    /// What happened, each distinct round once.
    pub fn ledger(&self) -> &[Entry] {
        &self.ledger
    }

    /// At least the ε of everything so far at `delta`, replace-one adjacency; 0 if nothing happened, `+∞` where the rounds' δ0 exceed δ.
    pub fn epsilon(&self, delta: f64) -> Result<f64> {
        require_delta(delta)?;
        if self.ledger.is_empty() { Ok(0.0) } else { Ok(self.idealised()?.epsilon_upper(delta)?.value) }
    }

    /// At least the δ of everything so far at `epsilon`; 0 if nothing happened.
    pub fn delta(&self, epsilon: f64) -> Result<f64> {
        require_epsilon(epsilon)?;
        if self.ledger.is_empty() { Ok(0.0) } else { Ok(self.idealised()?.delta_upper(epsilon)?.value) }
    }

    fn idealised(&self) -> Result<Idealised> {
        let mut idealised = Idealised::default();
        for entry in &self.ledger {
            idealised.add(&entry.round, entry.count)?;
        }
        Ok(idealised)
    }
}
