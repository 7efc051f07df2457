//! A question, and what its answer takes for granted, in words.

use crate::outcome::Outcome;
use crate::parameter::{Kind, Parameter};
use crate::randomizers::{Inputs, RandomizerRow};
use crate::value::Value;
use shuffledp_accounting::bound::{Bound, Kind as Side, Standing};
use shuffledp_accounting::scheme::{Participation, Question, RandomizerSpec, Scheme};
use shuffledp_number::shown::{self, count, nearest, plural, round_down_significant, round_up_significant};

/// Digits that show any parameter as it was typed.
const TYPED: usize = 15;

/// Significant digits of a printed bound.
const DIGITS: usize = 5;

/// Every status of a bound: the enum value, its word, and its meaning for an upper bound.
pub const STANDINGS: [(Standing, &str, &str); 4] = [
    (Standing::Rigorous, "rigorous", "Proven for exactly this question"),
    (
        Standing::Conjectured,
        "conjectured",
        "Also: computed exactly for a pair of datasets that is believed, but not proven, to be the worst",
    ),
    (Standing::Asymptotic, "asymptotic", "Also: a limit used at a finite number of clients; may be below the truth"),
    (Standing::Flawed, "flawed", "Also: as published, with a known error"),
];

/// A number, or the letter for one that is varied.
fn shown(parameter: Parameter, value: f64, varied: Option<Parameter>) -> String {
    if varied == Some(parameter) {
        parameter.symbol().to_owned()
    } else if parameter.row().kind == Kind::Count {
        count(value as u64)
    } else {
        nearest(value, TYPED)
    }
}

/// "1,000 clients", "1 client", or "n clients".
fn clients(number: u64, varied: Option<Parameter>) -> String {
    if varied == Some(Parameter::Clients) { "n clients".to_owned() } else { plural(number, "client") }
}

/// "100,000 rounds, in each of which 1,000 of 1,000,000 clients participate with one report each,
/// randomized by any mechanism with local ε 2"
pub fn question(question: &Question, varied: Option<Parameter>) -> String {
    let rounds = match question.rounds() {
        1 if varied != Some(Parameter::Rounds) => "one round, in which".to_owned(),
        rounds => format!("{} rounds, in each of which", shown(Parameter::Rounds, rounds as f64, varied)),
    };
    let each = match question.scheme().participation() {
        Participation::Everyone if question.scheme().clients() == 1 => "one report",
        Participation::Everyone | Participation::FixedSize { .. } => "one report each",
        Participation::CheckIn { .. } => "one report",
    };
    let randomizer = randomizer(question.randomizer(), varied);
    format!("{rounds} {} with {each}, randomized by {randomizer}", who(question.scheme(), varied))
}

/// "1,000 of 1,000,000 clients participate"
pub fn who(scheme: &Scheme, varied: Option<Parameter>) -> String {
    let all = clients(scheme.clients(), varied);
    match scheme.participation() {
        Participation::Everyone if scheme.clients() == 1 && varied != Some(Parameter::Clients) => {
            "the only client participates".to_owned()
        }
        Participation::Everyone => format!("all {all} participate"),
        Participation::FixedSize { sampled } => {
            format!("{} of {all} participate", shown(Parameter::Sampled, sampled as f64, varied))
        }
        Participation::CheckIn { rate, drop_out } => {
            let lost = if drop_out > 0.0 || varied == Some(Parameter::DropOut) {
                format!(" (drop-out {})", shown(Parameter::DropOut, drop_out, varied))
            } else {
                String::new()
            };
            format!("each of {all} checks in at rate {}{lost}", shown(Parameter::CheckIn, rate, varied))
        }
    }
}

/// "any mechanism with local ε 2"
pub fn randomizer(spec: &RandomizerSpec, varied: Option<Parameter>) -> String {
    let (row, values) = RandomizerRow::of(spec);
    let mut text = row.phrase.to_owned();
    for (parameter, value) in values {
        text = text.replace(&format!("{{{}}}", parameter.name()), &parameter_words(parameter, &value, varied));
    }
    text
}

/// "local ε 2", "σ = 5 clipping norms"; "local ε0" and "σ clipping norms" where they are varied.
fn parameter_words(parameter: Parameter, value: &Value, varied: Option<Parameter>) -> String {
    let is_varied = varied == Some(parameter);
    let number = match value {
        Value::Real(value) => shown(parameter, *value, varied),
        Value::Count(value) => shown(parameter, *value as f64, varied),
        Value::Points(points) => {
            let (epsilon, delta) = points.last();
            let (epsilon, delta) = (nearest(epsilon, TYPED), nearest(delta, TYPED));
            let points = plural(points.points().count() as u64, "point");
            return format!("a profile of {points}, to local ε {epsilon} at δ {delta}");
        }
        Value::Word(_) | Value::Randomizer(_) => value.typed(),
    };
    match parameter {
        Parameter::LocalEpsilon if is_varied => "local ε0".to_owned(),
        Parameter::LocalEpsilon => format!("local ε {number}"),
        Parameter::LocalDelta if is_varied => "local δ0".to_owned(),
        Parameter::LocalDelta => format!("local δ {number}"),
        Parameter::Sigma if is_varied => "σ clipping norms".to_owned(),
        Parameter::Sigma => format!("σ = {number} clipping norms"),
        _ => number,
    }
}

