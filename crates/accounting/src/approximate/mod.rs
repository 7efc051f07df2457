//! Randomizers that are only (ε0, δ0)-LDP, shuffled: the Gaussian, the discrete Gaussian, and whatever has a δ0.
//!
//! Such a randomizer has no finite Rényi divergence to speak of and no linear dominating pair. But it is close to one that has: every round differs
//! from a round of an *ideal* protocol, dominated by the any-LDP pair at ε0, by at most τ in total variation ([`variation`]), so
//!
//! `δ(ε) ≤ δ_pair,T(ε) + (1 + e^ε)·Σ τ`.
//!
//! `docs/theory/approximate.md` has the proof. A randomizer usually is (ε0, δ0)-LDP for a whole curve of (ε0, δ0) ([`tradeoff`]): every point of it
//! gives a valid bound, and [`ideal`] looks for a good one, led by a cheap model of the pair ([`model`]).

mod ideal;
mod model;
mod tradeoff;
mod variation;

pub(crate) use ideal::Idealised;

use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::pair::Resolution;
use crate::scheme::{LocalGuarantee, Question};

/// What this module answers, in the order in which it is shown.
pub(crate) const METHODS: &[&dyn Method] = &[
    &Approximate { about: APPROXIMATE, class: Class::Fixed },
    &Approximate { about: GAUSSIAN, class: Class::Gaussian },
    &Approximate { about: DISCRETE_GAUSSIAN, class: Class::Concentrated },
];

const APPROXIMATE: About = About {
    id: "approximate-pld",
    kind: Kind::Upper,
    standing: Standing::Rigorous,
    citation: "Feldman, McMillan, Talwar 2021 (clones), with the distance to an ideal protocol charged to δ: docs/theory/approximate.md",
    note: "any (ε0, δ0)-LDP randomizer; loss distribution of the ideal protocol's pair, composed",
};
const GAUSSIAN: About = About {
    id: "gaussian-approximate-pld",
    note: "Gaussian noise as an (ε0, δ0)-LDP randomizer, the best of its pairs; loss distribution of the ideal protocol's pair, composed",
    ..APPROXIMATE
};
const DISCRETE_GAUSSIAN: About = About {
    id: "discrete-gaussian-approximate-pld",
    note: "discrete Gaussian noise as an (ε0, δ0)-LDP randomizer by its Rényi divergence, the best of its pairs; loss distribution of the ideal \
           protocol's pair, composed",
    ..APPROXIMATE
};

#[derive(Clone, Copy)]
enum Class {
    Fixed,
    Gaussian,
    Concentrated,
}

struct Approximate {
    about: About,
    class: Class,
}

impl Method for Approximate {
    fn about(&self) -> About {
        self.about
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, Resolution::FINE)
    }

    fn sketch(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, Resolution::ROUGH)
    }
}

impl Approximate {
    fn resolved(&self, question: &Question, resolution: Resolution) -> Result<Box<dyn Analysis>> {
        let reason = match (self.class, question.randomizer().local_guarantee()) {
            (Class::Fixed, LocalGuarantee::Approximate { .. })
            | (Class::Gaussian, LocalGuarantee::Gaussian { .. })
            | (Class::Concentrated, LocalGuarantee::Concentrated { .. }) => {
                let mut ideal = Idealised::resolved(resolution);
                ideal.add(question.round(), question.rounds())?;
                return Ok(Box::new(ideal));
            }
            (Class::Fixed, LocalGuarantee::Pure { .. }) => "the randomizer has no δ0: the pairs for ε0-LDP are tighter",
            (Class::Fixed, _) => "the bound is for a randomizer that is given by one ε0 and one δ0",
            (Class::Gaussian, _) => "the bound is for the Gaussian randomizer",
            (Class::Concentrated, _) => "the bound is for the discrete Gaussian randomizer",
        };
        Err(AccountingError::not_applicable(reason))
    }
}

impl Analysis for Idealised {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        self.epsilon_upper(delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.delta_upper(epsilon)
    }
}
