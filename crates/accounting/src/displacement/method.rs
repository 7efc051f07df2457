//! The bounds of the catalogue that go by displacement.

use super::{Displacement, Fineness, Known};
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::led_bisection::smallest_safe_led;
use crate::pair::Direction;
use crate::pld::Rounds;
use crate::scheme::{LocalStructure, Question};

/// Every bound by displacement, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[
    &ByDisplacement { about: ANY, class: Class::Any },
    &ByDisplacement { about: ONE_BIT, class: Class::OneBit },
    &ByDisplacement { about: PROFILE, class: Class::Profile },
];

const ANY: About = About {
    id: "displacement-any-pld",
    kind: Kind::Upper,
    standing: Standing::Rigorous,
    citation: "displacement, with the extreme types of an ε0-LDP randomizer in blocks: docs/theory/displacement.md",
    note: "any ε0-LDP randomizer; loss distribution of the bound on a round, composed",
};
const ONE_BIT: About = About {
    id: "displacement-one-bit-pld",
    citation: "displacement, with the worst number of either type of a one-bit randomizer: docs/theory/displacement.md",
    note: "two-level randomizers with q = 1/2; loss distribution of the bound on a round, composed",
    ..ANY
};
const PROFILE: About = About {
    id: "displacement-profile-pld",
    citation: "displacement, from the local privacy profile alone: docs/theory/displacement.md",
    note: "any randomizer, by its local privacy profile; loss distribution of the bound on a round, composed",
    ..ANY
};

#[derive(Clone, Copy)]
enum Class {
    Any,
    OneBit,
    Profile,
}

struct ByDisplacement {
    about: About,
    class: Class,
}

impl Method for ByDisplacement {
    fn about(&self) -> About {
        self.about
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, Fineness::FINE)
    }

    fn sketch(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, Fineness::ROUGH)
    }
}

impl ByDisplacement {
    fn resolved(&self, question: &Question, fineness: Fineness) -> Result<Box<dyn Analysis>> {
        let randomizer = question.randomizer();
        let known = match (self.class, randomizer.local_structure()) {
            (Class::Any, LocalStructure::Pure { epsilon } | LocalStructure::TwoLevel { epsilon, .. }) => {
                Known::Pure { epsilon }
            }
            (Class::Any, LocalStructure::Approximate) => {
                return Err(AccountingError::not_applicable("the randomizer is not pure ε0-LDP"));
            }
            (Class::OneBit, LocalStructure::TwoLevel { epsilon, high_mass: 0.5 }) => Known::OneBit { epsilon },
            (Class::OneBit, _) => {
                return Err(AccountingError::not_applicable(
                    "the bound is for two-level randomizers with q = 1/2: rr, r-inf, r-1, r-2, ldp-sgd",
                ));
            }
            (Class::Profile, _) => Known::Profile(randomizer.local_profile()),
        };
        let displacement = Displacement::new(question.scheme(), known, fineness)?;
        Ok(Box::new(Composed { displacement, rounds: question.rounds() }))
    }
}

/// Rounds of one kind.
struct Composed {
    displacement: Displacement,
    rounds: u64,
}

/// The share of δ, spread over the rounds, that their curves need not resolve.
const UNRESOLVED: f64 = 1e-4;

/// ε of a single round is found to this relative accuracy.
const TOLERANCE: f64 = 1e-7;

/// A δ that is asked for is thought to be at least this at first.
const FIRST_GUESS: f64 = 1e-15;

impl Composed {
    fn rounds(&self, floor: f64) -> Rounds {
        Rounds::new(Direction::Up, vec![(self.displacement.lattice(floor), self.rounds)])
    }
}

impl Analysis for Composed {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        let floor = floor(delta, self.rounds);
        if self.rounds > 1 {
            return Ok(Answer::plain(self.rounds(floor).epsilon(delta)?));
        }
        // One round needs no lattice: the bound itself is solved for ε.
        let excess = |epsilon: f64| {
            let bound = self.displacement.delta_upper(epsilon, floor);
            // The comparison decides; the logarithm leads.
            let ln_ratio = (bound / delta).ln();
            Ok::<_, AccountingError>(if bound <= delta { ln_ratio.min(0.0) } else { ln_ratio.max(f64::MIN_POSITIVE) })
        };
        // Not further out than need be: what is charged besides the sums grows with ε.
        let most = self.displacement.largest_loss().min(600.0);
        let mut high = self.displacement.typical_loss().min(most);
        while high < most && excess(high)? > 0.0 {
            high = (2.0 * high).min(most);
        }
        Ok(Answer::plain(smallest_safe_led(0.0, high, TOLERANCE, excess)?.unwrap_or(f64::INFINITY)))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        // How small δ is decides how far tails are resolved, and is what is asked: two or three steps settle it.
        let mut guess = FIRST_GUESS;
        loop {
            let floor = floor(guess, self.rounds);
            let delta = match self.rounds {
                1 => self.displacement.delta_upper(epsilon, floor),
                _ => self.rounds(floor).delta(epsilon)?,
            };
            if delta >= guess || guess <= 1e-300 {
                return Ok(Answer::plain(delta.min(1.0)));
            }
            guess = (delta * 1e-3).min(guess * 1e-30).max(1e-300);
        }
    }
}

/// A divergence of one of `rounds` rounds that does not matter next to `delta`: a power of 10⁵, so that neighbouring
/// questions share it.
pub(crate) fn floor(delta: f64, rounds: u64) -> f64 {
    let wanted = (UNRESOLVED * delta).ln() - (rounds as f64).ln();
    let unit = 5.0 * std::f64::consts::LN_10;
    ((wanted / unit).floor() * unit).exp().max(1e-318)
}
