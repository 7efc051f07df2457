//! Rounds that are all alike are one question to the catalogue, and its best rigorous answer
//! counts.
//!
//! So the accountant's ε is the ε that a survey of the same question shows, whoever asks: the
//! composition of the round's tightest pair is one of the methods, and where another one is better
//! (Rényi DP without any gain from shuffling where noise is weak, the envelope of binary randomized
//! response), the accountant has that one as well.

use super::RoundEntry;
use crate::bound::{Bound, Kind, Standing};
use crate::catalogue::{self, Method, Options, Target};
use crate::error::Result;
use crate::scheme::Question;

/// The smallest rigorous upper bound of the catalogue; `None` if no method answers.
pub(super) fn best(rounds: &RoundEntry, target: Target) -> Result<Option<f64>> {
    let values = answers(rounds, target)?.map(|bound| bound.value);
    Ok(values.min_by(f64::total_cmp))
}

/// Whether one of the rigorous upper bounds on ε at `delta` is at most `epsilon`: asked one by one,
/// those first that are most likely to show it. `None` if no method answers.
pub(super) fn is_within(rounds: &RoundEntry, epsilon: f64, delta: f64) -> Result<Option<bool>> {
    let mut answered = None;
    for bound in answers(rounds, Target::EpsilonAt { delta })? {
        if bound.value <= epsilon {
            return Ok(Some(true));
        }
        answered = Some(false);
    }
    Ok(answered)
}

/// Returns rigorous upper bounds, computed lazily. In reverse order, because the tightest ones come
/// last in the catalogue.
fn answers(rounds: &RoundEntry, target: Target) -> Result<impl Iterator<Item = Bound>> {
    target.check()?;
    let question = Question::new(rounds.round, rounds.count)?;
    let is_asked = move |method: &&'static dyn Method| {
        let about = catalogue::about(*method, target);
        about.kind == Kind::Upper && about.standing == Standing::Rigorous
    };
    let methods: Vec<&'static dyn Method> = catalogue::methods().filter(is_asked).collect();
    let ask = move |method| catalogue::ask(method, &question, target, &Options::default()).ok();
    Ok(methods.into_iter().rev().filter_map(ask))
}
