//! Inverse problems: which local ε, σ, number of rounds or clients, sample or check-in rate meets a target ε?
//!
//! Three things hold of every answer. It was fed back through the very methods that answer [`survey`](crate::catalogue::survey), and their ε was at most the
//! target. The next value beyond it was asked as well, and exceeds the target: counts go in steps of one, other numbers have five significant digits, so
//! that an answer is exactly what is printed of it. And where no value meets the target, the smallest ε that was found is reported instead: an impossible
//! target is never a number.

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

/// What is to be met.
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
    /// The next value beyond, and its ε, which exceeds the target. `None` if the value is the last of those that are searched: as far as one can go, the
    /// target is met.
    pub next: Option<(f64, f64)>,
}

/// What came of a calibration.
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

/// Finds the value of `unknown` that meets `goal`, all else as in `question` (whose own value of the unknown does not matter): the largest local ε,
/// number of rounds, sample or check-in rate, or the smallest σ or number of clients.
///
/// ε is taken to grow with the unknown, or to fall: wiggles of an upper bound may hide a better value, but never make the answer wrong, for the answer
/// and its neighbour are asked as they are.
///
/// ```
/// use shuffledp_accounting::calibrate::{Calibration, Goal, Unknown, calibrate};
/// use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};
///
/// // A thousand of a million clients speak. How many rounds may there be?
/// let round = Round { scheme: Scheme::subsampled(1_000_000, 1_000)?, randomizer: RandomizerSpec::any(2.0)? };
/// let question = Question::new(round, 1)?;
/// let Calibration::Solved(solved) = calibrate(&question, Unknown::Rounds, &Goal::new(0.2, 1e-8))? else { panic!() };
/// assert!((104_000.0..104_500.0).contains(&solved.value) && solved.bound.value <= 0.2);
/// # Ok::<(), shuffledp_accounting::AccountingError>(())
/// ```
pub fn calibrate(question: &Question, unknown: Unknown, goal: &Goal) -> Result<Calibration> {
    goal.check()?;
    let grid = unknown.grid(question)?;
    let (target, exponent) = (goal.target_epsilon, unknown.exponent());
    let search = Search { grid: &grid, target, exponent, close: 0.0, reach: f64::INFINITY };
    let asker = Asker::new(question, unknown, goal);
    let (search, mut start, near) = approach(&asker, search, grid.place(unknown.start(question)))?;
    if start != grid.last() {
        // Most likely this is the edge: both sides of it are asked at once, and remembered.
        near.epsilons((grid.value(start), grid.value(grid.next(start))))?;
    }
    let mut asked = &near;
    loop {
        match search.run(start, |value| asked.epsilon(value))? {
            Found::Everywhere { place } => return solved(&asker, &grid, place, None),
            Found::Edge { place } => {
                start = grid.next(place);
                let next = grid.value(start);
                // The answer's own ε is remembered for `solved`.
                let (epsilon, _) = asker.epsilons((next, grid.value(place)))?;
                if epsilon > goal.target_epsilon {
                    return solved(&asker, &grid, place, Some((next, epsilon)));
                }
            }
            Found::Nowhere { place } => {
                start = place;
                let (at, best_epsilon) = (grid.value(place), asker.epsilon(grid.value(place))?);
                if best_epsilon > goal.target_epsilon {
                    return Ok(Calibration::Impossible { best_epsilon, at });
                }
            }
        }
        // A method that was left alone knows better: from here on all are asked.
        asked = &asker;
    }
}

/// Where sketches lead to is this near to the edge, in logarithms, or there is a jump.
const NEAR: f64 = 0.05;

/// Where sketches are off by more than this, in logarithms, how much they are is seen again nearer to the edge.
const FAR_OFF: f64 = 5e-3;

/// A search from a place near the edge, and who is to be asked there.
///
/// Sketches lead: they are searched for a target that is off by as much as they are. That is seen at the edge of the sketches themselves.
fn approach<'a, 'b>(asker: &Asker<'a>, search: Search<'b>, start: i64) -> Result<(Search<'b>, i64, Asker<'a>)> {
    let grid = search.grid;
    let mut sketcher = Sketcher::new(asker);
    let mut led = Search { close: 1e-3, ..search };
    let mut found = led.run(start, |value| sketcher.epsilon(value))?;
    // Far from where they were chosen, other methods may be the best: halfway, if it took them to an end.
    let value = grid.value(found.place());
    let value = if matches!(found, Found::Edge { .. }) { value } else { (value * grid.value(start)).sqrt() };
    if sketcher.chooses_others(grid.value(grid.place(value)))? {
        found = led.run(start, |value| sketcher.epsilon(value))?;
    }
    let Found::Edge { mut place } = found else { return Ok((search, found.place(), sketcher.of_chosen())) };
    for _ in 0..2 {
        let value = grid.value(place);
        let target = search.target * sketcher.epsilon(value)? / sketcher.of_chosen().epsilon(value)?;
        let moved = (target / led.target).ln().abs();
        if !moved.is_finite() {
            break;
        }
        led = Search { target, close: 1e-6, reach: 4.0 * NEAR, ..search };
        place = led.run(place, |value| sketcher.epsilon(value))?.place();
        if moved < FAR_OFF {
            break;
        }
    }
    Ok((Search { reach: NEAR, ..search }, place, sketcher.of_chosen()))
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
