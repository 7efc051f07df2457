//! Warnings that must be shown together with a number.

use crate::outcome::Outcome;
use crate::quantity::Quantity;
use shuffledp_accounting::catalogue::Target;
use shuffledp_number::shown::{self, count, nearest};

/// Above it ε promises next to nothing: the odds of a guess may grow by a factor of e^10 = 22,026.
pub const LARGE_EPSILON: f64 = 10.0;

/// A lower bound this many times below the upper one leaves much unknown.
pub const FAR_APART: f64 = 1.5;

/// Something that a reader must know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// δ is above 1/n.
    LargeDelta {
        /// δ.
        delta: f64,
        /// n.
        clients: u64,
    },
    /// ε is 0 or next to it for no other reason than δ.
    ZeroEpsilon {
        /// δ.
        delta: f64,
    },
    /// ε promises nothing.
    LargeEpsilon {
        /// ε.
        epsilon: f64,
    },
    /// There is nobody to hide among.
    OneClient,
    /// The answer is below what no analysis can go below.
    Refuted,
    /// No lower bound is near.
    FarApart {
        /// The upper bound over the lower one.
        ratio: f64,
        /// Why it may be so.
        because: &'static str,
    },
    /// No lower bound is known.
    NoLowerBound,
}

impl Warning {
    /// Its name, for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::LargeDelta { .. } => "large-delta",
            Self::ZeroEpsilon { .. } => "zero-epsilon",
            Self::LargeEpsilon { .. } => "large-epsilon",
            Self::OneClient => "one-client",
            Self::Refuted => "refuted",
            Self::FarApart { .. } => "far-apart",
            Self::NoLowerBound => "no-lower-bound",
        }
    }

    /// In words: a sentence without its stop.
    pub fn words(self) -> String {
        match self {
            Self::LargeDelta { delta, clients } => format!(
                "δ = {} is above 1/{}, where it is meaningless: publishing one random record satisfies it; use a δ far \
                 below 1/n",
                shown::given(delta),
                count(clients)
            ),
            Self::ZeroEpsilon { delta } => format!(
                "ε is 0 only because δ = {} is so large: the reports do depend on the records; use a smaller δ",
                shown::given(delta)
            ),
            Self::LargeEpsilon { epsilon } if epsilon.is_finite() => format!(
                "ε is so large that the guarantee is almost empty: replacing one record may make an outcome e^{} times \
                 as likely",
                nearest(epsilon, 3)
            ),
            Self::LargeEpsilon { .. } => "ε is infinite: this protocol has no privacy guarantee".to_owned(),
            Self::OneClient => {
                "with one client, shuffling adds nothing to the local guarantee of its reports".to_owned()
            }
            Self::Refuted => "the answer is below a proven lower bound: it is wrong for this question".to_owned(),
            Self::FarApart { ratio, because } => format!(
                "the upper bound is {} times the lower bound, and the true value may be anywhere between them: {because}",
                nearest(ratio, 2)
            ),
            Self::NoLowerBound => {
                "no lower bound is known here, so the gap between the answer and the true value is unknown".to_owned()
            }
        }
    }
}

/// Returns the warnings about an ε at a δ, whichever accountant found them.
pub fn of_spent(epsilon: f64, delta: f64, clients: u64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if delta > 1.0 / clients as f64 && clients > 1 {
        warnings.push(Warning::LargeDelta { delta, clients });
    }
    if clients == 1 {
        warnings.push(Warning::OneClient);
    }
    if epsilon > LARGE_EPSILON {
        warnings.push(Warning::LargeEpsilon { epsilon });
    }
    warnings
}

/// Returns the warnings about an outcome, the most important first.
pub(crate) fn warnings(outcome: &Outcome) -> Vec<Warning> {
    let clients = outcome.question().scheme().clients();
    let mut warnings = Vec::new();
    if outcome.is_refuted() {
        warnings.push(Warning::Refuted);
    }
    warnings.extend(match outcome.asked.target {
        Target::EpsilonAt { delta } => of_spent(outcome.best.value, delta, clients),
        Target::DeltaAt { epsilon } => of_spent(epsilon, outcome.best.value, clients),
        Target::RenyiAt { .. } => Vec::new(),
    });
    let says_something = outcome.question().randomizer().pure_epsilon() != Some(0.0);
    if let Target::EpsilonAt { delta } = outcome.asked.target
        && outcome.best.value <= 0.0
        && says_something
    {
        warnings.push(Warning::ZeroEpsilon { delta });
    }
    warnings.extend(gap(outcome));
    warnings
}

/// How far the truth may be from the answer.
fn gap(outcome: &Outcome) -> Option<Warning> {
    // A ratio of δ says little: it changes by orders of magnitude with ε.
    if outcome.quantity() != Quantity::Epsilon || !(outcome.best.value > 0.0 && outcome.best.value.is_finite()) {
        return None;
    }
    let Some(lower) = &outcome.lower else { return Some(Warning::NoLowerBound) };
    let ratio = outcome.best.value / lower.value;
    if ratio <= FAR_APART {
        return None;
    }
    let randomizer = outcome.question().randomizer();
    let because = if randomizer.is_sequential() {
        "reports that depend on each other are covered by older bounds only"
    } else if outcome.question().scheme().clients() < FEW_CLIENTS {
        "bounds for so few clients are loose"
    } else if randomizer.pure_epsilon().is_none() {
        "noise without a pure local ε has heavy tails, where bounds are loose"
    } else {
        "the lower bound is for one pair of datasets, the upper bound for all pairs"
    };
    Some(Warning::FarApart { ratio, because })
}

/// So few clients hide each other badly.
const FEW_CLIENTS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Given;
    use crate::outcome::Asked;
    use crate::outcome::tests::outcome;
    use shuffledp_accounting::bound::Standing;

    fn ids(pairs: &[(&str, &str)]) -> Vec<&'static str> {
        let given = Given::of_pairs(pairs.iter().copied()).unwrap();
        let asked = Asked {
            question: given.question().unwrap(),
            target: given.target(Quantity::Epsilon).unwrap(),
            options: given.options().unwrap(),
            widest: given.standing().unwrap(),
        };
        asked.answer().unwrap().warnings().into_iter().map(Warning::id).collect()
    }

    #[test]
    fn meaningless_numbers_are_warned_about() {
        assert_eq!(
            ids(&[("clients", "100"), ("local-epsilon", "2"), ("delta", "0.5")]),
            ["large-delta", "zero-epsilon"]
        );
        assert!(ids(&[("clients", "1"), ("local-epsilon", "2"), ("delta", "1e-6")]).contains(&"one-client"));
        assert!(ids(&[("clients", "10"), ("local-epsilon", "30"), ("delta", "1e-6")]).contains(&"large-epsilon"));
    }

    #[test]
    fn a_good_answer_has_no_warning() {
        let headline =
            [("clients", "1e6"), ("sampled", "1000"), ("local-epsilon", "2"), ("rounds", "1e5"), ("delta", "1e-8")];
        assert_eq!(ids(&headline), [""; 0]);
    }

    #[test]
    fn a_gap_and_a_contradiction_are_told() {
        let words = |upper, standing, lower| outcome(upper, standing, lower).warnings();
        assert!(matches!(words(3.0, Standing::Rigorous, 1.0)[..], [Warning::FarApart { .. }]));
        assert!(words(1.2, Standing::Rigorous, 1.0).is_empty());
        assert!(words(0.5, Standing::Asymptotic, 1.0).contains(&Warning::Refuted));
    }
}
