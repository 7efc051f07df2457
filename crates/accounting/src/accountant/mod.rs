//! A running accountant: told of each round as it happens, asked for ε or δ at any time.
//!
//! # What may depend on earlier outputs
//!
//! The *inputs and randomizers' parameters that only the clients see* (the model a gradient is
//! taken at) may: that is adaptive composition. The parameters of a round told to the accountant
//! (n, k, rate, ε0, and whether there is a next round) must not: the numbers hold for a sequence
//! fixed in advance. Where they may depend on earlier outputs, compose the largest sequence that
//! could happen and ask once, or stop by a preset budget with a privacy filter; see
//! `docs/theory/composition.md`.

mod alike;
mod running;
mod state;

pub use running::Running;

use crate::catalogue::Target;
use crate::displacement::Composed;
use crate::error::{AccountingError, Result, require, require_delta, require_epsilon};
use crate::numerics::directed::{mul_up, sum_up};
use crate::pld::LossDistribution;
use crate::scheme::{MAX_COUNT, Release, Round};
use serde::{Deserialize, Serialize};

/// By which argument shuffled rounds are priced. It changes whenever rounds that were written down
/// come to another ε than before: who keeps a ledger keeps this beside it, and says so.
pub const ANALYSIS: &str = "best-of-catalogue";

/// One line of the ledger: a round, and how often it happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundEntry {
    /// The round.
    pub round: Round,
    /// How often, at least once.
    pub count: u64,
}

/// The same for an output that was not shuffled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReleaseEntry {
    /// The output.
    pub release: Release,
    /// How often, at least once.
    pub count: u64,
}

/// Composes rounds of any parameters, and outputs that were not shuffled, and says how private they
/// are together, with the tightest rigorous bound that is known.
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
/// assert!((0.1094..0.1096).contains(&epsilon));
/// # Ok::<(), shuffledp_accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Accountant {
    ledger: Vec<RoundEntry>,
    releases: Vec<ReleaseEntry>,
}

impl Accountant {
    /// Nothing happened yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `round` happened `count` times. Nothing is recorded if the round cannot be accounted for.
    pub fn compose(&mut self, round: Round, count: u64) -> Result<()> {
        require_count(count)?;
        Composed::default().add(&round, count)?;
        match self.ledger.iter_mut().find(|entry| entry.round == round) {
            Some(entry) => entry.count = total(entry.count, count)?,
            None => self.ledger.push(RoundEntry { round, count }),
        }
        Ok(())
    }

    /// An output that was not shuffled happened `count` times, on the records of the same clients.
    pub fn compose_release(&mut self, release: Release, count: u64) -> Result<()> {
        require_count(count)?;
        match self.releases.iter_mut().find(|entry| entry.release == release) {
            Some(entry) => entry.count = total(entry.count, count)?,
            None => self.releases.push(ReleaseEntry { release, count }),
        }
        Ok(())
    }

