//! Signed headers that are sent again by somebody who is not the shuffler: they hold nothing up.

use super::world::{GRACE, Reply, WINDOW, World, id, put};
use crate::conductor::Phase;
use crate::service::Service;
use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;
use shuffledp_wire::BatchId;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The longest header and a little more: what an onlooker copied of a batch.
const COPIED: usize = 300;

/// The first bytes of a batch, and then nothing, on a connection that stays open.
async fn hang(service: &Arc<Service>, id: BatchId, batch: &[u8]) -> JoinHandle<Reply> {
    let first = stream::iter([Ok::<_, std::io::Error>(Bytes::copy_from_slice(&batch[..COPIED]))]);
    let body = Body::from_stream(first.chain(stream::pending()));
    let service = Arc::clone(service);
    let upload = tokio::spawn(async move { put(&service, id, body).await });
    // Until its header was looked at, which needs a thread.
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    upload
}

#[tokio::test]
async fn the_header_of_a_past_batch_takes_no_place_and_postpones_nothing() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let first = world.round(&service);
    let past = world.batch(id(1), first.context(), &world.records(&first, 0..20));
    assert_eq!(put(&service, id(1), past.clone()).await.status, StatusCode::OK);
    service.tick().unwrap();
    let mut hanging = Vec::new();
    for _ in 0..20 {
        hanging.push(hang(&service, id(1), &past).await);
    }
    // The true batch of the second round is taken.
    let second = world.round(&service);
    let batch = world.batch(id(2), second.context(), &world.records(&second, 0..3));
    assert_eq!(put(&service, id(2), batch).await.status, StatusCode::OK);
    // The third gets none, and is given up in time.
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 3);
    world.clock.advance(WINDOW + GRACE);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 4);
    hanging.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn the_header_of_the_open_round_neither_blocks_its_batch_nor_postpones_its_end_for_ever() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let first = world.round(&service);
    let batch = world.batch(id(1), first.context(), &world.records(&first, 0..20));
    let hanging = hang(&service, id(1), &batch).await;
    assert_eq!(put(&service, id(1), batch.clone()).await.json()["accepted"], 20);
    hanging.abort();
    let _ = hanging.await;

    service.tick().unwrap();
    let second = world.round(&service);
    let batch = world.batch(id(2), second.context(), &world.records(&second, 0..20));
    let hanging = hang(&service, id(2), &batch).await;
    // A batch that begins in time may take the time that its length allows, and no longer.
    let patience = service.times().patience(batch.len() as u64);
    world.clock.advance(WINDOW + GRACE + patience - 1);
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 2);
    world.clock.advance(1);
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 3);
    hanging.abort();
}

#[tokio::test]
async fn a_byte_now_and_then_is_not_progress() {
    let mut world = World::new();
    world.config.round.stall_seconds = 0.2;
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..200));
    // Each pause is shorter than `stall_seconds`; all of them would last for minutes.
    let bytes = stream::iter(batch).then(|byte| async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok::<_, std::io::Error>(Bytes::copy_from_slice(&[byte]))
    });
    let answer = put(&service, id(1), Body::from_stream(bytes)).await;
    assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn a_batch_below_the_servers_own_minimum_is_refused() {
    let mut world = World::new();
    world.config.round.min_batch = 5;
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let before = super::world::weights(&service);
    let small = world.batch(id(1), round.context(), &world.records(&round, 0..4));
    assert_eq!(put(&service, id(1), small).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    // Filled up with what does not open it ends the round, and the model stays.
    let mut records = world.records(&round, 0..4);
    let mut changed = records[0].clone();
    *changed.last_mut().unwrap() ^= 1;
    records.push(changed);
    let padded = world.batch(id(2), round.context(), &records);
    assert_eq!(put(&service, id(2), padded).await.json()["accepted"], 4);
    assert_eq!(super::world::weights(&service), before);
    world.config.round.min_batch = 1;
    assert!(world.config.round.check().unwrap_err().to_string().contains("min_batch"));
}
