//! The same question, a little different: half the clients, twice the rounds, a shuffler that
//! colludes, twice the δ.

use crate::outcome::{Asked, Outcome};
use crate::quantity::Quantity;
use crate::statement::local_guarantee;
use crate::words::value;
use shuffledp_accounting::bound::{Bound, Kind};
use shuffledp_accounting::catalogue::{self, Method, Target};
use shuffledp_accounting::scheme::{MAX_COUNT, Participation, Question, Round, Scheme};

/// A question that differs in one thing, and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The change to the question.
    pub change: &'static str,
    /// The answer, in words.
    pub answer: String,
    /// A remark on the change.
    pub note: String,
}

/// Asks variants of the question: the same round with one thing changed. Variants that are not
/// valid questions are left out.
pub fn what_if(outcome: &Outcome) -> Vec<WhatIf> {
    let asked = &outcome.asked;
    let question = &asked.question;
    let changed: [(&'static str, Option<Asked>); 3] = [
        ("half the clients", half_the_clients(question).map(|question| Asked { question, ..*asked })),
        ("twice the rounds", with_rounds(question, 2).map(|question| Asked { question, ..*asked })),
        ("twice the δ", twice_the_delta(asked.target).map(|target| Asked { target, ..*asked })),
    ];
    let mut found: Vec<WhatIf> = changed
        .into_iter()
        .filter_map(|(change, asked)| {
            let bound = best(asked?)?;
            let answer = format!("{} ≤ {}", outcome.quantity().symbol(), value(&bound));
            Some(WhatIf { change, answer, note: bound.id.to_owned() })
        })
        .collect();
    let (answer, note) = local_guarantee(question);
    found.push(WhatIf { change: "the shuffler colludes", answer, note });
    found
}

/// The best upper bound of sufficient standing.
fn best(asked: Asked) -> Option<Bound> {
    let may_answer = |method: &&'static dyn Method| {
        let about = catalogue::about(*method, asked.target);
        about.kind == Kind::Upper && about.standing <= asked.widest
    };
    asked.answer_among(catalogue::methods().filter(may_answer)).ok().map(|outcome| outcome.best)
}

fn half_the_clients(question: &Question) -> Option<Question> {
    let (scheme, clients) = (question.scheme(), question.scheme().clients() / 2);
    let participation = match scheme.participation() {
        // As many participate as before, if there are so many.
        Participation::FixedSize { sampled } if sampled > clients => return None,
        other => other,
    };
    let round = Round { scheme: Scheme::new(clients, participation).ok()?, ..*question.round() };
    Question::new(round, question.rounds()).ok()?.with_adjacency(question.adjacency()).ok()
}

fn with_rounds(question: &Question, factor: u64) -> Option<Question> {
    let rounds = question.rounds().checked_mul(factor).filter(|rounds| *rounds <= MAX_COUNT)?;
    Question::new(*question.round(), rounds).ok()?.with_adjacency(question.adjacency()).ok()
}

fn twice_the_delta(target: Target) -> Option<Target> {
    match (Quantity::of(target), target) {
        (_, Target::EpsilonAt { delta }) if delta < 0.5 => Some(Target::EpsilonAt { delta: 2.0 * delta }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::scheme::RandomizerSpec;

    #[test]
    fn each_change_moves_the_answer_the_way_it_must() {
        let round =
            Round { scheme: Scheme::subsampled(10_000, 100).unwrap(), randomizer: RandomizerSpec::any(1.0).unwrap() };
        let asked = Asked::rigorous(Question::new(round, 100).unwrap(), Target::EpsilonAt { delta: 1e-6 });
        let outcome = asked.answer().unwrap();
        let found = what_if(&outcome);
        let changes: Vec<&str> = found.iter().map(|what| what.change).collect();
        assert_eq!(changes, ["half the clients", "twice the rounds", "twice the δ", "the shuffler colludes"]);
        let epsilon = |i: usize| found[i].answer.trim_start_matches("ε ≤ ").parse::<f64>().unwrap();
        let now = outcome.best.value;
        assert!(epsilon(0) > 1.5 * now && epsilon(1) > 1.3 * now && epsilon(2) < now, "{found:?}");
        // A hundred reports of ε0 = 1.
        assert!((epsilon(3) - 100.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn what_makes_no_question_is_left_out() {
        let round =
            Round { scheme: Scheme::subsampled(100, 80).unwrap(), randomizer: RandomizerSpec::any(1.0).unwrap() };
        let asked = Asked::rigorous(Question::new(round, 1).unwrap(), Target::EpsilonAt { delta: 0.6 });
        let changes: Vec<&str> = what_if(&asked.answer().unwrap()).iter().map(|what| what.change).collect();
        assert_eq!(changes, ["twice the rounds", "the shuffler colludes"]);
    }
}
