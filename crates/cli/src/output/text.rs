//! The answer for a person: the number first, then what it is about and what it assumes, then the details.

use super::{table, width, words};
use crate::outcome::Outcome;
use anyhow::Result;
use shuffledp_accounting::bound::{Bound, Kind};
use shuffledp_report::number::{nearest, round_down_significant, round_up_significant};

/// Significant digits of a printed bound.
const DIGITS: usize = 5;

/// A bound's value for a person. **Direction: that of the bound**, so that the printed number claims no more than the
/// computed one.
pub(super) fn value(bound: &Bound) -> String {
    match bound.kind {
        Kind::Upper => round_up_significant(bound.value, DIGITS),
        Kind::Lower => round_down_significant(bound.value, DIGITS),
    }
}

/// "ε ≤ 0.13755 (displacement-any-pld, rigorous) at δ = 1e-8, replace-one adjacency"
pub(crate) fn headline(outcome: &Outcome) -> String {
    let quantity = outcome.quantity();
    format!(
        "{} ≤ {} ({}, {}) at {} = {}, replace-one adjacency",
        quantity.symbol(),
        value(&outcome.answer),
        outcome.answer.id,
        outcome.answer.standing.word(outcome.answer.kind),
        quantity.given().symbol(),
        nearest(outcome.given(), 15),
    )
}

/// What no analysis can go below, if that is known.
pub(super) fn lower_line(outcome: &Outcome) -> Option<String> {
    let lower = outcome.lower.as_ref()?;
    let judgement = if outcome.is_refuted() {
        "so the bound above is wrong for this question"
    } else {
        "no analysis can go below it"
    };
    Some(format!("{} ≥ {} ({}): {judgement}", outcome.quantity().symbol(), value(lower), lower.id))
}

/// The whole answer; `all` adds every bound and the reasons of those that do not apply.
pub(crate) fn answer(outcome: &Outcome, all: bool) -> Result<String> {
    let mut text = format!("{}\n", headline(outcome));
    if let Some(line) = lower_line(outcome) {
        text += &format!("{line}\n");
    }
    text += &format!("Asked: {}.\n", words::question(&outcome.question, None));
    text += &format!("Assumes: {}.\n", words::assumptions(&outcome.question, None));
    if all {
        text += &format!("\n{}", table::bounds(outcome)?.to_text(Some(width())));
        if !outcome.survey.not_applicable.is_empty() {
            text += &format!("\n{}", table::silent(&outcome.survey.not_applicable)?.to_text(Some(width())));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::outcome;
    use shuffledp_accounting::bound::Standing;

    #[test]
    fn printed_bounds_claim_no_more_than_computed_ones() {
        let text = answer(&outcome(1.000_001, Standing::Rigorous, 0.123_459_9), false).unwrap();
        assert!(text.starts_with("ε ≤ 1.0001 (guess, rigorous) at δ = 0.25, replace-one adjacency\n"), "{text}");
        assert!(text.contains("ε ≥ 0.12345 (floor): no analysis can go below it\n"), "{text}");
    }

    #[test]
    fn an_answer_below_a_lower_bound_is_called_wrong() {
        let text = answer(&outcome(0.1, Standing::Asymptotic, 0.5), false).unwrap();
        assert!(text.contains("(guess, asymptotic)") && text.contains("is wrong for this question"), "{text}");
    }
}
