//! Every report once, whatever is sent, and however often.

use super::world::{WEIGHTS, World, batch_of, frame, get, id, put, weights};
use crate::ServerKeys;
use crate::keys::KeyRing;
use axum::body::Body;
use axum::http::StatusCode;
use shuffledp_wire::{ModelHash, SigningKey, TaskHash};

/// By how much each weight moved, in units of one report's share of this many. Whole numbers: who
/// was counted.
fn moved(before: &[f32], after: &[f32], reports: usize) -> Vec<i64> {
    // ±a·d·c/k, times the step size of the tests.
    let c = (1f64.exp() + 1.0) / (1f64.exp() - 1.0);
    let unit = 0.5 * 0.01 * f64::from(WEIGHTS) * c / reports as f64;
    let steps = before.iter().zip(after).map(|(before, after)| (f64::from(*before) - f64::from(*after)) / unit);
    steps
        .map(|step| {
            assert!((step - step.round()).abs() < 1e-4, "{step}");
            step.round() as i64
        })
        .collect()
}

#[tokio::test]
async fn every_report_counts_once_and_a_batch_sent_again_changes_nothing() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let before = weights(&service);
    // More than a block's worth of segments, and not a whole number of them.
    let chosen: Vec<u32> = (0..700).map(|index| index * 11).collect();
    let batch = world.batch(id(1), round.context(), &world.records(&round, chosen.iter().copied()));
    let first = put(&service, id(1), batch.clone()).await;
    assert_eq!(first.status, StatusCode::OK, "{}", String::from_utf8_lossy(&first.body));
    assert_eq!(first.json()["accepted"], 700);
    let after = weights(&service);
    let counted = moved(&before, &after, 700);
    assert!((0..WEIGHTS).all(|index| counted[index as usize] == i64::from(chosen.contains(&index))));

    // The acknowledgement was lost: again, and once more when the next round is open.
    let second = put(&service, id(1), batch.clone()).await;
    assert_eq!((second.status, &second.body), (first.status, &first.body));
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 2);
    assert_eq!(put(&service, id(1), batch.clone()).await.body, first.body);
    // And by a server that was started since.
    drop(service);
    let service = world.serve();
    assert_eq!(put(&service, id(1), batch).await.body, first.body);
    assert_eq!(weights(&service), after);
    // Another batch of the same round is too late, and its id is not taken by it.
    let other = world.batch(id(2), round.context(), &world.records(&round, [3, 5]));
    assert_eq!(put(&service, id(2), other).await.status, StatusCode::CONFLICT);
    let next = world.round(&service);
    let third = put(&service, id(2), world.batch(id(2), next.context(), &world.records(&next, [3, 5]))).await;
    assert_eq!(third.json()["accepted"], 2);
    // An id that was used for another round is no replay.
    service.tick().unwrap();
    let next = world.round(&service);
    let reused = world.batch(id(1), next.context(), &world.records(&next, [4, 5]));
    assert_eq!(put(&service, id(1), reused).await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn what_does_not_belong_to_the_open_round_is_refused() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let records = world.records(&round, 0..3);
    let context = round.context();
    let mut another = context;
    another.task = TaskHash::from_bytes([1; 32]);
    assert_eq!(put(&service, id(1), world.batch(id(1), another, &records)).await.status, StatusCode::NOT_FOUND);
    for number in [0, 2] {
        let mut another = context;
        another.round = number;
        assert_eq!(put(&service, id(1), world.batch(id(1), another, &records)).await.status, StatusCode::CONFLICT);
    }
    another = context;
    another.model = ModelHash::of(b"another");
    assert_eq!(put(&service, id(1), world.batch(id(1), another, &records)).await.status, StatusCode::CONFLICT);
    assert_eq!(put(&service, id(2), world.batch(id(1), context, &records)).await.status, StatusCode::BAD_REQUEST);
    let long = vec![world.inner(&[0; 9], &round)];
    assert_eq!(put(&service, id(1), world.batch(id(1), context, &long)).await.status, StatusCode::UNPROCESSABLE_ENTITY);

    let stranger = SigningKey::from_seed(&[6; 32]);
    assert_eq!(
        put(&service, id(1), batch_of(&stranger, id(1), context, &records)).await.status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(put(&service, id(1), Body::from("nonsense".repeat(100))).await.status, StatusCode::UNAUTHORIZED);
    // The round is as open as before.
    assert_eq!(put(&service, id(1), world.batch(id(1), context, &records)).await.json()["accepted"], 3);
}

#[tokio::test]
async fn a_batch_that_is_not_whole_is_taken_back_and_may_come_again() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let before = weights(&service);
    let batch = world.batch(id(1), round.context(), &world.records(&round, 0..200));
    for end in [0, 100, 166, 167, 1000, batch.len() - 99, batch.len() - 98, batch.len() - 1] {
        let answer = put(&service, id(1), batch[..end].to_vec()).await;
        assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT, "{end}");
    }
    let mut flipped = batch.clone();
    flipped[1000] ^= 1;
    assert_eq!(put(&service, id(1), flipped).await.status, StatusCode::REQUEST_TIMEOUT);
    let longer = [&batch[..], &[0]].concat();
    assert_eq!(put(&service, id(1), longer).await.status, StatusCode::REQUEST_TIMEOUT);
    assert_eq!(weights(&service), before);

    // In pieces of all sizes, and a connection that fails in the middle.
    let pieces = |bytes: &[u8], fails: bool| {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        for size in (1..).map(|size| size * 7 % 501) {
            let (piece, left) = rest.split_at(rest.len().min(size));
            pieces.push(Ok(bytes::Bytes::copy_from_slice(piece)));
            rest = left;
            if rest.is_empty() {
                break;
            }
        }
        if fails {
            pieces.truncate(pieces.len() / 2);
            pieces.push(Err(std::io::Error::other("gone")));
        }
        Body::from_stream(futures_util::stream::iter(pieces))
    };
    assert_eq!(put(&service, id(1), pieces(&batch, true)).await.status, StatusCode::REQUEST_TIMEOUT);
    let whole = put(&service, id(1), pieces(&batch, false)).await;
    assert_eq!(whole.json()["accepted"], 200);
    let counted = moved(&before, &weights(&service), 200);
    assert_eq!((counted[..200].iter().sum::<i64>(), counted[200..].iter().sum::<i64>()), (200, 0));
}

