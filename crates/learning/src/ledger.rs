//! What has been spent, and what may still be.

use crate::Result;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Mechanism, Question, Release, Round};

/// What is charged at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// A shuffled round.
    Round(Round),
    /// An output that is not shuffled, or gains nothing from it.
    Release(Release),
}

impl From<Round> for Cost {
    fn from(round: Round) -> Self {
        Self::Round(round)
    }
}

impl From<Release> for Cost {
    fn from(release: Release) -> Self {
        Self::Release(release)
    }
}

impl Cost {
    /// Tells `accountant` that it happened `count` times; none is nothing.
    pub fn compose(self, accountant: &mut Accountant, count: u64) -> Result<()> {
        match self {
            _ if count == 0 => {}
            Self::Round(round) => accountant.compose(round, count)?,
            Self::Release(release) => accountant.compose_release(release, count)?,
        }
        Ok(())
    }
}

/// The rounds of a run and, if there is one, the ε that they must not exceed.
#[derive(Debug, Clone)]
pub struct Ledger {
    accountant: Accountant,
    delta: f64,
    budget: Option<f64>,
    /// How often this one is known to fit into what is left.
    cleared: Option<(Cost, u64)>,
}

/// The look-ahead goes no further at a time.
const FARTHEST: u64 = 1 << 20;

impl Ledger {
    /// Nothing has been spent yet. Without a `budget` anything goes.
    pub fn new(delta: f64, budget: Option<f64>) -> Result<Self> {
        Self::resume(Accountant::new(), delta, budget)
    }

    /// What `accountant` was told has been spent.
    pub fn resume(accountant: Accountant, delta: f64, budget: Option<f64>) -> Result<Self> {
        // The accountant checks δ and the budget as any question to it would.
        Accountant::new().epsilon(delta)?;
        if let Some(epsilon) = budget {
            Accountant::new().delta(epsilon)?;
        }
        Ok(Self { accountant, delta, budget, cleared: None })
    }

    /// The rounds so far.
    pub fn accountant(&self) -> &Accountant {
        &self.accountant
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// At least ε of the rounds so far.
    pub fn epsilon(&self) -> Result<f64> {
        epsilon_of(&self.accountant, self.delta)
    }

    /// At most the ε that any analysis could give for the rounds so far: of the round that says most for itself. 0 where nothing is known.
    pub fn epsilon_lower(&self) -> Result<f64> {
        let mut lower: f64 = 0.0;
        for entry in self.accountant.ledger() {
            // A bound on a class is attained by one of it, which need not be the one that was charged
            // as such: *any* ε0-LDP randomizer, discrete Gaussian noise on any grid.
            let mechanism = entry.round.randomizer.mechanism();
            if matches!(
                mechanism,
                Mechanism::Any { .. } | Mechanism::Sequential { .. } | Mechanism::DiscreteGaussian { .. }
            ) {
                continue;
            }
            // Some of the rounds leak no more than all of them.
            let question = Question::new(entry.round, entry.count)?;
            let methods = catalogue::methods().filter(|method| method.about().kind == Kind::Lower);
            let target = Target::EpsilonAt { delta: self.delta };
            let survey = catalogue::survey_of(methods, &question, target, &Options::default())?;
            lower = lower.max(survey.best_lower().map_or(0.0, |bound| bound.value));
        }
        Ok(lower)
    }

    /// How many of `count` more rounds the budget allows, and at least ε after them.
    pub fn forecast(&self, cost: impl Into<Cost>, count: u64) -> Result<(u64, f64)> {
        let cost = cost.into();
        let count = match self.budget {
            Some(_) if count > 0 && !self.fits(cost, count)? => self.affordable(cost)?.min(count),
            _ => count,
        };
        let mut after = self.accountant.clone();
        cost.compose(&mut after, count)?;
        Ok((count, epsilon_of(&after, self.delta)?))
    }

    /// Writes `cost` down, unless the budget forbids it: then nothing changes, and the answer is false.
    pub(crate) fn spend(&mut self, cost: Cost) -> Result<bool> {
        if self.budget.is_some() {
            let left = match self.cleared {
                Some((cleared, left)) if cleared == cost && left > 0 => left,
                _ => self.affordable(cost)?,
            };
            if left == 0 {
                return Ok(false);
            }
            cost.compose(&mut self.accountant, 1)?;
            self.cleared = Some((cost, left - 1));
        } else {
            cost.compose(&mut self.accountant, 1)?;
        }
        Ok(true)
    }

    /// A number of rounds that fit into the budget, such that one more does not (or [`FARTHEST`]).
    fn affordable(&self, cost: Cost) -> Result<u64> {
        let mut fits = 0;
        let mut exceeds = 1;
        while exceeds <= FARTHEST && self.fits(cost, exceeds)? {
            fits = exceeds;
            exceeds *= 2;
        }
        while exceeds <= FARTHEST && exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            if self.fits(cost, middle)? { fits = middle } else { exceeds = middle }
        }
        Ok(fits)
    }

