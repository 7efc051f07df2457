//! Server, shuffler and clients as programs, from `init` to the end of the budget, with TLS on
//! every link.
//!
//! The test does what a user would do by hand: make keys, fill in the configuration files that
//! `init` wrote, start everything, rotate keys while it runs, read the ledger, start the server
//! again.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;
mod scene;

use common::{run_in, run_line};
use scene::{Scene, certificates};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

/// The smallest population that has a batch worth the name, and a budget of three rounds.
const CLIENTS: u64 = 300;
const QUESTION: &str = "epsilon --clients 300 --check-in 0.5 --randomizer priv-unit --dimension 500 --local-epsilon 2 \
                        --delta 1e-6 --json --rounds";
const ROUNDS: u64 = 3;

/// Returns the ε that `shuffledp epsilon` prints for so many rounds.
fn epsilon_of(rounds: u64) -> f64 {
    run_line(&format!("{QUESTION} {rounds}")).json()["epsilon"].as_f64().unwrap()
}

#[test]
fn three_programs_learn_until_the_budget_is_spent_and_stay_there() {
    let mut scene = Scene::new();
    // Between three rounds and four.
    let budget = (epsilon_of(ROUNDS) + epsilon_of(ROUNDS + 1)) / 2.0;
    scene.change(
        "server",
        &[
            ("clients = 20_000", &format!("clients = {CLIENTS}")),
            ("check_in_rate = 0.2", "check_in_rate = 0.5"),
            ("budget = 0.5", &format!("budget = {budget}")),
            ("test = 2000", "test = 200"),
            ("window_seconds = 15", "window_seconds = 2"),
        ],
    );
    scene.change("shuffler", &[("min_batch = 1000", "min_batch = 60"), ("# poll_seconds = 1.0", "poll_seconds = 0.1")]);
    scene.pin();
    scene.change(
        "client",
        &[
            ("clients = 20_000", &format!("clients = {CLIENTS}")),
            ("min_batch = 1000", "min_batch = 60"),
            ("train = 20_000", "train = 300"),
            ("poll_seconds = 1.0", "poll_seconds = 0.1"),
        ],
    );

    // Clients may come first: they wait for the server.
    let crowd = scene.start("crowd", "client --config client/client.toml --simulate 300 --seed 1 --json");
    let one = scene.start("one", "client --config client/client.toml --json");
    let shuffler = scene.start("shuffler", "shuffler --config shuffler/shuffler.toml");
    let server = scene.start("server", "server --config server/server.toml");
    let first_model = scene.status(|_| true)["answer"].clone();

    // In the middle of a round; whoever sealed to the keys before is still heard.
    for service in ["server", "shuffler"] {
        let rotated =
            run_in(scene.folder(), &[service, "rotate-key", "--config", &format!("{service}/{service}.toml")]);
        assert_eq!(rotated.stdout, "key 1 is the newest now\n", "{rotated:?}");
    }

    // The clients end by themselves, because the server's budget does.
    let (crowd, one) = (scene.ended(crowd), scene.ended(one));
    assert!(crowd.stderr.contains("the task is over"), "{crowd:?}");
    let lines: Vec<serde_json::Value> = crowd.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["round"], ROUNDS, "{crowd:?}");

    let status = scene.status(|status| status["phase"] == "budget-spent");
    let rounds = status["rounds"].as_array().unwrap();
    assert_eq!(rounds.len() as u64, ROUNDS);
    let done: Vec<_> = rounds.iter().filter(|round| round["status"] == "done").collect();
    // The first may be over before a busy machine has started all programs.
    assert!(done.len() >= 2, "{status:#}\n{}", scene.log("shuffler"));
    for round in &done {
        assert!(round["accepted"].as_u64().unwrap() >= 60, "{round}");
        assert_eq!(round["rejected"], 0, "{round}");
    }
    assert_ne!(status["answer"], first_model, "nothing was learned");
    assert!(scene.log("server").contains("rotated keys taken up"), "{}", scene.log("server"));
    assert!(scene.log("shuffler").contains("HPKE keys read"), "{}", scene.log("shuffler"));

    // The ledger is what anybody can compute, and the client kept the same one for itself.
    let privacy = scene.get("/v1/privacy").unwrap();
    assert_eq!(privacy["epsilon"], serde_json::json!(epsilon_of(ROUNDS)));
    assert_eq!((&privacy["rounds"], &privacy["rounds_left"]), (&ROUNDS.into(), &0.into()));
    let offered = one.json()["rounds_offered"].as_u64().unwrap();
    assert!((2..=ROUNDS).contains(&offered), "{one:?}");
    assert_eq!(one.json()["epsilon"], serde_json::json!(epsilon_of(offered)));

    // Started again, the server still knows that it may not go on.
    assert_eq!(scene.stop(server).code, Some(0), "{}", scene.log("server"));
    let server = scene.start("server", "server --config server/server.toml");
    let again = scene.status(|status| status["phase"] == "budget-spent");
    assert_eq!((&again["rounds"], &again["answer"]), (&status["rounds"], &status["answer"]));
    assert_eq!(scene.get("/v1/privacy").unwrap(), privacy);
    for child in [server, shuffler] {
        assert_eq!(scene.stop(child).code, Some(0));
    }
    // Nothing is left of reports: every round was sent or deleted.
    let left: Vec<_> = fs::read_dir(scene.folder().join("shuffler/data")).unwrap().flatten().collect();
    assert!(left.iter().all(|file| file.file_name().to_string_lossy().starts_with("finished.db")), "{left:?}");
}

