//! The JSON contract. Field names are added, never renamed.
//!
//! `null` is never a number: an unbounded ε is the string `"inf"`, and what does not exist (an order, a lower bound) is left
//! out.

use crate::outcome::{Outcome, Quantity};
use anyhow::{Context, Result};
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{Bound, Kind};
use shuffledp_accounting::catalogue::Silent;

/// The `epsilon` or `delta` object as one line, with its newline.
pub(crate) fn document(outcome: &Outcome, all: bool) -> Result<String> {
    let mut text = serde_json::to_string(&Document { outcome, all }).context("cannot write JSON")?;
    text.push('\n');
    Ok(text)
}

struct Document<'a> {
    outcome: &'a Outcome,
    all: bool,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Outcome { question, survey, answer, lower, .. } = self.outcome;
        let quantity = self.outcome.quantity();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", "replace-one")?;
        map.serialize_entry("rounds", &question.rounds())?;
        map.serialize_entry(quantity.given().name(), &Number(self.outcome.given()))?;
        map.serialize_entry(quantity.word(), &Number(answer.value))?;
        map.serialize_entry("method", answer.id)?;
        map.serialize_entry("standing", answer.standing.word(answer.kind))?;
        if let Some(lower) = lower {
            map.serialize_entry(&format!("{}_lower", quantity.word()), &Number(lower.value))?;
            map.serialize_entry("lower_method", lower.id)?;
        }
        if self.all {
            let bounds: Vec<_> = survey.bounds.iter().map(|bound| Entry { bound, quantity }).collect();
            map.serialize_entry("bounds", &bounds)?;
            map.serialize_entry("not_applicable", &survey.not_applicable.iter().map(Reason).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

struct Entry<'a> {
    bound: &'a Bound,
    quantity: Quantity,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bound { value, id, kind, standing, order, citation, note, .. } = self.bound;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("kind", if *kind == Kind::Upper { "upper" } else { "lower" })?;
        map.serialize_entry("standing", standing.word(*kind))?;
        map.serialize_entry(self.quantity.word(), &Number(*value))?;
        if let Some(order) = order {
            map.serialize_entry("order", &Number(*order))?;
        }
        map.serialize_entry("citation", citation)?;
        map.serialize_entry("note", note)?;
        map.end()
    }
}

pub(super) struct Reason<'a>(pub(super) &'a Silent);

impl Serialize for Reason<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("id", self.0.id)?;
        map.serialize_entry("reason", &self.0.reason)?;
        map.end()
    }
}

/// A number as the contract writes it: whole ones without a point, `+∞` as `"inf"`.
pub(super) struct Number(pub(super) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Up to 2^53 every whole f64 is the integer it looks like.
        if self.0.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&self.0) {
            serializer.serialize_u64(self.0 as u64)
        } else if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str("inf")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::bound::Standing;

    #[test]
    fn numbers_are_never_null() {
        for (value, text) in [(f64::INFINITY, "\"inf\""), (28.0, "28"), (1.5, "1.5"), (1e-8, "1e-8"), (0.0, "0")] {
            assert_eq!(serde_json::to_string(&Number(value)).unwrap(), text);
        }
    }

    #[test]
    fn lower_bounds_and_infinite_answers_are_written_by_contract() {
        let outcome = crate::outcome::tests::outcome(f64::INFINITY, Standing::Rigorous, 0.5);
        assert_eq!(
            document(&outcome, true).unwrap(),
            concat!(
                r#"{"adjacency":"replace-one","rounds":3,"delta":0.25,"epsilon":"inf","method":"guess","#,
                r#""standing":"rigorous","epsilon_lower":0.5,"lower_method":"floor","bounds":["#,
                r#"{"id":"guess","kind":"upper","standing":"rigorous","epsilon":"inf","citation":"","note":""},"#,
                r#"{"id":"floor","kind":"lower","standing":"lower","epsilon":0.5,"citation":"","note":""}],"#,
                r#""not_applicable":[]}"#,
                "\n"
            )
        );
    }
}
