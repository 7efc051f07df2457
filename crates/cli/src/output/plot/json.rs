//! The JSON of a sweep. Field names are added, never renamed.

use crate::outcome::given;
use crate::output::json::{Number, Reason};
use crate::sweep::{Answered, Swept};
use anyhow::{Context, Result};
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{About, Bound, Kind, Standing};

/// All points as one line, with its newline.
pub(crate) fn document(swept: &Swept) -> Result<String> {
    let mut text = serde_json::to_string(&Document(swept)).context("cannot write JSON")?;
    text.push('\n');
    Ok(text)
}

struct Document<'a>(&'a Swept);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let swept = self.0;
        let quantity = swept.quantity();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", "replace-one")?;
        map.serialize_entry("quantity", quantity.word())?;
        map.serialize_entry("sweep", swept.sweep.flag.name())?;
        if swept.sweep.flag != quantity.given() {
            map.serialize_entry(quantity.given().name(), &Number(given(swept.first().target)))?;
        }
        let points: Vec<_> = swept.points.iter().map(|point| Point { point, widest: swept.widest }).collect();
        map.serialize_entry("points", &points)?;
        map.serialize_entry("bounds", &swept.curves.iter().map(|curve| Source(&curve.about)).collect::<Vec<_>>())?;
        map.serialize_entry("not_applicable", &swept.silent().into_iter().map(Reason).collect::<Vec<_>>())?;
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
        map.serialize_entry("x", &Number(self.point.asked.x))?;
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

struct Source<'a>(&'a About);

impl Serialize for Source<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let About { id, kind, standing, citation, note, .. } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("kind", if *kind == Kind::Upper { "upper" } else { "lower" })?;
        map.serialize_entry("standing", standing.word(*kind))?;
        map.serialize_entry("citation", citation)?;
        map.serialize_entry("note", note)?;
        map.end()
    }
}
