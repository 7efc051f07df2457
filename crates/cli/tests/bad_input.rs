//! Bad input: a clear error that names the flag, and exit code 2. Extreme input: that, a finite
//! number, or "inf".

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{run, run_line};

/// A valid question with one flag replaced, given as `--flag value` and as `--flag=value`.
fn with(flag: &str, value: &str) -> [Vec<String>; 2] {
    let base = [("--clients", "1000"), ("--local-epsilon", "1"), ("--rounds", "10"), ("--delta", "1e-6")];
    let mut args = vec!["epsilon".to_owned()];
    for (name, valid) in base.into_iter().filter(|(name, _)| *name != flag) {
        args.extend([name.to_owned(), valid.to_owned()]);
    }
    let (mut apart, mut joined) = (args.clone(), args);
    apart.extend([flag.to_owned(), value.to_owned()]);
    joined.push(format!("{flag}={value}"));
    [apart, joined]
}

fn assert_refused(args: &[String], flag: &str) {
    let result = run(args);
    result.assert_decent(&args.join(" "));
    assert_eq!(result.code, Some(2), "{args:?}: {result:?}");
    assert!(result.stderr.contains(flag), "{args:?} does not name {flag}: {}", result.stderr);
}

#[test]
fn a_bad_value_is_refused_by_the_name_of_its_flag() {
    let not_numbers = ["", " ", "two", "0x10", "1e", "1__0", "1,5", "--", "ε"];
    let counts = ["0", "-1", "1.5", "nan", "inf", "-inf", "1e18", "1e30", "9007199254740993", "1e-3"];
    let reals = ["nan", "NaN", "-nan", "inf", "-inf", "infinity", "-1", "-1e-300", "1e400"];
    let fractions = ["2", "1e300", "-0.1"];
    let cases: [(&str, Vec<&str>); 5] = [
        ("--clients", counts.to_vec()),
        ("--rounds", counts.to_vec()),
        ("--sampled", [&counts[..], &["1001", "1_000_000"]].concat()),
        ("--local-epsilon", reals.to_vec()),
        ("--delta", [&reals[..], &fractions, &["0", "-0", "1", "1e-400"]].concat()),
    ];
    for (flag, values) in cases {
        for value in values.into_iter().chain(not_numbers) {
            for args in with(flag, value) {
                // A lone `--` ends the flags: what is missing then is the value.
                assert_refused(&args, flag);
            }
        }
    }
    for (flag, values) in [
        ("--check-in", [&reals[..], &fractions, &["0", "1.0000001"]].concat()),
        ("--max-order", vec!["nan", "1", "0", "-5", "1.9", "inf", "1e7"]),
    ] {
        for value in values.into_iter().chain(not_numbers) {
            with(flag, value).iter().for_each(|args| assert_refused(args, flag));
        }
    }
    for value in ["1", "1.5", "-0.1", "nan", "inf", "x", ""] {
        for mut args in with("--drop-out", value) {
            args.extend(["--check-in".to_owned(), "0.5".to_owned()]);
            assert_refused(&args, "--drop-out");
        }
    }
}

#[test]
fn a_bad_target_epsilon_is_refused() {
    for value in ["-1", "nan", "inf", "-inf", "", "x"] {
        let args = ["delta", "--clients", "1000", "--local-epsilon", "1", "--epsilon", value].map(str::to_owned);
        assert_refused(&args, "--epsilon");
    }
}

