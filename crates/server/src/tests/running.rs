//! The whole server over a socket: rounds follow each other by themselves, and it stops when told
//! to.

use super::world::{GRACE, WINDOW, World, id};
use crate::store::FileStore;
use crate::{Parts, RunningServer, start};
use shuffledp_transport::{ClientConfig, HttpClient, Shutdown, ShutdownTrigger, bytes_at_most, join};
use shuffledp_wire::{RoundOffer, Signed, paths};
use std::sync::Arc;
use std::time::Duration;

async fn started(world: &World) -> (RunningServer, ShutdownTrigger) {
    let store = FileStore::open(world.store_path()).unwrap();
    let parts = Parts::with(&world.config, world.keys.clone(), Box::new(store)).unwrap();
    let (stop, shutdown) = Shutdown::new();
    let clock = Arc::clone(&world.clock) as Arc<dyn crate::Clock>;
    (start(parts, &world.config.listen, clock, shutdown).await.unwrap(), stop)
}

/// The round of this number, as soon as it is published.
async fn round(server: &RunningServer, client: &HttpClient, number: u64) -> RoundOffer {
    let url = join(&server.url(), &paths::round(&server.task()));
    loop {
        let response = client.get(&url).unwrap().send().await.unwrap();
        if response.status().is_success() {
            let bytes = bytes_at_most(response, Signed::<RoundOffer>::max_len()).await.unwrap();
            let round = Signed::<RoundOffer>::decode(&bytes).unwrap().verify(&server.verifying_key()).unwrap();
            if round.round >= number {
                assert_eq!(round.round, number);
                return round;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn rounds_follow_each_other_over_a_socket() {
    let world = World::with("rounds = 3");
    let client = HttpClient::new(&ClientConfig::default()).unwrap();
    let (server, stop) = started(&world).await;
    let first = round(&server, &client, 1).await;
    let batch = world.batch(id(1), first.context(), &world.records(&first, 0..100));
    let url = join(&server.url(), &paths::batch(&id(1)));
    let response = client.put(&url).unwrap().body(batch.clone()).send().await.unwrap();
    assert!(response.status().is_success());
    // Opened by the batch's coming; ended by time.
    round(&server, &client, 2).await;
    world.clock.advance(WINDOW + GRACE);
    let third = round(&server, &client, 3).await;
    stop.stop();
    server.ended().await.unwrap();

    let (server, stop) = started(&world).await;
    assert_eq!(round(&server, &client, 3).await, third);
    let url = join(&server.url(), &paths::batch(&id(1)));
    assert!(client.put(&url).unwrap().body(batch).send().await.unwrap().status().is_success(), "a late replay");
    stop.stop();
    server.ended().await.unwrap();
}
