//! Tests of an operator's view when something is wrong: readiness with a reason, metrics, files
//! that are named.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, Shuffler, World, context};
use shuffledp_shuffler::check;
use shuffledp_transport::join;
use shuffledp_wire::{SigningKey, paths};
use std::path::PathBuf;

async fn world() -> World {
    let mut world = World::new(3).await;
    world.config.listen.admin = Some("127.0.0.1:0".parse().unwrap());
    world
}

/// A figure on the operator's page.
async fn figure(shuffler: &Shuffler, name: &str) -> f64 {
    let (_, text) = shuffler.admin("/metrics").await;
    let name = format!("shuffledp_shuffler_{name} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
}

#[tokio::test]
async fn a_server_that_answers_makes_it_ready() {
    let world = world().await;
    let shuffler = world.start().await;
    let (status, body) = shuffler.admin("/readyz").await;
    assert!(status == 503 && body.contains("has not answered yet"), "{body}");
    shuffler.running.tick().await;
    assert_eq!(shuffler.admin("/readyz").await.0, 200);
    assert_eq!(shuffler.admin("/healthz").await, (200, "ok\n".to_owned()));
    let server = format!("{{server=\"{}\"}}", world.config.servers[0].url);
    assert!((figure(&shuffler, &format!("server_reachable{server}")).await - 1.0).abs() < 1e-9);
    assert!(figure(&shuffler, &format!("server_contact_age_seconds{server}")).await < 60.0);
    assert!(check(&world.config).await.iter().all(|finding| finding.problem.is_none()));
}

/// Each of these was a shuffler that ran for days and said nothing.
#[tokio::test]
async fn a_wrong_address_or_key_makes_it_unready_and_names_what_to_mend() {
    let another = SigningKey::from_seed(&[9; 32]).verifying_key();
    for (mistake, mend) in [
        ("closed", "mend `url`"),
        ("no server", "mend `url`"),
        ("key", "mend `key`"),
        ("tasks", "mend `tasks`"),
        ("round", "mend `key`"),
        ("shuffler", "[task.shuffler]"),
    ] {
        let mut world = world().await;
        let server = &mut world.config.servers[0];
        match mistake {
            // A port that was just free.
            "closed" => {
                let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
                server.url = format!("http://{free}");
            }
            "no server" => *world.server.task.lock().unwrap() = None,
            "key" => server.key = another,
            "tasks" => server.tasks = vec![context(7, 1).task],
            "round" => {
                (server.key, server.tasks) = (another, vec![context(1, 1).task]);
                world.server.show(&context(1, 1), OPENS, CLOSES);
            }
            _ => *world.server.task.lock().unwrap() = Some(common::task(another)),
        }
        let shuffler = world.start().await;
        shuffler.running.tick().await;
        let (status, body) = shuffler.admin("/readyz").await;
        assert!(status == 503 && body.contains("no-contact") && body.contains(mend), "{mistake}: {body}");
        let server = format!("{{server=\"{}\"}}", world.config.servers[0].url);
        assert!(figure(&shuffler, &format!("server_reachable{server}")).await.abs() < 1e-9);
        assert!(figure(&shuffler, "ready").await.abs() < 1e-9);
        if mistake != "round" {
            let problems: Vec<_> = check(&world.config).await.into_iter().filter_map(|found| found.problem).collect();
            assert!(problems.len() == 1 && problems[0].contains(mend), "{mistake}: {problems:?}");
        }
    }
}

#[tokio::test]
async fn one_damaged_file_stops_only_its_round() {
    let world = world().await;
    let shuffler = world.start().await;
    let (good, bad) = (context(1, 1), context(2, 1));
    for round in [&good, &bad] {
        world.server.show(round, OPENS, CLOSES);
        for number in 0..3 {
            let report = shuffler.seal(&world.server, round, number).await;
            assert_eq!(shuffler.post(&report).await, 202);
        }
    }
    // Which file is whose: the one that is there before the other.
    let late = shuffler.seal(&world.server, &bad, 3).await;
    shuffler.stop().await;
    let file = |task: u8| -> PathBuf {
        use sha2::{Digest, Sha256};
        let hash: [u8; 32] = Sha256::digest(context(task, 1).to_bytes()).into();
        world.config.data.join(format!("{}.round", shuffledp_wire::TaskHash::from_bytes(hash)))
    };
    std::fs::write(file(2), b"not a database, and not empty either").unwrap();

    let shuffler = world.start().await;
    assert_eq!(shuffler.running.unfinished(), 1);
    let aside = PathBuf::from(format!("{}.damaged", file(2).display()));
    assert!(aside.exists() && !file(2).exists(), "it is kept for whoever wants to look");
    assert!((figure(&shuffler, "damaged_rounds").await - 1.0).abs() < 1e-9);
    // A second store for the same round could have a second batch.
    shuffler.running.tick().await;
    assert_eq!(shuffler.post(&late).await, 410);
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [0, 1, 2]);
    shuffler.stop().await;
    // Nor does the file that was set aside stop the next start.
    assert_eq!(world.start().await.running.unfinished(), 0);
}

