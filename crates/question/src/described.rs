//! A question as the (parameter, value) pairs that ask it again: for records, and for the command
//! that a page carries.

use crate::json::Number;
use crate::outcome::Asked;
use crate::parameter::Parameter;
use crate::quantity::{Quantity, given_number};
use crate::randomizers::RandomizerRow;
use crate::refusal::Spelling;
use crate::value::Value;
use crate::words::STANDINGS;
use serde::{Serialize, Serializer};
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::Options;
use shuffledp_accounting::scheme::{Adjacency, Participation, Question};

/// The pairs that make this question. What holds unless told is left out.
pub fn pairs_of(question: &Question) -> Vec<(Parameter, Value)> {
    let scheme = question.scheme();
    let mut pairs = vec![(Parameter::Clients, Value::Count(scheme.clients()))];
    match scheme.participation() {
        Participation::Everyone => {}
        Participation::FixedSize { sampled } => pairs.push((Parameter::Sampled, Value::Count(sampled))),
        Participation::CheckIn { rate, drop_out } => {
            pairs.push((Parameter::CheckIn, Value::Real(rate)));
            if drop_out > 0.0 {
                pairs.push((Parameter::DropOut, Value::Real(drop_out)));
            }
        }
    }
    let (row, values) = RandomizerRow::of(question.randomizer());
    pairs.push((Parameter::Randomizer, Value::Word(row.name.to_owned())));
    pairs.extend(values);
    pairs.push((Parameter::Rounds, Value::Count(question.rounds())));
    if question.adjacency() != Adjacency::ReplaceOne {
        pairs.push((Parameter::Adjacency, Value::Word(question.adjacency().word().to_owned())));
    }
    pairs
}

/// A question as JSON: its parameters by name, with `_` as in Python.
#[derive(Debug, Clone, PartialEq)]
pub struct Described(Vec<(Parameter, Value)>);

impl Described {
    /// Of a question.
    pub fn of(question: &Question) -> Self {
        Self(pairs_of(question))
    }
}

impl Serialize for Described {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(self.0.iter().map(|(parameter, value)| (Spelling::Keys.name(*parameter), ValueJson(value))))
    }
}

struct ValueJson<'a>(&'a Value);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Real(value) => Number(*value).serialize(serializer),
            Value::Word(word) => serializer.serialize_str(word),
            Value::Points(points) => serializer.collect_seq(points.points()),
            Value::Randomizer(spec) => spec.serialize(serializer),
        }
    }
}

/// The pairs that make what was asked: the question, the number that it is asked at, and which
/// bounds may answer.
fn pairs_of_asked(asked: &Asked) -> Vec<(Parameter, Value)> {
    let mut pairs = pairs_of(&asked.question);
    pairs.push((Quantity::of(asked.target).given(), Value::Real(given_number(asked.target))));
    if asked.widest != Standing::Rigorous {
        let word = STANDINGS.iter().find(|(standing, _, _)| *standing == asked.widest).map_or("", |(_, word, _)| word);
        pairs.push((Parameter::Standing, Value::Word(word.to_owned())));
    }
    if asked.options != Options::default() {
        pairs.push((Parameter::MaxOrder, Value::Real(asked.options.max_order)));
    }
    pairs
}

/// Pairs as flags: `--clients 1000 …`. A profile is the name of a file.
pub fn flags_of(pairs: &[(Parameter, Value)]) -> String {
    let flag = |(parameter, value): &(Parameter, Value)| {
        let value = if *parameter == Parameter::Profile { "profile.csv".to_owned() } else { value.typed() };
        format!("--{} {value}", parameter.name())
    };
    pairs.iter().map(flag).collect::<Vec<_>>().join(" ")
}

/// Pairs as keyword arguments of Python: `clients=1000, …`. A profile is the list of its points.
pub fn keywords_of(pairs: &[(Parameter, Value)]) -> String {
    let keyword = |(parameter, value): &(Parameter, Value)| match value {
        Value::Points(points) => {
            let points: Vec<String> =
                points.points().map(|(epsilon, delta)| format!("({epsilon:?}, {delta:?})")).collect();
            format!("{}=[{}]", Spelling::Keywords.name(*parameter), points.join(", "))
        }
        _ => Spelling::Keywords.given(*parameter, &value.typed()),
    };
    pairs.iter().map(keyword).collect::<Vec<_>>().join(", ")
}

/// The command that asks it again: `shuffledp epsilon --clients 1000 …`.
pub fn command_of(asked: &Asked) -> String {
    let command = match Quantity::of(asked.target) {
        // One point of a curve: there is no command of its own for it.
        Quantity::Rdp => "plot --quantity rdp",
        quantity => quantity.word(),
    };
    format!("shuffledp {command} {}", flags_of(&pairs_of_asked(asked)))
}

/// The same in Python: `shuffledp.explain(clients=1000, …)`.
pub fn python_of(asked: &Asked) -> String {
    format!("shuffledp.explain({})", keywords_of(&pairs_of_asked(asked)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Given;

    #[test]
    fn the_pairs_of_a_question_ask_it_again() {
        for line in [
            "clients 1e6 sampled 1000 local-epsilon 2 rounds 1e5 delta 1e-8",
            "clients 60000 check-in 0.1 drop-out 0.05 randomizer gaussian sigma 5.25 rounds 3 delta 1e-5",
            "clients 100 randomizer krr categories 7 local-epsilon 0.1 delta 0.001 standing flawed max-order 30",
            "clients 100 randomizer approximate local-epsilon 0.1 local-delta 1e-13 delta 0.001",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let given = Given::of_pairs(words.chunks(2).map(|pair| (pair[0], pair[1]))).unwrap();
            let question = given.question().unwrap();
            let mut again = Given::new();
            pairs_of(&question).into_iter().for_each(|(parameter, value)| again.set(parameter, value));
            assert_eq!(again.question().unwrap(), question);
            let asked = Asked {
                question,
                target: given.target(Quantity::Epsilon).unwrap(),
                options: given.options().unwrap(),
                widest: given.standing().unwrap(),
            };
            let command = command_of(&asked);
            let typed: Vec<&str> = command.split(' ').skip(2).collect();
            let typed = typed.chunks(2).map(|pair| (pair[0].trim_start_matches('-'), pair[1]));
            let again = Given::of_pairs(typed).unwrap();
            assert_eq!(again.question().unwrap(), question, "{command}");
            assert_eq!(again.options(), given.options());
            assert_eq!(again.standing(), given.standing());
        }
    }
}
