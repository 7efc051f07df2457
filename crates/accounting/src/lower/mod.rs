//! Lower bounds: exact losses of mechanisms in the class that was asked about, composed and rounded
//! down.

mod blocks;
mod cells;
mod full_report;
mod lattice_law;
mod report;
mod sum;
mod tilted_slot;

use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{exp, exp_m1};
use crate::numerics::normal;
use crate::pair::Resolution;
use crate::pair::lower::{BinaryPair, Overlap, third_value};
use crate::pld::{Down, LossLattice, Rounds, cache};
use crate::scheme::{Adjacency, LocalGuarantee, LocalStructure, Noise, Question, RandomizerSpec, Scheme};
use cells::Cells;
use std::sync::Arc;

/// Every lower bound, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[&TwoRr, &ThirdValue, &ThirdCap, &full_report::FullReport, &OneBit];

/// Lattice points to a standard deviation of one round.
const PER_DEVIATION: f64 = 128.0;

const fn about(id: &'static str, name: &'static str, note: &'static str) -> About {
    About { id, name, kind: Kind::Lower, standing: Standing::Rigorous, citation: "docs/theory/lower.md", note }
}

/// `2-rr-pld`: binary randomized response, everyone else at the victim's first record.
struct TwoRr;

impl Method for TwoRr {
    fn about(&self) -> About {
        about(
            "2-rr-pld",
            "Attained by binary randomized response",
            "what binary randomized response loses when all other clients hold one of the victim's two records",
        )
    }

    /// Reports that depend on nothing are a special case.
    fn covers_sequential(&self) -> bool {
        true
    }

    /// Of a class of randomizers: zero may be any of the values (`docs/theory/lower.md`, section
    /// 9).
    fn covers(&self, _adjacency: Adjacency) -> bool {
        true
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let local_epsilon = match question.randomizer().local_structure() {
            // Zero is not one of the two inputs that are told apart best.
            LocalStructure::TwoLevel { epsilon, high_mass: 0.5 } if question.adjacency() == Adjacency::ReplaceOne => {
                epsilon
            }
            _ => class_epsilon(question)?,
        };
        let pair = BinaryPair::two_level(question.scheme(), local_epsilon, 0.5)?;
        Ok(Box::new(Attained::both_directions(&[pair], question.rounds())))
    }
}

/// `3-rr-pld`: m-ary randomized response, everyone else at a third value; for a class of all
/// randomizers m = 3.
struct ThirdValue;

impl Method for ThirdValue {
    fn about(&self) -> About {
        about(
            "3-rr-pld",
            "Attained by randomized response, a third value",
            "what randomized response over three values (or as many as asked) loses when all other clients hold a third one",
        )
    }

    /// Reports that depend on nothing are a special case.
    fn covers_sequential(&self) -> bool {
        true
    }

    /// Of a class of randomizers: zero may be any of the values (`docs/theory/lower.md`, section
    /// 9).
    fn covers(&self, _adjacency: Adjacency) -> bool {
        true
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let (local_epsilon, categories) = match class_epsilon(question) {
            Ok(local_epsilon) => (local_epsilon, 3),
            Err(error) => values(question.randomizer()).ok_or(error)?,
        };
        let pair = third_value(question.scheme(), local_epsilon, Overlap::of_values(categories)?)?;
        let lattice = cache::lattice(&pair, PER_DEVIATION, Resolution::FINE);
        Ok(Box::new(Attained::new(vec![lattice], question.rounds())))
    }
}

/// `third-cap-pld`: PrivUnit, the victim at two opposite directions, everyone else at one
/// orthogonal to them.
struct ThirdCap;

impl Method for ThirdCap {
    fn about(&self) -> About {
        about(
            "third-cap-pld",
            "Attained by PrivUnit, an orthogonal cap",
            "what PrivUnit loses when the victim holds one of two opposite directions, and all other clients one orthogonal to them",
        )
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let randomizer = question.randomizer();
        let (Some(dimension), Some(local_epsilon)) = (randomizer.local().cap_dimension(), randomizer.pure_epsilon())
        else {
            return Err(AccountingError::not_applicable("the randomizer has no caps"));
        };
        let pair = third_value(question.scheme(), local_epsilon, Overlap::of_caps(local_epsilon, dimension))?;
        let lattice = cache::lattice(&pair, PER_DEVIATION, Resolution::FINE);
        Ok(Box::new(Attained::new(vec![lattice], question.rounds())))
    }
}

/// `one-bit-pld`: one bit of every report of the named mechanism.
struct OneBit;

impl Method for OneBit {
    fn about(&self) -> About {
        about(
            "one-bit-pld",
            "Attained by one bit of every report",
            "what one well-chosen bit of every report loses when all other clients hold one of the victim's two records",
        )
    }

