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
use asker::{Asker, Selective};
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
    let search = Search { grid: &grid, target: goal.target_epsilon, exponent: unknown.exponent(), close: 0.0 };
    let asker = Asker::new(question, unknown, goal);
    let (mut start, selective) = approach(&asker, &search, grid.place(unknown.start(question)))?;
    let mut selective = Some(selective);
    loop {
        let found = search.run(start, |value| match &mut selective {
            Some(selective) => selective.epsilon(value),
            None => asker.epsilon(value),
        })?;
        match found {
            Found::Everywhere { place } => return solved(&asker, &grid, place, None),
            Found::Edge { place } => {
                start = grid.next(place);
                let (next, epsilon) = (grid.value(start), asker.epsilon(grid.value(start))?);
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
        selective = None;
    }
}

/// A place near the edge for the search to start from, and whom to ask there. Where some methods take long, the others lead: they are asked for a target that is
/// off by as much as they are.
fn approach<'a>(asker: &Asker<'a>, search: &Search, start: i64) -> Result<(i64, Selective<'a>)> {
    let (quick, slow) = asker.quick_and_slow();
    let mut selective = Selective::new(quick);
    if slow.is_empty() {
        return Ok((start, selective));
    }
    let (mut place, mut excess) = (start, 1.0);
    // First to where the slow ones' advantage is about what it is at the edge, then to the edge.
    for close in [0.02, 1e-5] {
        let led = Search { target: search.target * excess, close, ..*search };
        let Found::Edge { place: edge } = led.run(place, |value| selective.epsilon(value))? else { break };
        place = edge;
        let value = search.grid.value(place);
        excess = selective.epsilon(value)? / slow.epsilon(value)?;
        // They are no better here (or nothing is known): this is the edge already.
        if !(excess > 1.0 && excess.is_finite()) {
            break;
        }
    }
    Ok((place, selective.with(&slow)))
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