#[test]
fn flags_that_do_not_fit_together_are_refused_by_name() {
    let base = "epsilon --clients 1000 --delta 1e-6";
    for (rest, message) in [
        ("", "--randomizer any needs --local-epsilon"),
        ("--randomizer krr", "--randomizer krr needs --local-epsilon and --categories"),
        ("--randomizer krr --local-epsilon 1", "--randomizer krr needs --categories"),
        ("--randomizer priv-unit --local-epsilon 1", "--randomizer priv-unit needs --dimension"),
        ("--randomizer top-set --local-epsilon 1 --dimension 9", "--randomizer top-set needs --share"),
        ("--randomizer top-set --local-epsilon 1 --dimension 9 --share 0.6", "--share must be above 0 and at most 0.5"),
        ("--randomizer top-set --local-epsilon 1 --dimension 9 --share 0", "--share must be"),
        ("--randomizer top-set --local-epsilon 1 --dimension 9 --share nan", "--share must be"),
        ("--randomizer priv-unit --local-epsilon 1 --dimension 9 --share 0.1", "--share does not belong"),
        ("--randomizer approximate --local-epsilon 1", "--randomizer approximate needs --local-delta"),
        ("--randomizer gaussian", "--randomizer gaussian needs --sigma"),
        ("--randomizer rr --local-epsilon 1 --sigma 3", "--sigma does not belong to --randomizer rr"),
        ("--local-epsilon 1 --categories 3", "--categories does not belong to --randomizer any"),
        (
            "--randomizer gaussian --sigma 1 --local-epsilon 1",
            "--local-epsilon does not belong to --randomizer gaussian",
        ),
        ("--randomizer r-1 --local-epsilon 1 --dimension 5", "--dimension does not belong to --randomizer r-1"),
        ("--randomizer rr --local-epsilon 1 --local-delta 0", "--local-delta does not belong to --randomizer rr"),
        ("--randomizer nothing --local-epsilon 1", "--randomizer"),
        ("--randomizer krr --local-epsilon 1 --categories 1", "--categories must be"),
        ("--randomizer priv-unit --local-epsilon 1 --dimension 1", "--dimension must be"),
        ("--randomizer approximate --local-epsilon 1 --local-delta 1", "--local-delta must be"),
        ("--randomizer approximate --local-epsilon 1 --local-delta nan", "--local-delta must be"),
        ("--randomizer gaussian --sigma 0", "--sigma must be"),
        ("--randomizer gaussian --sigma -1", "--sigma must be"),
        ("--randomizer gaussian --sigma nan", "--sigma must be"),
        ("--local-epsilon 1 --sampled 5 --check-in 0.5", "--check-in"),
        ("--local-epsilon 1 --drop-out 0.5", "--check-in"),
        ("--local-epsilon 1 --standing certain", "--standing"),
        ("--local-epsilon 1 --delta 1e-5", "--delta"),
        ("--local-epsilon 1 --epsilon 1", "--epsilon"),
        ("--local-epsilon 1 --sampled --rounds 5", "--sampled"),
        ("--local-epsilon 1 --rounds", "--rounds"),
        ("--local-epsilon 1 stray", "stray"),
    ] {
        let result = run_line(&format!("{base} {rest}"));
        result.assert_decent(rest);
        assert_eq!(result.code, Some(2), "{rest}: {result:?}");
        assert!(result.stderr.contains(message), "{rest}: {}", result.stderr);
    }
    for (line, message) in [
        ("epsilon --local-epsilon 1 --delta 1e-6", "--clients"),
        ("epsilon --clients 10 --local-epsilon 1", "--delta"),
        ("delta --clients 10 --local-epsilon 1", "--epsilon"),
        ("guess", "guess"),
        ("completions tcsh", "tcsh"),
    ] {
        let result = run_line(line);
        assert_eq!(result.code, Some(2), "{line}: {result:?}");
        assert!(result.stderr.contains(message), "{line}: {}", result.stderr);
    }
}

#[test]
fn extreme_values_give_a_number_or_inf() {
    for line in [
        "epsilon --clients 1000 --local-epsilon 50 --rounds 10 --delta 1e-6",
        "epsilon --clients 1000 --local-epsilon 1e6 --rounds 10 --delta 1e-6",
        "epsilon --clients 1000 --local-epsilon 1e308 --rounds 1e15 --delta 1e-6",
        "epsilon --clients 1000 --local-epsilon 0 --delta 1e-6",
        "epsilon --clients 1000 --local-epsilon 1e-300 --rounds 1e15 --delta 1e-6",
        "epsilon --clients 1 --local-epsilon 1 --delta 1e-6",
        "epsilon --clients 2 --sampled 1 --local-epsilon 1 --delta 1e-6",
        "epsilon --clients 9007199254740992 --local-epsilon 1 --delta 1e-6",
        "epsilon --clients 9e15 --sampled 1 --local-epsilon 700 --rounds 9e15 --delta 1e-300",
        "epsilon --clients 1e9 --sampled 1e9 --local-epsilon 5 --rounds 1e9 --delta 0.999999",
        "epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 5e-324",
        "epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 1e-8 --max-order 2",
        "delta --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --epsilon 0",
        "delta --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --epsilon 1e308",
        "delta --clients 1e6 --sampled 1000 --local-epsilon 700 --rounds 1e5 --epsilon 700",
    ] {
        let result = run_line(&format!("{line} --all --json"));
        result.assert_decent(line);
        // A wholly vacuous question may have no answer, but these all have the local guarantee to
        // fall back on.
        assert_eq!(result.code, Some(0), "{line}: {result:?}");
        let quantity = line.split(' ').next().unwrap();
        for bound in result.json()["bounds"].as_array().unwrap() {
            let value = &bound[quantity];
            assert!(value.as_f64().is_some_and(|value| value >= 0.0) || value == "inf", "{line}: {bound}");
        }
    }
}