#[tokio::test]
async fn too_little_room_refuses_reports_until_there_is_more() {
    let mut world = world().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    world.config.min_free_bytes = u64::MAX;
    let shuffler = world.start().await;
    shuffler.running.tick().await;
    let report = shuffler.seal(&world.server, &round, 1).await;
    let answer = world.client.post(&join(&shuffler.url, paths::REPORTS)).unwrap().body(report.clone());
    let answer = answer.send().await.unwrap();
    assert!(answer.status() == 503 && answer.headers().contains_key("retry-after"));
    let (status, body) = shuffler.admin("/readyz").await;
    assert!(status == 503 && body.contains("disk-full") && body.contains("min_free_bytes"), "{body}");
    assert!((figure(&shuffler, "reports_refused_total{reason=\"storage\"}").await - 1.0).abs() < 1e-9);
    // What an operator can change without a restart.
    world.config.min_free_bytes = 0;
    shuffler.running.reload(world.config.clone()).unwrap();
    shuffler.running.tick().await;
    assert_eq!(shuffler.post(&report).await, 202);
    assert_eq!(shuffler.admin("/readyz").await.0, 200);
    // And what not: nothing of it is taken up.
    let mut other = world.config.clone();
    (other.min_batch, other.min_free_bytes) = (4, u64::MAX);
    let refused = shuffler.running.reload(other).unwrap_err().to_string();
    assert!(refused.contains("`min_batch`") && refused.contains("restart"), "{refused}");
    shuffler.running.tick().await;
    assert_eq!(shuffler.admin("/readyz").await.0, 200);
}

#[tokio::test]
async fn refusals_are_counted_by_reason_for_the_operator_only() {
    let mut world = world().await;
    world.config.max_reports = 3;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let shuffler = world.start().await;
    shuffler.running.tick().await;
    for number in 0..3 {
        let report = shuffler.seal(&world.server, &round, number).await;
        // Repeated, it takes no place.
        for _ in 0..5 {
            assert_eq!(shuffler.post(&report).await, 202);
        }
    }
    assert_eq!(shuffler.post(&shuffler.seal(&world.server, &round, 3).await).await, 503);
    assert_eq!(shuffler.post(&shuffler.seal(&world.server, &context(2, 1), 3).await).await, 410);
    assert_eq!(shuffler.post(b"nonsense").await, 400);
    for (reason, count) in [("full", 1.0), ("over", 1.0), ("unreadable", 1.0), ("busy", 0.0)] {
        let counted = figure(&shuffler, &format!("reports_refused_total{{reason=\"{reason}\"}}")).await;
        assert!((counted - count).abs() < 1e-9, "{reason}: {counted}");
    }
    assert!((figure(&shuffler, "rounds_open").await - 1.0).abs() < 1e-9);
    let public =
        world.client.get(&join(&shuffler.url, "/metrics")).unwrap().send().await.unwrap().text().await.unwrap();
    assert!(public.contains("rounds_sealed_total 0") && !public.contains("refused_total{"), "{public}");
}
