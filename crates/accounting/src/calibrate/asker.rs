//! Who is asked for ε, at values of the unknown.

use super::{Goal, Unknown};
use crate::bound::{Bound, Kind};
use crate::catalogue::{self, Method, Target};
use crate::error::Result;
use crate::scheme::Question;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What is further above the best is not near it.
const NEAR: f64 = 1.005;

/// Asks methods for ε: upper bounds of sufficient standing.
#[derive(Clone)]
pub(super) struct Asker<'a> {
    question: &'a Question,
    unknown: Unknown,
    goal: &'a Goal,
    /// In the catalogue's order.
    methods: Vec<&'static dyn Method>,
    /// What was answered, by method and value: the last steps of a search ask again what it asked before.
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

    /// Those that answer at once, and those that take long.
    pub(super) fn quick_and_slow(&self) -> (Self, Self) {
        let takes_long = |method: &&'static dyn Method| method.takes_long(self.question);
        let (slow, quick) = self.methods.iter().copied().partition(takes_long);
        (Self { methods: quick, ..self.clone() }, Self { methods: slow, ..self.clone() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    pub(super) fn goal(&self) -> &Goal {
        self.goal
    }

    /// The question with this value in place of the unknown.
    pub(super) fn question_at(&self, value: f64) -> Result<Question> {
        self.unknown.put(self.question, value)
    }

    /// What the best method says at this value, as `survey` would have it; `None` if none says anything.
    pub(super) fn best(&self, value: f64) -> Result<Option<Bound>> {
        let question = self.question_at(value)?;
        Ok(self.ask_all(&question, value).into_iter().flatten().min_by(|a, b| a.value.total_cmp(&b.value)))
    }

    /// The smallest ε at this value; `+∞` if no method says anything.
    pub(super) fn epsilon(&self, value: f64) -> Result<f64> {
        Ok(self.best(value)?.map_or(f64::INFINITY, |bound| bound.value))
    }

    /// Every method's answer, in their order.
    fn ask_all(&self, question: &Question, value: f64) -> Vec<Option<Bound>> {
        self.methods.par_iter().map(|method| self.ask(*method, question, value)).collect()
    }

    fn ask(&self, method: &dyn Method, question: &Question, value: f64) -> Option<Bound> {
        let key = (method.about().id, value.to_bits());
        // What a panic elsewhere left behind is still an answer.
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers().get(&key) {
            return answer.clone();
        }
        let target = Target::EpsilonAt { delta: self.goal.delta };
        let answer = catalogue::ask(method, question, target, &self.goal.options).ok();
        answers().insert(key, answer.clone());
        answer
    }
}

/// Leaves methods alone that are not near the best at the first value at which anything is known: most of the time of a search would be theirs.
pub(super) struct Selective<'a> {
    asker: Asker<'a>,
    is_chosen: bool,
}

impl<'a> Selective<'a> {
    pub(super) fn new(asker: Asker<'a>) -> Self {
        Self { asker, is_chosen: false }
    }

    /// The same, and these as well.
    pub(super) fn with(mut self, others: &Asker<'a>) -> Self {
        self.asker.methods.extend(&others.methods);
        self
    }

    /// At least the smallest ε at this value.
    pub(super) fn epsilon(&mut self, value: f64) -> Result<f64> {
        if self.is_chosen {
            return self.asker.epsilon(value);
        }
        let question = self.asker.question_at(value)?;
        let answers = self.asker.ask_all(&question, value);
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.map(|bound| bound.value)).collect();
        let best = answers.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        // While nothing is known, all go on.
        if best.is_finite() {
            let mut answers = answers.iter();
            let is_near = |answer: &Option<f64>| answer.is_some_and(|epsilon| epsilon <= NEAR * best);
            self.asker.methods.retain(|_| answers.next().is_some_and(is_near));
            self.is_chosen = true;
        }
        Ok(best)
    }
}
