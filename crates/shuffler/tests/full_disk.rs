//! A disk that takes nothing, at the start and later. Alone in its file: the limit that stands for
//! the disk is the process's.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use rlimit::Resource;
use tokio::signal::unix::{SignalKind, signal};

/// Writing beyond this place of a file fails from now on, as on a disk that is full there.
fn room(bytes: u64) {
    Resource::FSIZE.set(bytes, Resource::FSIZE.get_hard().unwrap()).unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_reports_and_recovers() {
    let mut world = World::new(3).await;
    world.config.listen.admin = Some("127.0.0.1:0".parse().unwrap());
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    // SIGXFSZ would end the process; a full disk does not.
    let _ignored = signal(SignalKind::from_raw(25)).unwrap();

    room(0);
    let shuffler = world.start().await;
    let answer = shuffler.post(b"a report").await;
    let (status, reasons) = shuffler.admin("/readyz").await;
    let health = shuffler.admin("/healthz").await;
    room(u64::MAX);
    assert_eq!((answer, status, health.0), (503, 503, 200));
    assert!(reasons.contains("\"storage\"") && reasons.contains("cannot be opened"), "{reasons}");
    shuffler.running.tick().await;
    assert_eq!(shuffler.admin("/readyz").await.0, 200);
    let reports: Vec<Vec<u8>> = {
        let keys = shuffler.keys().await;
        (0..4).map(|number| common::seal(&keys, &world.server, &round, number)).collect()
    };
    assert_eq!(shuffler.post(&reports[0]).await, 202);

    room(0);
    let refused = shuffler.post(&reports[1]).await;
    // One that is there already needs no room.
    let known = shuffler.post(&reports[0]).await;
    let (status, reasons) = shuffler.admin("/readyz").await;
    shuffler.running.tick().await;
    let still = shuffler.admin("/readyz").await.0;
    room(u64::MAX);
    assert_eq!((refused, known, status, still), (503, 202, 503, 503));
    assert!(reasons.contains("could not be stored"), "{reasons}");
    shuffler.running.tick().await;
    assert_eq!(shuffler.admin("/readyz").await.0, 200);
    for report in &reports {
        assert_eq!(shuffler.post(report).await, 202);
    }
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [0, 1, 2, 3]);
}
