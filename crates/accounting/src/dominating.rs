//! Our own bounds: the dominating pair of a round, composed exactly.

use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::powf;
use crate::pair::{LinearPair, Resolution, envelope, upper};
use crate::pld::{Divergences, LossLattice, Rounds, cache};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{LocalStructure, Question, Scheme};
use std::sync::Arc;

/// Every bound of ours, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[
    &Dominating { about: ANY_LDP_RDP, class: Class::AnyLdp, composition: Composition::Renyi },
    &Dominating { about: ANY_LDP_PLD, class: Class::AnyLdp, composition: Composition::LossDistribution },
    &Dominating { about: TWO_LEVEL_RDP, class: Class::TwoLevel, composition: Composition::Renyi },
    &Dominating { about: TWO_LEVEL_PLD, class: Class::TwoLevel, composition: Composition::LossDistribution },
    &Envelope,
];

const CLONES: &str = "Feldman, McMillan, Talwar 2021 (clones), as a linear multinomial pair: docs/theory/pair.md";
const BLANKET: &str = "privacy blanket of a two-level randomizer as a linear multinomial pair: docs/theory/pair.md";

const ANY_LDP_RDP: About = About {
    id: "any-ldp-rdp",
    name: "Feldman–McMillan–Talwar clones, Rényi",
    kind: Kind::Upper,
    standing: Standing::Rigorous,
    citation: CLONES,
    note: "any ε0-LDP randomizer; Rényi divergence of the pair, added up and converted",
};
const ANY_LDP_PLD: About = About {
    id: "any-ldp-pld",
    name: "Feldman–McMillan–Talwar clones, composed",
    note: "any ε0-LDP randomizer; loss distribution of the pair, composed",
    ..ANY_LDP_RDP
};
const TWO_LEVEL_RDP: About = About {
    id: "two-level-rdp",
    name: "Privacy blanket, two-level randomizers, Rényi",
    citation: BLANKET,
    note: "randomizers whose density takes two values; Rényi divergence of the pair, added up and converted",
    ..ANY_LDP_RDP
};
const TWO_LEVEL_PLD: About = About {
    id: "two-level-pld",
    name: "Privacy blanket, two-level randomizers, composed",
    note: "randomizers whose density takes two values; loss distribution of the pair, composed",
    ..TWO_LEVEL_RDP
};

/// Lattice points to a standard deviation, where rounds are composed.
const PER_DEVIATION: f64 = 128.0;

/// The same for a single round, where nothing else costs time.
const PER_DEVIATION_SINGLE: f64 = 512.0;

#[derive(Clone, Copy)]
enum Class {
    AnyLdp,
    TwoLevel,
}

#[derive(Clone, Copy)]
enum Composition {
    Renyi,
    LossDistribution,
}

struct Dominating {
    about: About,
    class: Class,
    composition: Composition,
}

impl Method for Dominating {
    fn about(&self) -> About {
        self.about
    }

    /// The clones are (`docs/theory/pair.md`, P7).
    fn covers_sequential(&self) -> bool {
        matches!(self.class, Class::AnyLdp)
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, options, Resolution::FINE)
    }

    fn sketch(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        self.resolved(question, options, Resolution::ROUGH)
    }
}

impl Dominating {
    fn resolved(&self, question: &Question, options: &Options, resolution: Resolution) -> Result<Box<dyn Analysis>> {
        let pair = self.class.pair(question)?;
        let pairs = Repeated { pair, rounds: question.rounds(), resolution };
        Ok(match self.composition {
            Composition::Renyi => Box::new(ByRenyi { pairs, max_order: options.max_order }),
            Composition::LossDistribution => Box::new(pairs),
        })
    }
}

impl Class {
    fn pair(self, question: &Question) -> Result<LinearPair> {
        match (self, question.randomizer().local_structure()) {
            (Self::AnyLdp, LocalStructure::Pure { epsilon } | LocalStructure::TwoLevel { epsilon, .. }) => {
                upper::any_ldp(question.scheme(), epsilon)
            }
            (Self::TwoLevel, LocalStructure::TwoLevel { epsilon, high_mass }) => {
                upper::two_level(question.scheme(), epsilon, high_mass)
            }
            (Self::TwoLevel, LocalStructure::Pure { .. }) => Err(AccountingError::not_applicable(
                "this randomizer's density is not known to take two values only (name a randomizer for which it is)",
            )),
            (_, LocalStructure::Approximate) => Err(AccountingError::not_applicable(
                "the randomizer is not pure ε0-LDP, so no linear pair dominates it",
            )),
        }
    }
}

/// `rr-envelope-pld`: binary randomized response, the worst dataset of each round.
struct Envelope;

impl Method for Envelope {
    fn about(&self) -> About {
        About {
            id: "rr-envelope-pld",
            name: "Binary randomized response, worst dataset",
            citation: "worst dataset of binary randomized response, found by scanning all of them: docs/theory/binary.md",
            note: "binary randomized response only; the envelope of all datasets, composed",
            ..ANY_LDP_PLD
        }
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        Self::scanned(question, envelope::OUTCOMES, Resolution::FINE)
    }

    fn sketch(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        Self::scanned(question, envelope::FEW_OUTCOMES, Resolution::ROUGH)
    }
}

