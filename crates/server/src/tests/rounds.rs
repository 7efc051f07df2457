//! Rounds open, expire and end as time and budget demand.

use super::world::{GRACE, WINDOW, World, get, id, put, weights};
use crate::conductor::Phase;
use crate::store::FileStore;

#[tokio::test]
async fn a_round_without_a_batch_is_given_up_and_stays_charged() {
    let world = World::with("rounds = 2");
    let service = world.serve();
    assert!(service.published().round.is_none());
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let first = world.round(&service);
    assert_eq!((first.round, first.opens, first.closes), (1, 1_000_000, 1_000_000 + WINDOW));
    let before = weights(&service);
    world.clock.advance(WINDOW + GRACE - 1);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service), first);
    world.clock.advance(1);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let second = world.round(&service);
    assert_eq!((second.round, second.opens), (2, first.closes + GRACE));
    assert_eq!((second.model, weights(&service)), (first.model, before));
    // What comes for the first round now is too late.
    let late = world.batch(id(1), first.context(), &world.records(&first, 0..3));
    assert_eq!(put(&service, id(1), late).await.status, axum::http::StatusCode::CONFLICT);
    world.clock.advance(WINDOW + GRACE);
    assert_eq!(service.tick().unwrap(), Phase::Finished);
    // The last round stays readable, and is over.
    assert_eq!(world.round(&service), second);
    let privacy = get(&service, "/v1/privacy").await.json();
    assert_eq!((privacy["rounds"].as_u64(), privacy["rounds_left"].as_u64()), (Some(2), Some(0)));
    let status = get(&service, "/v1/status").await.json();
    assert_eq!((status["phase"].as_str(), status["rounds"][1]["status"].as_str()), (Some("finished"), Some("expired")));
}

#[tokio::test]
async fn a_restart_resumes_the_open_round_and_waits_for_its_batch() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    drop(service);
    world.clock.advance(WINDOW);
    let service = world.serve();
    assert_eq!(world.round(&service), round, "known before anything else is done");
    service.tick().unwrap();
    assert_eq!(world.round(&service), round);
    drop(service);
    // However long it was down: the shuffler has had nobody to send the batch to.
    world.clock.advance(1000 * GRACE);
    let service = world.serve();
    service.tick().unwrap();
    world.clock.advance(GRACE - 1);
    service.tick().unwrap();
    assert_eq!(world.round(&service), round);
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..3));
    assert_eq!(put(&service, id(1), batch).await.json()["accepted"], 3);
    service.tick().unwrap();
    let second = world.round(&service);
    assert_eq!(second.round, 2);
    drop(service);
    // And not longer than the grace.
    world.clock.advance(WINDOW + GRACE);
    let service = world.serve();
    service.tick().unwrap();
    world.clock.advance(GRACE);
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 3);
}

/// Two lists of keys for one round would tell who asked before and who after.
#[tokio::test]
async fn a_rotated_key_is_offered_from_the_next_round_on() {
    let mut world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let (round, signed) = (world.round(&service), service.published().round.clone());
    drop(service);
    let new = world.keys.sealing.rotate(2).unwrap();
    let service = world.serve();
    assert_eq!(service.published().round, signed, "the same bytes");
    service.tick().unwrap();
    assert_eq!(service.published().round, signed);
    // What was sealed to the older key opens.
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..3));
    assert_eq!(put(&service, id(1), batch.clone()).await.json()["accepted"], 3);
    service.tick().unwrap();
    let next = world.round(&service);
    assert_eq!((next.round, next.server_keys[0].0, next.server_keys.len()), (2, new, 2));
    assert_eq!(next.server_keys[1], round.server_keys[0]);
    // A batch under another list of keys is one of another round.
    let mut other = next.clone();
    other.server_keys.pop();
    let batch = world.batch(id(2), other.context(), &world.records(&other, 0..3));
    assert_eq!(put(&service, id(2), batch).await.status, axum::http::StatusCode::CONFLICT);
}

#[tokio::test]
async fn the_budget_is_that_of_all_tasks_of_a_file() {
    let mut world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let spent = get(&service, "/v1/privacy").await.json()["epsilon"].as_f64().unwrap();
    drop(service);
    // Another task of the same clients, with a budget that one round fits into, but not two.
    world.config.task.name = "another".to_owned();
    world.config.task.budget = spent * 1.01;
    // A round of the first task is open: somebody has to say that it is to be given up.
    let refused = world.serve_on(Box::new(FileStore::open(world.store_path()).unwrap())).err().unwrap().to_string();
    assert!(refused.contains("--new-task"), "{refused}");
    world.config.new_task = true;
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), Phase::BudgetSpent);
    assert!(service.published().round.is_none());
    let privacy = get(&service, "/v1/privacy").await.json();
    assert_eq!((privacy["rounds"].as_u64(), privacy["rounds_left"].as_u64()), (Some(1), Some(0)));
    drop(service);
    world.config.task.budget = spent * 3.0;
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let both = get(&service, "/v1/privacy").await.json()["epsilon"].as_f64().unwrap();
    assert!(both > spent);
    drop(service);
    // Back at the first task: its open round was given up, and it goes on with the next.
    world.config.task.name = "test".to_owned();
    world.config.task.budget = 50.0;
    let service = world.serve();
    let privacy = get(&service, "/v1/privacy").await.json();
    assert_eq!((privacy["rounds"].as_u64(), privacy["epsilon"].as_f64()), (Some(2), Some(both)));
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 2);
    assert!(get(&service, "/v1/privacy").await.json()["epsilon"].as_f64().unwrap() > both);
}

