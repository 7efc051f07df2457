//! The ledger of a training: the privacy spent so far, and the remaining budget.

use crate::Result;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::bound::Kind;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Mechanism, Question, Release, Round};

/// The cost of one charge.
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
}

/// The look-ahead goes no further at a time.
const FARTHEST: u64 = 1 << 20;

impl Ledger {
    /// Nothing has been spent yet. Without a `budget` anything goes.
    pub fn new(delta: f64, budget: Option<f64>) -> Result<Self> {
        Self::resume(Accountant::new(), delta, budget)
    }

    /// Continues with the rounds that `accountant` already holds.
    pub fn resume(accountant: Accountant, delta: f64, budget: Option<f64>) -> Result<Self> {
        // The accountant checks δ and the budget as any question to it would.
        Accountant::new().epsilon(delta)?;
        if let Some(epsilon) = budget {
            Accountant::new().delta(epsilon)?;
        }
        Ok(Self { accountant, delta, budget })
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
        Ok(self.accountant.epsilon(self.delta)?)
    }

    /// At most the ε that any analysis could give for the rounds so far: of the round that says
    /// most for itself. 0 where nothing is known.
    pub fn epsilon_lower(&self) -> Result<f64> {
        let mut lower: f64 = 0.0;
        for entry in self.accountant.ledger() {
            // A bound on a class is attained by one of it, which need not be the one that was
            // charged as such: *any* ε0-LDP randomizer, discrete Gaussian noise on any grid.
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
        Ok((count, after.epsilon(self.delta)?))
    }

    /// Charges what is about to happen, in simulations, server and client alike. False if
    /// [`epsilon`](Self::epsilon) would then exceed the budget, or not be a number: then nothing
    /// was charged, and it must not happen.
    ///
    /// The question is about just what the ledger would then hold, not about more: whoever shows
    /// [`epsilon`](Self::epsilon) afterwards shows a number within the budget.
    pub fn charge(&mut self, cost: impl Into<Cost>) -> Result<bool> {
        let mut after = self.accountant.clone();
        cost.into().compose(&mut after, 1)?;
        let fits = self.is_within_budget(&after)?;
        if fits {
            self.accountant = after;
        }
        Ok(fits)
    }

    /// A number of rounds that fit into the budget, such that one more does not (or [`FARTHEST`]).
    /// More rounds leak no less, so fitting rounds prove that fewer fit as well.
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

    fn fits(&self, cost: Cost, count: u64) -> Result<bool> {
        let mut after = self.accountant.clone();
        cost.compose(&mut after, count)?;
        self.is_within_budget(&after)
    }

    fn is_within_budget(&self, after: &Accountant) -> Result<bool> {
        Ok(match self.budget {
            Some(budget) => after.is_within(budget, self.delta)?,
            None => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::bound::Standing;
    use shuffledp_accounting::scheme::{Output, RandomizerSpec, Scheme};

    fn round(scheme: Scheme, mechanism: Mechanism) -> Round {
        Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("a randomizer") }
    }

    /// One round after another, the accountant and the catalogue: one ε.
    #[test]
    fn rounds_cost_the_same_whoever_is_asked() {
        let delta = 1e-6;
        for (mechanism, rounds) in [
            (Mechanism::Rr { local_epsilon: 1.0 }, 7),
            (Mechanism::LdpSgd { local_epsilon: 2.0 }, 3),
            (Mechanism::Gaussian { sigma: 0.5 }, 4),
            (Mechanism::Krr { local_epsilon: 2.0, categories: 5 }, 1),
        ] {
            for scheme in [Scheme::shuffle(100).unwrap(), Scheme::check_in(1000, 0.1, 0.0).unwrap()] {
                let cost = round(scheme, mechanism);
                let mut ledger = Ledger::new(delta, Some(1e3)).unwrap();
                for _ in 0..rounds {
                    assert!(ledger.charge(cost).unwrap());
                }
                let question = Question::new(cost, rounds).unwrap();
                let target = Target::EpsilonAt { delta };
                let survey = catalogue::survey(&question, target, &Options::default()).unwrap();
                let best = survey.best_upper(Standing::Rigorous).unwrap().value;
                let charged = ledger.epsilon().unwrap();
                let told = ledger.accountant().epsilon(delta).unwrap();
                let (_, foreseen) = Ledger::new(delta, None).unwrap().forecast(cost, rounds).unwrap();
                for epsilon in [charged, told, foreseen] {
                    assert_eq!(epsilon.to_bits(), best.to_bits(), "{cost:?}: {epsilon} and {best}");
                }
            }
        }
    }

    /// The budget is met exactly: what fits just so is charged, and what does not changes nothing.
    #[test]
    fn a_charge_fits_or_changes_nothing() {
        let delta = 1e-6;
        let cost = round(Scheme::shuffle(500).unwrap(), Mechanism::LdpSgd { local_epsilon: 1.0 });
        let (_, five) = Ledger::new(delta, None).unwrap().forecast(cost, 5).unwrap();
        for (budget, fitting) in [(five, 5), (five.next_down(), 4)] {
            let mut ledger = Ledger::new(delta, Some(budget)).unwrap();
            assert_eq!(ledger.forecast(cost, 100).unwrap().0, fitting);
            for _ in 0..fitting {
                assert!(ledger.charge(cost).unwrap() && ledger.epsilon().unwrap() <= budget);
            }
            let before = ledger.accountant().clone();
            assert!(!ledger.charge(cost).unwrap());
            assert!(!ledger.charge(Release::new(Output::Laplace { epsilon: 5.0 }).unwrap()).unwrap());
            assert_eq!(*ledger.accountant(), before);
        }
    }

    /// Only what the mechanism itself loses is shown below its ε, not what another of its class
    /// would.
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
        assert!(lower(Mechanism::RoundedGaussian { sigma: 5.0 }) > 0.0);
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
