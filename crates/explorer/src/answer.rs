//! A request of the page, and the reply.

use crate::error_panel::error_panel;
use crate::tables::tables;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use shuffledp_accounting::bound::Bound;
use shuffledp_accounting::calibrate::{Calibration, Unknown, calibrate};
use shuffledp_accounting::catalogue::{self, Method};
use shuffledp_question::calibration::{self, Impossible, SolutionJson, Wanted};
use shuffledp_question::described::{command_of, flags_of, keywords_of, python_of};
use shuffledp_question::json::{Document, Number, side};
use shuffledp_question::statement::Statement;
use shuffledp_question::words::{self, capitalised};
use shuffledp_question::{Asked, Given, NoAnswer, Outcome, Quantity, Refusal, Spelling, given_number};
use std::collections::BTreeMap;

/// Parameters by name, each as it was typed.
type Typed = BTreeMap<String, String>;

/// A request.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// The tables that the form is made from.
    Tables,
    /// ε or δ of a question.
    Answer { given: Typed, quantity: String },
    /// The value of one parameter that meets a target.
    Solve { given: Typed, solve: String },
    /// One point of a curve, by these methods.
    Point { given: Typed, quantity: String, methods: Vec<String> },
}

/// Why there is no answer.
enum Failure {
    /// The request is none that the page makes.
    Request(String),
    /// The values do not make a question, or nothing answers it.
    NoAnswer(NoAnswer),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::NoAnswer(NoAnswer::Refused(refusal))
    }
}

impl From<NoAnswer> for Failure {
    fn from(reason: NoAnswer) -> Self {
        Self::NoAnswer(reason)
    }
}

/// Answers a request. Whatever goes wrong is a reply too: `{"refused": "…"}`.
pub fn answer(request: &str) -> String {
    let reply = serde_json::from_str(request)
        .map_err(|error| Failure::Request(error.to_string()))
        .and_then(reply)
        .unwrap_or_else(|failure| match failure {
            Failure::Request(text) => json!({ "refused": text }),
            Failure::NoAnswer(reason) => json!({ "refused": capitalised(&reason.words(Spelling::Keys)) }),
        });
    reply.to_string()
}

fn reply(request: Request) -> Result<Json, Failure> {
    match request {
        Request::Tables => Ok(tables()),
        Request::Answer { given, quantity } => {
            let outcome = asked(&read(&given)?, &quantity)?.answer()?;
            let mut reply = shown(&outcome);
            reply["answer"] = json!(Document { outcome: &outcome, all: true });
            reply["headline"] = words::headline(&outcome).into();
            reply["command"] = command_of(&outcome.asked).into();
            reply["python"] = python_of(&outcome.asked).into();
            Ok(reply)
        }
        Request::Solve { given, solve } => solved(&read(&given)?, &solve),
        Request::Point { given, quantity, methods } => {
            let asked = asked(&read(&given)?, &quantity)?;
            let methods: Vec<&'static dyn Method> = methods.iter().filter_map(|id| catalogue::method(id)).collect();
            let survey = catalogue::survey_of(methods.into_iter(), &asked.question, asked.target, &asked.options)
                .map_err(|error| Failure::from(Refusal::from(error)))?;
            Ok(json!({ "values": survey.bounds.iter().map(value).collect::<BTreeMap<_, _>>() }))
        }
    }
}

fn read(given: &Typed) -> Result<Given, Failure> {
    Ok(Given::of_pairs(given.iter().map(|(name, text)| (name.as_str(), text.as_str())))?)
}

fn asked(given: &Given, quantity: &str) -> Result<Asked, Failure> {
    let quantity = match quantity {
        "epsilon" => Quantity::Epsilon,
        "delta" => Quantity::Delta,
        other => return Err(Failure::Request(format!("no quantity '{other}'"))),
    };
    Ok(Asked {
        options: given.options()?,
        widest: given.standing()?,
        question: given.question()?,
        target: given.target(quantity)?,
    })
}

