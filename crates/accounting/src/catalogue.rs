//! Every bound we know, asked one question: what applies, what it says, and why the rest does not.

use crate::bound::{About, Answer, Bound, Kind, Standing};
use crate::error::{AccountingError, Result, require_delta, require_epsilon, require_order};
use crate::scheme::{Adjacency, Question};
use crate::{displacement, dominating, gaussian, lower, published};

/// The quantity to bound, and the number it is asked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// The ε that belongs to this δ.
    EpsilonAt {
        /// δ, strictly between 0 and 1.
        delta: f64,
    },
    /// The δ that belongs to this ε.
    DeltaAt {
        /// ε, at least 0.
        epsilon: f64,
    },
    /// The Rényi divergence of all rounds at this order.
    RenyiAt {
        /// The order, above 1.
        order: f64,
    },
}

impl Target {
    /// Checks the given number; every question to a method does so too.
    pub fn check(self) -> Result<()> {
        match self {
            Self::EpsilonAt { delta } => require_delta(delta)?,
            Self::DeltaAt { epsilon } => require_epsilon(epsilon)?,
            Self::RenyiAt { order } => require_order(order)?,
        };
        Ok(())
    }
}

/// Where a bound comes from: the literature or this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A formula of the literature, as printed.
    Published,
    /// Computed here.
    Ours,
}

/// How far methods may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The largest Rényi order that is tried.
    pub max_order: f64,
}

impl Default for Options {
    /// Orders to 10^6: beyond it the conversion term ln(1/δ)/(λ−1) is below 1e-3 even at
    /// δ = 1e-300.
    fn default() -> Self {
        Self { max_order: 1e6 }
    }
}

/// A way to bound the privacy of a question.
pub trait Method: Sync {
    /// The description of the method.
    fn about(&self) -> About;

    /// The same for its Rényi divergences, where they are worth something else than its ε and δ.
    fn about_renyi(&self) -> About {
        self.about()
    }

    /// Whether its proof holds where a report may depend on those before it in the same round.
    fn covers_sequential(&self) -> bool {
        false
    }

    /// Whether its proof holds for such neighbours.
    ///
    /// All methods speak of replace-one. Zero is one of the inputs wherever zero-out can be asked,
    /// so two zero-out neighbours are two replace-one neighbours, and a *rigorous upper* bound on
    /// all of the latter holds for them (it may be loose). A lower bound does not carry over: it
    /// must be attained by a pair of which one is zero. Nor do formulas that are believed,
    /// asymptotic or flawed.
    fn covers(&self, adjacency: Adjacency) -> bool {
        match adjacency {
            Adjacency::ReplaceOne => true,
            Adjacency::ZeroOut => {
                let about = self.about();
                about.kind == Kind::Upper && about.standing == Standing::Rigorous
            }
        }
    }

    /// Prepares the analysis of one question, or says why it has nothing to say
    /// ([`AccountingError::NotApplicable`]).
    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>>;

    /// About the same in less time, where there is such a thing: it leads a search, and nothing may
    /// rest on it.
    fn sketch(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        self.analyse(question, options)
    }
}

/// One method's view of one question, ready to be asked for numbers.
pub trait Analysis {
    /// ε at `delta`.
    fn epsilon(&self, delta: f64) -> Result<Answer>;

    /// δ at `epsilon`.
    fn delta(&self, epsilon: f64) -> Result<Answer>;

    /// The Rényi divergence of *one* round at `order`, if the method speaks of it.
    fn renyi(&self, _order: f64) -> Option<Result<f64>> {
        None
    }
}

/// All methods, in the order in which they are shown.
pub fn methods() -> impl Iterator<Item = &'static dyn Method> {
    let upper =
        published::METHODS.iter().chain(gaussian::METHODS).chain(dominating::METHODS).chain(displacement::METHODS);
    upper.chain(lower::METHODS).copied()
}

/// The method called `id`.
pub fn method(id: &str) -> Option<&'static dyn Method> {
    methods().find(|method| method.about().id == id)
}

