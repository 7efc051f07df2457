//! The bounds of the catalogue that go by displacement.

use super::composed::Composed;
use super::{Displacement, Fineness, Known, Profiles, with_present_at_most};
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::profile::LocalProfile;
use crate::scheme::{Adjacency, LocalStructure, Question, RandomizerSpec, Scheme};

/// Every bound by displacement, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[
    &ByDisplacement { about: ANY, class: Class::Any },
    &ByDisplacement { about: ONE_BIT, class: Class::OneBit },
    &ByDisplacement { about: PROFILE, class: Class::Profile },
];

const ANY: About = About {
    id: "displacement-any-pld",
    name: "Displacement, any ε0-LDP randomizer",
    kind: Kind::Upper,
    standing: Standing::Rigorous,
    citation: "displacement, with the extreme types of an ε0-LDP randomizer in blocks: docs/theory/displacement.md",
    note: "any ε0-LDP randomizer; loss distribution of the bound on a round, composed",
};
const ONE_BIT: About = About {
    id: "displacement-one-bit-pld",
    name: "Displacement, one-bit randomizers",
    citation: "displacement, with the worst number of either type of a one-bit randomizer: docs/theory/displacement.md",
    note: "two-level randomizers with q = 1/2; loss distribution of the bound on a round, composed",
    ..ANY
};
const PROFILE: About = About {
    id: "displacement-profile-pld",
    name: "Displacement, local privacy profile",
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
            (Class::Any, LocalStructure::Approximate) => {
                return Err(AccountingError::not_applicable("the randomizer is not pure ε0-LDP"));
            }
            (Class::Any, LocalStructure::Pure { epsilon } | LocalStructure::TwoLevel { epsilon, .. }) => {
                // What bounds a randomizer by its profile uses all that is used here, and more.
                if is_known_by_profile(randomizer) {
                    return Err(AccountingError::not_applicable("more than ε0 is known: the local profile"));
                }
                Known::Profile(LocalProfile::Pure { epsilon })
            }
            (Class::OneBit, LocalStructure::TwoLevel { epsilon, high_mass: 0.5 }) => Known::OneBit { epsilon },
            (Class::OneBit, _) => {
                return Err(AccountingError::not_applicable(
                    "the bound is for two-level randomizers with q = 1/2: rr, r-inf, r-1, r-2, ldp-sgd",
                ));
            }
            (Class::Profile, LocalStructure::TwoLevel { high_mass: 0.5, .. }) => {
                return Err(AccountingError::not_applicable("more than the profile is known: one-bit reports"));
            }
            (Class::Profile, _) if !is_known_by_profile(randomizer) => {
                return Err(AccountingError::not_applicable("of the profile only ε0 is known"));
            }
            (Class::Profile, _) => {
                let far = randomizer.local_profile();
                match (question.adjacency(), randomizer.profile_against_zero()) {
                    (Adjacency::ZeroOut, Some(near)) => Known::ZeroOut(Profiles { near, far }),
                    _ => Known::Profile(far),
                }
            }
        };
        let of_population =
            |scheme: &Scheme| Ok(Composed::of(Displacement::new(scheme, known, fineness)?, question.rounds()));
        let populations = if fineness == Fineness::FINE && known.profile().pure_epsilon().is_none() {
            populations(question.scheme())?
        } else {
            vec![*question.scheme()]
        };
        Ok(Box::new(BestOf(populations.iter().map(of_population).collect::<Result<_>>()?)))
    }
}

/// Among more clients than the first of these, sums of heavy-tailed slots lose so much to rounding
/// that fewer clients may have a smaller bound.
const SMALLER: [f64; 3] = [1e8, 1e9, 3e9];

/// The scheme, and the same with fewer clients, where that is an upper bound: in a plain shuffle
/// and at check-in, where revealing the others' reports is post-processing undone.
fn populations(scheme: &Scheme) -> Result<Vec<Scheme>> {
    let mut all = vec![*scheme];
    for present in SMALLER {
        let fewer = with_present_at_most(scheme, present)?;
        if fewer != *scheme {
            all.push(fewer);
        }
    }
    Ok(all)
}

/// The same round, bounded with several populations: the smallest bound counts.
struct BestOf(Vec<Composed>);

impl BestOf {
    fn smallest(&self, ask: impl Fn(&Composed) -> Result<f64>) -> Result<Answer> {
        let mut best = ask(&self.0[0]);
        for fewer in &self.0[1..] {
            best = match (best, ask(fewer)) {
                (Ok(a), Ok(b)) => Ok(a.min(b)),
                (Err(_), answer) | (answer, Err(_)) => answer,
            };
        }
        Ok(Answer::plain(best?))
    }
}

/// Whether more than ε0 is known of the local profile, and nothing else.
fn is_known_by_profile(randomizer: &RandomizerSpec) -> bool {
    !matches!(randomizer.local_profile(), LocalProfile::Pure { .. })
        && !matches!(randomizer.local_structure(), LocalStructure::TwoLevel { high_mass: 0.5, .. })
}

impl Analysis for BestOf {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        self.smallest(|composed| composed.epsilon(delta))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.smallest(|composed| composed.delta(epsilon))
    }
}
