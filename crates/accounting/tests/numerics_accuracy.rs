//! Holds every special function to the error stated for it, against mpmath.
//!
//! `data/numerics/accuracy.json` is the one place the bounds live: this test asserts them, and
//! asserts that the table in `docs/numerics.md` says the same. Run with `--nocapture` to see what
//! was measured.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde_json::Value;
use shuffledp_accounting::numerics::{beta, binomial, gamma, incomplete_gamma, normal};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files `make_numerics.py` writes.
const SECTIONS: [&str; 6] = ["gamma_and_binomial", "normal", "incomplete_gamma", "beta", "beta_inverses", "binomial"];

/// The accuracy that the tests guarantee for one function on one range.
struct Held {
    function: String,
    group: String,
    /// Error measured when the table was last written, for the reader.
    measured: f64,
    /// Error the test holds.
    bound: f64,
    /// The unit: `relative` error, or relative error over `1 + |ln truth|` where an exponential
    /// amplifies an ulp.
    unit: String,
}

/// One reference value.
struct Vector {
    function: String,
    group: String,
    inputs: Vec<String>,
    truth: f64,
    /// `truth` minus its nearest float, over the float: reference digits a float cannot hold.
    residual: f64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/numerics")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rows(name: &str) -> Vec<Value> {
    match serde_json::from_str(&read(&folder().join(name))) {
        Ok(Value::Array(rows)) => rows,
        other => panic!("{name}: expected an array, got {other:?}"),
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_else(|| panic!("{key} missing in {row}")).to_owned()
}

fn strings(array: &Value) -> Vec<String> {
    let cells = array.as_array().into_iter().flatten();
    cells.map(|cell| cell.as_str().unwrap_or_else(|| panic!("not a string: {cell}")).to_owned()).collect()
}

fn vectors() -> Vec<Vector> {
    let number = |row: &Value, key: &str| text(row, key).parse::<f64>().expect("a number");
    SECTIONS
        .iter()
        .flat_map(|section| rows(&format!("{section}.json")))
        .map(|row| Vector {
            function: text(&row, "function"),
            group: text(&row, "group"),
            inputs: strings(&row["inputs"]),
            truth: number(&row, "truth"),
            residual: number(&row, "residual"),
        })
        .collect()
}

fn held() -> Vec<Held> {
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} missing in {row}"));
    rows("accuracy.json")
        .iter()
        .map(|row| Held {
            function: text(row, "function"),
            group: text(row, "group"),
            measured: number(row, "measured"),
            bound: number(row, "bound"),
            unit: text(row, "unit"),
        })
        .collect()
}

fn compute(function: &str, inputs: &[String]) -> f64 {
    let x = |i: usize| inputs[i].parse::<f64>().expect("a number");
    let n = |i: usize| inputs[i].parse::<u64>().expect("a count");
    match function {
        "ln_gamma" => gamma::ln_gamma(x(0)),
        "stirling_error" => gamma::stirling_error(x(0)),
        "ln_binomial" => gamma::ln_binomial(x(0), x(1)),
        "deviance" => binomial::deviance(x(0), x(1)),
        "pmf" => binomial::pmf(n(0), n(1), x(2)),
        "ln_pmf" => binomial::ln_pmf(n(0), n(1), x(2)),
        "lower_tail" => binomial::lower_tail(n(0), n(1), x(2)),
        "upper_tail" => binomial::upper_tail(n(0), n(1), x(2)),
        "regularised_beta.lower" => beta::regularised_beta(x(0), x(1), x(2)).0,
        "regularised_beta.upper" => beta::regularised_beta(x(0), x(1), x(2)).1,
        "inverse_beta.x" => beta::inverse_regularised_beta(x(0), x(1), x(2)).0,
        "inverse_beta.y" => beta::inverse_regularised_beta(x(0), x(1), x(2)).1,
        "inverse_beta_upper.x" => beta::inverse_regularised_beta_upper(x(0), x(1), x(2)).0,
        "inverse_beta_upper.y" => beta::inverse_regularised_beta_upper(x(0), x(1), x(2)).1,
        "regularised_gamma.lower" => incomplete_gamma::regularised_gamma(x(0), x(1)).0,
        "regularised_gamma.upper" => incomplete_gamma::regularised_gamma(x(0), x(1)).1,
        "inverse_gamma" => incomplete_gamma::inverse_regularised_gamma(x(0), x(1)),
        "inverse_gamma_upper" => incomplete_gamma::inverse_regularised_gamma_upper(x(0), x(1)),
        "normal.cdf" => normal::cdf(x(0)),
        "normal.ln_cdf" => normal::ln_cdf(x(0)),
        "normal.quantile" => normal::quantile(x(0)),
        other => panic!("vectors name an unknown function {other}"),
    }
}

