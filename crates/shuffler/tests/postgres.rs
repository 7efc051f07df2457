//! Several shufflers on one PostgreSQL: the contract of stores, races between replicas, and whole
//! services whose database and replicas are lost.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;
#[path = "../../postgres/tests/server/mod.rs"]
mod server;
mod stores;

use common::{World, context};
use server::Server;
use sha2::{Digest, Sha256};
use shuffledp_shuffler::permutation::FisherYates;
use shuffledp_shuffler::store::{Claim, OpaqueReport, Outcome, PostgresStores, RoundStore, RoundTerms, Stores};
use shuffledp_shuffler::{Clock, NoWitness, ShufflerError, SystemClock};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn open(server: &Server, name: &str) -> PostgresStores {
    PostgresStores::open(&server.address(name).parse().unwrap(), Arc::new(NoWitness)).unwrap()
}

fn report(number: u32) -> OpaqueReport {
    let mut body = vec![0; 100];
    body[..4].copy_from_slice(&number.to_be_bytes());
    OpaqueReport { digest: Sha256::digest(&body).into(), body }
}

fn terms() -> RoundTerms {
    RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 2 }
}

fn numbers(store: &dyn RoundStore) -> Vec<u32> {
    let mut numbers = Vec::new();
    let visit = &mut |record: &[u8]| {
        numbers.push(u32::from_be_bytes(record[..4].try_into().unwrap()));
        ControlFlow::Continue(())
    };
    store.visit(visit).unwrap();
    numbers
}

#[test]
fn postgresql_keeps_the_contract_of_stores() {
    let Some(server) = Server::start() else { return };
    server.database("contract");
    stores::all(&|| Arc::new(open(&server, "contract")));
    // The partitions are gone with their rounds.
    let left = "SELECT count(*) FROM pg_class WHERE relname ~ '^(reports|sequence)_[0-9]+$'";
    assert_eq!(server.query("contract", left), "0");
    racing_replicas(&server);
    leases(&server);
}

/// Eight writers with overlapping reports and two sealers, one round after another: what was
/// acknowledged is in the batch, once, and nothing else.
fn racing_replicas(server: &Server) {
    server.database("races");
    let replicas: Vec<PostgresStores> = (0..2).map(|_| open(server, "races")).collect();
    for round in 0..6 {
        let context = context(1, round);
        let stores: Vec<Box<dyn RoundStore>> =
            (0..10).map(|at| replicas[at % 2].create(&context, &terms()).unwrap().unwrap()).collect();
        let groups = AtomicU64::new(0);
        let (acknowledged, batches) = std::thread::scope(|scope| {
            let (mut writers, mut sealers) = (Vec::new(), Vec::new());
            for (place, mut store) in (0_u32..).zip(stores) {
                let groups = &groups;
                if place < 8 {
                    writers.push(scope.spawn(move || {
                        let mut taken = BTreeSet::new();
                        for group in 0_u32.. {
                            // Half of each group is its neighbour's, too.
                            let first = place * 10_000 + group * 20;
                            let numbers =
                                (first..first + 20).chain((0..20).map(|at| (place + 1) % 8 * 10_000 + group * 20 + at));
                            let numbers: Vec<u32> = numbers.collect();
                            match store.add(numbers.iter().rev().map(|number| report(*number)).collect()) {
                                Ok(()) => taken.extend(numbers),
                                Err(ShufflerError::Sealed) => return taken,
                                Err(error) => panic!("{error}"),
                            }
                            groups.fetch_add(1, Ordering::SeqCst);
                        }
                        unreachable!("a round is sealed")
                    }));
                } else {
                    sealers.push(scope.spawn(move || {
                        while groups.load(Ordering::SeqCst) < 40 {
                            std::thread::sleep(Duration::from_millis(2));
                        }
                        let outcome = store.seal(2, &mut FisherYates::from_operating_system().unwrap()).unwrap();
                        (outcome, numbers(&*store))
                    }));
                }
            }
            let batches: Vec<(Outcome, Vec<u32>)> = sealers.into_iter().map(|sealer| sealer.join().unwrap()).collect();
            let mut acknowledged = BTreeSet::new();
            writers.into_iter().for_each(|writer| acknowledged.extend(writer.join().unwrap()));
            (acknowledged, batches)
        });
        assert_eq!(batches[0], batches[1], "both sealers have the same batch in the same order");
        let (outcome, mut batch) = batches.into_iter().next().unwrap();
        batch.sort_unstable();
        assert!(batch.iter().eq(&acknowledged), "round {round}: lost, doubled or never acknowledged");
        assert!(matches!(outcome, Outcome::Sealed(sealed) if sealed.count == batch.len() as u64));
        let store = replicas[0].unfinished().unwrap().remove(0);
        replicas[1].finish(&context, store).unwrap();
        assert!(replicas[0].create(&context, &terms()).unwrap().is_none());
    }
}

