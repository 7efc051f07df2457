//! Questions that were asked before: asking again costs a few microseconds.

use crate::errors::{PrivacyWarning, raised, unanswered};
use crate::interrupt::interruptible;
use lru::LruCache;
use pyo3::prelude::*;
use shuffledp_accounting::catalogue::{self, Survey};
use shuffledp_question::{Asked, Outcome, Warning};
use std::ffi::CString;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// So many answers are remembered. Each is some kilobytes of text and numbers.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// The latest answers.
static LATEST: Mutex<Option<LruCache<String, Survey>>> = Mutex::new(None);

/// The answer, remembered.
pub(crate) fn outcome(py: Python<'_>, asked: Asked) -> PyResult<Outcome> {
    let survey = match remembered(&asked) {
        Some(survey) => survey,
        None => {
            let survey = interruptible(py, move || catalogue::survey(&asked.question, asked.target, &asked.options))?
                .map_err(raised)?;
            latest(|latest| latest.put(key(&asked), survey.clone()));
            survey
        }
    };
    asked.read(survey).map_err(unanswered)
}

/// Returns a key of everything that determines the answers. Debug prints every number in full.
fn key(asked: &Asked) -> String {
    format!("{:?} {:?} {:?}", asked.question, asked.target, asked.options)
}

fn remembered(asked: &Asked) -> Option<Survey> {
    latest(|latest| latest.get(&key(asked)).cloned())
}

fn latest<T>(work: impl FnOnce(&mut LruCache<String, Survey>) -> T) -> T {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    work(latest.get_or_insert_with(|| LruCache::new(CAPACITY)))
}

/// From here the caller is so many frames away: the function that asks, the one that names unknown
/// arguments, and the one that goes through arrays.
const FRAMES: i32 = 4;

/// Hands on what whoever reads a bare number must know.
pub(crate) fn warn(py: Python<'_>, outcome: &Outcome) -> PyResult<()> {
    let category = py.get_type::<PrivacyWarning>();
    // How near the truth is can be read in an `Answer`; a number that is fine needs no warning.
    let is_grave = |warning: &Warning| !matches!(warning, Warning::FarApart { .. } | Warning::NoLowerBound);
    for warning in outcome.warnings().into_iter().filter(is_grave) {
        let text = CString::new(warning.words())?;
        PyErr::warn(py, &category, &text, FRAMES)?;
    }
    Ok(())
}
