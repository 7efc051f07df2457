//! A server that nobody sends batches to stops charging.

use super::world::{GRACE, WINDOW, World, get, id, put};
use crate::conductor::{Pause, Phase};
use crate::link::Contact;
use crate::service::Service;

const PAUSED: Phase = Phase::Paused(Pause::NoBatch);
const ANSWER: Contact = Contact { min_batch: 2, time: None };

/// Gives up the open round, and goes on as far as the server goes.
fn expire(world: &World, service: &Service) -> Phase {
    world.clock.advance(WINDOW + GRACE);
    service.tick().unwrap()
}

async fn charged(service: &std::sync::Arc<Service>) -> u64 {
    get(service, "/v1/privacy").await.json()["rounds"].as_u64().unwrap()
}

/// With the shuffler gone, 726 rounds were once charged in 90 seconds.
#[tokio::test]
async fn after_three_rounds_without_a_batch_nothing_more_is_charged() {
    let world = World::with("rounds = 1000");
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!([(); 3].map(|()| expire(&world, &service)), [Phase::Open, Phase::Open, PAUSED]);
    for _ in 0..100 {
        assert_eq!(expire(&world, &service), PAUSED);
    }
    assert_eq!(charged(&service).await, 3);
    let status = get(&service, "/v1/status").await.json();
    assert_eq!(status["phase"], "paused");
    let warning = status["warning"].as_str().unwrap();
    assert!(
        warning.contains("no batch yet: 3 rounds in a row were charged") && warning.contains("server resume"),
        "{warning}"
    );
    let metrics = String::from_utf8(get(&service, "/metrics").await.body).unwrap();
    assert!(metrics.contains("\nshuffledp_server_paused 1\n"), "{metrics}");
    assert!(metrics.contains("\nshuffledp_server_rounds_without_batch 3\n"), "{metrics}");
    let reasons = service.reasons();
    assert!(matches!(&reasons[..], [("paused", why)] if why.contains("no batch yet")), "{reasons:?}");
    // A restart is no reason to charge more.
    drop(service);
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), PAUSED);
    assert_eq!(charged(&service).await, 3);
}

#[tokio::test]
async fn a_shuffler_that_answers_is_given_one_round_and_then_ever_longer_pauses() {
    let world = World::with("rounds = 1000");
    let service = world.serve();
    service.tick().unwrap();
    while expire(&world, &service) == Phase::Open {}
    // It does not answer: why is told, and nothing happens.
    service.note_probe(Err("nobody there".to_owned())).unwrap();
    assert_eq!(service.tick().unwrap(), PAUSED);
    let warning = get(&service, "/v1/status").await.json()["warning"].as_str().unwrap().to_owned();
    assert!(warning.starts_with("nobody there. no batch yet"), "{warning}");
    // It answers, round after round, and sends nothing.
    for trial in 0..5_u32 {
        let wait = if trial == 0 { 0 } else { (WINDOW + GRACE) << (trial - 1) };
        if wait > 0 {
            world.clock.advance(wait - 1);
            service.note_probe(Ok(ANSWER)).unwrap();
            assert_eq!(service.tick().unwrap(), PAUSED, "trial {trial}");
            world.clock.advance(1);
        }
        service.note_probe(Ok(ANSWER)).unwrap();
        assert_eq!(service.tick().unwrap(), Phase::Open, "trial {trial}");
        assert_eq!(expire(&world, &service), PAUSED, "one round, and no more");
    }
    assert_eq!(charged(&service).await, 8);
    // However often it was tried, a day is the longest wait.
    for _ in 0..40 {
        world.clock.advance(86_400_000);
        service.note_probe(Ok(ANSWER)).unwrap();
        assert_eq!(service.tick().unwrap(), Phase::Open);
        expire(&world, &service);
    }
    // An operator need not wait, and gets as many rounds as in the beginning.
    service.resume().unwrap();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!([(); 3].map(|()| expire(&world, &service)), [Phase::Open, Phase::Open, PAUSED]);
}

#[tokio::test]
async fn a_batch_ends_the_silence() {
    let mut world = World::with("rounds = 1000");
    world.config.round.pause_after = 1;
    let service = world.serve();
    service.tick().unwrap();
    assert_eq!(expire(&world, &service), PAUSED);
    assert!(service.is_paused());
    service.note_probe(Ok(ANSWER)).unwrap();
    service.tick().unwrap();
    let round = world.round(&service);
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..3));
    assert_eq!(put(&service, id(1), batch).await.status, axum::http::StatusCode::OK);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert!(service.reasons().is_empty(), "{:?}", service.reasons());
    // A link that fails in the other direction is no news while batches come.
    service.note_probe(Err("nobody there".to_owned())).unwrap();
    assert!(service.reasons().is_empty());
    assert_eq!(expire(&world, &service), PAUSED);
    let warning = get(&service, "/v1/status").await.json()["warning"].as_str().unwrap().to_owned();
    assert!(warning.contains("nobody there") && warning.contains("GMT (round 2): 1 round was charged"), "{warning}");
    // A server that starts later does not know when it was.
    drop(service);
    let service = world.serve();
    let warning = get(&service, "/v1/status").await.json()["warning"].as_str().unwrap().to_owned();
    assert!(warning.contains("no batch since round 2, before this server started"), "{warning}");
}