    /// Everything that `other` was told happened as well. All or nothing.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let mut merged = self.clone();
        for entry in &other.ledger {
            merged.compose(entry.round, entry.count)?;
        }
        for entry in &other.releases {
            merged.compose_release(entry.release, entry.count)?;
        }
        *self = merged;
        Ok(())
    }

    /// The charged rounds, each distinct round once.
    pub fn ledger(&self) -> &[RoundEntry] {
        &self.ledger
    }

    /// The outputs that were not shuffled, each distinct one once.
    pub fn releases(&self) -> &[ReleaseEntry] {
        &self.releases
    }

    /// Has nothing happened yet?
    pub fn is_empty(&self) -> bool {
        self.ledger.is_empty() && self.releases.is_empty()
    }

    /// At least what is left if the shuffler colludes with the server: the local ε of every round,
    /// and the ε of every other output, added up. `+∞` if something has no ε without a δ. It is
    /// also ε at δ = 0.
    pub fn local_epsilon(&self) -> f64 {
        let local = |round: &Round| round.randomizer.pure_epsilon().unwrap_or(f64::INFINITY);
        let rounds = self.ledger.iter().map(|entry| (local(&entry.round), entry.count));
        let releases = self.releases.iter().map(|entry| (entry.release.pure_epsilon(), entry.count));
        let releases = releases.map(|(epsilon, count)| (epsilon.unwrap_or(f64::INFINITY), count));
        sum_up(rounds.chain(releases).map(|(epsilon, count)| mul_up(epsilon, count as f64)))
    }

    /// At least the ε of everything so far at `delta`, replace-one adjacency; 0 if nothing
    /// happened, `+∞` where the rounds' δ0 exceed δ, and where noise is too small to hide anything.
    ///
    /// Rounds that are all alike have the smallest rigorous answer of the
    /// [catalogue](crate::catalogue) to the question about them. Different ones are composed, and
    /// never cost more than [`local_epsilon`](Self::local_epsilon).
    pub fn epsilon(&self, delta: f64) -> Result<f64> {
        require_delta(delta)?;
        if self.is_empty() {
            return Ok(0.0);
        }
        if let Some(rounds) = self.alike()
            && let Some(best) = alike::best(rounds, Target::EpsilonAt { delta })?
        {
            return Ok(best);
        }
        Ok(self.composed()?.epsilon(delta)?.min(self.local_epsilon()))
    }

    /// At least the δ of everything so far at `epsilon`; 0 if nothing happened. From the same
    /// sources as [`epsilon`](Self::epsilon).
    pub fn delta(&self, epsilon: f64) -> Result<f64> {
        require_epsilon(epsilon)?;
        if self.is_empty() || epsilon >= self.local_epsilon() {
            return Ok(0.0);
        }
        if let Some(rounds) = self.alike()
            && let Some(best) = alike::best(rounds, Target::DeltaAt { epsilon })?
        {
            return Ok(best);
        }
        self.composed()?.delta(epsilon)
    }

    /// Whether [`epsilon`](Self::epsilon) at `delta` is at most `budget`. The same answer in less
    /// time: the first bound that shows it is enough. Nothing fits into a budget that is NaN.
    pub fn is_within(&self, budget: f64, delta: f64) -> Result<bool> {
        require_delta(delta)?;
        if let Some(rounds) = self.alike()
            && let Some(is_within) = alike::is_within(rounds, budget, delta)?
        {
            return Ok(is_within);
        }
        Ok(self.epsilon(delta)? <= budget)
    }

    /// The rounds, if they are all alike and nothing else happened.
    fn alike(&self) -> Option<&RoundEntry> {
        match (self.ledger.as_slice(), self.releases.as_slice()) {
            ([rounds], []) => Some(rounds),
            _ => None,
        }
    }

    /// The privacy loss of everything so far, rounded up; with nothing composed all of it is 0.
    pub fn loss_distribution(&self) -> Result<LossDistribution> {
        if self.is_empty() {
            return Ok(LossDistribution { losses: vec![0.0], probabilities: vec![1.0], infinity: 0.0 });
        }
        self.composed()?.loss_distribution()
    }

    fn composed(&self) -> Result<Composed> {
        let mut composed = Composed::default();
        for entry in &self.ledger {
            composed.add(&entry.round, entry.count)?;
        }
        for entry in &self.releases {
            composed.add_release(&entry.release, entry.count);
        }
        Ok(composed)
    }
}

fn require_count(count: u64) -> Result<u64> {
    require((1..=MAX_COUNT).contains(&count), "count", "between 1 and 2^53", count)
}

/// `before + more`, if that can still be counted exactly.
fn total(before: u64, more: u64) -> Result<u64> {
    before
        .checked_add(more)
        .filter(|total| *total <= MAX_COUNT)
        .ok_or_else(|| AccountingError::numerical("more than 2^53 repetitions of one round"))
}
