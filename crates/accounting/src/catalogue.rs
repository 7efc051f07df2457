//! Every bound we know, asked one question: what applies, what it says, and why the rest does not.

use crate::bound::{About, Answer, Bound, Kind, Standing};
use crate::error::{AccountingError, Result, require_delta, require_epsilon};
use crate::scheme::Question;
use crate::{dominating, gaussian, lower, published};

/// What is wanted of a question.
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
}

/// How far methods may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The largest Rényi order that is tried.
    pub max_order: f64,
}

impl Default for Options {
    /// Orders to 10^6: beyond it the conversion term ln(1/δ)/(λ−1) is below 1e-3 even at δ = 1e-300.
    fn default() -> Self {
        Self { max_order: 1e6 }
    }
}

/// A way to bound the privacy of a question.
pub trait Method: Sync {
    /// What is known of it beforehand.
    fn about(&self) -> About;

    /// Prepares the analysis of one question, or says why it has nothing to say
    /// ([`AccountingError::NotApplicable`]).
    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>>;
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
    published::METHODS.iter().chain(gaussian::METHODS).chain(dominating::METHODS).chain(lower::METHODS).copied()
}

/// The method called `id`.
pub fn method(id: &str) -> Option<&'static dyn Method> {
    methods().find(|method| method.about().id == id)
}

/// A method that did not answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Silent {
    /// The method's name.
    pub id: &'static str,
    /// Why it did not answer.
    pub reason: String,
}

/// What all methods say to one question.
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
    check(target)?;
    let mut survey = Survey { bounds: Vec::new(), not_applicable: Vec::new() };
    for method in methods() {
        match ask(method, question, target, options) {
            Ok(bound) => survey.bounds.push(bound),
            Err(error) => survey.not_applicable.push(Silent { id: method.about().id, reason: error.to_string() }),
        }
    }
    Ok(survey)
}

/// Asks one method.
pub fn ask(method: &dyn Method, question: &Question, target: Target, options: &Options) -> Result<Bound> {
    check(target)?;
    let analysis = method.analyse(question, options)?;
    let answer = match target {
        Target::EpsilonAt { delta } => analysis.epsilon(delta)?,
        Target::DeltaAt { epsilon } => analysis.delta(epsilon)?,
    };
    // NaN fails this comparison: it becomes an error here and cannot be printed as a bound.
    if answer.value >= 0.0 {
        Ok(Bound::new(method.about(), answer))
    } else {
        Err(AccountingError::numerical(format!("the formula evaluates to {}", answer.value)))
    }
}

fn check(target: Target) -> Result<f64> {
    match target {
        Target::EpsilonAt { delta } => require_delta(delta),
        Target::DeltaAt { epsilon } => require_epsilon(epsilon),
    }
}
