//! The JSON contract: field names and types. Add to it, never rename.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{HEADLINE, run_line};
use serde_json::Value;

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn is_number(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number >= 0.0) || value == "inf"
}

/// Sorted, as `serde_json` gives them back.
fn expected(quantity: &str, has_lower: bool, all: bool) -> Vec<String> {
    let mut names: Vec<String> =
        ["adjacency", "rounds", "delta", "epsilon", "method", "standing"].map(str::to_owned).to_vec();
    names.extend(["question", "assumptions", "warnings", "version"].map(str::to_owned));
    if has_lower {
        names.extend([format!("{quantity}_lower"), "lower_method".to_owned()]);
    }
    if all {
        names.extend(["bounds".to_owned(), "not_applicable".to_owned()]);
    }
    names.sort();
    names
}

#[test]
fn the_answer_has_its_fields_and_no_others() {
    for (line, quantity) in [
        (HEADLINE, "epsilon"),
        ("delta --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --epsilon 1", "delta"),
        ("epsilon --clients 1000 --randomizer rr --local-epsilon 1 --delta 1e-6", "epsilon"),
    ] {
        for all in [false, true] {
            let result = run_line(&format!("{line} --json{}", if all { " --all" } else { "" }));
            result.assert_decent(line);
            let object = result.json();
            let has_lower = object.get("lower_method").is_some();
            assert_eq!(names(&object), expected(quantity, has_lower, all), "{line}");
            assert_eq!(object["adjacency"], "replace-one");
            assert!(object["rounds"].is_u64());
            assert!(is_number(&object["epsilon"]) && is_number(&object["delta"]), "{object}");
            assert_eq!(object["standing"], "rigorous");
            if has_lower {
                let lower = object[format!("{quantity}_lower")].as_f64().unwrap();
                assert!(object[quantity].as_f64().is_none_or(|upper| lower <= upper), "{object}");
            }
            assert_eq!(result.stdout.matches('\n').count(), 1, "one object, one line");
        }
    }
}

#[test]
fn every_bound_has_its_fields_and_no_others() {
    for (line, quantity) in [
        (HEADLINE, "epsilon"),
        ("delta --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --epsilon 1", "delta"),
    ] {
        let object = run_line(&format!("{line} --json --all")).json();
        let bounds = object["bounds"].as_array().unwrap();
        assert!(!bounds.is_empty());
        for bound in bounds {
            let mut fields = vec!["citation", "id", "kind", "name", "note", "standing", quantity];
            if bound.get("order").is_some() {
                fields.push("order");
                assert!(bound["order"].as_f64().is_some_and(|order| order > 1.0), "{bound}");
            }
            fields.sort_unstable();
            assert_eq!(names(bound), fields);
            assert!(is_number(&bound[quantity]), "{bound}");
            assert!(["upper", "lower"].contains(&bound["kind"].as_str().unwrap()));
            let standing = bound["standing"].as_str().unwrap();
            assert!(["rigorous", "conjectured", "asymptotic", "flawed", "lower"].contains(&standing), "{bound}");
            assert!(!bound["citation"].as_str().unwrap().is_empty(), "{bound}");
        }
        for silent in object["not_applicable"].as_array().unwrap() {
            assert_eq!(names(silent), ["id", "reason"]);
            assert!(!silent["reason"].as_str().unwrap().is_empty(), "{silent}");
        }
        // Every method is in exactly one of the lists.
        let mut ids: Vec<&str> = ["bounds", "not_applicable"]
            .iter()
            .flat_map(|list| object[list].as_array().unwrap())
            .map(|entry| entry["id"].as_str().unwrap())
            .collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id occurs twice");
    }
}

#[test]
fn the_headline_is_ours() {
    let object = run_line(&format!("{HEADLINE} --json")).json();
    assert_eq!((&object["method"], &object["standing"]), (&"displacement-any-pld".into(), &"rigorous".into()));
    let epsilon = object["epsilon"].as_f64().unwrap();
    assert!((0.1375..0.1377).contains(&epsilon), "{epsilon}");
}

/// The papers print these values: Girgis et al. 1.04 at order 28, and 14 times more for the
/// baseline of their abstract.
#[test]
fn the_headline_is_what_was_published() {
    let object = run_line(&format!("{HEADLINE} --json --all")).json();
    let find = |id: &str| object["bounds"].as_array().unwrap().iter().find(|bound| bound["id"] == id).unwrap().clone();
    let theorem = find("girgis-theorem-1");
    let epsilon = theorem["epsilon"].as_f64().unwrap();
    assert!((1.0402..1.0403).contains(&epsilon), "{theorem}");
    assert_eq!(theorem["order"], 28);
    assert_eq!(theorem["standing"], "rigorous");
    let baseline = find("clones-closed-form+subsampling+kov")["epsilon"].as_f64().unwrap();
    assert!((14.25..14.35).contains(&baseline), "{baseline}");
}

#[test]
fn standing_widens_what_may_answer() {
    let order = ["rigorous", "conjectured", "asymptotic", "flawed"];
    let mut before = f64::INFINITY;
    for (i, standing) in order.iter().enumerate() {
        let object = run_line(&format!("{HEADLINE} --json --standing {standing}")).json();
        let epsilon = object["epsilon"].as_f64().unwrap();
        assert!(epsilon <= before, "{standing}: {epsilon} after {before}");
        assert!(order[..=i].contains(&object["standing"].as_str().unwrap()), "{object}");
        before = epsilon;
    }
}