#[test]
fn plain_http_leaves_this_machine_only_when_told_to() {
    let scene = Scene::new();
    scene.change("server", &[("tls = {", "# tls = {"), ("address = \"127.0.0.1", "address = \"0.0.0.0")]);
    scene.change("shuffler", &[("url = \"https://127.0.0.1", "url = \"http://192.0.2.1")]);
    scene.pin();
    scene.change("client", &[("server = \"https://127.0.0.1", "server = \"http://192.0.2.1")]);
    for service in ["server", "shuffler", "client"] {
        let refused = run_in(scene.folder(), &[service, "--config", &format!("{service}/{service}.toml")]);
        assert!(refused.code != Some(0) && refused.stderr.contains("allow_plain_http"), "{service}: {refused:?}");
    }
}

#[test]
fn who_is_not_certified_is_not_believed() {
    let mut scene = Scene::new();
    scene.pin();
    scene.start("server", "server --config server/server.toml");
    scene.status(|_| true);
    // Another authority of the same name.
    certificates(scene.folder(), "other.pem", &[]);
    scene.change("client", &[("../ca.pem", "../other.pem")]);
    let client = scene.start("client", "client --config client/client.toml");
    scene.wait("the refusal", || scene.log("client").contains("certificate").then_some(()));
    assert_eq!(scene.stop(client).code, Some(0));
}

/// The example's files are those that `init` makes, and its script knows what to fill in.
#[test]
fn the_example_prepares_a_complete_set() {
    let folder = tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/services");
    for service in ["server", "shuffler", "client"] {
        assert_eq!(run_in(folder.path(), &[service, "init", "made"]).code, Some(0));
        let file = format!("{service}.toml");
        let made = fs::read_to_string(folder.path().join("made").join(&file)).unwrap();
        assert_eq!(made, fs::read_to_string(example.join(&file)).unwrap(), "{file}");
    }
    let script = Command::new("bash")
        .arg(example.join("run.sh"))
        .arg("set")
        .current_dir(folder.path())
        .env("SHUFFLEDP", env!("CARGO_BIN_EXE_shuffledp"))
        .env("PREPARE", "only")
        .output()
        .unwrap();
    assert!(script.status.success(), "{script:?}");
    for (service, question) in [("server", "show"), ("shuffler", "show"), ("client", "--status")] {
        let config = format!("set/{service}/{service}.toml");
        let answer = run_in(folder.path(), &[service, question, "--config", &config]);
        assert_eq!(answer.code, Some(0), "{service}: {answer:?}");
    }
    // Client and server mean the same task.
    let shown = run_in(folder.path(), &["server", "show", "--config", "set/server/server.toml"]).stdout;
    let client = fs::read_to_string(folder.path().join("set/client/client.toml")).unwrap();
    assert!(shown.lines().all(|line| client.contains(line)), "{shown}");
}