impl Envelope {
    /// With so many outcomes looked at, and those of the blanket's pair resolved like this.
    fn scanned(question: &Question, outcomes: f64, resolution: Resolution) -> Result<Box<dyn Analysis>> {
        let Some(local_epsilon) = binary_epsilon(question) else {
            return Err(AccountingError::not_applicable("the bound is for binary randomized response"));
        };
        envelope::check_size(question.scheme())?;
        let lattice = cache::remembered(cache::Key::Envelope(*question.scheme(), local_epsilon, outcomes), || {
            let blanket = lattice(&upper::two_level(question.scheme(), local_epsilon, 0.5)?, 2, resolution);
            Ok(envelope::curve(question.scheme(), local_epsilon, &blanket, outcomes)?.into_lattice())
        })?;
        Ok(Box::new(Composed(Rounds::new(vec![(lattice, question.rounds())]))))
    }
}

/// ε0, if the randomizer is binary randomized response.
fn binary_epsilon(question: &Question) -> Option<f64> {
    let randomizer = question.randomizer();
    randomizer.pure_epsilon().filter(|_| randomizer.local().categories == Some(2))
}

/// The upward lattice of a pair, as fine as `rounds` of it can use.
pub(crate) fn lattice(pair: &LinearPair, rounds: u64, resolution: Resolution) -> Arc<LossLattice> {
    let is_fine = rounds == 1 && resolution.points >= Resolution::FINE.points;
    let per_deviation = if is_fine { PER_DEVIATION_SINGLE } else { PER_DEVIATION };
    cache::lattice(pair, per_deviation, resolution)
}

/// At least the ε of one shuffle of `clients` reports of any ε0-LDP randomizer: the numerical form
/// of Feldman, McMillan, Talwar 2021. At δ = 0 it is ε0.
pub(crate) fn clones_numerical(local_epsilon: f64, clients: u64, delta: f64) -> Result<f64> {
    if delta <= 0.0 {
        return Ok(local_epsilon);
    }
    let pair = upper::any_ldp(&Scheme::shuffle(clients)?, local_epsilon)?;
    let resolution = Resolution::FINE.for_mass(delta);
    let rounds = Rounds::new(vec![(lattice(&pair, 1, resolution), 1)]);
    Ok(rounds.epsilon(delta)?.min(local_epsilon))
}

/// Rounds of one pair. How small δ is decides which of its outcomes are looked at.
struct Repeated {
    pair: LinearPair,
    rounds: u64,
    resolution: Resolution,
}

impl Repeated {
    /// The resolution for questions about this δ.
    fn resolution_for(&self, delta: f64) -> Resolution {
        self.resolution.for_mass(delta / self.rounds as f64)
    }

    fn lattice(&self, resolution: Resolution) -> Arc<LossLattice> {
        lattice(&self.pair, self.rounds, resolution)
    }

    fn composed(&self, resolution: Resolution) -> Rounds {
        Rounds::new(vec![(self.lattice(resolution), self.rounds)])
    }

    /// The smallest δ that `ask` gives: what it gives at one resolution decides whether there is
    /// need for a finer one.
    fn delta_by_resolution(&self, ask: impl Fn(Resolution) -> Result<Answer>) -> Result<Answer> {
        let mut resolution = self.resolution;
        let mut found = ask(resolution)?;
        loop {
            let finer = self.resolution_for(found.value);
            if finer.ln_cut >= resolution.ln_cut {
                return Ok(found);
            }
            resolution = finer;
            let answer = ask(resolution)?;
            if answer.value < found.value {
                found = answer;
            }
        }
    }
}

impl Analysis for Repeated {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        Ok(Answer::plain(self.composed(self.resolution_for(delta)).epsilon(delta)?))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.delta_by_resolution(|resolution| Ok(Answer::plain(self.composed(resolution).delta(epsilon)?)))
    }
}

/// The same by Rényi divergences.
struct ByRenyi {
    pairs: Repeated,
    max_order: f64,
}

/// The order that is best for δ looks at outcomes as rare as about this power of δ.
const BEYOND: f64 = 1.25;

impl ByRenyi {
    fn analysis(&self, resolution: Resolution) -> RenyiAnalysis<LatticeCurve> {
        let curve = LatticeCurve(Divergences::new(self.pairs.lattice(resolution)));
        RenyiAnalysis::new(curve, self.pairs.rounds, self.max_order)
    }
}

impl Analysis for ByRenyi {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        let resolution = self.pairs.resolution_for(powf(delta, BEYOND));
        self.analysis(resolution).epsilon(delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.pairs.delta_by_resolution(|resolution| self.analysis(resolution).delta(epsilon))
    }

    /// Orders that look at the tail more than at anything else need it resolved.
    fn renyi(&self, order: f64) -> Option<Result<f64>> {
        if !Orders::Reals.contains(order) {
            return self.analysis(self.pairs.resolution).renyi(order);
        }
        let mut resolution = self.pairs.resolution;
        let mut least = f64::INFINITY;
        loop {
            let (divergence, is_cut) = Divergences::new(self.pairs.lattice(resolution)).upper_with_cut(order);
            least = least.min(divergence);
            match resolution.wider().filter(|_| is_cut) {
                Some(wider) => resolution = wider,
                None => return Some(Ok(least)),
            }
        }
    }
}

struct LatticeCurve(Divergences);

impl RenyiCurve for LatticeCurve {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok(self.0.upper(order))
    }
}

struct Composed(Rounds);

impl Analysis for Composed {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        Ok(Answer::plain(self.0.epsilon(delta)?))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        Ok(Answer::plain(self.0.delta(epsilon)?))
    }
}
