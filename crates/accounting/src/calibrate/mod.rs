//! Inverse problems: which local ε, σ, number of rounds or clients, sample or check-in rate meets a
//! target ε?
//!
//! Three things hold of every answer. It was fed back through the very methods that answer
//! [`survey`](crate::catalogue::survey), and their ε was at most the target. The next value beyond
//! it was asked as well, and exceeds the target: counts go in steps of one, other numbers have five
//! significant digits, so that an answer is exactly what is printed of it. And where no value meets
//! the target, the smallest ε that was found is reported instead: an impossible target is never a
//! number.

mod asker;
mod bracket;
mod grid;
mod unknown;

pub use unknown::Unknown;

use crate::bound::{Bound, Standing};
use crate::catalogue::Options;
use crate::error::{AccountingError, Result, require, require_delta};
use crate::scheme::Question;
use asker::{Asker, Sketcher};
use bracket::{Found, Search};
use grid::Grid;

/// The goal of a calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// ε may not exceed this.
    pub target_epsilon: f64,
    /// At this δ.
    pub delta: f64,
    /// The weakest standing that may answer.
    pub widest: Standing,
    /// How far methods may go.
    pub options: Options,
}

impl Goal {
    /// ε at most `target_epsilon` at `delta`, proven.
    pub fn new(target_epsilon: f64, delta: f64) -> Self {
        Self { target_epsilon, delta, widest: Standing::Rigorous, options: Options::default() }
    }

    fn check(&self) -> Result<()> {
        let target = self.target_epsilon;
        require(target > 0.0 && target.is_finite(), "target-epsilon", "a finite number above 0", target)?;
        require_delta(self.delta)?;
        Ok(())
    }
}

/// A value that meets the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The value: whole if the unknown is a count, else of five significant digits.
    pub value: f64,
    /// The question with that value in place.
    pub question: Question,
    /// Its answer: an upper bound on ε, at most the target.
    pub bound: Bound,
    /// The step from the value to the next one: 1, or a unit of the last digit.
    pub tolerance: f64,
    /// The next value beyond, and its ε, which exceeds the target. `None` if the value is the last
    /// of those that are searched: as far as one can go, the target is met.
    pub next: Option<(f64, f64)>,
}

/// The result of a calibration.
#[derive(Debug, Clone, PartialEq)]
pub enum Calibration {
    /// The target can be met.
    Solved(Box<Calibrated>),
    /// It cannot, with all else as it is.
    Impossible {
        /// The smallest ε that was found; `+∞` if no method says anything.
        best_epsilon: f64,
        /// The value of the unknown at which it was found.
        at: f64,
    },
}

/// Finds the value of `unknown` that meets `goal`, all else as in `question` (whose own value of
/// the unknown does not matter): the largest local ε, number of rounds, sample or check-in rate, or
/// the smallest σ or number of clients.
///
/// ε is taken to grow with the unknown, or to fall: wiggles of an upper bound may hide a better
/// value, but never make the answer wrong, for the answer and its neighbour are asked as they are.
///
/// ```
/// use shuffledp_accounting::calibrate::{Calibration, Goal, Unknown, calibrate};
/// use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};
///
/// // A thousand of a million clients participate. How many rounds may there be?
/// let round = Round { scheme: Scheme::subsampled(1_000_000, 1_000)?, randomizer: RandomizerSpec::any(2.0)? };
/// let question = Question::new(round, 1)?;
/// let Calibration::Solved(solved) = calibrate(&question, Unknown::Rounds, &Goal::new(0.2, 1e-8))? else { panic!() };
/// assert!((204_000.0..207_000.0).contains(&solved.value) && solved.bound.value <= 0.2);
/// # Ok::<(), shuffledp_accounting::AccountingError>(())
/// ```
pub fn calibrate(question: &Question, unknown: Unknown, goal: &Goal) -> Result<Calibration> {
    goal.check()?;
    let grid = unknown.grid(question)?;
    let (target, exponent) = (goal.target_epsilon, unknown.exponent());
    let search = Search { grid: &grid, target, exponent, close: 0.0, reach: f64::INFINITY };
    let asker = Asker::new(question, unknown, goal);
    let mut start = grid.place(unknown.start(question));
    // Methods whose sketches are far enough above their bounds to be overlooked.
    let mut overlooked = Vec::new();
    for _ in 0..APPROACHES {
        let (place, near) = approach(&asker, search, start, &overlooked)?;
        if place != grid.last() {
            // Most likely this is the edge: both sides of it are asked at once, and remembered.
            near.epsilons((grid.value(place), grid.value(grid.next(place))))?;
        }
        let found = Search { reach: NEAR, ..search }.run(place, |value| near.epsilon(value))?;
        match verdict(&asker, &grid, found)? {
            Verdict::Stands(calibration) => return Ok(calibration),
            Verdict::SearchOn { from, better } => {
                start = from;
                overlooked.extend(better);
            }
        }
    }
    // Methods that are not near the best take most of the time, and are left alone as long as that
    // is possible.
    let found = search.run(start, |value| asker.epsilon(value))?;
    match verdict(&asker, &grid, found)? {
        Verdict::Stands(calibration) => Ok(calibration),
        Verdict::SearchOn { .. } => Err(AccountingError::numerical("two answers to one question differ")),
    }
}