#[tokio::test]
async fn the_ledger_knows_the_promised_clients_and_not_those_who_came() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let before = get(&service, "/v1/privacy").await.json();
    let round = world.round(&service);
    put(&service, id(1), world.batch(id(1), round.context(), &world.records(&round, 0..3))).await;
    service.tick().unwrap();
    let after = get(&service, "/v1/privacy").await.json();
    assert_eq!(after["clients"], 100);
    // Two rounds cost less than twice one, and the same whoever came.
    let other = World::new();
    let crowded = other.serve();
    crowded.tick().unwrap();
    let round = other.round(&crowded);
    put(&crowded, id(1), other.batch(id(1), round.context(), &other.records(&round, 0..300))).await;
    crowded.tick().unwrap();
    assert_eq!(get(&crowded, "/v1/privacy").await.json()["epsilon"], after["epsilon"]);
    assert!(after["epsilon"].as_f64() > before["epsilon"].as_f64());
    // But an operator is told that more came than there can be at this rate.
    let status = get(&crowded, "/v1/status").await.json();
    assert!(status["warning"].as_str().unwrap().contains("above the accounted 0.5"), "{status}");
    // Or far fewer.
    let status = get(&service, "/v1/status").await.json();
    assert!(status["warning"].as_str().unwrap().contains("fewer than 100 honest clients"), "{status}");
}

#[tokio::test]
async fn a_step_out_of_the_finite_numbers_is_not_taken() {
    let world = World::with("step = { schedule = { kind = 'constant', rate = 1e38 } }");
    let service = world.serve();
    service.tick().unwrap();
    let (round, before) = (world.round(&service), weights(&service));
    let answer = put(&service, id(1), world.batch(id(1), round.context(), &world.records(&round, [0, 1]))).await;
    assert_eq!(answer.json()["accepted"], 2);
    assert_eq!(weights(&service), before);
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 2);
}

#[test]
fn a_file_belongs_to_one_server() {
    let world = World::new();
    let service = world.serve();
    let error = FileStore::open(world.store_path()).err().unwrap().to_string();
    assert!(error.contains("in use by another server"), "{error}");
    drop(service);
    FileStore::open(world.store_path()).unwrap();
}

#[test]
fn nonsense_is_refused_before_anything_is_written() {
    for (line, name) in [
        ("clients = 0", "clients, "),
        ("check_in_rate = 1.5", "check_in_rate"),
        ("drop_out = 1.0", "drop_out"),
        ("delta = 0.0", "delta"),
        ("budget = -1.0", "budget"),
        ("clip = 0.0", "clip"),
        ("randomizer = { name = 'any', local_epsilon = 1.0 }", "randomizer"),
        ("randomizer = { name = 'gaussian', sigma = 10.0 }", "must be rounded-gaussian"),
        ("randomizer = { name = 'laplace', local_epsilon = 1.0 }", "must be discrete-laplace"),
        ("step = { schedule = { kind = 'constant', rate = -1.0 } }", "rate"),
        ("preparation = { pca = 3 }", "preparation.pca must be left out"),
        ("preparation = { normalise = { kind = 'features' } }", "preparation.normalise must be left out or"),
        ("preparation = { scattering = { scales = 6, angles = 2 } }", "shorter side, 28, but is 6"),
    ] {
        let world = World::with(line);
        let error = crate::plan::Plan::new(&world.config).err().expect(line).to_string();
        assert!(error.contains(name), "{line}: {error}");
    }
}

/// The preparation of examples is signed with the task, and so part of its hash.
#[test]
fn the_preparation_is_part_of_the_task() {
    let plan = |lines: &str| crate::plan::Plan::new(&World::with(lines).config).unwrap();
    let prepared = plan("preparation = { scattering = { scales = 3, angles = 2, order = 1 } }");
    let text = String::from_utf8(prepared.task().architecture.clone()).unwrap();
    let description = shuffledp_learning::training::ModelDescription::parse(&text).unwrap();
    assert_eq!(description.preparation.scattering.unwrap().angles, 2);
    // 7 channels at 4×4 positions.
    assert_eq!(description.architecture.input(), shuffledp_learning::models::TensorShape::vector(7 * 16));
    let plain = plan("");
    assert!(!String::from_utf8(plain.task().architecture.clone()).unwrap().contains("preparation"));
    assert_ne!(prepared.hash(), plain.hash());
}
