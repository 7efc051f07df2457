//! The answer of `calibrate`, for a person and for a program.

use super::text::json_line;
use crate::solution::{Solution, Wanted};
use anyhow::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_question::described::Described;
use shuffledp_question::json::{Number, warnings};
use shuffledp_question::words::{self, headline, lower_line};
use shuffledp_question::{Spelling, VERSION};
use shuffledp_report::number::{self, nearest, round_up_significant};

/// Digits that show any parameter as it was typed.
const TYPED: usize = 15;

/// Digits of an ε that is compared with a target.
const DIGITS: usize = 8;

/// A value of the unknown, exactly: what is printed can be asked again.
pub(super) fn exactly(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { nearest(value, TYPED) }
}

/// "rounds ≤ 104187 for ε ≤ 0.2 at δ = 1e-8"
pub(super) fn claim(solution: &Solution) -> String {
    let Wanted { solve, goal, .. } = solution.wanted;
    format!(
        "{} {} {} for ε ≤ {} at δ = {}",
        solve.parameter().name(),
        if solve.unknown().is_largest() { "≤" } else { "≥" },
        exactly(solution.solved.value),
        nearest(goal.target_epsilon, TYPED),
        number::given(goal.delta)
    )
}

/// Describes the next value: its ε, and how far that is from the goal.
pub(super) fn beyond(solution: &Solution) -> String {
    let Solution { wanted, solved, .. } = solution;
    let tolerance = nearest(solved.tolerance, TYPED);
    match solved.next {
        Some((next, epsilon)) => format!(
            "Tolerance {tolerance}: the next value, {}, has ε ≤ {}, which exceeds the target",
            exactly(next),
            round_up_significant(epsilon, DIGITS)
        ),
        None => {
            let last = if wanted.solve.unknown().is_largest() { "largest" } else { "smallest" };
            format!("Every value meets the target: this is the {last} there is")
        }
    }
}

/// The whole answer.
pub(crate) fn answer(solution: &Solution) -> String {
    let Solution { wanted, outcome, .. } = solution;
    let mut text = format!("{}\nThere {}\n", claim(solution), headline(outcome));
    if let Some(line) = lower_line(outcome) {
        text += &format!("{line}\n");
    }
    text += &format!("{}.\n", beyond(solution));
    let solved_for = Some(wanted.solve.parameter());
    text += &format!("Asked: {}.\n", words::question(outcome.question(), solved_for));
    text += &format!("Assumes: {}.\n", words::assumptions(outcome.question(), None).join(", "));
    for warning in outcome.warnings() {
        text += &format!("Warning: {}.\n", warning.words());
    }
    text
}

/// Why there is no answer, and how near one can come.
pub(crate) fn impossible(wanted: &Wanted, best_epsilon: f64, at: f64) -> String {
    let (parameter, goal) = (wanted.solve.parameter(), wanted.goal);
    let best = if best_epsilon.is_finite() {
        let place = Spelling::Flags.given(parameter, &exactly(at));
        format!("the best is ε ≤ {}, at {place}", round_up_significant(best_epsilon, DIGITS))
    } else {
        "no bound says anything at any value".to_owned()
    };
    format!(
        "no {} meets ε ≤ {} at δ = {}: {best}",
        Spelling::Flags.name(parameter),
        nearest(goal.target_epsilon, TYPED),
        number::given(goal.delta)
    )
}

/// The JSON object as one line, with its newline.
pub(crate) fn document(solution: &Solution) -> Result<String> {
    json_line(&Document(solution))
}

/// The JSON object of a target that cannot be met.
pub(crate) fn impossible_document(wanted: &Wanted, best_epsilon: f64, at: f64) -> Result<String> {
    json_line(&Impossible { wanted, best_epsilon, at })
}

struct Impossible<'a> {
    wanted: &'a Wanted,
    best_epsilon: f64,
    at: f64,
}

impl Serialize for Impossible<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { wanted, best_epsilon, at } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", wanted.adjacency.word())?;
        map.serialize_entry("impossible", wanted.solve.unknown().word())?;
        map.serialize_entry("target_epsilon", &Number(wanted.goal.target_epsilon))?;
        map.serialize_entry("delta", &Number(wanted.goal.delta))?;
        map.serialize_entry("best_epsilon", &Number(best_epsilon))?;
        if best_epsilon.is_finite() {
            map.serialize_entry("best_value", &Number(at))?;
        }
        map.end()
    }
}

struct Document<'a>(&'a Solution);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Solution { wanted, solved, outcome } = self.0;
        let unknown = wanted.solve.unknown();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", outcome.question().adjacency().word())?;
        map.serialize_entry("solved", unknown.word())?;
        map.serialize_entry("value", &Number(solved.value))?;
        map.serialize_entry("epsilon", &Number(solved.bound.value))?;
        map.serialize_entry("target_epsilon", &Number(wanted.goal.target_epsilon))?;
        map.serialize_entry("delta", &Number(wanted.goal.delta))?;
        map.serialize_entry("rounds", &outcome.question().rounds())?;
        map.serialize_entry("tolerance", &Number(solved.tolerance))?;
        map.serialize_entry("next_value_exceeds", &solved.next.is_some())?;
        if let Some((next, epsilon)) = solved.next {
            map.serialize_entry("next_value", &Number(next))?;
            map.serialize_entry("next_epsilon", &Number(epsilon))?;
        }
        map.serialize_entry("method", solved.bound.id)?;
        map.serialize_entry("standing", solved.bound.standing.word(solved.bound.kind))?;
        if let Some(lower) = &outcome.lower {
            map.serialize_entry("epsilon_lower", &Number(lower.value))?;
            map.serialize_entry("lower_method", lower.id)?;
        }
        map.serialize_entry("question", &Described::of(outcome.question()))?;
        map.serialize_entry("assumptions", &words::assumptions(outcome.question(), None))?;
        map.serialize_entry("warnings", &warnings(outcome))?;
        map.serialize_entry("version", VERSION)?;
        map.end()
    }
}
