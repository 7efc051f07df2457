//! `shuffledp audit`: every mechanism and scheme, the contract of its JSON, and how it fails.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{run_in, run_line};
use std::fs;
use tempfile::tempdir;

const MECHANISMS: [&str; 13] = [
    "rr --local-epsilon 1",
    "krr --local-epsilon 1 --categories 5",
    "r-inf --local-epsilon 1",
    "r-1 --local-epsilon 1 --dimension 5",
    "r-2 --local-epsilon 1 --dimension 3",
    "ldp-sgd --local-epsilon 1",
    "priv-unit --local-epsilon 1 --dimension 4",
    "top-set --local-epsilon 1 --dimension 4 --share 0.25",
    "gaussian --sigma 2",
    "discrete-gaussian --sigma 2 --dimension 2",
    "rounded-gaussian --sigma 2 --dimension 8",
    "laplace --local-epsilon 1 --dimension 1",
    "discrete-laplace --local-epsilon 1 --dimension 2",
];

const SCHEMES: [&str; 4] = ["", "--clients 6", "--clients 8 --sampled 5", "--clients 8 --check-in 0.7 --drop-out 0.1"];

/// High, so that no mechanism is accused by chance.
const EFFORT: &str = "--trials 200 --confidence 0.999999 --delta 0.01 --seed 1 --json";

#[test]
fn every_mechanism_passes_in_every_scheme() {
    for mechanism in MECHANISMS {
        for scheme in SCHEMES {
            let line = format!("audit --randomizer {mechanism} {scheme} {EFFORT}");
            let result = run_line(&line);
            result.assert_decent(&line);
            assert_eq!(result.code, Some(0), "{line}: {result:?}");
            let json = result.json();
            assert_eq!(json["passed"], true, "{line}: {json}");
            assert_eq!(json["randomizer"]["name"], mechanism.split(' ').next().unwrap(), "{line}");
            assert_eq!(json["round"].is_object(), !scheme.is_empty(), "{line}: {json}");
            let (claimed, measured) = (&json["claimed_local_epsilon"], &json["measured_epsilon_lower"]);
            assert!(measured.as_f64().unwrap() <= claimed.as_f64().unwrap(), "{line}: {json}");
        }
    }
}

#[test]
fn a_seed_repeats_it_and_says_so() {
    let line = "audit --randomizer r-inf --local-epsilon 1 --clients 9 --trials 300 --json";
    let seeded = format!("{line} --seed 3");
    assert_eq!(run_line(&seeded).stdout, run_line(&seeded).stdout);
    assert_ne!(run_line(&seeded).stdout, run_line(&format!("{line} --seed 4")).stdout);
    assert_eq!(run_line(&seeded).json()["generator"], "simulation");
    let released = run_line(line).json();
    assert_eq!(released["generator"], "released");
    assert!(released["seed"].is_null());
}

/// At a confidence of one in a thousand the innocent are accused often enough to see what happens
/// then.
#[test]
fn a_contradicted_claim_is_printed_and_fails() {
    let folder = tempdir().unwrap();
    let failed = (0..40).find_map(|seed| {
        let line = format!(
            "audit --randomizer rr --local-epsilon 0.5 --trials 200 --confidence 0.001 --seed {seed} --report page.html"
        );
        let result = run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
        (result.code != Some(0)).then_some((line, result))
    });
    let (line, result) = failed.unwrap();
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(result.stdout.contains("CONTRADICTED"), "{result:?}");
    assert!(result.stderr.contains("error: the audit failed: "), "{result:?}");
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("the audit failed"));
    let json = run_in(folder.path(), &format!("{line} --json").split(' ').collect::<Vec<_>>());
    assert_eq!(json.code, Some(1));
    assert_eq!(json.json()["passed"], false);
}

#[test]
fn a_page_is_written() {
    let folder = tempdir().unwrap();
    let line = "audit --randomizer r-1 --local-epsilon 1 --clients 5 --trials 200 --seed 1 --report page.html";
    let result = run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    result.assert_decent(line);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for needed in ["Audit of a running randomizer", "R_1", "all 5 clients participate", "true positives"] {
        assert!(page.contains(needed), "the page lacks {needed}");
    }
}

#[test]
fn what_cannot_be_audited_is_refused_by_name() {
    for (rest, message) in [
        ("", "--randomizer any is a class"),
        ("--randomizer approximate --local-epsilon 1 --local-delta 0.1", "--randomizer approximate is a class"),
        ("--randomizer r-inf", "--randomizer r-inf needs --local-epsilon"),
        ("--randomizer r-inf --local-epsilon 1 --sigma 2", "--sigma does not belong"),
        ("--randomizer rr --local-epsilon 1 --dimension 2", "--dimension does not belong"),
        ("--randomizer r-inf --local-epsilon 1 --dimension 0", "--dimension must be"),
        ("--randomizer r-inf --local-epsilon 1 --dimension 1e10", "--dimension must be"),
        ("--randomizer r-inf --local-epsilon 0", "--local-epsilon must be"),
        ("--randomizer priv-unit --local-epsilon 1", "--randomizer priv-unit needs --dimension"),
        ("--randomizer rr --local-epsilon 1 --sampled 5", "--clients"),
        ("--randomizer rr --local-epsilon 1 --check-in 0.5", "--clients"),
        ("--randomizer rr --local-epsilon 1 --clients 5 --drop-out 0.5", "--check-in"),
        ("--randomizer rr --local-epsilon 1 --clients 5 --sampled 6", "--sampled must be"),
        ("--randomizer rr --local-epsilon 1 --clients 1e15", "--clients must be"),
        ("--randomizer rr --local-epsilon 1 --clients 1e15 --sampled 1e12", "--sampled must be"),
        ("--randomizer rr --local-epsilon 1 --trials 5", "--trials must be"),
        ("--randomizer rr --local-epsilon 1 --confidence 1", "--confidence must be"),
        ("--randomizer rr --local-epsilon 1 --delta 0", "--delta must be"),
        ("--randomizer rr --local-epsilon 1 --seed x", "--seed"),
    ] {
        let result = run_line(&format!("audit {rest}"));
        result.assert_decent(rest);
        assert_eq!(result.code, Some(2), "{rest}: {result:?}");
        assert!(result.stderr.contains(message), "{rest}: {}", result.stderr);
    }
}
