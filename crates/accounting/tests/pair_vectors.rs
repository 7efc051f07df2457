//! The linear pair against 60-digit sums over all outcomes.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde_json::Value;
use shuffledp_accounting::pair::{LinearPair, envelope, lower, upper};
use shuffledp_accounting::scheme::Scheme;

/// The tolerance of the vectors; the sums themselves guarantee 4e-12 to either side.
const TOLERANCE: f64 = 1e-11;

fn vectors(name: &str) -> Vec<(Value, f64)> {
    let path = format!("{}/tests/data/theory/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!rows.is_empty());
    rows.into_iter().map(|row| (row["inputs"].clone(), row["value"].as_str().unwrap().parse().unwrap())).collect()
}

fn number(inputs: &Value, name: &str) -> f64 {
    match &inputs[name] {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap_or_else(|| panic!("{name} in {inputs}")),
    }
}

fn fixed_size(inputs: &Value) -> Scheme {
    Scheme::subsampled(number(inputs, "clients") as u64, number(inputs, "sampled") as u64).unwrap()
}

fn check_in(inputs: &Value) -> Scheme {
    Scheme::check_in(number(inputs, "clients") as u64, number(inputs, "rate"), 0.0).unwrap()
}

/// lower ≤ truth ≤ upper, then separately that both are near.
fn holds(what: &str, inputs: &Value, lower: f64, truth: f64, upper: f64) {
    assert!(lower <= truth && truth <= upper, "{what} {inputs}: {lower:e} ≤ {truth:e} ≤ {upper:e}");
    assert!(
        upper <= truth * (1.0 + TOLERANCE) + f64::MIN_POSITIVE,
        "{what} {inputs}: {upper:e} is far above {truth:e}"
    );
    assert!(lower >= truth * (1.0 - TOLERANCE), "{what} {inputs}: {lower:e} is far below {truth:e}");
}

fn deltas(name: &str, pair: impl Fn(&Value) -> LinearPair) {
    for (inputs, truth) in vectors(name) {
        let (pair, epsilon) = (pair(&inputs), number(&inputs, "epsilon"));
        holds(name, &inputs, pair.delta_lower(epsilon), truth, pair.delta_upper(epsilon));
    }
}

fn divergences(name: &str, pair: impl Fn(&Value) -> LinearPair) {
    for (inputs, truth) in vectors(name) {
        let (pair, order) = (pair(&inputs), number(&inputs, "order"));
        holds(name, &inputs, pair.renyi_lower(order), truth, pair.renyi_upper(order));
    }
}

#[test]
fn two_level() {
    let pair = |i: &Value| upper::two_level(&fixed_size(i), number(i, "local_epsilon"), 0.5).unwrap();
    deltas("pair_two_level_delta", pair);
    divergences("pair_two_level_rdp", pair);
}

#[test]
fn two_level_with_a_small_high_set() {
    deltas("pair_two_level_q_delta", |i| {
        upper::two_level(&fixed_size(i), number(i, "local_epsilon"), number(i, "high_mass")).unwrap()
    });
}

#[test]
fn any_ldp() {
    let pair = |i: &Value| upper::any_ldp(&fixed_size(i), number(i, "local_epsilon")).unwrap();
    deltas("pair_any_ldp_delta", pair);
    divergences("pair_any_ldp_rdp", pair);
}

#[test]
fn check_in_rows() {
    deltas("checkin_two_level_delta", |i| {
        upper::two_level(&check_in(i), number(i, "local_epsilon"), number(i, "high_mass")).unwrap()
    });
    deltas("checkin_any_ldp_delta", |i| upper::any_ldp(&check_in(i), number(i, "local_epsilon")).unwrap());
}

#[test]
fn lower_rows() {
    let pair = |i: &Value| {
        lower::third_value(&fixed_size(i), number(i, "local_epsilon"), lower::Overlap::of_values(3).unwrap()).unwrap()
    };
    deltas("pair_three_rr_delta", pair);
    divergences("pair_three_rr_rdp", pair);
}

#[test]
fn worst_dataset_of_binary_randomized_response() {
    for (inputs, truth) in vectors("two_rr_delta") {
        let epsilon = number(&inputs, "epsilon");
        let upper = envelope::delta_upper(&fixed_size(&inputs), number(&inputs, "local_epsilon"), epsilon).unwrap();
        assert!(truth <= upper && upper <= truth * (1.0 + TOLERANCE), "{inputs}: {upper:e} against {truth:e}");
    }
}

/// Three hundred clients that hardly ever lie: nearly all the mass sits on few counts, and the
/// tails of a window underflow. The values are maxima over the convolutions of all bits, in double
/// precision: 120 and 87 ones are the worst.
#[test]
fn worst_dataset_of_nearly_honest_bits() {
    let scheme = Scheme::shuffle(300).unwrap();
    for (local_epsilon, truth) in [(6.0, 0.520_758_538_856_996_4), (7.0, 0.765_032_682_498_621_7)] {
        let upper = envelope::delta_upper(&scheme, local_epsilon, 0.1).unwrap();
        assert!((upper / truth - 1.0).abs() < TOLERANCE, "{local_epsilon}: {upper} against {truth}");
    }
}

/// At tiny ε0 one client's δ(0) is tanh(ε0/2): what differences of nearly equal weights would lose.
#[test]
fn tiny_local_epsilon() {
    let scheme = Scheme::shuffle(1).unwrap();
    for local_epsilon in [1e-3, 1e-6, 1e-8, 1e-10] {
        let truth = (local_epsilon / 2.0_f64).tanh();
        let (any, two) =
            (upper::any_ldp(&scheme, local_epsilon).unwrap(), upper::two_level(&scheme, local_epsilon, 0.5).unwrap());
        for upper in
            [any.delta_upper(0.0), two.delta_upper(0.0), envelope::delta_upper(&scheme, local_epsilon, 0.0).unwrap()]
        {
            assert!(
                upper >= truth && upper <= truth * (1.0 + TOLERANCE),
                "{local_epsilon}: {upper:e} against {truth:e}"
            );
        }
    }
}
