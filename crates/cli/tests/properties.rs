//! Any combination of flags ends decently: an answer that makes sense, or an error.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::run;
use proptest::prelude::*;

/// Values that people type, rightly or not.
fn count() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0.0..16.0_f64).prop_map(|exponent| format!("{}", 10_f64.powf(exponent) as u64)),
        2 => prop::sample::select(vec!["1", "2", "3", "10", "1e3", "1_000", "1e6", "1e9", "9007199254740992"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["0", "-1", "1.5", "1e18", "nan", "", "x"]).prop_map(str::to_owned),
    ]
}

fn real() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (-12.0..3.0_f64).prop_map(|exponent| format!("{:e}", 10_f64.powf(exponent))),
        2 => (0.0..1.0_f64).prop_map(|value| value.to_string()),
        2 => prop::sample::select(vec!["0", "1", "2", "50", "1e6", "1e-300", "5e-324"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["-1", "nan", "inf", "-inf", "", "x", "1e308"]).prop_map(str::to_owned),
    ]
}

fn flag(name: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    value.prop_map(move |value| vec![name.to_owned(), value])
}

fn maybe(probability: f64, flag: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Vec<String>> {
    prop::option::weighted(probability, flag).prop_map(Option::unwrap_or_default)
}

fn randomizer() -> impl Strategy<Value = Vec<String>> {
    let named = |name: &'static str| {
        move |mut flags: Vec<Vec<String>>| {
            flags.push(vec!["--randomizer".to_owned(), name.to_owned()]);
            flags.concat()
        }
    };
    let pure = prop::sample::select(vec!["any", "rr", "r-inf", "r-1", "r-2", "ldp-sgd", "laplace", "discrete-laplace"]);
    prop_oneof![
        6 => (pure, flag("--local-epsilon", real())).prop_map(move |(name, flag)| named(name)(vec![flag])),
        1 => (flag("--local-epsilon", real()), flag("--categories", count())).prop_map(|(a, b)| vec![a, b]).prop_map(named("krr")),
        1 => (flag("--local-epsilon", real()), flag("--dimension", count())).prop_map(|(a, b)| vec![a, b]).prop_map(named("priv-unit")),
        1 => (flag("--local-epsilon", real()), flag("--local-delta", real())).prop_map(|(a, b)| vec![a, b]).prop_map(named("approximate")),
        1 => flag("--sigma", real()).prop_map(|a| vec![a]).prop_map(named("gaussian")),
        1 => flag("--sigma", real()).prop_map(|a| vec![a]).prop_map(named("discrete-gaussian")),
        1 => flag("--sigma", real()).prop_map(|a| vec![a]).prop_map(named("rounded-gaussian")),
        1 => flag("--sigma", real()).prop_map(|a| vec![a]).prop_map(named("rr")),
    ]
}

fn participation() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        Just(Vec::new()),
        flag("--sampled", count()),
        (flag("--check-in", real()), maybe(0.3, flag("--drop-out", real()))).prop_map(|(a, b)| [a, b].concat()),
    ]
}

fn question() -> impl Strategy<Value = (&'static str, Vec<String>)> {
    let target = prop_oneof![
        flag("--delta", real()).prop_map(|flag| ("epsilon", flag)),
        flag("--epsilon", real()).prop_map(|flag| ("delta", flag)),
    ];
    let standing =
        prop::sample::select(vec!["rigorous", "conjectured", "asymptotic", "flawed"]).prop_map(str::to_owned);
    (
        target,
        flag("--clients", count()),
        participation(),
        randomizer(),
        maybe(0.8, flag("--rounds", count())),
        maybe(0.5, flag("--standing", standing)),
    )
        .prop_map(|((command, target), clients, participation, randomizer, rounds, standing)| {
            (command, [target, clients, participation, randomizer, rounds, standing].concat())
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_combination_ends_decently((quantity, flags) in question()) {
        let mut args = vec![quantity.to_owned(), "--all".to_owned(), "--json".to_owned()];
        args.extend(flags);
        let result = run(&args);
        result.assert_decent(&args.join(" "));
        if result.code == Some(0) {
            let object = result.json();
            let sound = |value: &serde_json::Value| value.as_f64().is_some_and(|value| value >= 0.0) || value == "inf";
            prop_assert!(sound(&object[quantity]), "{object}");
            let lower = object.get(format!("{quantity}_lower"));
            // A rigorous upper bound below a rigorous lower bound: one of them is wrong.
            if let (Some(lower), "rigorous") = (lower.and_then(|value| value.as_f64()), object["standing"].as_str().unwrap_or_default()) {
                prop_assert!(object[quantity].as_f64().is_none_or(|upper| lower <= upper), "{object}");
            }
            for bound in object["bounds"].as_array().unwrap() {
                prop_assert!(sound(&bound[quantity]), "{bound}");
            }
        } else {
            prop_assert!(result.stdout.is_empty());
            prop_assert!(result.stderr.contains("error: "), "{result:?}");
        }
    }
}
