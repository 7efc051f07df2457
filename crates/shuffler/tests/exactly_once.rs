//! Every acknowledged report reaches the server exactly once, whatever is repeated, late, unknown
//! or unlucky.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, Reply, World, context};
use shuffledp_wire::{HpkeSecretKey, KeyId, ModelHash, RoundContext, RoundOffer, SystemRandom, seal_report};
use std::sync::atomic::Ordering;

#[tokio::test]
async fn repeated_late_early_unknown_and_broken() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    let mut reports = Vec::new();
    for number in 0..4 {
        reports.push(shuffler.seal(&world.server, &round, number).await);
    }
    // Nobody has opened the round yet.
    assert_eq!(shuffler.post(&reports[0]).await, 410);
    world.server.show(&round, OPENS + 5, CLOSES);
    // Learned at once because a report names it, and not open yet.
    assert_eq!(shuffler.post(&reports[0]).await, 425);
    world.clock.set(OPENS + 5);
    for report in &reports[..3] {
        assert_eq!(shuffler.post(report).await, 202);
    }
    for report in &reports[..3] {
        assert_eq!(shuffler.post(report).await, 202, "a repeated report has the same answer");
    }
    // Another model of the same round is another context, which nobody has opened.
    let split = RoundContext { model: ModelHash::of(b"another"), ..round };
    let report = shuffler.seal(&world.server, &split, 77).await;
    assert_eq!(shuffler.post(&report).await, 410);
    // Not a report of this shuffler's.
    let mut broken = reports[3].clone();
    *broken.last_mut().unwrap() ^= 1;
    assert_eq!(shuffler.post(&broken).await, 400);

    world.clock.set(CLOSES - 1);
    shuffler.tick_and_settle().await;
    assert!(world.server.attempts.lock().unwrap().is_empty(), "nothing leaves before the window closes");
    world.clock.set(CLOSES);
    assert_eq!(shuffler.post(&reports[3]).await, 410, "late");
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [0, 1, 2]);
    assert_eq!(world.server.attempts.lock().unwrap().len(), 1);
    assert_eq!((shuffler.running.unfinished(), world.stores()), (0, 0));
    assert_eq!(shuffler.metric("batches_acknowledged").await, 1);

    // Replayed after the end, which the server is not asked about, and after a restart with a clock
    // that went back.
    let asked = world.server.asked.load(Ordering::SeqCst);
    assert_eq!(shuffler.post(&reports[0]).await, 410);
    assert_eq!(world.server.asked.load(Ordering::SeqCst), asked);
    shuffler.stop().await;
    world.clock.set(OPENS + 5);
    let shuffler = world.start().await;
    assert_eq!(shuffler.post(&reports[0]).await, 410);
    // A server that signs the same round with another window gets no second batch.
    world.server.show(&round, OPENS, CLOSES + 1000);
    assert_eq!(shuffler.post(&reports[3]).await, 410);
    world.clock.set(CLOSES + 1000);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.attempts.lock().unwrap().len(), 1);
}

/// A server that shows each client a key of its own would know by the key that opens a report whose
/// it is. It gets a batch for each list of keys, and none of them is large enough.
#[tokio::test]
async fn a_server_that_shows_different_keys_gets_no_batch() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let keys = shuffler.keys().await;
    let context = context(1, 1);
    for client in 0..4_u8 {
        let server_keys = vec![(KeyId(0), HpkeSecretKey::derive(&[client; 32]).public_key())];
        let round = RoundOffer {
            task: context.task,
            round: context.round,
            model: context.model,
            payload_len: common::PAYLOAD,
            server_keys,
            opens: OPENS,
            closes: CLOSES,
        };
        let mut random = SystemRandom::from_operating_system().unwrap();
        let report =
            seal_report(&[client; 8], &round.context(), &round.server_keys[0], &keys.keys[0], &mut random).unwrap();
        world.server.show_round(round);
        assert_eq!(shuffler.post(&report).await, 202);
    }
    assert_eq!(shuffler.running.unfinished(), 4, "one store for each list");
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert!(world.server.attempts.lock().unwrap().is_empty());
    assert_eq!((shuffler.running.unfinished(), world.stores()), (0, 0));
}