/// Error of `value` in the row's unit; NaN counts as infinitely wrong.
fn error(value: f64, vector: &Vector, unit: &str) -> f64 {
    let relative = ((value - vector.truth) / vector.truth - vector.residual).abs();
    let scale = match unit {
        "relative" => 1.0,
        "relative / (1 + abs ln)" => 1.0 + vector.truth.abs().ln().abs(),
        other => panic!("unknown unit {other}"),
    };
    if relative.is_nan() { f64::INFINITY } else { relative / scale }
}

#[test]
fn every_function_holds_its_stated_error() {
    let vectors = vectors();
    let mut covered = 0;
    let mut failures = Vec::new();
    for row in held() {
        let mut worst = (0.0, Vec::new());
        for vector in vectors.iter().filter(|v| v.function == row.function && v.group == row.group) {
            covered += 1;
            let found = error(compute(&vector.function, &vector.inputs), vector, &row.unit);
            if found >= worst.0 {
                worst = (found, vector.inputs.clone());
            }
        }
        println!(
            "{:24} {:32} {:9.2e} held {:8.1e}  worst at {:?}",
            row.function, row.group, worst.0, row.bound, worst.1
        );
        if worst.1.is_empty() || worst.0 > row.bound {
            failures
                .push(format!("{} ({}): {:e} > {:e} at {:?}", row.function, row.group, worst.0, row.bound, worst.1));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(covered, vectors.len(), "some vectors are not held by any row of accuracy.json");
}

#[test]
fn a_bound_is_close_to_what_was_measured() {
    // A bound a thousand times the measured error would hold nothing. The floor is two ulps: less
    // is luck.
    for row in held() {
        let floor = 2.0 * f64::EPSILON;
        assert!(row.bound <= 4.0 * row.measured.max(floor), "{} ({})", row.function, row.group);
    }
}

#[test]
fn the_documented_table_is_this_one() {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/numerics.md"));
    let mut documented: BTreeMap<(String, String), (f64, f64, String)> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [function, group, measured, bound, unit] = cells[..] else { continue };
        let key = (function.trim_matches('`').to_owned(), group.to_owned());
        documented.insert(key, (measured.parse().unwrap(), bound.parse().unwrap(), unit.to_owned()));
    }
    let stated: BTreeMap<(String, String), (f64, f64, String)> =
        held().into_iter().map(|row| ((row.function, row.group), (row.measured, row.bound, row.unit))).collect();
    assert_eq!(documented, stated);
}

#[test]
fn these_vectors_can_fail() {
    // The usual formula, a difference of ln Γ, is what the bounds exclude: if it passed, they would
    // hold nothing.
    let usual = |k: f64, n: f64, p: f64| {
        (gamma::ln_gamma(n + 1.0) - gamma::ln_gamma(k + 1.0) - gamma::ln_gamma(n - k + 1.0)
            + k * p.ln()
            + (n - k) * (-p).ln_1p())
        .exp()
    };
    let group = "1e6 ≤ n ≤ 1e9, pmf ≥ 1e-300";
    let row = held().into_iter().find(|row| row.function == "pmf" && row.group == group).unwrap();
    let worst = vectors()
        .iter()
        .filter(|v| v.function == "pmf" && v.group == group)
        .map(|v| {
            let input = |i: usize| v.inputs[i].parse::<f64>().unwrap();
            error(usual(input(0), input(1), input(2)), v, &row.unit)
        })
        .fold(0.0, f64::max);
    assert!(worst > 1e5 * row.bound, "{worst:e}");
}
