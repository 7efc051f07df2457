//! When a round without a batch ends, whatever happens to the server meanwhile.

use super::world::{GRACE, WINDOW, World, get};

/// A round's end was once counted from the last start: this server would have kept it open for
/// ever.
#[tokio::test]
async fn starting_again_and_again_does_not_keep_a_round_open() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let first = world.round(&service);
    drop(service);
    world.clock.advance(WINDOW + 1);
    let mut starts = 0;
    loop {
        let service = world.serve();
        service.tick().unwrap();
        let status = get(&service, "/v1/status").await.json();
        if world.round(&service).round == 2 {
            break;
        }
        assert_eq!(
            status["open"]["gives_up"].as_u64(),
            Some(first.closes + 1 + GRACE),
            "put off once, at the first start"
        );
        starts += 1;
        assert!(starts < 5, "the round is kept open for ever");
        drop(service);
        world.clock.advance(GRACE / 2);
    }
    assert_eq!(starts, 2);
}

/// The end was promised when the round was opened; another configuration changes the rounds to
/// come. A start with a longer grace may put the end off, as any start may, once.
#[test]
fn the_end_of_an_open_round_is_what_the_store_says() {
    let mut world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    let closes = world.round(&service).closes;
    assert_eq!(service.next_deadline(), Some(closes + GRACE));
    drop(service);
    world.config.round.grace_seconds = 1.0;
    let service = world.serve();
    assert_eq!(service.next_deadline(), Some(closes + GRACE));
    drop(service);
    for grace in [20.0, 40.0] {
        world.config.round.grace_seconds = grace;
        let service = world.serve();
        assert_eq!(service.next_deadline(), Some(closes + 20_000));
    }
}