    /// More rounds leak no less, so `count` fitting rounds prove that fewer fit as well.
    fn fits(&self, cost: Cost, count: u64) -> Result<bool> {
        let mut after = self.accountant.clone();
        cost.compose(&mut after, count)?;
        let epsilon = epsilon_of(&after, self.delta)?;
        Ok(self.budget.is_none_or(|budget| epsilon <= budget))
    }
}

/// At least ε of all that `accountant` was told.
///
/// Where noise is weak and few clients hide each other, shuffling is worth little to rounds with a
/// δ0. As long as they are all alike, the methods for one question are asked as well (Rényi DP
/// without any gain from shuffling among them), and the smallest rigorous answer counts.
fn epsilon_of(accountant: &Accountant, delta: f64) -> Result<f64> {
    // Without any δ the local ε add up: never more than that.
    let composed = accountant.epsilon(delta)?.min(accountant.local_epsilon());
    let alike = match (accountant.ledger(), accountant.releases()) {
        ([entry], []) if entry.round.randomizer.pure_epsilon().is_none() => entry,
        _ => return Ok(composed),
    };
    let question = Question::new(alike.round, alike.count)?;
    let methods = catalogue::methods().filter(|method| {
        let about = method.about();
        about.kind == Kind::Upper && about.standing == Standing::Rigorous
    });
    let survey = catalogue::survey_of(methods, &question, Target::EpsilonAt { delta }, &Options::default())?;
    Ok(survey.best_upper(Standing::Rigorous).map_or(composed, |bound| bound.value.min(composed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::scheme::{RandomizerSpec, Scheme};

    /// Only what the mechanism itself loses is shown below its ε, not what another of its class would.
    #[test]
    fn classes_of_mechanisms_have_no_lower_bound_of_their_own() {
        let lower = |mechanism: Mechanism| -> f64 {
            let scheme = Scheme::subsampled(10_000, 1_000).expect("a scheme");
            let randomizer = RandomizerSpec::new(mechanism).expect("a randomizer");
            let mut accountant = Accountant::new();
            accountant.compose(Round { scheme, randomizer }, 100).expect("composed");
            let ledger = Ledger::resume(accountant, 1e-6, None).expect("a ledger");
            ledger.epsilon_lower().expect("a bound")
        };
        assert!(lower(Mechanism::Gaussian { sigma: 5.0 }) > 0.0 && lower(Mechanism::Rr { local_epsilon: 2.0 }) > 0.0);
        for class in [
            Mechanism::Any { local_epsilon: 2.0 },
            Mechanism::Sequential { local_epsilon: 2.0 },
            Mechanism::DiscreteGaussian { sigma: 5.0 },
        ] {
            assert!(lower(class) <= 0.0, "{class:?}");
        }
    }
}
