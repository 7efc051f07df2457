//! The running accountant: what it records, what it refuses, what survives a restart.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde_json::{Value, json};
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::accountant::{Accountant, RoundEntry};
use shuffledp_accounting::scheme::{MAX_COUNT, Mechanism, RandomizerSpec, Round, Scheme};

fn round(scheme: Scheme, mechanism: Mechanism) -> Round {
    Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() }
}

fn sgd(sampled: u64) -> Round {
    round(Scheme::subsampled(60_000, sampled).unwrap(), Mechanism::LdpSgd { local_epsilon: 1.0 })
}

fn check_in() -> Round {
    round(Scheme::check_in(60_000, 0.1, 0.05).unwrap(), Mechanism::Krr { local_epsilon: 1.5, categories: 8 })
}

fn shuffle() -> Round {
    round(Scheme::shuffle(5_000).unwrap(), Mechanism::Any { local_epsilon: 0.5 })
}

/// Every kind of scheme, two kinds of pair.
fn full() -> Accountant {
    let mut accountant = Accountant::new();
    accountant.compose(sgd(600), 100).unwrap();
    accountant.compose(check_in(), 7).unwrap();
    accountant.compose(shuffle(), 1).unwrap();
    accountant
}

#[test]
fn nothing_happened_costs_nothing() {
    let accountant = Accountant::new();
    assert!(accountant.ledger().is_empty());
    assert!(
        accountant.epsilon(1e-9).unwrap().abs() < f64::MIN_POSITIVE
            && accountant.delta(0.0).unwrap().abs() < f64::MIN_POSITIVE
    );
    // Targets are checked even so.
    for delta in [0.0, 1.0, -1e-9, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(accountant.epsilon(delta), Err(AccountingError::OutOfRange { parameter: "delta", .. })),
            "{delta}"
        );
    }
    for epsilon in [-1e-9, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(accountant.delta(epsilon), Err(AccountingError::OutOfRange { parameter: "epsilon", .. })),
            "{epsilon}"
        );
    }
}

#[test]
fn the_ledger_lists_each_distinct_round_once() {
    let mut accountant = full();
    accountant.compose(sgd(600), 50).unwrap();
    let counts: Vec<u64> = accountant.ledger().iter().map(|RoundEntry { count, .. }| *count).collect();
    assert_eq!(counts, [150, 7, 1]);
    assert_eq!(accountant.ledger()[0].round, sgd(600));
    accountant.compose(sgd(601), 1).unwrap();
    assert_eq!(accountant.ledger().len(), 4);
}

#[test]
fn every_round_costs_something() {
    let mut accountant = Accountant::new();
    let mut last = (0.0, 0.0);
    for (round, count) in [(sgd(600), 10), (check_in(), 10), (sgd(600), 10), (shuffle(), 1), (sgd(6_000), 3)] {
        accountant.compose(round, count).unwrap();
        let now = (accountant.epsilon(1e-6).unwrap(), accountant.delta(0.05).unwrap());
        assert!(now.0 > last.0 && now.1 > last.1, "{last:?} then {now:?}");
        last = now;
    }
    assert!(accountant.epsilon(1e-9).unwrap() > last.0);
}

#[test]
fn one_call_is_many_calls() {
    let (mut at_once, mut one_by_one) = (Accountant::new(), Accountant::new());
    at_once.compose(sgd(600), 40).unwrap();
    for _ in 0..40 {
        one_by_one.compose(sgd(600), 1).unwrap();
    }
    assert_eq!(at_once, one_by_one);
}

#[test]
fn counts_of_zero_and_beyond_2_to_53_are_refused() {
    let mut accountant = full();
    let before = accountant.clone();
    for count in [0, MAX_COUNT + 1, u64::MAX] {
        let refused = accountant.compose(sgd(600), count);
        assert!(matches!(refused, Err(AccountingError::OutOfRange { parameter: "count", .. })), "{count}: {refused:?}");
    }
    // Each count is possible, their sum is not.
    assert!(matches!(accountant.compose(sgd(600), MAX_COUNT), Err(AccountingError::Numerical { .. })));
    assert_eq!(accountant, before);
}

#[test]
fn a_round_that_cannot_be_accounted_for_is_not_recorded() {
    let scheme = Scheme::shuffle(1000).unwrap();
    let mut accountant = full();
    let before = accountant.clone();
    for mechanism in [Mechanism::Any { local_epsilon: 1e3 }, Mechanism::LdpSgd { local_epsilon: 33.0 }] {
        let refused = accountant.compose(round(scheme, mechanism), 1);
        assert!(matches!(refused, Err(AccountingError::NotApplicable { .. })), "{mechanism:?}: {refused:?}");
        assert_eq!(accountant, before, "{mechanism:?}");
    }
}

#[test]
fn merging_is_all_or_nothing() {
    let mut accountant = full();
    let mut other = Accountant::new();
    other.compose(sgd(6_000), 5).unwrap();
    other.compose(check_in(), 3).unwrap();
    accountant.merge(&other).unwrap();
    let mut expected = full();
    expected.compose(sgd(6_000), 5).unwrap();
    expected.compose(check_in(), 3).unwrap();
    assert_eq!(accountant, expected);

    // The second entry overflows: the first must not stay behind.
    let before = accountant.clone();
    let mut endless = Accountant::new();
    endless.compose(shuffle(), 1).unwrap();
    endless.compose(sgd(600), MAX_COUNT).unwrap();
    assert!(accountant.merge(&endless).is_err());
    assert_eq!(accountant, before);
    // With itself.
    let twin = accountant.clone();
    accountant.merge(&twin).unwrap();
    assert_eq!(accountant.ledger()[0].count, 2 * before.ledger()[0].count);
}

