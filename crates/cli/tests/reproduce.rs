//! `shuffledp reproduce`: the papers' figures by name, and the gallery that the docs show.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{program, run_in, run_line};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::tempdir;

const ERRORS: &str = include_str!("../../../docs/errors-in-the-literature.md");

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery")
}

/// The text elements of a picture. Coordinates may differ in their last digit from machine to
/// machine, words may not.
fn words(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

fn names_in(folder: &Path, end: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}

/// Everything at once, because it takes seconds: numbers, verdicts, files, and the docs.
#[test]
fn all_items_have_their_numbers_and_the_docs_show_them() {
    let folder = tempdir().unwrap();
    let mut command = program();
    command.args(["reproduce", "--all", "--quick", "--json", "-o", "gallery"]).current_dir(folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let gallery = folder.path().join("gallery");
    let items = document["items"].as_array().unwrap();
    assert_eq!(items.len(), 25);
    let page = fs::read_to_string(gallery.join("index.html")).unwrap();
    for item in items {
        let id = item["id"].as_str().unwrap();
        let verdict = item["verdict"].as_str().unwrap();
        assert!(["reproduced", "reproduced with a correction", "not reproducible"].contains(&verdict), "{item}");
        assert_eq!(verdict == "reproduced", item["reasons"].as_array().unwrap().is_empty(), "{id}: a reason, please");
        for heading in item["evidence"].as_array().unwrap() {
            let heading = format!("### {}\n", heading.as_str().unwrap());
            assert!(ERRORS.contains(&heading), "{id}: no section {heading}");
        }
        // What is not as printed is explained; girgis-fig5b is about the luck of training runs, of
        // which experiments/training tells.
        let has_evidence = !item["evidence"].as_array().unwrap().is_empty();
        assert!(verdict == "reproduced" || has_evidence || id == "girgis-fig5b", "{id}");
        for claim in item["claims"].as_array().unwrap() {
            assert_ne!(claim["as_expected"], false, "{id}: {claim}");
        }
        for end in ["svg", "png", "csv", "json"] {
            assert!(fs::metadata(gallery.join(format!("{id}.{end}"))).unwrap().len() > 100, "{id}.{end}");
        }
        assert!(page.contains(id), "{id} is not on the page");
        let alone: Value =
            serde_json::from_str(&fs::read_to_string(gallery.join(format!("{id}.json"))).unwrap()).unwrap();
        assert_eq!(alone["verdict"], item["verdict"]);
        assert!(!alone["panels"].as_array().unwrap().is_empty());
    }
    // A page that needs nothing from elsewhere.
    assert!(!page.contains("src=") && !page.contains("<script") && !page.contains("@import"));

    let renew = "is out of date: run 'make reproduce'";
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    assert!(read(&docs(), "README.md") == read(&gallery, "README.md"), "docs/gallery/README.md {renew}");
    let shown: Vec<String> = names_in(&docs(), ".svg");
    let text = read(&docs(), "README.md");
    let linked: Vec<&str> =
        text.split("](").skip(1).filter_map(|rest| rest.split_once(".svg)")).map(|parts| parts.0).collect();
    assert_eq!(shown.len(), linked.len());
    for name in linked.iter().map(|name| format!("{name}.svg")) {
        assert!(words(&read(&docs(), &name)) == words(&read(&gallery, &name)), "docs/gallery/{name} {renew}");
    }
}

#[test]
fn a_figure_is_all_its_items_and_a_paper_all_its_figures() {
    let ids = |line: &str| -> Vec<String> {
        let document = run_line(line).json();
        let items = document["items"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("reproduce girgis-fig3 --quick --json"), ["girgis-fig3a", "girgis-fig3b", "girgis-fig3c"]);
    assert_eq!(ids("reproduce girgis-fig3b girgis-fig3 girgis-fig3b --quick --json").len(), 3);
    assert_eq!(
        ids("reproduce --paper gaussian --quick --json"),
        ["gaussian-fig1a", "gaussian-fig1b", "gaussian-table1"]
    );
    assert_eq!(ids("reproduce --list --json").len(), 25);
}

#[test]
fn verdicts_are_those_of_the_full_curves_too() {
    let verdict = |line: &str| run_line(line).json()["items"][0]["verdict"].clone();
    assert_eq!(verdict("reproduce girgis-fig3a --json"), verdict("reproduce girgis-fig3a --json --quick"));
}

#[test]
fn what_is_not_there_is_refused_with_a_hint() {
    for (line, words) in [
        ("reproduce", "required"),
        ("reproduce girgis-fig9", "--list"),
        ("reproduce fig2a", "did you mean girgis-fig2a?"),
        ("reproduce check-in", "use --paper check-in"),
        ("reproduce checkin_fig3a", "did you mean checkin-fig3a?"),
        ("reproduce --paper newton", "check-in"),
        ("reproduce --all girgis-fig2a", "cannot be used with"),
        ("reproduce --all --list", "cannot be used with"),
        ("reproduce girgis-fig5a --train", "--output"),
        ("reproduce girgis-fig5a --seeds 4", "--train"),
        ("reproduce girgis-fig5a --train -o x --seeds one", "one"),
    ] {
        let result = run_line(line);
        assert_eq!(result.code, Some(2), "{line}: {result:?}");
        assert!(result.stderr.contains(words), "{line}: {result:?}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_computed() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let result = run_in(folder.path(), &["reproduce", "girgis-14x", "-o", "file"]);
    assert_eq!(result.code, Some(2), "{result:?}");
    assert!(result.stderr.contains("name a folder"), "{result:?}");
    let result = run_in(folder.path(), &["reproduce", "girgis-14x", "-o", "file/below"]);
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(result.stdout.is_empty(), "{result:?}");
}

/// The runs of this item that the program has.
const STORED: &str = "3 stored runs of checkin-fig3b (seeds 1, 2, 3; 5,540 rounds)";

/// A finished run as `shuffledp train` leaves it: what `reproduce --train` goes by.
fn finished(folder: &Path, accuracy: f64) {
    let place = folder.join("gallery/runs/checkin-fig3b-7");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("run.json"), r#"{"config":{"name":"checkin-fig3b","seed":7},"rounds":5540}"#).unwrap();
    let line = |round: u64, accuracy: f64| format!("{{\"round\":{round},\"test_accuracy\":{accuracy}}}\n");
    fs::write(place.join("metrics.jsonl"), line(200, 0.5) + &line(5540, accuracy)).unwrap();
}

#[test]
fn finished_runs_are_taken_and_not_run_again() {
    let folder = tempdir().unwrap();
    finished(folder.path(), 0.75);
    let words = ["reproduce", "checkin-fig3b", "--train", "--seeds", "7", "-o", "gallery", "--json"];
    let result = run_in(folder.path(), &words);
    result.assert_decent("reproduce --train");
    assert!(result.stderr.contains("checkin-fig3b, seed 7: finished before"), "{result:?}");
    assert_eq!(result.json()["items"][0]["runs"][0], "4 runs of checkin-fig3b (seeds 1, 2, 3, 7; 5,540 rounds)");
    // The last accuracy is the mean of the stored three and this one.
    let last_accuracy = || {
        let csv = fs::read_to_string(folder.path().join("gallery/checkin-fig3b.csv")).unwrap();
        assert!(csv.starts_with("panel,epsilon,bound,"), "accuracies against ε: {csv}");
        csv.trim_end().rsplit(',').next().unwrap().parse::<f64>().unwrap()
    };
    let before = last_accuracy();
    finished(folder.path(), 0.95);
    run_in(folder.path(), &words).assert_decent("reproduce --train, another accuracy");
    assert!((last_accuracy() - before - (95.0 - 75.0) / 4.0).abs() < 0.011, "{before} {}", last_accuracy());
    // A damaged run is an error, not a missing one.
    fs::write(folder.path().join("gallery/runs/checkin-fig3b-7/metrics.jsonl"), "{").unwrap();
    let result = run_in(folder.path(), &words);
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(result.stderr.contains("damaged"), "{result:?}");
}

/// A small run under the name of a preset, so that it can be stopped and gone on with in seconds.
const SMALL: &str = "\
name = 'checkin-fig3b'
seed = 7
rounds = 60
delta = 1e-5
evaluate_every = 3
[data]
kind = 'digits'
train = 400
test = 100
[model]
kind = 'linear'
[algorithm]
kind = 'check-in'
rate = 0.1
clip = 0.05
randomizer = { name = 'gaussian', sigma = 5.784 }
[step.schedule]
kind = 'constant'
rate = 0.1
";

#[test]
fn a_run_that_was_stopped_goes_on() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    let place = folder.path().join("gallery/runs/checkin-fig3b-7");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let mut child = program()
        .current_dir(folder.path())
        .args(["train", "--config", "small.toml", "-o"])
        .arg(&place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(place.join("metrics.jsonl")).map_or(0, |text| text.lines().count());
    while lines() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was stopped");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.join("run.json").exists(), "it was stopped too late");
    let words = ["reproduce", "checkin-fig3b", "--train", "--seeds", "7", "-o", "gallery", "--json"];
    let result = run_in(folder.path(), &words);
    result.assert_decent("reproduce --train");
    assert!(result.stderr.contains("checkin-fig3b, seed 7: goes on"), "{result:?}");
    // Sixty rounds are fewer than those of the stored runs, which are shown then.
    assert_eq!(result.json()["items"][0]["runs"][0], STORED);
    let run: Value = serde_json::from_slice(&fs::read(place.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["rounds"], 60, "it went on to its end");
}

#[test]
fn training_without_its_data_says_what_to_do() {
    let folder = tempdir().unwrap();
    let words = ["reproduce", "checkin-fig3b", "--train", "--seeds", "1", "-o", "gallery", "--data", "nowhere"];
    let result = run_in(folder.path(), &words);
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(result.stderr.contains("shuffledp data mnist"), "{result:?}");
    assert!(result.stdout.is_empty(), "{result:?}");
}

#[test]
fn training_says_when_there_is_nothing_to_train() {
    let folder = tempdir().unwrap();
    let result = run_in(folder.path(), &["reproduce", "girgis-14x", "--train", "-o", "gallery", "--quick"]);
    result.assert_decent("reproduce --train");
    assert!(result.stderr.contains("nothing to train"), "{result:?}");
}
