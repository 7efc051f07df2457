//! Two servers and two shufflers on PostgreSQL behind a load balancer, as programs with TLS: one
//! replica of each ends in the middle, and ε is the command line's.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;
mod scene;
#[path = "../../postgres/tests/server/mod.rs"]
mod server;

use common::run_line;
use scene::{Scene, certificates};
use server::Server;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CLIENTS: u64 = 300;
const QUESTION: &str = "epsilon --clients 300 --check-in 0.5 --randomizer priv-unit --dimension 500 --local-epsilon 2 \
                        --delta 1e-6 --json --rounds";
const ROUNDS: u64 = 4;

fn epsilon_of(rounds: u64) -> f64 {
    run_line(&format!("{QUESTION} {rounds}")).json()["epsilon"].as_f64().unwrap()
}

/// Passes connections on, to one replica after the other, and past those that do not answer.
fn balance(address: &str, replicas: Vec<String>) {
    let listener = TcpListener::bind(address).unwrap();
    let next = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let first = next.fetch_add(1, Ordering::SeqCst);
            let alive =
                (0..replicas.len()).find_map(|at| TcpStream::connect(&replicas[(first + at) % replicas.len()]).ok());
            let Some(replica) = alive else { continue };
            for (mut from, mut to) in [(client.try_clone().unwrap(), replica.try_clone().unwrap()), (replica, client)] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(file.file_name());
        if file.path().is_dir() {
            copy(&file.path(), &target)
        } else {
            fs::copy(file.path(), target).map(drop).unwrap()
        }
    }
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Two replicas of a service, `NAME` and `NAME2`, behind the address that the others know.
fn replicate(scene: &Scene, service: &str) {
    let text = fs::read_to_string(scene.folder().join(format!("{service}/{service}.toml"))).unwrap();
    let listen = text.lines().find_map(|line| line.strip_prefix("address = \"")).unwrap();
    let known = listen.split('"').next().unwrap().to_owned();
    let second = format!("{service}2");
    copy(&scene.folder().join(service), &scene.folder().join(&second));
    fs::rename(
        scene.folder().join(format!("{second}/{service}.toml")),
        scene.folder().join(format!("{second}/{second}.toml")),
    )
    .unwrap();
    let addresses = [free_address(), free_address()];
    for (replica, address) in [service, &second].into_iter().zip(&addresses) {
        scene.change(replica, &[(&format!("address = \"{known}\""), &format!("address = \"{address}\""))]);
    }
    balance(&known, addresses.into());
}

#[test]
fn replicas_on_postgresql_state_the_epsilon_of_the_command_line() {
    let Some(database) = Server::start() else { return };
    let mut scene = Scene::new();
    certificates(scene.folder(), "ca.pem", &["server", "shuffler"]);
    database.database("server");
    database.database("shuffler");
    let store = |name: &str| format!("store = \"{}\"", database.address(name));
    let budget = (epsilon_of(ROUNDS) + epsilon_of(ROUNDS + 1)) / 2.0;
    scene.change(
        "server",
        &[
            ("store = \"server.sqlite\"", &store("server")),
            ("clients = 20_000", &format!("clients = {CLIENTS}")),
            ("check_in_rate = 0.2", "check_in_rate = 0.5"),
            ("budget = 0.5", &format!("budget = {budget}")),
            ("test = 2000", "test = 200"),
            ("window_seconds = 15", "window_seconds = 4"),
        ],
    );
    scene.change(
        "shuffler",
        &[
            ("data = \"data\"", &store("shuffler")),
            ("min_batch = 1000", "min_batch = 60"),
            ("# poll_seconds = 1.0", "poll_seconds = 0.1"),
        ],
    );
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
    replicate(&scene, "server");
    replicate(&scene, "shuffler");

    let mut start = |name: &str, service: &str| scene.start(name, &format!("{service} --config {name}/{name}.toml"));
    let shufflers = [start("shuffler", "shuffler"), start("shuffler2", "shuffler")];
    let servers = [start("server", "server"), start("server2", "server")];
    let crowd = scene.start("crowd", "client --config client/client.toml --simulate 300 --seed 1 --json");

    // The first replica of each ends after a round; the others go on.
    scene.status(|status| status["rounds"].as_array().unwrap().iter().any(|round| round["status"] == "done"));
    for id in [shufflers[0], servers[0]] {
        assert_eq!(scene.stop(id).code, Some(0), "{}", scene.log("server"));
    }
    let status = scene.status(|status| status["phase"] == "budget-spent");
    let done = status["rounds"].as_array().unwrap().iter().filter(|round| round["status"] == "done").count();
    assert!(done >= 2, "{status:#}\n{}", scene.log("shuffler2"));
    let privacy = scene.get("/v1/privacy").unwrap();
    assert_eq!(privacy["epsilon"], serde_json::json!(epsilon_of(ROUNDS)), "to the last digit");
    assert_eq!((&privacy["rounds"], &privacy["rounds_left"]), (&ROUNDS.into(), &0.into()));
    let crowd = scene.ended(crowd);
    assert!(crowd.stderr.contains("the task is over"), "{crowd:?}");
    for id in [shufflers[1], servers[1]] {
        assert_eq!(scene.stop(id).code, Some(0));
    }
    // Nothing is left of reports.
    assert_eq!(database.query("shuffler", "SELECT count(*) FROM shuffledp_shuffler.rounds"), "0");
    let left = "SELECT count(*) FROM pg_class WHERE relname ~ '^(reports|sequence)_[0-9]+$'";
    assert_eq!(database.query("shuffler", left), "0");
    assert_eq!(database.query("server", "SELECT count(*) FROM shuffledp_server.ledger"), ROUNDS.to_string());
}
