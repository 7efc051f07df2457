//! `shuffledp train` on few generated digits: what it prints, what it leaves behind, what it
//! refuses before any work.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{Run, run_in, run_line};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A folder with `small.toml`, which takes a moment.
fn folder(more: &str) -> TempDir {
    let text = format!(
        "name = 'small'\nseed = 3\nrounds = 6\ndelta = 1e-5\nevaluate_every = 2\n{more}\n[data]\nkind = 'digits'\ntrain = 500\ntest = 100\n\
         [model]\nkind = 'linear'\n[algorithm]\nkind = 'cldp-sgd'\nsampled = 100\nclip = 0.01\nrandomizer = {{ name = 'r-inf', local_epsilon = 1 }}\n\
         [step]\naverage_from = 4\n[step.schedule]\nkind = 'constant'\nrate = 0.3\n"
    );
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), text).unwrap();
    folder
}

fn train(folder: &Path, line: &str) -> Run {
    let words: Vec<&str> = ["train"].into_iter().chain(line.split_whitespace()).collect();
    let result = run_in(folder, &words);
    result.assert_decent(line);
    result
}

fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_sketch_is_marked_in_every_line_and_cannot_be_saved() {
    let folder = folder("");
    let line = "--config small.toml --sketch --rounds 4 --seed 8";
    let result = train(folder.path(), &format!("{line} --json"));
    assert_eq!(result.code, Some(0), "{result:?}");
    let marked = lines(&result);
    assert_eq!(marked.iter().map(|line| line["round"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 4]);
    assert!(marked.iter().all(|line| line["sketch"] == true && line["epsilon"].as_f64().unwrap() > 0.0), "{marked:?}");
    assert!(result.stderr.contains("sketch, not a result"), "{}", result.stderr);
    let result = train(folder.path(), line);
    let text: Vec<&str> = result.stdout.lines().collect();
    assert!(text[0].starts_with("sketch, not a result: small:"), "{text:?}");
    assert!(text.len() == 4 && text[2..].iter().all(|line| line.ends_with("sketch")), "{text:?}");
    // What is not a sketch is not called one, and is another run.
    let real = train(folder.path(), "--config small.toml --rounds 4 --seed 8 --json");
    assert!(!real.stdout.contains("sketch") && !real.stderr.contains("sketch"), "{real:?}");
    assert_ne!(lines(&real)[1]["train_loss"], marked[1]["train_loss"]);
    assert_eq!(lines(&real)[1]["epsilon"], marked[1]["epsilon"]);
    for more in ["-o run", "--report run.html", "--dry-run", "--all"] {
        let refused = train(folder.path(), &format!("{line} {more}"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("--sketch"), "{refused:?}");
    }
    let refused = train(folder.path(), "--resume run --sketch");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["small.toml"]);
}

#[test]
fn a_run_prints_lines_and_leaves_a_folder_with_pictures_and_a_page() {
    let folder = folder("");
    let result = train(folder.path(), "--config small.toml -o run --report run.html --all --json");
    assert_eq!(result.code, Some(0), "{result:?}");
    let lines = lines(&result);
    assert_eq!(lines.len(), 4);
    let rounds: Vec<u64> = lines[..3].iter().map(|line| line["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [2, 4, 6]);
    assert!(lines[0].get("test_accuracy_last").is_none() && lines[2].get("test_accuracy_last").is_some());
    // The bounds are about the rounds of the run, and the answer among them is the run's ε.
    assert_eq!(lines[3]["rounds"], 6);
    assert_eq!(lines[3]["epsilon"], lines[2]["epsilon"]);
    assert!(lines[3]["bounds"].as_array().unwrap().iter().any(|bound| bound["id"] == "girgis-theorem-1"));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let privacy: Value = serde_json::from_str(&read("run/privacy.json")).unwrap();
    assert_eq!(privacy, lines[3]);
    for name in ["run/accuracy-against-epsilon.svg", "run/accuracy-against-rounds.svg"] {
        let svg = read(name);
        roxmltree::Document::parse(&svg).unwrap();
        assert!(
            svg.contains("mean of the weights since round 4") && svg.contains("weights of the last round"),
            "{name}"
        );
    }
    let page = read("run.html");
    assert!(page.contains("Private training: small") && page.contains("girgis-theorem-1"));
    assert!(page.contains("average_from = 4") && !page.contains("src="));
    // Two pictures, each for wide and for narrow windows.
    assert_eq!(page.matches("<svg").count(), 4);
    assert_eq!(read("run/metrics.jsonl").lines().count(), 3);
    let record: Value = serde_json::from_str(&read("run/run.json")).unwrap();
    assert_eq!(record["rounds"], 6);
}

#[test]
fn the_table_for_people_rounds_epsilon_up() {
    let folder = folder("");
    let result = train(folder.path(), "--config small.toml");
    assert_eq!(result.code, Some(0), "{result:?}");
    let head = result.stdout.lines().next().unwrap();
    assert_eq!(head, "small: generated digits, 500 clients, 7850 weights, 6 rounds, δ = 1e-5");
    let shown: f64 = result.stdout.lines().last().unwrap().split_whitespace().rev().nth(1).unwrap().parse().unwrap();
    let exact = lines(&train(folder.path(), "--config small.toml --json")).pop().unwrap()["epsilon"].as_f64().unwrap();
    assert!(shown >= exact && shown < exact * 1.001, "{shown} {exact}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn threads_and_a_second_time_change_nothing() {
    let folder = folder("");
    let told = |line: &str| {
        let mut lines = lines(&train(folder.path(), line));
        lines.iter_mut().for_each(|line| line["seconds"] = Value::Null);
        lines
    };
    let once = told("--config small.toml --json --threads 1");
    assert_eq!(told("--config small.toml --json --threads 3"), once);
    assert_ne!(told("--config small.toml --json --seed 4"), once);
}

#[test]
fn a_finished_run_can_be_resumed_for_its_report() {
    let folder = folder("");
    let first = train(folder.path(), "--config small.toml -o run --json");
    let again = train(folder.path(), "--resume run --json --all --report late.html");
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(lines(&again)[0], lines(&first)[2]);
    assert_eq!(lines(&again)[1]["rounds"], 6);
    assert_eq!(fs::read_to_string(folder.path().join("late.html")).unwrap().matches("<svg").count(), 4);
}

#[test]
fn a_dry_run_tells_privacy_and_time_and_trains_nothing() {
    let folder = folder("");
    let plan = train(folder.path(), "--config small.toml --dry-run --json").json();
    let done = lines(&train(folder.path(), "--config small.toml --json")).pop().unwrap();
    for field in ["epsilon", "epsilon_lower", "delta"] {
        assert_eq!(plan[field], done[field], "{field}");
    }
    assert_eq!((&plan["rounds"], &plan["local_epsilon"]), (&Value::from(6), &Value::from(6.0)));
    assert!(plan["seconds"].as_f64().unwrap() > 0.0);
    let text = train(folder.path(), "--config small.toml --dry-run").stdout;
    assert!(
        text.starts_with("small: 6 of 6 rounds\nε ≤ ") && text.contains("ε ≤ 6.0000 for a client in every round"),
        "{text}"
    );
    // A budget ends it sooner.
    let less = train(
        folder.path(),
        &format!("--config small.toml --dry-run --json --target-epsilon {}", 0.9 * plan["epsilon"].as_f64().unwrap()),
    );
    assert!(less.json()["rounds"].as_u64().unwrap() < 6, "{less:?}");
}

/// Whatever is charged, a private run is not called one without privacy, and no ε is told that is
/// not one.
#[test]
fn the_page_says_what_was_charged() {
    let folder = folder("");
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let start = text.find("[algorithm]").unwrap();
    let end = text.find("[step]").unwrap();
    for (algorithm, said, not_said) in [
        (
            "kind = 'shuffled-noisy-sgd'\nblocks = 3\nclip = 1\nlocal_epsilon = 1",
            "2 epochs over 3 blocks, 500 records in all",
            "ithout privacy",
        ),
        (
            "kind = 'shuffled-noisy-sgd'\nblocks = 3\nclip = 1\nlocal_epsilon = 1\nhides = 'block'",
            "If the order of the blocks is known: ε",
            "ithout privacy",
        ),
        (
            "kind = 'check-in'\nrate = 0.5\nclip = 1\nrandomizer = { name = 'gaussian', sigma = 20 }",
            "If shuffler and server collude: no ε at δ = 0",
            "ε ≤ inf",
        ),
        ("kind = 'no-privacy'\nsampled = 100", "6 rounds without privacy", "collude"),
    ] {
        let changed = format!("{}[algorithm]\n{algorithm}\n{}", &text[..start], &text[end..]);
        fs::write(folder.path().join("other.toml"), changed).unwrap();
        // The page may lie in the run's own folder.
        let result = train(folder.path(), "--config other.toml -o run --report run/report.html --all");
        assert_eq!(result.code, Some(0), "{result:?}");
        let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
        assert!(page.contains(said) && !page.contains(not_said), "{algorithm}");
        let rounds = fs::read_to_string(folder.path().join("run/accuracy-against-rounds.svg")).unwrap();
        assert!(!rounds.contains("ithout privacy") || algorithm.contains("no-privacy"), "{algorithm}");
        assert_eq!(folder.path().join("run/privacy.json").exists(), algorithm.contains("gaussian"), "{algorithm}");
        fs::remove_dir_all(folder.path().join("run")).unwrap();
    }
}

/// Another number of rounds stretches a schedule that ends with the run; a schedule that ends
/// before it is refused.
#[test]
fn no_round_is_charged_for_a_step_of_no_length() {
    let folder = folder("");
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let cosine = |rounds| text.replace("kind = 'constant'", &format!("kind = 'cosine'\nrounds = {rounds}"));
    fs::write(folder.path().join("small.toml"), cosine(6)).unwrap();
    let result = train(folder.path(), "--config small.toml -o run --rounds 8");
    assert_eq!(result.code, Some(0), "{result:?}");
    let written = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert_eq!(written.matches("rounds = 8").count(), 2, "{written}");
    fs::write(folder.path().join("small.toml"), cosine(5)).unwrap();
    let result = train(folder.path(), "--config small.toml");
    assert_eq!(result.code, Some(2), "{result:?}");
    assert!(result.stderr.contains("rounds of the schedule must be at least the run's, 6"), "{result:?}");
}

#[test]
fn warnings_are_said_before_the_work_and_on_the_page() {
    let folder = folder("");
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    fs::write(folder.path().join("table.csv"), "a,label\n1,0\n2,1\n3,0\n4,1\n").unwrap();
    let data = "kind = 'csv'\ntrain = 'table.csv'\ntest_share = 0.5";
    let text = text.replace("kind = 'digits'\ntrain = 500\ntest = 100", data).replace("sampled = 100", "sampled = 1");
    fs::write(folder.path().join("small.toml"), text.replace("delta = 1e-5", "delta = 0.6")).unwrap();
    let result = train(folder.path(), "--config small.toml --report page.html");
    assert_eq!(result.code, Some(0), "{result:?}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for warning in ["the number of classes is taken from the largest label", "δ = 0.6 is above one over the 2 clients"]
    {
        assert!(result.stderr.contains(warning) && page.contains(warning), "{result:?}");
    }
}

#[test]
fn the_example_with_a_table_runs() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/training");
    let elsewhere = tempdir().unwrap();
    let path = example.join("machines.toml");
    let result = run_in(elsewhere.path(), &["train", "--config", path.to_str().unwrap(), "--json"]);
    assert_eq!(result.code, Some(0), "{result:?}");
    let last = lines(&result).pop().unwrap();
    assert!(last["epsilon"].as_f64().unwrap() <= 2.0, "{last}");
    // Three kinds of which the largest has 60 %.
    assert!(last["test_accuracy"].as_f64().unwrap() > 0.7, "{last}");
}

#[test]
fn what_cannot_be_is_refused_first_and_leaves_nothing() {
    let folder = folder("");
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let variant = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from));
        fs::write(folder.path().join(name), text.replace(from, to)).unwrap();
    };
    variant("mnist.toml", "kind = 'digits'\ntrain = 500\ntest = 100", "kind = 'mnist'");
    variant(
        "table.toml",
        "kind = 'digits'\ntrain = 500\ntest = 100",
        "kind = 'csv'\ntrain = 'absent.csv'\ntest_share = 0.5",
    );
    variant("open.toml", "name = 'r-inf'", "name = 'any'");
    variant("many.toml", "sampled = 100", "sampled = 501");
    variant("decay.toml", "[step]", "[step]\nweight_decay = [0.1, 0.1]");
    variant("pca.toml", "[model]", "[preparation]\npca = 1000\n[model]");
    variant("fashion.toml", "kind = 'digits'\ntrain = 500\ntest = 100", "kind = 'fashion-mnist'");
    variant("scales.toml", "[model]", "[preparation]\nscattering = { scales = 6, angles = 2 }\n[model]");
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/something"), "").unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    for (line, code, expected) in [
        ("--config small.toml -o small.toml/run", 1, "--output: cannot write to small.toml/run"),
        ("--config small.toml -o full", 2, "--output: full is not empty"),
        ("--config small.toml -o run --report full", 1, "--report: full is a folder"),
        ("--config absent.toml -o run", 1, "cannot read absent.toml"),
        ("--config mnist.toml -o run --data .", 1, "fetch it with `shuffledp data mnist`"),
        ("--config fashion.toml -o run --data .", 1, "fetch it with `shuffledp data fashion-mnist`"),
        ("--config scales.toml -o run --data .", 2, "scattering.scales must be at most log2 of twice"),
        ("--config table.toml -o run", 1, "absent.csv"),
        ("--config open.toml -o run", 2, "a mechanism that can be run"),
        ("--config many.toml -o run", 2, "sampled must be at most the number of clients"),
        ("--config decay.toml -o run", 2, "weight_decay must be a number, or a list of 1"),
        ("--config pca.toml -o run", 2, "components must be 1 to 784"),
        ("--config small.toml -o run --rounds 0", 2, "rounds must be at least 1"),
        ("--config small.toml -o run --threads 0", 2, "--threads must be 1 to 1024"),
        ("--config small.toml -o run --dry-run", 2, "cannot be used with"),
        ("--resume run", 1, "config.toml"),
        ("--preset fast", 2, "[possible values: quick, girgis-fig5a, girgis-fig5a-tuned, girgis-fig5b,"),
    ] {
        let result = train(folder.path(), line);
        assert_eq!(result.code, Some(code), "{line}: {result:?}");
        assert!(result.stderr.contains(expected), "{line}: {result:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "{line} left something");
    }
}

#[test]
fn the_quick_preset_needs_no_download_and_little_epsilon() {
    let plan = run_line("train --preset quick --dry-run --json").json();
    assert!(plan["epsilon"].as_f64().unwrap() <= 1.0, "{plan}");
    let warned = run_line("train --preset quick --dry-run");
    assert!(!warned.stderr.contains("warning"), "{warned:?}");
}

#[test]
fn components_of_the_clients_examples_are_warned_about() {
    let folder = folder("");
    let path = folder.path().join("small.toml");
    let text = fs::read_to_string(&path).unwrap().replace("[model]", "[preparation]\npca = 5\n[model]");
    fs::write(&path, text).unwrap();
    let result = train(folder.path(), "--config small.toml --json");
    assert_eq!(result.code, Some(0), "{result:?}");
    assert!(
        result
            .stderr
            .contains("warning: principal components are fitted on the clients' examples, and no ε here covers that")
    );
}

#[test]
fn held_out_examples_are_named_wherever_the_accuracy_is() {
    let folder = folder("");
    let result = train(folder.path(), "--config small.toml --hold-out 100 -o run --report page.html");
    assert_eq!(result.code, Some(0), "{result:?}");
    let said = "accuracy is on 100 held-out training examples, which are not clients; the test set is not used";
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(result.stderr.contains(said) && page.contains(said), "{result:?}");
    assert!(page.contains("accuracy on held-out training examples") && !page.contains("test accuracy"));
    assert!(result.stdout.contains("tested on 100 training examples held out, 400 clients"), "{result:?}");
    assert!(result.stdout.contains("held-out"), "{result:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    assert!(read("metrics.jsonl").lines().all(|line| line.contains(r#""held_out":100"#)));
    assert!(read("config.toml").contains("hold_out = 100"));
    assert!(read("accuracy-against-rounds.svg").contains("held-out"));
    // A run that goes on holds out the same.
    assert_eq!(train(folder.path(), "--resume run").code, Some(0));
    let refused = train(folder.path(), "--config small.toml --hold-out 500");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("hold_out must be at least 1 and below the number of training examples, 500"));
}