    /// Zero and a record at the end of the ball are two records half as far apart.
    fn covers(&self, _adjacency: Adjacency) -> bool {
        true
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        let scheme = question.scheme();
        let local = question.randomizer().local();
        let pair = match (local.noise, question.randomizer().local_structure()) {
            (_, LocalStructure::TwoLevel { epsilon, high_mass })
                if high_mass < 0.5 && question.adjacency() == Adjacency::ReplaceOne =>
            {
                BinaryPair::two_level(scheme, epsilon, high_mass)?
            }
            // Records ±a, noise of scale 2a/ε0: the report exceeds a with probability 1/2 from +a,
            // and e^{−ε0}/2 from −a.
            (Some(Noise::Laplace { epsilon }), _) => {
                let loss = epsilon * share_of_diameter(question);
                BinaryPair::new(scheme, exp(-loss) / 2.0, -exp_m1(-loss) / 2.0)?
            }
            (Some(Noise::Gaussian { ratio }), _) => {
                return gaussian_bits(question, ratio * share_of_diameter(question), |threshold| threshold);
            }
            (Some(Noise::RoundedGaussian { ratio }), _) => {
                let (mu, cells) = rounded_records(question, ratio);
                return gaussian_bits(question, mu, |threshold| cells.above(threshold));
            }
            _ => match local.bit {
                // A little less telling than computed is the safe side.
                Some((p0, p1)) => BinaryPair::new(scheme, p0 * (1.0 + 1e-13), p1 * (1.0 - 1e-13) - p0 * (1.0 + 1e-13))?,
                None => {
                    return Err(AccountingError::not_applicable(
                        "no bit of this randomizer's reports is known exactly",
                    ));
                }
            },
        };
        Ok(Box::new(Attained::both_directions(&[pair], question.rounds())))
    }
}

/// Expected numbers of ones that are tried, where the bit that tells most is one that is hardly
/// ever seen.
const RARE_ONES: [f64; 6] = [30.0, 1.0, 1e-2, 1e-5, 1e-10, 1e-20];

/// Over more rounds even rare ones add up to a nearly normal loss, and their lattices take long to
/// compose: this many of the rounds are looked at, which lose no more than all of them.
const MANY_ROUNDS: u64 = 10_000;

/// Where nothing is left of a loss over all rounds but rounding, this share of them is looked at.
const FEWER_ROUNDS: u64 = 8;

/// Whether a Gaussian report along the line through the victim's records exceeds a threshold, as
/// seen from the record that everybody else holds. `edge` takes a threshold to one that reports
/// have, at or above it.
///
/// For many participants the variance of the likelihood ratio decides which threshold tells most.
/// Where ones are rare that is no longer so.
fn gaussian_bits(question: &Question, mu: f64, edge: impl Fn(f64) -> f64) -> Result<Box<dyn Analysis>> {
    let probabilities = |threshold: f64| (normal::upper_tail(threshold), normal::upper_tail(threshold - mu));
    let telling = |threshold: f64| {
        let (p0, p1) = probabilities(threshold);
        (p1 - p0) * (p1 - p0) / (p0 * (1.0 - p0))
    };
    let best = (0..=160)
        .map(|i| edge(f64::from(i) / 160.0 * (mu + 6.0) - 3.0))
        .max_by(|a, b| telling(*a).total_cmp(&telling(*b)))
        .unwrap_or_else(|| edge(mu / 2.0));
    let speakers = expected_speakers(question.scheme());
    let mut thresholds = vec![best];
    let is_rare = mu > 1.0 && probabilities(best).0 * speakers < RARE_ONES[0];
    if is_rare {
        // From μ/2 on 1 − p₁ ≥ p₀, which the charge for the rounding of losses relies on.
        thresholds.extend(RARE_ONES.map(|ones| edge(normal::upper_quantile((ones / speakers).min(0.5)).max(mu / 2.0))));
    }
    // Accurate to a few ulps; a bit that is a little less telling is the safe side.
    let pair = |threshold: f64| {
        let (p0, p1) = probabilities(threshold);
        let (p0, p1) = (p0 * (1.0 + 1e-13), p1 * (1.0 - 1e-13));
        BinaryPair::new(question.scheme(), p0, p1 - p0)
    };
    let pairs: Vec<BinaryPair> = thresholds.into_iter().filter_map(|threshold| pair(threshold).ok()).collect();
    if pairs.is_empty() {
        return Err(nothing());
    }
    let all = question.rounds();
    let mut attained = Attained::both_directions(&pairs, if is_rare { all.min(MANY_ROUNDS) } else { all });
    if is_rare {
        // A bit that is rare tells more over few rounds than what rounding leaves of it over many.
        attained.add_fewer_rounds();
        attained.alternatives.extend(Attained::both_directions(&pairs[..1], all).alternatives);
    }
    Ok(Box::new(attained))
}