/// "R_inf with local ε 1 on 8 coordinates, in a round in which all 50 clients participate"
pub fn audited(spec: &RandomizerSpec, dimension: u32, scheme: Option<&Scheme>) -> String {
    let (row, _) = RandomizerRow::of(spec);
    let vectors = match row.inputs {
        // It says so itself.
        Inputs::Vectors if row.parameters.contains(&Parameter::Dimension) => String::new(),
        Inputs::Vectors if dimension == 1 => " on one coordinate".to_owned(),
        Inputs::Vectors => format!(" on {} coordinates", count(u64::from(dimension))),
        Inputs::Categories | Inputs::Class => String::new(),
    };
    let round = scheme.map(|scheme| format!(", in a round in which {}", who(scheme, None))).unwrap_or_default();
    format!("{}{vectors}{round}", randomizer(spec, None))
}

/// Returns the assumptions behind the numbers, one string each.
pub fn assumptions(question: &Question, varied: Option<Parameter>) -> Vec<String> {
    let honest = match (question.scheme().clients(), varied) {
        (_, Some(Parameter::Clients)) => "n honest clients".to_owned(),
        (number, _) => plural(number, "honest client"),
    };
    let mut assumptions = vec!["an honest shuffler".to_owned(), honest];
    match question.scheme().participation() {
        Participation::Everyone => {}
        Participation::FixedSize { .. } => {
            assumptions.push("a fresh sample each round that the server does not see".to_owned());
        }
        Participation::CheckIn { .. } => {
            assumptions.push("fresh independent check-ins that the server cannot attribute".to_owned());
        }
    }
    assumptions.push("parameters fixed in advance".to_owned());
    assumptions
}

/// A bound's value for a person. **Direction: that of the bound**, so that the printed number
/// claims no more than the computed one.
pub fn value(bound: &Bound) -> String {
    match bound.kind {
        Side::Upper => round_up_significant(bound.value, DIGITS),
        Side::Lower => round_down_significant(bound.value, DIGITS),
    }
}

/// "ε ≤ 0.13755 (displacement-any-pld, rigorous) at δ = 1e-8, replace-one adjacency"
pub fn headline(outcome: &Outcome) -> String {
    let quantity = outcome.quantity();
    format!(
        "{} ≤ {} ({}, {}) at {} = {}, {} adjacency",
        quantity.symbol(),
        value(&outcome.best),
        outcome.best.id,
        outcome.best.standing.word(outcome.best.kind),
        quantity.given().symbol(),
        shown::given(outcome.given()),
        outcome.question().adjacency().word(),
    )
}

/// Returns a sentence about the best lower bound, if one is known.
pub fn lower_line(outcome: &Outcome) -> Option<String> {
    let lower = outcome.lower.as_ref()?;
    let judgement = if outcome.is_refuted() {
        "so the bound above is wrong for this question"
    } else {
        "no analysis can go below it"
    };
    Some(format!("{} ≥ {} ({}): {judgement}", outcome.quantity().symbol(), value(lower), lower.id))
}

/// With a capital letter.
pub fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Given;
    use crate::outcome::tests::outcome;

    fn asked(line: &str, varied: Option<Parameter>) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let given = Given::of_pairs(words.chunks(2).map(|pair| (pair[0], pair[1]))).unwrap();
        question(&given.question().unwrap(), varied)
    }

    #[test]
    fn questions_read_like_sentences() {
        assert_eq!(
            asked("clients 1e6 sampled 1000 local-epsilon 2 rounds 1e5", None),
            "100,000 rounds, in each of which 1,000 of 1,000,000 clients participate with one report each, \
             randomized by any mechanism with local ε 2"
        );
        assert_eq!(
            asked("clients 1 randomizer krr categories 16 local-epsilon 1", None),
            "one round, in which the only client participates with one report, randomized by 16-ary \
             randomized response with local ε 1"
        );
        assert_eq!(
            asked("clients 60000 check-in 0.1 drop-out 0.5 randomizer gaussian sigma 5", Some(Parameter::Sigma)),
            "one round, in which each of 60,000 clients checks in at rate 0.1 (drop-out 0.5) with one report, \
             randomized by Gaussian noise of σ clipping norms"
        );
        // 1 is what papers call the sensitivity: σ over C is twice theirs.
        assert_eq!(
            asked("clients 100 randomizer gaussian sigma 9.48 sensitivity 1", None),
            "one round, in which all 100 clients participate with one report each, randomized by Gaussian \
             noise of σ = 18.96 clipping norms"
        );
    }

    #[test]
    fn printed_bounds_claim_no_more_than_computed_ones() {
        let outcome = outcome(1.000_001, Standing::Rigorous, 0.123_459_9);
        assert_eq!(headline(&outcome), "ε ≤ 1.0001 (guess, rigorous) at δ = 0.0625, replace-one adjacency");
        assert_eq!(lower_line(&outcome).unwrap(), "ε ≥ 0.12345 (floor): no analysis can go below it");
    }

    #[test]
    fn an_answer_below_a_lower_bound_is_called_wrong() {
        let line = lower_line(&outcome(0.1, Standing::Asymptotic, 0.5)).unwrap();
        assert!(line.contains("is wrong for this question"), "{line}");
    }
}