/// One replica at a time ends a round; another one when the first is silent.
fn leases(server: &Server) {
    server.database("leases");
    let (one, two) = (open(server, "leases"), open(server, "leases"));
    let context = context(1, 1);
    assert_eq!(one.claim(&context).unwrap(), Claim::Over, "there is no such round");
    let mut store = one.create(&context, &terms()).unwrap().unwrap();
    let mut other = two.create(&context, &RoundTerms { min_batch: 9, ..terms() }).unwrap().unwrap();
    assert_eq!(*other.record(), terms(), "the terms of the first hold");
    assert_eq!((one.claim(&context).unwrap(), two.claim(&context).unwrap()), (Claim::Ours, Claim::Leased));
    assert_eq!(one.claim(&context).unwrap(), Claim::Ours, "renewed");
    // Whoever holds a lock on the lease is not waited for.
    server.query("leases", "UPDATE shuffledp_shuffler.leases SET until = clock_timestamp() - interval '1 second'");
    assert_eq!((two.claim(&context).unwrap(), one.claim(&context).unwrap()), (Claim::Ours, Claim::Leased));
    // A round that ended short takes nothing from any replica.
    other.add(vec![report(1)]).unwrap();
    let seal = |store: &mut dyn RoundStore| store.seal(2, &mut FisherYates::from_operating_system().unwrap());
    assert_eq!(seal(&mut *other).unwrap(), Outcome::Short);
    assert!(matches!(store.add(vec![report(2), report(3)]), Err(ShufflerError::Sealed)));
    two.finish(&context, other).unwrap();
    assert!(matches!(store.add(vec![report(2)]), Err(ShufflerError::Sealed)));
    assert!(matches!(seal(&mut *store), Err(ShufflerError::Over)));
    assert_eq!(one.claim(&context).unwrap(), Claim::Over);
}

/// Posts until it is taken, at whatever replica. `false` if the round takes none any more.
async fn post(world: &World, urls: &[String], report: &[u8], first: usize) -> bool {
    for attempt in 0..200 {
        match common::post(&world.client, &urls[(first + attempt) % urls.len()], report).await {
            Some(202) => return true,
            Some(410) => return false,
            Some(503) | None => tokio::time::sleep(Duration::from_millis(50)).await,
            Some(other) => panic!("{other}"),
        }
    }
    panic!("no replica answers");
}

/// Three replicas; connections are cut, the database is killed, and a replica ends. Every
/// acknowledged report reaches the server once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_and_their_database_are_lost_and_no_report_is() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(3).await;
    world.config.store = Some(server.database("shuffler"));
    world.config.poll_seconds = 0.1;
    world.environment.ticking = true;
    let mut replicas = vec![world.start().await, world.start().await, world.start().await];
    let keys = replicas[0].keys().await;
    let mut expected = BTreeSet::new();
    for round in 0..4_u64 {
        let context = context(1, round + 1);
        let now = SystemClock.now();
        world.server.show(&context, now - 1000, now + 12_000);
        let urls: Vec<String> = replicas.iter().map(|replica| replica.url.clone()).collect();
        let mut taken = 0;
        for number in 0..30 {
            match (round, number) {
                (1, 10) => assert!(server.cut("shuffler") > 0),
                (2, 10) => {
                    server.kill();
                    server.restart();
                }
                (3, 10) => {
                    // In the middle of a round, which the others end.
                    let lost = replicas.remove(0);
                    lost.stop().await;
                }
                _ => {}
            }
            let number = round * 1000 + number;
            let report = common::seal(&keys, &world.server, &context, number);
            let first = number as usize;
            if post(&world, &urls, &report, first).await {
                // Once more, at another replica.
                post(&world, &urls, &report, first + 1).await;
                expected.insert(number);
                taken += 1;
            }
        }
        assert!(taken > 20, "round {round} must hear something: {taken}");
        let batches = round as usize + 1;
        for _ in 0..600 {
            if world.server.taken.lock().unwrap().len() >= batches {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(world.server.taken_numbers().iter().eq(&expected), "round {round}");
        assert_eq!(world.server.taken.lock().unwrap().len(), batches, "one batch a round");
    }
    for replica in &replicas {
        for _ in 0..600 {
            if replica.running.unfinished() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(replica.running.unfinished(), 0, "every replica knows that it is over");
    }
    let rounds = server.query("shuffler", "SELECT count(*) FROM shuffledp_shuffler.rounds");
    assert_eq!(rounds, "0");
    for replica in replicas {
        replica.stop().await;
    }
}
