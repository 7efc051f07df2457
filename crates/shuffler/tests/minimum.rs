//! Below the minimum nothing is ever released: every order of adding, repeating, sealing and restarting, tried out against a model.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use shuffledp_shuffler::permutation::FisherYates;
use shuffledp_shuffler::store::{Entry, Outcome, RoundRecord, RoundStore, SealedBatch, SqliteFolder, Stores};
use shuffledp_shuffler::{NoWitness, ShufflerError};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const MINIMUM: u64 = 2;

#[derive(Debug, Clone, Copy)]
enum Step {
    New,
    Repeat,
    Seal,
    Restart,
}

fn entry(number: u8) -> Entry {
    Entry { digest: [number; 32], body: vec![number; 100] }
}

fn folder(path: &Path) -> SqliteFolder {
    SqliteFolder::open(path, Arc::new(NoWitness)).unwrap()
}

fn seal(store: &mut dyn RoundStore, minimum: u64) -> Outcome {
    store.seal(minimum, &mut FisherYates::from_operating_system().unwrap()).unwrap()
}

fn visited(store: &dyn RoundStore) -> Vec<u8> {
    let mut numbers = Vec::new();
    let visit = &mut |record: &[u8]| {
        assert_eq!(record, [record[0]; 100]);
        numbers.push(record[0]);
        ControlFlow::Continue(())
    };
    store.visit(visit).unwrap();
    numbers
}

/// A process: a folder and the one store in it.
struct Process {
    stores: SqliteFolder,
    store: Box<dyn RoundStore>,
}

impl Process {
    fn first(path: &Path) -> Self {
        let record = RoundRecord { signed: vec![1], server: [2; 32], record_len: 100, min_batch: MINIMUM };
        let stores = folder(path);
        let store = stores.create(&context(1, 1), &record).unwrap().unwrap();
        Self { stores, store }
    }

    /// One process at a time has the folder: this one ends before the next begins.
    fn restart(self, path: &Path) -> Self {
        drop((self.store, self.stores));
        let stores = folder(path);
        let mut left = stores.unfinished().unwrap();
        assert_eq!(left.len(), 1);
        Self { store: left.remove(0), stores }
    }
}

/// The model: what has to be in the store, and the batch once there is one.
#[derive(Default)]
struct Model {
    added: BTreeSet<u8>,
    sealed: Option<(SealedBatch, Vec<u8>)>,
}

impl Model {
    fn add(&mut self, store: &mut dyn RoundStore, number: u8) {
        match store.add(vec![entry(number)]) {
            Ok(()) => {
                assert!(self.sealed.is_none(), "a batch that is sealed has grown");
                self.added.insert(number);
            }
            Err(ShufflerError::Sealed) => assert!(self.sealed.is_some()),
            Err(error) => panic!("{error}"),
        }
    }

    fn seal(&mut self, store: &mut dyn RoundStore) {
        match seal(store, MINIMUM) {
            Outcome::Sealed(batch) => {
                assert!(self.added.len() as u64 >= MINIMUM, "released short");
                let now = (batch, visited(store));
                assert_eq!(self.sealed.get_or_insert(now.clone()), &now, "sealed once, the same for ever");
                let (batch, mut numbers) = now;
                numbers.sort_unstable();
                assert_eq!(batch.count, numbers.len() as u64);
                assert!(numbers.iter().eq(&self.added));
            }
            Outcome::Short => assert!((self.added.len() as u64) < MINIMUM),
        }
    }
}

#[test]
fn every_order_of_four_steps_and_a_seal() {
    let steps = [Step::New, Step::Repeat, Step::Seal, Step::Restart];
    let mut sealed = 0;
    for run in 0..4_usize.pow(4) {
        let chosen: Vec<Step> = (0..4).map(|place| steps[run / 4_usize.pow(place) % 4]).collect();
        // Two restarts in four steps leave too few for anything new to happen between them, and restarts cost most.
        if chosen.iter().filter(|step| matches!(step, Step::Restart)).count() > 1 {
            continue;
        }
        let path = TempDir::new().unwrap();
        let mut process = Process::first(path.path());
        let mut model = Model::default();
        for step in chosen.into_iter().chain([Step::Seal]) {
            let known = model.added.len() as u8;
            match step {
                Step::New => model.add(&mut *process.store, known),
                Step::Repeat => model.add(&mut *process.store, known.saturating_sub(1)),
                Step::Seal => model.seal(&mut *process.store),
                Step::Restart => process = process.restart(path.path()),
            }
            let batch = process.store.sealed().unwrap();
            assert_eq!(batch, model.sealed.as_ref().map(|(batch, _)| *batch));
        }
        sealed += usize::from(model.sealed.is_some());
    }
    assert!(sealed > 50, "the test would not see a batch: {sealed}");
}

#[test]
fn a_lowered_minimum_does_not_reach_back() {
    let path = TempDir::new().unwrap();
    let stores = folder(path.path());
    let record = RoundRecord { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 3 };
    let mut store = stores.create(&context(1, 1), &record).unwrap().unwrap();
    store.add(vec![entry(1), entry(2)]).unwrap();
    assert_eq!(seal(&mut *store, 2), Outcome::Short);
    store.add(vec![entry(3)]).unwrap();
    assert_eq!(seal(&mut *store, 4), Outcome::Short, "a raised one holds at once");
    assert!(matches!(seal(&mut *store, 2), Outcome::Sealed(_)));
}

#[tokio::test]
async fn a_short_round_is_deleted_and_never_sent() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    for number in 0..2 {
        let report = shuffler.seal(&world.server, &round, number).await;
        // Twice: two clients are not three reports.
        assert_eq!(shuffler.post(&report).await, 202);
        assert_eq!(shuffler.post(&report).await, 202);
    }
    assert_eq!(shuffler.metric("rounds_short").await, 0);
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert!(world.server.attempts.lock().unwrap().is_empty());
    assert_eq!((shuffler.running.unfinished(), world.stores()), (0, 0));
    assert_eq!(shuffler.metric("rounds_short").await, 1);
    // Not rolled into the next round either.
    let next = context(1, 2);
    world.server.show(&next, CLOSES, CLOSES + 1000);
    let report = shuffler.seal(&world.server, &next, 2).await;
    assert_eq!(shuffler.post(&report).await, 202);
    world.clock.set(CLOSES + 1000);
    shuffler.tick_and_settle().await;
    assert!(world.server.attempts.lock().unwrap().is_empty());
}