fn solved(given: &Given, solve: &str) -> Result<Json, Failure> {
    let unknown = Unknown::ALL.into_iter().find(|unknown| unknown.word() == solve);
    let unknown = unknown.ok_or_else(|| Failure::Request(format!("'{solve}' cannot be solved for")))?;
    let wanted = Wanted::of(unknown, given)?;
    let question = given.question_without(unknown)?;
    let pairs = wanted.pairs(&question);
    let command = format!("shuffledp calibrate --solve {solve} {}", flags_of(&pairs));
    let python = format!("shuffledp.calibrate(solve='{}', {})", solve.replace('-', "_"), keywords_of(&pairs));
    match calibrate(&question, unknown, &wanted.goal).map_err(|error| Failure::from(Refusal::from(error)))? {
        Calibration::Solved(solved) => {
            let solution = wanted.found(*solved, true)?;
            let mut reply = shown(&solution.outcome);
            reply["answer"] = json!(SolutionJson(&solution));
            // The bounds of the question with the solution in place.
            let bounds = json!(Document { outcome: &solution.outcome, all: true });
            for field in ["bounds", "not_applicable"] {
                reply[field] = bounds[field].clone();
            }
            reply["claim"] = calibration::claim(&solution).into();
            reply["solved"] = json!({
                "name": solve,
                "value": calibration::exactly(solution.solved.value),
                "beyond": calibration::beyond(&solution),
            });
            reply["headline"] = words::headline(&solution.outcome).into();
            reply["command"] = command.into();
            reply["python"] = python.into();
            Ok(reply)
        }
        Calibration::Impossible { best_epsilon, at } => Ok(json!({
            "refused": capitalised(&calibration::impossible(&wanted, best_epsilon, at, Spelling::Keys)),
            "answer": Impossible { wanted: &wanted, best_epsilon, at },
            "command": command,
            "python": python,
        })),
    }
}

fn value(bound: &Bound) -> (&'static str, Json) {
    (bound.id, json!(Number(bound.value)))
}

