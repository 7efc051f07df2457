//! `calibrate`: the JSON contract, answers that come back through `epsilon`, targets that cannot be
//! met, flags that do not fit.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::run_line;
use serde_json::Value;

const SETTING: &str = "--clients 1e6 --sampled 1000 --local-epsilon 2";

/// (flags without the unknown, the unknown, target and δ)
const PROBLEMS: [(&str, &str, &str); 6] = [
    ("--clients 1e6 --sampled 1000 --rounds 1e4", "local-epsilon", "--target-epsilon 0.2 --delta 1e-8"),
    ("--clients 6e4 --sampled 6000 --randomizer gaussian --rounds 50", "sigma", "--target-epsilon 0.1 --delta 1e-5"),
    (SETTING, "rounds", "--target-epsilon 0.2 --delta 1e-8"),
    (
        "--sampled 1000 --randomizer ldp-sgd --local-epsilon 2 --rounds 1e4",
        "clients",
        "--target-epsilon 0.1 --delta 1e-8",
    ),
    (
        "--clients 1e6 --randomizer krr --categories 5 --local-epsilon 2 --rounds 1e4",
        "sampled",
        "--target-epsilon 0.1 --delta 1e-8",
    ),
    (
        "--clients 6e4 --randomizer ldp-sgd --local-epsilon 2 --rounds 1200 --drop-out 0.1",
        "check-in",
        "--target-epsilon 0.5 --delta 1e-5",
    ),
];

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn answers_have_their_fields_and_come_back_through_epsilon() {
    for (flags, unknown, goal) in PROBLEMS {
        let line = format!("calibrate {flags} --solve {unknown} {goal} --json");
        let result = run_line(&line);
        result.assert_decent(&line);
        assert_eq!(result.stdout.matches('\n').count(), 1, "one object, one line");
        let object = result.json();
        let mut fields: Vec<&str> = names(&object).into_iter().filter(|name| !name.contains("lower")).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            [
                "adjacency",
                "assumptions",
                "delta",
                "epsilon",
                "method",
                "next_epsilon",
                "next_value",
                "next_value_exceeds",
                "question",
                "rounds",
                "solved",
                "standing",
                "target_epsilon",
                "tolerance",
                "value",
                "version",
                "warnings"
            ],
            "{line}"
        );
        assert_eq!(object["adjacency"], "replace-one");
        assert_eq!(object["solved"], unknown);
        assert_eq!(object["standing"], "rigorous");
        assert_eq!(object["next_value_exceeds"], true, "{object}");
        let target = object["target_epsilon"].as_f64().unwrap();
        let is_count = ["rounds", "clients", "sampled"].contains(&unknown);
        assert_eq!(object["value"].is_u64(), is_count, "{object}");
        let (value, next) = (object["value"].as_f64().unwrap(), object["next_value"].as_f64().unwrap());
        assert!(((next - value).abs() / object["tolerance"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{object}");
        // As people write it, and no more digits than that.
        assert!(is_count || object["value"].to_string().len() <= "0.012345".len(), "{object}");

        // Both are what `epsilon` says.
        let delta = &object["delta"];
        let asked = |value: &Value| {
            let line = format!("epsilon {flags} --{unknown} {value} --delta {delta} --json");
            let result = run_line(&line);
            result.assert_decent(&line);
            result.json()
        };
        let at = asked(&object["value"]);
        assert_eq!((&at["epsilon"], &at["method"]), (&object["epsilon"], &object["method"]), "{line}");
        assert_eq!((&at["rounds"], at.get("epsilon_lower")), (&object["rounds"], object.get("epsilon_lower")));
        assert!(at["epsilon"].as_f64().unwrap() <= target, "{object}");
        let beyond = asked(&object["next_value"]);
        assert_eq!(beyond["epsilon"], object["next_epsilon"]);
        assert!(beyond["epsilon"].as_f64().is_none_or(|epsilon| epsilon > target), "{object}");
    }
}

#[test]
fn what_is_printed_is_the_same_value() {
    for (flags, unknown, goal) in PROBLEMS {
        let line = format!("calibrate {flags} --solve {unknown} {goal}");
        let result = run_line(&line);
        result.assert_decent(&line);
        let first = result.stdout.lines().next().unwrap();
        let words: Vec<&str> = first.split(' ').collect();
        assert_eq!(words[0], unknown, "{first}");
        assert_eq!(words[1], if ["sigma", "clients"].contains(&unknown) { "≥" } else { "≤" }, "{first}");
        assert_eq!(words[2], run_line(&format!("{line} --json")).json()["value"].to_string(), "{first}");
        for needed in ["the next value, ", "Tolerance ", "replace-one", "Assumes: an honest shuffler"] {
            assert!(result.stdout.contains(needed), "{needed}: {}", result.stdout);
        }
    }
}

#[test]
fn an_impossible_target_is_a_failure_that_says_how_near_one_can_come() {
    let line = "calibrate --clients 10 --local-epsilon 2 --solve rounds --target-epsilon 0.1 --delta 1e-6";
    let best = run_line("epsilon --clients 10 --local-epsilon 2 --rounds 1 --delta 1e-6 --json").json();
    let text = run_line(line);
    text.assert_decent(line);
    let message = "error: no --rounds meets ε ≤ 0.1 at δ = 1e-6: the best is ε ≤ 1.9999979, at --rounds 1";
    assert!(text.code == Some(1) && text.stderr.contains(message), "{text:?}");
    let json = run_line(&format!("{line} --json"));
    assert_eq!((json.code, &json.stderr), (Some(1), &text.stderr));
    let object = json.json();
    assert_eq!(names(&object), ["adjacency", "best_epsilon", "best_value", "delta", "impossible", "target_epsilon"]);
    assert_eq!((&object["impossible"], &object["best_value"]), (&"rounds".into(), &1.into()));
    assert_eq!(object["best_epsilon"], best["epsilon"]);
}

#[test]
fn the_page_shows_the_answer_and_every_bound() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "calibrate --clients 1000 --local-epsilon 1 --solve rounds --target-epsilon 1 --delta 1e-6 --report a.html";
    let result = common::run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    result.assert_decent(line);
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    let claim = result.stdout.lines().next().unwrap();
    for needed in [claim, "Calibrated for a target ε: rounds", "local-composition", "Bounds that do not apply"] {
        assert!(page.contains(needed), "{needed}");
    }
}

#[test]
fn where_every_value_will_do_there_is_no_next_one() {
    let line = "calibrate --clients 1000 --local-epsilon 0.5 --solve sampled --target-epsilon 0.6 --delta 1e-6";
    let object = run_line(&format!("{line} --json")).json();
    assert_eq!((&object["value"], &object["next_value_exceeds"]), (&1000.into(), &false.into()), "{object}");
    assert!(object.get("next_value").is_none());
    assert!(run_line(line).stdout.contains("Every value meets the target: this is the largest there is"));
}

#[test]
fn flags_that_do_not_fit_are_refused_by_name() {
    let goal = "--target-epsilon 1 --delta 1e-6";
    for (line, message) in [
        (format!("--solve rounds --rounds 5 {goal} {SETTING}"), "--rounds is solved for"),
        (format!("--solve=clients --clients=5 --local-epsilon 1 {goal}"), "--clients is solved for"),
        (
            format!("--solve sigma {goal} --clients 1000 --local-epsilon 1"),
            "--sigma does not belong to --randomizer any",
        ),
        (
            format!("--solve local-epsilon {goal} --clients 1000 --randomizer gaussian --sigma 3"),
            "--local-epsilon does not belong to --randomizer gaussian",
        ),
        (format!("--solve sigma {goal} --clients 1000"), "did you mean --randomizer gaussian?"),
        (format!("--solve sampled {goal} --clients 1000 --check-in 0.5 --local-epsilon 1"), "--sampled"),
        (format!("--solve check-in {goal} {SETTING}"), "--check-in"),
        (format!("--solve rounds {goal} --clients 1000"), "--randomizer any needs --local-epsilon"),
        (format!("--solve rounds {goal} --local-epsilon 1"), "--clients"),
        (format!("--solve delta {goal} {SETTING}"), "--solve"),
        (format!("{goal} {SETTING}"), "--solve"),
        (format!("--solve rounds --delta 1e-6 {SETTING}"), "--target-epsilon"),
        (format!("--solve rounds --target-epsilon 1 {SETTING}"), "--delta"),
        (format!("--solve rounds --target-epsilon 0 --delta 1e-6 {SETTING}"), "--target-epsilon must be"),
        (format!("--solve rounds --target-epsilon -1 --delta 1e-6 {SETTING}"), "--target-epsilon must be"),
        (format!("--solve rounds --target-epsilon nan --delta 1e-6 {SETTING}"), "--target-epsilon must be"),
        (format!("--solve rounds --target-epsilon 1 --delta 1 {SETTING}"), "--delta must be"),
        (format!("--solve rounds {goal} --max-order 1 {SETTING}"), "--max-order must be"),
        (format!("--solve rounds {goal} --clients 10 --sampled 20 --local-epsilon 1"), "--sampled must be"),
    ] {
        let result = run_line(&format!("calibrate {line}"));
        result.assert_decent(&line);
        assert_eq!(result.code, Some(2), "{line}: {result:?}");
        assert!(result.stderr.contains(message), "{line}: {}", result.stderr);
    }
}

#[test]
fn a_weaker_standing_allows_more() {
    let rounds = |standing: &str| {
        let line = format!(
            "calibrate {SETTING} --solve rounds --target-epsilon 0.2 --delta 1e-8 --json --standing {standing}"
        );
        run_line(&line).json()["value"].as_u64().unwrap()
    };
    assert!(rounds("asymptotic") >= rounds("rigorous"));
}
