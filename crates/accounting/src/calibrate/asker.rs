//! The function that gives ε at a value of the unknown.

use super::{Goal, Unknown};
use crate::bound::{Bound, Kind};
use crate::catalogue::{self, Method, Target};
use crate::error::Result;
use crate::scheme::Question;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Asks methods for ε: upper bounds of sufficient standing.
///
/// One after the other, because some share the lattice of a pair: side by side, each would compute
/// it.
#[derive(Clone)]
pub(super) struct Asker<'a> {
    question: &'a Question,
    unknown: Unknown,
    goal: &'a Goal,
    /// In the catalogue's order.
    methods: Vec<&'static dyn Method>,
    /// A cache of the answers, by method and value: the last steps of a search repeat earlier
    /// questions.
    answers: Arc<Mutex<Answers>>,
}

type Answers = HashMap<(&'static str, u64), Option<Bound>>;

impl<'a> Asker<'a> {
    /// Asks every method that may answer.
    pub(super) fn new(question: &'a Question, unknown: Unknown, goal: &'a Goal) -> Self {
        let may_answer = |method: &&'static dyn Method| {
            let about = method.about();
            about.kind == Kind::Upper && about.standing <= goal.widest
        };
        let methods = catalogue::methods().filter(may_answer).collect();
        Self { question, unknown, goal, methods, answers: Arc::default() }
    }

    /// Asks these methods only.
    fn only(&self, methods: Vec<&'static dyn Method>) -> Self {
        Self { methods, ..self.clone() }
    }

    pub(super) fn goal(&self) -> &Goal {
        self.goal
    }

    /// The question with this value in place of the unknown.
    pub(super) fn question_at(&self, value: f64) -> Result<Question> {
        self.unknown.put(self.question, value)
    }

    /// Returns the bound of the best method at this value, as `survey` does; `None` if no method
    /// gives one.
    pub(super) fn best(&self, value: f64) -> Result<Option<Bound>> {
        let question = self.question_at(value)?;
        let bounds = self.methods.iter().filter_map(|method| self.ask(*method, &question, value));
        Ok(bounds.min_by(|a, b| a.value.total_cmp(&b.value)))
    }

    /// The smallest ε at this value; `+∞` if no method says anything.
    pub(super) fn epsilon(&self, value: f64) -> Result<f64> {
        Ok(self.best(value)?.map_or(f64::INFINITY, |bound| bound.value))
    }

    /// The same at two values, side by side.
    pub(super) fn epsilons(&self, values: (f64, f64)) -> Result<(f64, f64)> {
        let (one, other) = rayon::join(|| self.epsilon(values.0), || self.epsilon(values.1));
        Ok((one?, other?))
    }

    fn target(&self) -> Target {
        Target::EpsilonAt { delta: self.goal.delta }
    }

    fn ask(&self, method: &dyn Method, question: &Question, value: f64) -> Option<Bound> {
        let key = (method.about().id, value.to_bits());
        // What a panic elsewhere left behind is still an answer.
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers().get(&key) {
            return answer.clone();
        }
        let answer = catalogue::ask(method, question, self.target(), &self.goal.options).ok();
        answers().insert(key, answer.clone());
        answer
    }
}

/// Methods within this factor of the best count as near.
const NEAR: f64 = 1.005;

/// Asks for sketches, and leaves those methods alone that are not near the best: most of the time
/// of a search would be theirs.
pub(super) struct Sketcher<'a, 'b> {
    asker: &'b Asker<'a>,
    /// Those that were near the best where anything was known at last; all, while nothing is.
    chosen: Vec<&'static dyn Method>,
    is_chosen: bool,
    /// By method and value.
    answers: HashMap<(&'static str, u64), f64>,
}

impl<'a, 'b> Sketcher<'a, 'b> {
    /// Asks those of the asker.
    pub(super) fn new(asker: &'b Asker<'a>) -> Self {
        Self { asker, chosen: asker.methods.clone(), is_chosen: false, answers: HashMap::new() }
    }

    /// Asks the methods that are chosen for their bounds, and those with these names.
    pub(super) fn of_chosen(&self, and: &[&'static str]) -> Asker<'a> {
        let is_chosen = |id: &'static str| self.chosen.iter().any(|chosen| chosen.about().id == id);
        let methods = self.asker.methods.iter().copied();
        let asked = methods.filter(|method| is_chosen(method.about().id) || and.contains(&method.about().id));
        self.asker.only(asked.collect())
    }

    /// About the smallest ε at this value, `+∞` if no method says anything. The methods are chosen
    /// where one first does.
    pub(super) fn epsilon(&mut self, value: f64) -> Result<f64> {
        if !self.is_chosen {
            return self.choose(value);
        }
        let question = self.asker.question_at(value)?;
        let chosen = self.chosen.clone();
        Ok(chosen.into_iter().map(|method| self.ask(method, &question, value)).fold(f64::INFINITY, f64::min))
    }

    /// The same, of all methods. Those near the best are chosen anew.
    fn choose(&mut self, value: f64) -> Result<f64> {
        let question = self.asker.question_at(value)?;
        let asker = self.asker;
        let answers: Vec<_> = asker.methods.iter().map(|method| self.ask(*method, &question, value)).collect();
        let best = answers.iter().copied().fold(f64::INFINITY, f64::min);
        if best.is_finite() {
            let near = asker.methods.iter().zip(answers).filter(|(_, epsilon)| *epsilon <= NEAR * best);
            (self.chosen, self.is_chosen) = (near.map(|(method, _)| *method).collect(), true);
        }
        Ok(best)
    }

    /// Chooses anew, and says whether that makes a difference.
    pub(super) fn chooses_others(&mut self, value: f64) -> Result<bool> {
        let ids = |methods: &[&'static dyn Method]| methods.iter().map(|method| method.about().id).collect::<Vec<_>>();
        let before = ids(&self.chosen);
        self.choose(value)?;
        Ok(ids(&self.chosen) != before)
    }

    fn ask(&mut self, method: &dyn Method, question: &Question, value: f64) -> f64 {
        let (target, options) = (self.asker.target(), &self.asker.goal.options);
        let key = (method.about().id, value.to_bits());
        *self
            .answers
            .entry(key)
            .or_insert_with(|| catalogue::ask_sketch(method, question, target, options).unwrap_or(f64::INFINITY))
    }
}
