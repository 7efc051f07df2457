//! Questions that were asked before: asking again costs a few microseconds.

use crate::errors::{NoAnswerError, in_python, raised};
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use shuffledp_accounting::bound::{Bound as Found, Kind, Standing};
use shuffledp_accounting::catalogue::{self, Options, Survey, Target};
use shuffledp_accounting::scheme::Question;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What decides an answer.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    question: Question,
    target: Target,
    options: Options,
}

/// The latest answers, newest first. Each is some kilobytes of text and numbers.
static LATEST: Mutex<VecDeque<(Key, Arc<Survey>)>> = Mutex::new(VecDeque::new());

const CAPACITY: usize = 256;

/// What all methods say, remembered.
pub(crate) fn survey(py: Python<'_>, question: Question, target: Target, options: Options) -> PyResult<Arc<Survey>> {
    let key = Key { question, target, options };
    if let Some(known) = remembered(&key) {
        return Ok(known);
    }
    let computed = interruptible(py, move || catalogue::survey(&question, target, &options))?.map_err(raised)?;
    let computed = Arc::new(computed);
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    latest.push_front((key, Arc::clone(&computed)));
    latest.truncate(CAPACITY);
    Ok(computed)
}

fn remembered(key: &Key) -> Option<Arc<Survey>> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    let at = latest.iter().position(|(known, _)| known == key)?;
    if at > 0 {
        let found = latest.remove(at)?;
        latest.push_front(found);
    }
    latest.front().map(|(_, survey)| Arc::clone(survey))
}

/// The smallest upper bound of sufficient standing, or why there is none.
pub(crate) fn best(survey: &Survey, widest: Standing, quantity: &str) -> PyResult<Found> {
    survey.best_upper(widest).cloned().ok_or_else(|| NoAnswerError::new_err(no_answer(survey, widest, quantity)))
}

/// Why nobody answered, line by line, and which argument would help.
fn no_answer(survey: &Survey, widest: Standing, quantity: &str) -> String {
    let mut text = format!("no {} upper bound on {quantity} applies", widest.word(Kind::Upper));
    for bound in survey.bounds.iter().filter(|bound| bound.kind == Kind::Upper) {
        let word = bound.standing.word(bound.kind);
        text += &format!("\n  {}: {word}; standing='{word}' would admit it", bound.id);
    }
    for silent in &survey.not_applicable {
        text += &format!("\n  {}: {}", silent.id, in_python(&silent.reason));
    }
    text
}
