//! The tables that the page makes its form from.

use serde_json::{Value as Json, json};
use shuffledp_accounting::calibrate::Unknown;
use shuffledp_accounting::catalogue;
use shuffledp_accounting::scheme::Adjacency;
use shuffledp_question::json::AboutJson;
use shuffledp_question::parameter::{Group, Kind, PARAMETERS, Row};
use shuffledp_question::randomizers::RANDOMIZERS;
use shuffledp_question::words::STANDINGS;
use shuffledp_question::{Parameter, VERSION};

/// Parameters, randomizers, methods and words, as JSON.
pub(crate) fn tables() -> Json {
    json!({
        "version": VERSION,
        "parameters": PARAMETERS.iter().map(parameter).collect::<Vec<_>>(),
        "randomizers": RANDOMIZERS.iter().map(|row| json!({
            "name": row.name,
            "sentence": row.sentence,
            "local": row.local,
            "parameters": names(row.parameters),
            "optional": names(row.optional),
        })).collect::<Vec<_>>(),
        "methods": catalogue::methods().map(|method| json!(AboutJson(&method.about()))).collect::<Vec<_>>(),
        "adjacencies": Adjacency::ALL.map(|adjacency| json!({
            "word": adjacency.word(),
            "sentence": adjacency.sentence(),
        })),
        "standings": STANDINGS.map(|(_, word, sentence)| json!({ "word": word, "sentence": sentence })),
        "solvable": Unknown::ALL.map(|unknown| json!({
            "name": unknown.word(),
            "largest": unknown.is_largest(),
        })),
    })
}

fn names(parameters: &[Parameter]) -> Vec<&'static str> {
    parameters.iter().map(|parameter| parameter.name()).collect()
}

fn parameter(row: &Row) -> Json {
    json!({
        "name": row.name,
        "group": match row.group {
            Group::Scheme => "scheme",
            Group::Randomizer => "randomizer",
            Group::Question => "question",
            Group::Target => "target",
            Group::Trust => "trust",
        },
        "kind": match row.kind {
            Kind::Count => "count",
            Kind::Real => "real",
            Kind::Word => "word",
            Kind::Points => "points",
        },
        "symbol": row.symbol,
        "label": row.label,
        "unit": row.unit,
        "help": row.help,
        "range": row.range,
        "example": row.example,
    })
}