#[tokio::test]
async fn many_at_once_each_twice() {
    let world = World::new(10).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let keys = shuffler.keys().await;
    let mut posts = tokio::task::JoinSet::new();
    for number in 0..100 {
        let report = common::seal(&keys, &world.server, &round, number);
        for _ in 0..2 {
            let (client, url, report) = (world.client.clone(), shuffler.url.clone(), report.clone());
            posts.spawn(async move { common::post(&client, &url, &report).await.unwrap() });
        }
    }
    assert!(posts.join_all().await.iter().all(|&status| status == 202));
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert!(world.server.taken_numbers().into_iter().eq(0..100));
}

#[tokio::test]
async fn an_acknowledgement_is_lost_and_the_same_batch_comes_again() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    for number in 0..5 {
        let report = shuffler.seal(&world.server, &round, number).await;
        assert_eq!(shuffler.post(&report).await, 202);
    }
    world.server.replies.lock().unwrap().extend([Reply::TakeAndFail]);
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    let attempts = world.server.attempts.lock().unwrap().clone();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0], attempts[1], "same id, same records, same order");
    assert_eq!(world.server.taken_numbers(), [0, 1, 2, 3, 4]);
    assert_eq!(shuffler.metric("forward_failures").await, 1);
}

#[tokio::test]
async fn a_restart_while_sending_sends_the_same_batch() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    for number in 0..40 {
        let report = shuffler.seal(&world.server, &round, number).await;
        assert_eq!(shuffler.post(&report).await, 202);
    }
    world.server.replies.lock().unwrap().extend([Reply::Say(503), Reply::Stall]);
    world.clock.set(CLOSES);
    shuffler.running.tick().await;
    world.server.stalled.notified().await;
    // In the middle of the second attempt.
    shuffler.stop().await;
    let shuffler = world.start().await;
    shuffler.tick_and_settle().await;
    let attempts = world.server.attempts.lock().unwrap().clone();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0], attempts[1]);
    assert!(world.server.taken_numbers().into_iter().eq(0..40));
    assert_eq!(world.stores(), 0);
}

#[tokio::test]
async fn a_batch_that_is_refused_or_never_taken_is_deleted() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    for (number, reply) in [(1, Reply::Say(409)), (2, Reply::Say(500))] {
        let round = context(1, number);
        world.server.show(&round, OPENS, CLOSES);
        world.clock.set(OPENS);
        for number in 0..3 {
            let report = shuffler.seal(&world.server, &round, number).await;
            assert_eq!(shuffler.post(&report).await, 202);
        }
        world.server.replies.lock().unwrap().extend([reply]);
        // The second time the hour is so late that one failure is the last.
        world.clock.set(if number == 1 { CLOSES } else { CLOSES + world.config.forward_for_seconds * 1000 });
        shuffler.tick_and_settle().await;
        assert_eq!((shuffler.running.unfinished(), world.stores()), (0, 0));
    }
    assert!(world.server.taken.lock().unwrap().is_empty());
    assert_eq!((shuffler.metric("batches_refused").await, shuffler.metric("batches_expired").await), (1, 1));
}

#[tokio::test]
async fn other_rounds_do_not_wait_for_a_server_that_does_not_answer() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let (stuck, other) = (context(1, 1), context(2, 1));
    world.server.show(&stuck, OPENS, CLOSES);
    world.server.show(&other, OPENS, CLOSES + 10);
    for number in 0..3 {
        let report = shuffler.seal(&world.server, &stuck, number).await;
        assert_eq!(shuffler.post(&report).await, 202);
    }
    world.server.replies.lock().unwrap().extend([Reply::Stall]);
    world.clock.set(CLOSES);
    shuffler.running.tick().await;
    world.server.stalled.notified().await;
    for number in 10..13 {
        let report = shuffler.seal(&world.server, &other, number).await;
        assert_eq!(shuffler.post(&report).await, 202);
    }
    world.clock.set(CLOSES + 10);
    shuffler.running.tick().await;
    while world.server.taken.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.server.taken_numbers(), [10, 11, 12]);
    while shuffler.metric("batches_acknowledged").await == 0 {
        // Counted a moment after the server has it.
    }
}
