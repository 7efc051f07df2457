//! The JSON of a sweep. Field names are added, never renamed.

use crate::output::text::json_line;
use crate::sweep::{Answered, Swept};
use anyhow::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{Bound, Standing};
use shuffledp_question::described::Described;
use shuffledp_question::json::{AboutJson, Number, SilentJson};
use shuffledp_question::{VERSION, given_number, words};

/// All points as one line, with its newline.
pub(crate) fn document(swept: &Swept) -> Result<String> {
    json_line(&Document(swept))
}

struct Document<'a>(&'a Swept);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let swept = self.0;
        let quantity = swept.quantity();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", swept.first().question.adjacency().word())?;
        map.serialize_entry("quantity", quantity.word())?;
        map.serialize_entry("sweep", swept.sweep.parameter.name())?;
        if swept.sweep.parameter != quantity.given() {
            map.serialize_entry(quantity.given().name(), &Number(given_number(swept.first().target)))?;
        }
        let points: Vec<_> = swept.points.iter().map(|point| Point { point, widest: swept.widest }).collect();
        map.serialize_entry("points", &points)?;
        map.serialize_entry("bounds", &swept.curves.iter().map(|curve| AboutJson(&curve.about)).collect::<Vec<_>>())?;
        map.serialize_entry("not_applicable", &swept.silent().into_iter().map(SilentJson).collect::<Vec<_>>())?;
        let question = &swept.first().question;
        map.serialize_entry("question", &Described::of(question))?;
        map.serialize_entry("assumptions", &words::assumptions(question, Some(swept.sweep.parameter)))?;
        map.serialize_entry("version", VERSION)?;
        map.end()
    }
}

struct Point<'a> {
    point: &'a Answered,
    widest: Standing,
}

impl Serialize for Point<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("x", &Number(self.point.x))?;
        if let Some(answer) = self.point.answer(self.widest) {
            map.serialize_entry("value", &Number(answer.value))?;
            map.serialize_entry("method", answer.id)?;
            map.serialize_entry("standing", answer.standing.word(answer.kind))?;
        }
        map.serialize_entry("bounds", &self.point.survey.bounds.iter().map(Value).collect::<Vec<_>>())?;
        map.end()
    }
}

/// A bound at one point: what does not change from point to point is said once.
struct Value<'a>(&'a Bound);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.0.id)?;
        map.serialize_entry("value", &Number(self.0.value))?;
        if let Some(order) = self.0.order {
            map.serialize_entry("order", &Number(order))?;
        }
        map.end()
    }
}