/// Returns the description of a method's answers to such a target.
pub fn about(method: &dyn Method, target: Target) -> About {
    match target {
        Target::EpsilonAt { .. } | Target::DeltaAt { .. } => method.about(),
        Target::RenyiAt { .. } => method.about_renyi(),
    }
}

/// Whether the method called `id` is a formula of the literature.
pub fn origin(id: &str) -> Origin {
    let published = published::METHODS.iter().any(|method| method.about().id == id);
    if published { Origin::Published } else { Origin::Ours }
}

/// A method that did not answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Silent {
    /// The method's name.
    pub id: &'static str,
    /// Why it did not answer.
    pub reason: String,
}

/// The answers of all methods to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Those that answered, in the catalogue's order.
    pub bounds: Vec<Bound>,
    /// Those that did not, and why.
    pub not_applicable: Vec<Silent>,
}

impl Survey {
    /// The smallest upper bound whose standing is at most `widest`.
    pub fn best_upper(&self, widest: Standing) -> Option<&Bound> {
        self.bounds
            .iter()
            .filter(|bound| bound.kind == Kind::Upper && bound.standing <= widest)
            .min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The largest rigorous lower bound.
    pub fn best_lower(&self) -> Option<&Bound> {
        self.bounds
            .iter()
            .filter(|bound| bound.kind == Kind::Lower && bound.standing == Standing::Rigorous)
            .max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

/// Asks every method.
///
/// The only errors are those of the target; a method that fails is listed in
/// [`not_applicable`](Survey::not_applicable) with its reason.
pub fn survey(question: &Question, target: Target, options: &Options) -> Result<Survey> {
    survey_of(methods(), question, target, options)
}

/// Asks these methods, and otherwise does as [`survey`].
pub fn survey_of(
    methods: impl Iterator<Item = &'static dyn Method>,
    question: &Question,
    target: Target,
    options: &Options,
) -> Result<Survey> {
    target.check()?;
    let mut survey = Survey { bounds: Vec::new(), not_applicable: Vec::new() };
    for method in methods {
        match ask(method, question, target, options) {
            Ok(bound) => survey.bounds.push(bound),
            Err(error) => survey.not_applicable.push(Silent { id: method.about().id, reason: error.to_string() }),
        }
    }
    Ok(survey)
}

/// Asks one method.
pub fn ask(method: &dyn Method, question: &Question, target: Target, options: &Options) -> Result<Bound> {
    target.check()?;
    check_covered(method, question)?;
    read(&*method.analyse(question, options)?, about(method, target), question.rounds(), target)
}

/// Asks one method for its [sketch](Method::sketch): no bound.
pub(crate) fn ask_sketch(method: &dyn Method, question: &Question, target: Target, options: &Options) -> Result<f64> {
    target.check()?;
    check_covered(method, question)?;
    Ok(read(&*method.sketch(question, options)?, about(method, target), question.rounds(), target)?.value)
}

fn check_covered(method: &dyn Method, question: &Question) -> Result<()> {
    if question.randomizer().is_sequential() && !method.covers_sequential() {
        return Err(AccountingError::not_applicable(
            "the proof does not cover reports that depend on those before them in the same round",
        ));
    }
    if !method.covers(question.adjacency()) {
        return Err(AccountingError::not_applicable(format!(
            "the bound is not proven for {} adjacency",
            question.adjacency().word()
        )));
    }
    Ok(())
}

fn read(analysis: &dyn Analysis, about: About, rounds: u64, target: Target) -> Result<Bound> {
    let answer = match target {
        Target::EpsilonAt { delta } => analysis.epsilon(delta)?,
        Target::DeltaAt { epsilon } => analysis.delta(epsilon)?,
        Target::RenyiAt { order } => renyi_of_rounds(analysis, order, about.kind, rounds)?,
    };
    // NaN fails this comparison: it becomes an error here and cannot be printed as a bound.
    if answer.value >= 0.0 {
        Ok(Bound::new(about, answer))
    } else {
        Err(AccountingError::numerical(format!("the formula evaluates to {}", answer.value)))
    }
}

/// `T·ε(λ)`: adaptive composition adds Rényi divergences (Mironov 2017, Proposition 1), and those
/// of independent rounds on one pair of datasets add up exactly. **Direction: that of `kind`.**
fn renyi_of_rounds(analysis: &dyn Analysis, order: f64, kind: Kind, rounds: u64) -> Result<Answer> {
    let single = analysis
        .renyi(order)
        .ok_or_else(|| AccountingError::not_applicable("the bound is on ε and δ, and not on Rényi divergences"))??;
    let all = single * rounds as f64;
    let value = match (kind, rounds) {
        (_, 1) => single,
        (Kind::Upper, _) => all.next_up(),
        (Kind::Lower, _) => all.next_down().max(0.0),
    };
    Ok(Answer::plain(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{RandomizerSpec, Round, Scheme};

    fn question(rounds: u64) -> Question {
        let round = Round { scheme: Scheme::shuffle(10_000).unwrap(), randomizer: RandomizerSpec::any(2.0).unwrap() };
        Question::new(round, rounds).unwrap()
    }

    fn analysis_of(id: &str) -> Box<dyn Analysis> {
        method(id).unwrap().analyse(&question(14), &Options::default()).unwrap()
    }

    #[test]
    fn renyi_divergences_add_up_in_the_direction_of_the_bound() {
        let target = Target::RenyiAt { order: 4.0 };
        let ask = |id: &str, rounds| {
            ask(method(id).unwrap(), &question(rounds), target, &Options::default())
                .map(|bound| (bound.kind, bound.value))
        };
        for id in ["ccs21-upper", "any-ldp-rdp", "girgis-theorem-2"] {
            // Not from one round: that is computed on a finer lattice.
            let (_, some) = ask(id, 2).unwrap();
            let (kind, all) = ask(id, 14).unwrap();
            // Each product is rounded once and then moved by one ulp: 4 ulps hold all of it.
            assert!((all / some / 7.0 - 1.0).abs() <= 4.0 * f64::EPSILON, "{id}: {all} {some}");
            let exact = analysis_of(id).renyi(4.0).unwrap().unwrap() * 14.0;
            assert!(if kind == Kind::Upper { all >= exact } else { all <= exact }, "{id}");
        }
        assert!(matches!(ask("local-composition", 1), Err(AccountingError::NotApplicable { .. })));
    }

    /// Exact as a Rényi divergence, not a lower bound as ε.
    #[test]
    fn girgis_theorem_2_is_worth_more_as_a_renyi_divergence() {
        let standing = |target| {
            let survey = survey(&question(1), target, &Options::default()).unwrap();
            survey.bounds.iter().find(|bound| bound.id == "girgis-theorem-2").unwrap().standing
        };
        assert_eq!(standing(Target::EpsilonAt { delta: 1e-6 }), Standing::Flawed);
        assert_eq!(standing(Target::RenyiAt { order: 4.0 }), Standing::Rigorous);
    }

    #[test]
    fn every_method_has_a_name_of_its_own() {
        let mut names = std::collections::HashSet::new();
        for About { id, name, .. } in methods().flat_map(|method| [method.about(), method.about_renyi()]) {
            assert!(!name.trim().is_empty() && name != id, "{id}: {name:?}");
            assert!(name.chars().count() <= 60, "{id}: {name:?} is too long");
            names.insert((name, id));
        }
        let distinct: std::collections::HashSet<_> = names.iter().map(|(name, _)| *name).collect();
        assert_eq!(distinct.len(), methods().count(), "two methods share a name: {names:?}");
    }

    #[test]
    fn orders_are_checked() {
        for order in [1.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
            assert!(survey(&question(1), Target::RenyiAt { order }, &Options::default()).is_err(), "{order}");
        }
    }
}
