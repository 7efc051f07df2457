//! A calibration: what was solved for, its answer in words and as JSON, and the command that asks
//! it again.

use crate::described::{Described, pairs_of};
use crate::given::parameter_of;
use crate::json::{Number, warnings};
use crate::outcome::{Asked, NoAnswer, Outcome};
use crate::parameter::Parameter;
use crate::refusal::Spelling;
use crate::value::Value;
use crate::words::{self, STANDINGS, headline, lower_line};
use crate::{Given, VERSION};
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::calibrate::{Calibrated, Goal, Unknown};
use shuffledp_accounting::catalogue::{self, Method, Options, Target};
use shuffledp_accounting::scheme::{Adjacency, Question};
use shuffledp_number::shown::{self as number, nearest, round_up_significant};

/// A calibration with its answer.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The goal that was asked for.
    pub wanted: Wanted,
    /// The value that meets the target.
    pub solved: Calibrated,
    /// The answers of the methods at the solution.
    pub outcome: Outcome,
}

/// The goal of a calibration.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The parameter to solve for.
    pub unknown: Unknown,
    /// The target.
    pub goal: Goal,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
}

impl Wanted {
    /// Reads it from what was given.
    pub fn of(unknown: Unknown, given: &Given) -> Result<Self, crate::Refusal> {
        Ok(Self { unknown, goal: given.goal()?, adjacency: given.adjacency()? })
    }

    /// The parameter whose number is looked for.
    pub fn parameter(&self) -> Parameter {
        parameter_of(self.unknown)
    }

    /// The answer with what there is to say about it: every bound if `all`, else the lower ones
    /// beside it.
    pub fn found(self, solved: Calibrated, all: bool) -> Result<Solution, NoAnswer> {
        let Goal { delta, widest, options, .. } = self.goal;
        let is_needed = |method: &&'static dyn Method| {
            let about = method.about();
            all || about.kind == Kind::Lower || about.id == solved.bound.id
        };
        let asked = Asked { question: solved.question, target: Target::EpsilonAt { delta }, options, widest };
        let outcome = asked.answer_among(catalogue::methods().filter(is_needed))?;
        Ok(Solution { wanted: self, solved, outcome })
    }

    /// The pairs that ask it again, for a question in which the unknown may have any value.
    pub fn pairs(&self, question: &Question) -> Vec<(Parameter, Value)> {
        let Goal { target_epsilon, delta, widest, options } = self.goal;
        let mut pairs =
            vec![(Parameter::TargetEpsilon, Value::Real(target_epsilon)), (Parameter::Delta, Value::Real(delta))];
        pairs.extend(pairs_of(question).into_iter().filter(|(parameter, _)| *parameter != self.parameter()));
        if widest != Standing::Rigorous {
            let word = STANDINGS.iter().find(|(standing, _, _)| *standing == widest).map_or("", |(_, word, _)| word);
            pairs.push((Parameter::Standing, Value::Word(word.to_owned())));
        }
        if options != Options::default() {
            pairs.push((Parameter::MaxOrder, Value::Real(options.max_order)));
        }
        pairs
    }
}

/// Digits that show any parameter as it was typed.
const TYPED: usize = 15;

/// Digits of an ε that is compared with a target.
const DIGITS: usize = 8;

/// A value of the unknown, exactly: what is printed can be asked again.
pub fn exactly(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { nearest(value, TYPED) }
}

/// "rounds ≤ 104187 for ε ≤ 0.2 at δ = 1e-8"
pub fn claim(solution: &Solution) -> String {
    let Wanted { unknown, goal, .. } = solution.wanted;
    format!(
        "{} {} {} for ε ≤ {} at δ = {}",
        parameter_of(unknown).name(),
        if unknown.is_largest() { "≤" } else { "≥" },
        exactly(solution.solved.value),
        nearest(goal.target_epsilon, TYPED),
        number::given(goal.delta)
    )
}

/// Returns a sentence on the ε of the next value, and its distance.
pub fn beyond(solution: &Solution) -> String {
    let Solution { wanted, solved, .. } = solution;
    let tolerance = nearest(solved.tolerance, TYPED);
    match solved.next {
        Some((next, epsilon)) => format!(
            "Tolerance {tolerance}: the next value, {}, has ε ≤ {}, which exceeds the target",
            exactly(next),
            round_up_significant(epsilon, DIGITS)
        ),
        None => {
            let last = if wanted.unknown.is_largest() { "largest" } else { "smallest" };
            format!("Every value meets the target: this is the {last} there is")
        }
    }
}

/// The whole answer.
pub fn answer(solution: &Solution) -> String {
    let Solution { wanted, outcome, .. } = solution;
    let mut text = format!("{}\nThere {}\n", claim(solution), headline(outcome));
    if let Some(line) = lower_line(outcome) {
        text += &format!("{line}\n");
    }
    text += &format!("{}.\n", beyond(solution));
    let solved_for = Some(wanted.parameter());
    text += &format!("Asked: {}.\n", words::question(outcome.question(), solved_for));
    text += &format!("Assumes: {}.\n", words::assumptions(outcome.question(), None).join(", "));
    for warning in outcome.warnings() {
        text += &format!("Warning: {}.\n", warning.words());
    }
    text
}

/// Why there is no answer, and how near one can come, parameters spelled as the front end does.
pub fn impossible(wanted: &Wanted, best_epsilon: f64, at: f64, spelling: Spelling) -> String {
    let (parameter, goal) = (wanted.parameter(), wanted.goal);
    let best = if best_epsilon.is_finite() {
        let place = spelling.given(parameter, &exactly(at));
        format!("the best is ε ≤ {}, at {place}", round_up_significant(best_epsilon, DIGITS))
    } else {
        "no bound says anything at any value".to_owned()
    };
    format!(
        "no {} meets ε ≤ {} at δ = {}: {best}",
        spelling.name(parameter),
        nearest(goal.target_epsilon, TYPED),
        number::given(goal.delta)
    )
}

/// A target that cannot be met, as JSON.
pub struct Impossible<'a> {
    /// The goal that was asked for.
    pub wanted: &'a Wanted,
    /// The smallest ε that some value has.
    pub best_epsilon: f64,
    /// That value.
    pub at: f64,
}

impl Serialize for Impossible<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { wanted, best_epsilon, at } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", wanted.adjacency.word())?;
        map.serialize_entry("impossible", wanted.unknown.word())?;
        map.serialize_entry("target_epsilon", &Number(wanted.goal.target_epsilon))?;
        map.serialize_entry("delta", &Number(wanted.goal.delta))?;
        map.serialize_entry("best_epsilon", &Number(best_epsilon))?;
        if best_epsilon.is_finite() {
            map.serialize_entry("best_value", &Number(at))?;
        }
        map.end()
    }
}

/// A calibration as JSON.
pub struct SolutionJson<'a>(pub &'a Solution);

impl Serialize for SolutionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Solution { wanted, solved, outcome } = self.0;
        let unknown = wanted.unknown;
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
