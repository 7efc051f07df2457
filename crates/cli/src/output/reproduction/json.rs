//! The JSON of reproduced items. Field names are added, never renamed.

use crate::output::text::json_line;
use crate::reproduce::compute::{Computed, Curve};
use crate::reproduce::item::Role;
use crate::reproduce::judge::{Checked, Judged, TruthOf};
use crate::reproduce::library::Library;
use crate::reproduce::runs::Runs;
use anyhow::Result;
use serde_json::{Map, Value, json};
use shuffledp_question::VERSION;
use shuffledp_question::json::{Number, side};

/// All items as one line, without their curves.
pub(crate) fn document(judged: &[Judged<'_>]) -> Result<String> {
    let items = judged.iter().map(item).collect::<Result<Vec<_>>>()?;
    json_line(&json!({ "items": items, "version": VERSION }))
}

/// One item as one line, with every number of its curves.
pub(crate) fn item_document(judged: &Judged<'_>) -> Result<String> {
    let mut object = item(judged)?;
    let panels = judged.reproduced.panels.iter().map(panel).collect::<Result<Vec<_>>>()?;
    object.insert("panels".to_owned(), panels.into());
    object.insert("version".to_owned(), VERSION.into());
    json_line(&object)
}

/// The names of all items.
pub(crate) fn list_document(library: &Library, runs: &Runs) -> Result<String> {
    let items = library.items.iter().map(|item| {
        let stored: Vec<String> = item.presets().into_iter().map(|preset| runs.words(preset)).collect();
        json!({
            "id": item.id, "paper": item.paper, "figure": item.figure, "title": item.title, "where": item.place,
            "runs": stored,
        })
    });
    json_line(&json!({ "items": items.collect::<Vec<_>>(), "version": VERSION }))
}

fn item(judged: &Judged<'_>) -> Result<Map<String, Value>> {
    let item = judged.reproduced.item;
    let claims = judged.claims.iter().map(claim).collect::<Result<Vec<_>>>()?;
    let mut object = Map::new();
    let mut set = |name: &str, value: Value| object.insert(name.to_owned(), value);
    set("id", item.id.clone().into());
    set("paper", item.paper.clone().into());
    set("title", item.title.clone().into());
    set("where", item.place.clone().into());
    set("printed", item.printed.clone().into());
    set("chosen", item.chosen.clone().into());
    set("verdict", judged.verdict.words().into());
    set("reasons", judged.reasons.clone().into());
    set("runs", judged.runs.clone().into());
    set("claims", claims.into());
    Ok(object)
}

fn claim(checked: &Checked<'_>) -> Result<Value> {
    let claim = checked.claim;
    let mut object = Map::new();
    object.insert("says".to_owned(), claim.says.clone().into());
    object.insert("read".to_owned(), claim.read.words().into());
    let numbers = [
        ("paper", claim.paper),
        ("formula", checked.found),
        ("expected", claim.expected),
        ("corrected", checked.corrected.and_then(|(found, _)| found)),
        ("truth_lower", checked.truth.and_then(|truth| truth.lower)),
        ("truth_upper", checked.truth.map(|truth| truth.upper)),
    ];
    for (name, number) in numbers.into_iter().filter_map(|(name, number)| Some((name, number?))) {
        object.insert(name.to_owned(), serde_json::to_value(Number(number))?);
    }
    object.insert("formula_words".to_owned(), checked.formula.clone().into());
    if let Some(truth) = checked.truth {
        let of = match truth.of {
            TruthOf::Value => "value",
            TruthOf::Factor => "factor",
            TruthOf::Cost => "epsilon",
        };
        object.insert("truth_of".to_owned(), of.into());
    }
    object.insert("truth".to_owned(), checked.truth().into());
    object.insert("outcome".to_owned(), checked.outcome().into());
    if let Some(as_expected) = checked.as_expected {
        object.insert("as_expected".to_owned(), as_expected.into());
    }
    Ok(object.into())
}

fn panel(computed: &Computed<'_>) -> Result<Value> {
    let curves = computed.curves.iter().map(curve).collect::<Result<Vec<_>>>()?;
    let runs = computed.runs.iter().map(|(preset, curve)| json!({ "preset": preset, "accuracy": curve }));
    Ok(json!({
        "caption": computed.panel.caption, "sweep": computed.parameter.name(), "curves": curves,
        "runs": runs.collect::<Vec<_>>(),
    }))
}

fn curve(curve: &Curve) -> Result<Value> {
    let role = match curve.role {
        Role::Paper => "paper",
        Role::Baseline => "baseline",
        Role::Ours => "ours",
        Role::Lower => "lower",
    };
    let point = |(x, y): &(f64, f64)| Ok(json!([serde_json::to_value(Number(*x))?, serde_json::to_value(Number(*y))?]));
    let points = curve.points.iter().map(point).collect::<Result<Vec<_>>>()?;
    let silent = curve.silent.iter().map(|(x, reason)| json!({ "x": x, "reason": reason }));
    Ok(json!({
        "id": curve.id, "bound": curve.about.id, "role": role, "kind": side(curve.about.kind),
        "standing": curve.about.standing.word(curve.about.kind), "points": points,
        "not_applicable": silent.collect::<Vec<_>>(),
    }))
}