/// The answer in words. Bounds are rounded here, each in its own direction, so that the page never
/// rounds.
fn shown(outcome: &Outcome) -> Json {
    let bounds = outcome.survey.bounds.iter().map(|bound| {
        json!({
            "id": bound.id,
            "name": bound.name,
            "side": side(bound.kind),
            "standing": bound.standing.word(bound.kind),
            "value": Number(bound.value),
            "shown": words::value(bound),
            "citation": bound.citation,
            "note": bound.note,
        })
    });
    json!({
        "symbol": outcome.quantity().symbol(),
        "at": format!("{} = {}", outcome.quantity().given().symbol(),
            shuffledp_number::shown::given(given_number(outcome.asked.target))),
        "upper": words::value(&outcome.best),
        "method": { "id": outcome.best.id, "name": outcome.best.name, "citation": outcome.best.citation },
        "standing": outcome.best.standing.word(outcome.best.kind),
        "lower": outcome.lower.as_ref().map(words::value),
        "lower_line": words::lower_line(outcome),
        "asked": capitalised(&words::question(outcome.question(), None)),
        "assumptions": words::assumptions(outcome.question(), None),
        "collusion": Statement::of(outcome).collusion,
        "warnings": outcome.warnings().iter().map(|warning| capitalised(&warning.words())).collect::<Vec<_>>(),
        "each": bounds.collect::<Vec<_>>(),
        "error": error_panel(outcome.question()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: &Json) -> Json {
        serde_json::from_str(&answer(&request.to_string())).unwrap()
    }

    #[test]
    fn an_answer_holds_the_object_of_the_command_line_and_the_ways_to_ask_again() {
        let given = json!({ "clients": "1e4", "local-epsilon": "1", "rounds": "10", "delta": "1e-6" });
        let reply = ask(&json!({ "ask": "answer", "given": given, "quantity": "epsilon" }));
        let epsilon = reply["answer"]["epsilon"].as_f64().unwrap();
        let upper: f64 = reply["upper"].as_str().unwrap().parse().unwrap();
        let lower: f64 = reply["lower"].as_str().unwrap().parse().unwrap();
        assert!(upper >= epsilon && upper < 1.0001 * epsilon, "{reply}");
        assert!(lower <= reply["answer"]["epsilon_lower"].as_f64().unwrap(), "{reply}");
        assert_eq!(
            reply["command"],
            "shuffledp epsilon --clients 10000 --randomizer any --local-epsilon 1 --rounds 10 --delta 1e-6"
        );
        assert_eq!(
            reply["python"],
            "shuffledp.explain(clients=10000, randomizer='any', local_epsilon=1, rounds=10, delta=1e-6)"
        );
        assert!(reply["collusion"].as_str().unwrap().contains("ε ≤ 10"), "{reply}");
    }

    #[test]
    fn a_point_has_the_values_of_the_methods_that_were_named() {
        let given = json!({ "clients": "1e4", "local-epsilon": "1", "epsilon": "0.05" });
        let methods = ["any-ldp-pld", "displacement-any-pld"];
        let reply = ask(&json!({ "ask": "point", "given": given, "quantity": "delta", "methods": methods }));
        let values = reply["values"].as_object().unwrap();
        assert_eq!(values.keys().collect::<Vec<_>>(), methods, "{reply}");
        assert!(values.values().all(|value| value.as_f64().is_some_and(|delta| delta < 0.01)), "{reply}");
    }

    #[test]
    fn a_parameter_is_solved_for_and_a_target_may_be_out_of_reach() {
        let given = json!({ "clients": "1e4", "local-epsilon": "1", "delta": "1e-6", "target-epsilon": "1" });
        let reply = ask(&json!({ "ask": "solve", "given": given, "solve": "rounds" }));
        let rounds = reply["answer"]["value"].as_u64().unwrap();
        assert_eq!(reply["solved"]["value"], rounds.to_string());
        assert!(reply["answer"]["epsilon"].as_f64().unwrap() <= 1.0, "{reply}");
        assert_eq!(
            reply["command"],
            "shuffledp calibrate --solve rounds --target-epsilon 1 --delta 1e-6 --clients 10000 --randomizer any \
             --local-epsilon 1"
        );
        let given = json!({ "clients": "100", "local-epsilon": "8", "delta": "1e-6", "target-epsilon": "1e-3" });
        let reply = ask(&json!({ "ask": "solve", "given": given, "solve": "rounds" }));
        assert!(reply["refused"].as_str().unwrap().starts_with("No rounds meets"), "{reply}");
        assert!(reply["answer"]["best_epsilon"].as_f64().unwrap() > 1e-3, "{reply}");
    }

    #[test]
    fn what_is_no_question_is_refused_in_words() {
        let refused = |request: Json| ask(&request)["refused"].as_str().unwrap().to_owned();
        let given = json!({ "clients": "ten", "delta": "1e-6" });
        assert!(refused(json!({ "ask": "answer", "given": given, "quantity": "epsilon" })).contains("ten"));
        let given = json!({ "clients": "10", "local-epsilon": "1" });
        let words = refused(json!({ "ask": "answer", "given": given, "quantity": "epsilon" }));
        assert!(words.starts_with("Delta is missing"), "{words}");
        assert!(refused(json!({ "ask": "the time" })).contains("unknown variant"));
        assert!(refused(json!({ "ask": "solve", "given": {}, "solve": "delta" })).contains("cannot be solved for"));
    }

    #[test]
    fn the_tables_name_everything_once() {
        let tables = ask(&json!({ "ask": "tables" }));
        assert_eq!(tables["parameters"].as_array().unwrap().len(), 21);
        assert_eq!(tables["randomizers"].as_array().unwrap().len(), 18);
        assert_eq!(tables["methods"].as_array().unwrap().len(), catalogue::methods().count());
    }
}