#[test]
fn saved_and_loaded_is_the_same() {
    for accountant in [Accountant::new(), full()] {
        let text = accountant.save().unwrap();
        let loaded = Accountant::load(&text).unwrap();
        assert_eq!(loaded, accountant);
        assert_eq!(loaded.save().unwrap(), text);
    }
    let (before, after) = (full(), Accountant::load(&full().save().unwrap()).unwrap());
    assert_eq!(before.epsilon(1e-6).unwrap().to_bits(), after.epsilon(1e-6).unwrap().to_bits());
}

fn saved() -> Value {
    serde_json::from_str(&full().save().unwrap()).unwrap()
}

fn assert_rejected(state: &Value, why: &str) {
    let loaded = Accountant::load(&state.to_string());
    assert!(matches!(loaded, Err(AccountingError::State { .. })), "{why}: {loaded:?}");
}

/// Each field replaced by what it must not be.
#[test]
fn altered_state_is_rejected() {
    for (pointer, bad) in [
        ("/shuffledp_accountant", json!(0)),
        ("/shuffledp_accountant", json!(2)),
        ("/shuffledp_accountant", json!("1")),
        ("/shuffledp_accountant", Value::Null),
        ("/adjacency", json!("add-remove")),
        ("/adjacency", json!(1)),
        ("/ledger", json!({})),
        ("/ledger/0/count", json!(0)),
        ("/ledger/0/count", json!(-1)),
        ("/ledger/0/count", json!(1.5)),
        ("/ledger/0/count", json!(MAX_COUNT + 1)),
        ("/ledger/0/round/scheme/clients", json!(0)),
        ("/ledger/0/round/scheme/clients", json!(599)),
        ("/ledger/0/round/scheme/clients", json!(-60_000)),
        ("/ledger/0/round/scheme/participation/sampled", json!(0)),
        ("/ledger/0/round/scheme/participation/kind", json!("poisson")),
        ("/ledger/0/round/randomizer/local_epsilon", json!(-1.0)),
        ("/ledger/0/round/randomizer/local_epsilon", Value::Null),
        ("/ledger/0/round/randomizer/local_epsilon", json!("NaN")),
        ("/ledger/0/round/randomizer/local_epsilon", json!(1e4)),
        ("/ledger/0/round/randomizer/name", json!("unknown")),
        ("/ledger/0/round/randomizer/name", json!("gaussian")),
        ("/ledger/1/round/scheme/participation/rate", json!(0.0)),
        ("/ledger/1/round/scheme/participation/rate", json!(1.5)),
        ("/ledger/1/round/scheme/participation/rate", json!(-0.1)),
        ("/ledger/1/round/scheme/participation/drop_out", json!(1.0)),
        ("/ledger/1/round/scheme/participation/drop_out", json!(-0.1)),
        ("/ledger/1/round/randomizer/categories", json!(1)),
    ] {
        let mut state = saved();
        *state.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = bad.clone();
        assert_rejected(&state, &format!("{pointer} = {bad}"));
    }
}

/// JSON has no NaN or infinity, but text can say so.
#[test]
fn not_a_number_is_rejected() {
    let text = full().save().unwrap();
    for bad in ["NaN", "Infinity", "-Infinity", "1e999", "nan", "\"inf\""] {
        let altered = text.replacen("\"local_epsilon\": 1.0", &format!("\"local_epsilon\": {bad}"), 1);
        assert_ne!(altered, text, "nothing was altered");
        assert!(Accountant::load(&altered).is_err(), "{bad}");
    }
}

#[test]
fn missing_fields_and_unknown_ones_beside_the_ledger_are_rejected() {
    let object = |state: &mut Value, pointer: &str, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        change(state.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object"));
    };
    for pointer in [
        "",
        "/ledger/0",
        "/ledger/0/round",
        "/ledger/0/round/scheme",
        "/ledger/0/round/randomizer",
        "/ledger/0/round/scheme/participation",
        "/ledger/1/round/scheme/participation",
    ] {
        let fields: Vec<String> =
            saved().pointer(pointer).and_then(Value::as_object).expect("an object").keys().cloned().collect();
        for field in fields {
            let mut state = saved();
            object(&mut state, pointer, &|fields| {
                fields.remove(&field);
            });
            assert_rejected(&state, &format!("{pointer} without {field}"));
        }
    }
    let mut state = saved();
    object(&mut state, "", &|fields| {
        fields.insert("unknown".into(), json!(1));
    });
    assert_rejected(&state, "an unknown field");
}

#[test]
fn truncated_text_is_rejected() {
    let text = full().save().unwrap();
    for end in (0..text.trim_end().len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(Accountant::load(&text[..end]).is_err(), "accepted {end} of {} bytes", text.len());
    }
    for more in ["{}", "x", "\0", &text] {
        assert!(Accountant::load(&format!("{text}{more}")).is_err(), "accepted with {more:?} after it");
    }
}
