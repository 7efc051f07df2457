//! The JSON contract: one form of an answer, for every front end. Field names are added, never
//! renamed.
//!
//! `null` is never a number: an unbounded ε is the string `"inf"`, and what does not exist (an
//! order, a lower bound) is left out.

use crate::described::Described;
use crate::outcome::Outcome;
use crate::quantity::Quantity;
use crate::{VERSION, words};
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{About, Bound, Kind};
use shuffledp_accounting::catalogue::Silent;

/// An answer as JSON.
pub struct Document<'a> {
    /// The answer.
    pub outcome: &'a Outcome,
    /// With every bound, and why the others do not apply.
    pub all: bool,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Outcome { survey, best, lower, .. } = self.outcome;
        let (question, quantity) = (self.outcome.question(), self.outcome.quantity());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", question.adjacency().word())?;
        map.serialize_entry("rounds", &question.rounds())?;
        map.serialize_entry(quantity.given().name(), &Number(self.outcome.given()))?;
        map.serialize_entry(quantity.word(), &Number(best.value))?;
        map.serialize_entry("method", best.id)?;
        map.serialize_entry("standing", best.standing.word(best.kind))?;
        if let Some(lower) = lower {
            map.serialize_entry(&format!("{}_lower", quantity.word()), &Number(lower.value))?;
            map.serialize_entry("lower_method", lower.id)?;
        }
        map.serialize_entry("question", &Described::of(question))?;
        map.serialize_entry("assumptions", &words::assumptions(question, None))?;
        map.serialize_entry("warnings", &warnings(self.outcome))?;
        map.serialize_entry("version", VERSION)?;
        if self.all {
            let bounds: Vec<_> = survey.bounds.iter().map(|bound| BoundJson { bound, quantity }).collect();
            map.serialize_entry("bounds", &bounds)?;
            map.serialize_entry("not_applicable", &survey.not_applicable.iter().map(SilentJson).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// The warnings of an outcome, in words.
pub fn warnings(outcome: &Outcome) -> Vec<String> {
    outcome.warnings().into_iter().map(|warning| warning.words()).collect()
}

/// A bound as JSON.
struct BoundJson<'a> {
    bound: &'a Bound,
    quantity: Quantity,
}

impl Serialize for BoundJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bound { value, id, name, kind, standing, order, citation, note } = self.bound;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("kind", side(*kind))?;
        map.serialize_entry("standing", standing.word(*kind))?;
        map.serialize_entry(self.quantity.word(), &Number(*value))?;
        if let Some(order) = order {
            map.serialize_entry("order", &Number(*order))?;
        }
        map.serialize_entry("citation", citation)?;
        map.serialize_entry("note", note)?;
        map.serialize_entry("name", name)?;
        map.end()
    }
}

/// A method as JSON.
pub struct AboutJson<'a>(pub &'a About);

impl Serialize for AboutJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let About { id, name, kind, standing, citation, note } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("kind", side(*kind))?;
        map.serialize_entry("standing", standing.word(*kind))?;
        map.serialize_entry("citation", citation)?;
        map.serialize_entry("note", note)?;
        map.serialize_entry("name", name)?;
        map.end()
    }
}

/// "upper" or "lower".
pub fn side(kind: Kind) -> &'static str {
    match kind {
        Kind::Upper => "upper",
        Kind::Lower => "lower",
    }
}

/// A method that did not answer, as JSON.
pub struct SilentJson<'a>(pub &'a Silent);

impl Serialize for SilentJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("id", self.0.id)?;
        map.serialize_entry("reason", &self.0.reason)?;
        map.end()
    }
}

/// A number as the contract writes it: whole ones without a point, `+∞` as `"inf"`.
pub struct Number(pub f64);

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
    use crate::outcome::tests::outcome;
    use shuffledp_accounting::bound::Standing;

    #[test]
    fn numbers_are_never_null() {
        for (value, text) in [(f64::INFINITY, "\"inf\""), (28.0, "28"), (1.5, "1.5"), (1e-8, "1e-8"), (0.0, "0")] {
            assert_eq!(serde_json::to_string(&Number(value)).unwrap(), text);
        }
    }

    #[test]
    fn an_answer_is_written_by_contract() {
        let outcome = outcome(f64::INFINITY, Standing::Rigorous, 0.5);
        let expected = [
            r#"{"adjacency":"replace-one","rounds":3,"delta":0.0625,"epsilon":"inf","method":"guess","#,
            r#""standing":"rigorous","epsilon_lower":0.5,"lower_method":"floor","#,
            r#""question":{"clients":10,"randomizer":"any","local_epsilon":1,"rounds":3},"#,
            r#""assumptions":["an honest shuffler","10 honest clients","parameters fixed in advance"],"#,
            r#""warnings":["ε is infinite: this protocol has no privacy guarantee"],"#,
            &format!(r#""version":"{VERSION}","bounds":["#),
            r#"{"id":"guess","kind":"upper","standing":"rigorous","epsilon":"inf","citation":"","note":"","name":"a name"},"#,
            r#"{"id":"floor","kind":"lower","standing":"lower","epsilon":0.5,"citation":"","note":"","name":"a name"}],"#,
            r#""not_applicable":[]}"#,
        ];
        let written = serde_json::to_string(&Document { outcome: &outcome, all: true }).unwrap();
        assert_eq!(written, expected.concat());
    }
}