#[tokio::test]
async fn impossible_repeated_and_closed_reports_are_counted_and_left_out() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let before = weights(&service);
    let mut records = world.records(&round, 0..70);
    // No client could have sent a coordinate beyond the last.
    let beyond = (2 * WEIGHTS).to_le_bytes()[..frame(0).len()].to_vec();
    records.push(world.inner(&beyond, &round));
    // The same report twice, and far from each other.
    records.push(records[3].clone());
    // For another round; changed on the way.
    let mut other = round.clone();
    other.round = 2;
    records.push(world.inner(&frame(80), &other));
    let mut changed = records[4].clone();
    *changed.last_mut().unwrap() ^= 1;
    records.push(changed);
    let answer = put(&service, id(1), world.batch(id(1), round.context(), &records)).await;
    assert_eq!((answer.json()["accepted"].as_u64(), answer.json()["rejected"].as_u64()), (Some(70), Some(4)));
    let counted = moved(&before, &weights(&service), 70);
    assert!(counted[..70].iter().all(|count| *count == 1) && counted[70..].iter().all(|count| *count == 0));
    let metrics = String::from_utf8(get(&service, "/metrics").await.body).unwrap();
    assert!(metrics.contains("\nshuffledp_server_reports_rejected_total 4\n"), "{metrics}");

    // A batch of nothing but nonsense ends its round, and the weights stay.
    service.tick().unwrap();
    let round = world.round(&service);
    let before = weights(&service);
    let nonsense = vec![world.inner(&beyond, &round); 2];
    let answer = put(&service, id(2), world.batch(id(2), round.context(), &nonsense)).await;
    assert_eq!((answer.json()["accepted"].as_u64(), answer.json()["rejected"].as_u64()), (Some(0), Some(2)));
    assert_eq!(weights(&service), before);
    service.tick().unwrap();
    assert_eq!(world.round(&service).round, 3);
}

#[tokio::test]
async fn reports_to_an_older_key_still_open_after_a_rotation_in_the_middle_of_a_round() {
    let mut world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let old = world.round(&service);
    drop(service);
    world.keys.sealing.rotate(2).unwrap();
    let service = world.serve();
    assert_eq!(world.round(&service), old, "a round has one list of keys");
    let answer = put(&service, id(1), world.batch(id(1), old.context(), &world.records(&old, 0..10))).await;
    assert_eq!((answer.json()["accepted"].as_u64(), answer.json()["rejected"].as_u64()), (Some(10), Some(0)));
    // Two rotations on, the first key is gone.
    drop(service);
    world.keys.sealing.rotate(2).unwrap();
    let service = world.serve();
    service.tick().unwrap();
    let round = world.round(&service);
    let mut records = world.records(&round, 0..1);
    let to_old = shuffledp_wire::RoundOffer { server_keys: old.server_keys, ..round.clone() };
    records.push(world.inner_to(&frame(1), &to_old, 0));
    let answer = put(&service, id(2), world.batch(id(2), round.context(), &records)).await;
    assert_eq!((answer.json()["accepted"].as_u64(), answer.json()["rejected"].as_u64()), (Some(1), Some(1)));
}

#[tokio::test]
async fn a_running_server_takes_up_rotated_keys_between_two_rounds() {
    let mut world = World::new();
    let folder = world.config.keys.clone();
    world.keys = ServerKeys::create(&folder).unwrap();
    let store = world.store();
    let service = world.serve_with(KeyRing::follow(&folder, None).unwrap(), store).unwrap();
    service.tick().unwrap();
    let first = world.round(&service);
    // Twice, and started again: the key that the open round offers is still there.
    ServerKeys::rotate(&folder).unwrap();
    let newest = ServerKeys::rotate(&folder).unwrap();
    drop(service);
    let store = world.store();
    let service = world.serve_with(KeyRing::follow(&folder, None).unwrap(), store).unwrap();
    service.tick().unwrap();
    assert_eq!(world.round(&service), first);
    let batch = world.batch(id(1), first.context(), &world.records(&first, 0..5));
    assert_eq!(put(&service, id(1), batch).await.json()["accepted"], 5);

    service.tick().unwrap();
    let second = world.round(&service);
    assert_eq!((second.round, second.server_keys.len(), second.server_keys[0].0), (2, 1, newest));
    let batch = world.batch(id(2), second.context(), &world.records(&second, 0..5));
    assert_eq!(put(&service, id(2), batch).await.json()["accepted"], 5);

    // What cannot be read leaves everything as it was.
    std::fs::write(folder.join("sealing.keys"), "nonsense").unwrap();
    service.tick().unwrap();
    let third = world.round(&service);
    assert_eq!((third.round, &third.server_keys), (3, &second.server_keys));
}