/// The records of a rounded Gaussian along an axis, as far apart as any: their distance in
/// deviations, and the cells as seen from the one that everybody else holds.
///
/// The mechanism moves a record by a share of 1e-9 at most (up to 1e8 coordinates), towards 0. The
/// cells do not move with it. A record further out than assumed here only makes a threshold tell
/// more: the probability above it grows from x and shrinks from z.
fn rounded_records(question: &Question, ratio: f64) -> (f64, Cells) {
    let radius = 0.5 * ratio * (1.0 - 1e-9);
    match question.adjacency() {
        Adjacency::ReplaceOne => (2.0 * radius, Cells::new(-radius, radius)),
        Adjacency::ZeroOut => (radius, Cells::new(0.0, radius)),
    }
}

/// How far apart the victim's two records may be, as a share of the diameter of a ball of inputs.
/// Halving a float is exact.
fn share_of_diameter(question: &Question) -> f64 {
    match question.adjacency() {
        Adjacency::ReplaceOne => 1.0,
        Adjacency::ZeroOut => 0.5,
    }
}

/// About how many clients participate. Chooses bits; nothing rests on it.
fn expected_speakers(scheme: &Scheme) -> f64 {
    let clients = scheme.clients() as f64;
    scheme.fixed_size().map_or_else(|| clients * scheme.check_in_rate().unwrap_or(1.0), |size| size as f64)
}

/// ε0 of the class of *all* ε0-LDP (or (ε0, δ0)-LDP, or sequential) randomizers, if that is what
/// was asked about.
fn class_epsilon(question: &Question) -> Result<f64> {
    let randomizer = question.randomizer();
    match (randomizer.local().class, randomizer.local_guarantee()) {
        (Some(_), LocalGuarantee::Pure { epsilon } | LocalGuarantee::Approximate { epsilon, .. }) => Ok(epsilon),
        _ => Err(AccountingError::not_applicable("the named randomizer does not realise this mechanism")),
    }
}

/// ε0 and the number of values, for randomized response over several.
fn values(randomizer: &RandomizerSpec) -> Option<(f64, u64)> {
    Some((randomizer.pure_epsilon()?, randomizer.local().categories?))
}

/// The largest of several losses that are all attained.
struct Attained {
    alternatives: Vec<Rounds<Down>>,
}

impl Attained {
    fn new(lattices: Vec<Arc<LossLattice<Down>>>, rounds: u64) -> Self {
        let alternatives = lattices.into_iter().map(|lattice| Rounds::new(vec![(lattice, rounds)])).collect();
        Self { alternatives }
    }

    fn both_directions(pairs: &[BinaryPair], rounds: u64) -> Self {
        let lattice = |pair, reverse| Arc::new(LossLattice::binary(pair, reverse, PER_DEVIATION));
        Self::new(pairs.iter().flat_map(|pair| [false, true].map(|reverse| lattice(pair, reverse))).collect(), rounds)
    }

    /// Adds each of the alternatives over a tenth of the rounds, a hundredth, and so on: over some
    /// rounds no more is lost than over all of them.
    fn add_fewer_rounds(&mut self) {
        let tenths = |rounds: &Rounds<Down>| std::iter::successors(rounds.fewer(10), |some| some.fewer(10));
        let fewer: Vec<Rounds<Down>> = self.alternatives.iter().flat_map(tenths).collect();
        self.alternatives.extend(fewer);
    }

    fn largest(&self, ask: impl Fn(&Rounds<Down>) -> Result<f64>) -> Result<Answer> {
        // Some of the rounds lose no more than all of them.
        let ask = |rounds: &Rounds<Down>| {
            let mut answer = ask(rounds);
            let mut some = rounds.fewer(FEWER_ROUNDS);
            while let (Some(fewer), true) = (&some, answer.as_ref().is_ok_and(|value| *value <= 0.0)) {
                answer = ask(fewer);
                some = fewer.fewer(FEWER_ROUNDS);
            }
            answer
        };
        // Each is attained, so one that cannot be evaluated only fails to raise the largest.
        let (answers, errors): (Vec<_>, Vec<_>) = self.alternatives.iter().map(ask).partition(Result::is_ok);
        let largest = answers.into_iter().flatten().reduce(f64::max).map(Answer::plain);
        largest.map_or_else(|| Err(errors.into_iter().find_map(Result::err).unwrap_or_else(nothing)), Ok)
    }
}

fn nothing() -> AccountingError {
    AccountingError::not_applicable("no loss is known to be attained")
}

impl Analysis for Attained {
    fn epsilon(&self, delta: f64) -> Result<Answer> {
        self.largest(|rounds| rounds.epsilon(delta))
    }

    fn delta(&self, epsilon: f64) -> Result<Answer> {
        self.largest(|rounds| rounds.delta(epsilon))
    }
}
