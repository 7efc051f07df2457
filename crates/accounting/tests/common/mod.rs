//! Reads the mpmath vectors of `tests/data/theory`.

#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::Value;

/// One reference value and what it was computed from.
pub(crate) struct Vector {
    inputs: Value,
    /// The value, rounded to a float (it has 30 digits in the file).
    pub(crate) value: f64,
    /// The value as written.
    pub(crate) digits: String,
}

impl Vector {
    /// A real input; written as a string in the file so that its digits are exact.
    pub(crate) fn real(&self, name: &str) -> f64 {
        match &self.inputs[name] {
            Value::String(text) => text.parse().expect("a number"),
            Value::Number(number) => number.as_f64().expect("a number"),
            other => panic!("{name} is {other}"),
        }
    }

    /// An integer input.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.inputs[name].as_u64().unwrap_or_else(|| panic!("{name} is not a count"))
    }

    /// Names the case in a failure.
    pub(crate) fn label(&self) -> String {
        self.inputs.to_string()
    }
}

/// All vectors of one file.
pub(crate) fn vectors(name: &str) -> Vec<Vector> {
    let path = format!("{}/tests/data/theory/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<Value> = serde_json::from_str(&text).expect("a list of vectors");
    assert!(!rows.is_empty());
    rows.into_iter()
        .map(|row| {
            let digits = row["value"].as_str().expect("a value").to_owned();
            let value = digits.parse().expect("a number");
            Vector { inputs: row["inputs"].clone(), value, digits }
        })
        .collect()
}

/// Half an ulp of the reference: the file's 30 digits were rounded to a float.
const REFERENCE: f64 = 1.2e-16;

/// `value` is not below the reference and exceeds it by at most `tolerance` of it.
pub(crate) fn assert_upper(value: f64, vector: &Vector, tolerance: f64) {
    let relative = value / vector.value - 1.0;
    assert!(value >= vector.value * (1.0 - REFERENCE), "{}: {value:e} is below {:e}", vector.label(), vector.value);
    assert!(relative <= tolerance, "{}: {value:e} exceeds {:e} by {relative:e}", vector.label(), vector.value);
}

/// `value` is not above the reference and falls short of it by at most `tolerance` of it.
pub(crate) fn assert_lower(value: f64, vector: &Vector, tolerance: f64) {
    let relative = 1.0 - value / vector.value;
    assert!(value <= vector.value * (1.0 + REFERENCE), "{}: {value:e} is above {:e}", vector.label(), vector.value);
    assert!(relative <= tolerance, "{}: {value:e} is below {:e} by {relative:e}", vector.label(), vector.value);
}