/// How often methods are chosen anew, before all of them are asked all the time.
const APPROACHES: usize = 3;

/// Where sketches lead to, or the bounds from there on, is this near to the edge, in logarithms, or
/// there is a jump.
const NEAR: f64 = 0.05;

/// A place near the edge, and who is to be asked there.
///
/// Sketches lead. They may be off by some percent, which is more than a step: from where they lead
/// to, the bounds themselves lead on, those that were `overlooked` before among them.
fn approach<'a>(
    asker: &Asker<'a>,
    search: Search<'_>,
    start: i64,
    overlooked: &[&'static str],
) -> Result<(i64, Asker<'a>)> {
    let grid = search.grid;
    let mut sketcher = Sketcher::new(asker);
    let led = Search { close: 3e-4, ..search };
    let mut found = led.run(start, |value| sketcher.epsilon(value))?;
    // Far from where they were chosen, other methods may be the best: on the way to an end, if it
    // took them there.
    let end = match found {
        Found::Edge { place } => place,
        Found::Everywhere { .. } => grid.place((grid.value(grid.last()) * grid.value(start)).sqrt()),
        Found::Nowhere { .. } => grid.place((grid.value(grid.first()) * grid.value(start)).sqrt()),
    };
    if sketcher.chooses_others(grid.value(end))? {
        found = led.run(start, |value| sketcher.epsilon(value))?;
    }
    let near = sketcher.of_chosen(overlooked);
    let Found::Edge { place } = found else { return Ok((found.place(), near)) };
    let exponent = led.exponent_at(place, |value| sketcher.epsilon(value))?;
    Ok((search.home_in(place, exponent, |value| near.epsilon(value))?, near))
}

/// The result of checking, with all methods, a value that some of them have found.
enum Verdict {
    /// It is so.
    Stands(Calibration),
    /// One that was left alone knows better.
    SearchOn { from: i64, better: Option<&'static str> },
}

fn verdict(asker: &Asker, grid: &Grid, found: Found) -> Result<Verdict> {
    let target = asker.goal().target_epsilon;
    Ok(match found {
        Found::Everywhere { place } => Verdict::Stands(solved(asker, grid, place, None)?),
        Found::Edge { place } => {
            let next = grid.next(place);
            // The answer's own ε is remembered for `solved`.
            let (beyond, _) = asker.epsilons((grid.value(next), grid.value(place)))?;
            if beyond > target {
                Verdict::Stands(solved(asker, grid, place, Some((grid.value(next), beyond)))?)
            } else {
                Verdict::SearchOn { from: next, better: asker.best(grid.value(next))?.map(|bound| bound.id) }
            }
        }
        Found::Nowhere { place } => {
            let (at, best_epsilon) = (grid.value(place), asker.epsilon(grid.value(place))?);
            if best_epsilon > target {
                Verdict::Stands(Calibration::Impossible { best_epsilon, at })
            } else {
                Verdict::SearchOn { from: place, better: asker.best(at)?.map(|bound| bound.id) }
            }
        }
    })
}

fn solved(asker: &Asker, grid: &Grid, place: i64, next: Option<(f64, f64)>) -> Result<Calibration> {
    let value = grid.value(place);
    match asker.best(value)? {
        Some(bound) if bound.value <= asker.goal().target_epsilon => {
            let (question, tolerance) = (asker.question_at(value)?, grid.step(place));
            Ok(Calibration::Solved(Box::new(Calibrated { value, question, bound, tolerance, next })))
        }
        // Methods are pure functions, so this does not happen; if it does, there is no answer.
        _ => Err(AccountingError::numerical("the answer does not meet the target when fed back")),
    }
}
