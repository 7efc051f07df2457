//! A clock that is set while rounds are open, or that was wrong when one was opened.

use super::world::{GRACE, WINDOW, World, get, id, put};
use crate::conductor::{Pause, Phase};
use crate::link::Contact;
use axum::http::StatusCode;

const YEARS: u64 = 10 * 365 * 86_400_000;
const PAUSED: Phase = Phase::Paused(Pause::Clock);

#[tokio::test]
async fn a_jump_ends_no_round_and_opens_none() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let right = world.round(&service).opens;
    world.clock.set(right + YEARS);
    assert_eq!(service.tick().unwrap(), Phase::Open, "the window is not over because somebody set the clock");
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..3));
    assert_eq!(put(&service, id(1), batch).await.status, StatusCode::OK);
    assert_eq!(service.tick().unwrap(), PAUSED);
    service.look_at_the_clock().unwrap();
    let status = get(&service, "/v1/status").await.json();
    assert_eq!((status["phase"].as_str(), status["privacy"]["rounds"].as_u64()), (Some("paused"), Some(1)));
    assert!(status["warning"].as_str().unwrap().contains("the clock jumped forward by 3650 days"), "{status}");
    let reasons = service.reasons();
    assert!(matches!(&reasons[0], ("clock", why) if why.contains("jumped")), "{reasons:?}");
    let metrics = String::from_utf8(get(&service, "/metrics").await.body).unwrap();
    assert!(metrics.contains("\nshuffledp_server_clock_doubted 1\n"), "{metrics}");
    world.clock.set(right);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).opens, right);
    assert!(service.reasons().is_empty());
}

/// Whoever waits for the clock is woken, also if a request noticed before that it is right again.
#[tokio::test]
async fn a_clock_that_is_right_again_wakes_who_waits_for_it() {
    let world = World::new();
    let service = world.serve();
    let right = 1_000_000;
    world.clock.set(right + YEARS);
    service.look_at_the_clock().unwrap();
    assert_eq!(service.tick().unwrap(), PAUSED);
    let woken = async || tokio::time::timeout(std::time::Duration::from_millis(50), service.woken()).await.is_ok();
    assert!(woken().await, "something changed");
    service.look_at_the_clock().unwrap();
    assert!(!woken().await, "nothing changed");
    world.clock.set(right);
    get(&service, "/metrics").await;
    service.look_at_the_clock().unwrap();
    assert!(woken().await);
    assert_eq!(service.tick().unwrap(), Phase::Open);
}

/// The round that would have stayed open for ten years.
#[tokio::test]
async fn a_round_of_the_future_is_abandoned_and_stays_charged() {
    let world = World::new();
    let right = 1_000_000;
    world.clock.set(right + YEARS);
    let service = world.serve();
    service.tick().unwrap();
    drop(service);
    world.clock.set(right);
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let status = get(&service, "/v1/status").await.json();
    assert!(status["warning"].as_str().unwrap().contains("3650 days behind the last round's start"), "{status}");
    let refused = service.abandon(2).unwrap_err().to_string();
    assert!(refused.contains("round 2 is not open"), "{refused}");
    service.abandon(1).unwrap();
    assert_eq!(service.tick().unwrap(), PAUSED, "the clock may still be the wrong one");
    // The shuffler's clock agrees with ours: the store's was wrong.
    service.note_probe(Ok(Contact { min_batch: 2, time: Some(right) })).unwrap();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let round = world.round(&service);
    assert_eq!((round.round, round.closes), (2, right + WINDOW));
    let status = get(&service, "/v1/status").await.json();
    assert_eq!(
        (status["privacy"]["rounds"].as_u64(), status["rounds"][0]["status"].as_str()),
        (Some(2), Some("expired"))
    );
}

/// A round that is over for everybody else before it opens is charged for nothing.
#[tokio::test]
async fn a_clock_far_behind_the_shufflers_opens_nothing() {
    let world = World::new();
    let service = world.serve();
    let ours = 1_000_000;
    let far = (WINDOW + GRACE).max(60_000) + 1;
    service.note_probe(Ok(Contact { min_batch: 2, time: Some(ours + far) })).unwrap();
    assert_eq!(service.tick().unwrap(), PAUSED);
    assert!(service.published().round.is_none());
    assert_eq!(get(&service, "/v1/privacy").await.json()["rounds"], 0);
    // An operator knows better, and keeps knowing.
    service.resume().unwrap();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    world.clock.advance(WINDOW + GRACE);
    service.note_probe(Ok(Contact { min_batch: 2, time: Some(ours + WINDOW + GRACE + far) })).unwrap();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 2);
}
