//! ε in JSON, for `#[serde(with = "…")]`: there is no infinity in it, so an unbounded ε is the word
//! "inf".

use serde::{Deserialize, Deserializer, Serializer};

/// A number, or the word. What is not a number at all is no bound either.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
}

/// The same back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Word(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Finite(value) => Ok(value),
        Number::Word(word) if word == "inf" => Ok(f64::INFINITY),
        Number::Word(word) => Err(serde::de::Error::custom(format!("{word:?} is no number"))),
    }
}
