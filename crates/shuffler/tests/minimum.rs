//! Below the minimum nothing is ever released: every order of adding, repeating, sealing, with and
//! without a restart, tried out against a model.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use sha2::{Digest, Sha256};
use shuffledp_shuffler::permutation::FisherYates;
use shuffledp_shuffler::store::{
    OpaqueReport, Outcome, RoundStore, RoundTerms, SealedBatch, SqliteFolder, SqliteStore, Stores,
};
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
}

fn entry(number: u8) -> OpaqueReport {
    let body = vec![number; 100];
    OpaqueReport { digest: Sha256::digest(&body).into(), body }
}

fn folder(path: &Path) -> SqliteFolder {
    SqliteFolder::open(&path.join("data"), Arc::new(NoWitness)).unwrap()
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

impl Model {
    fn step(&mut self, store: &mut dyn RoundStore, step: Step) {
        let known = self.added.len() as u8;
        match step {
            Step::New => self.add(store, known),
            Step::Repeat => self.add(store, known.saturating_sub(1)),
            Step::Seal => self.seal(store),
        }
        assert_eq!(store.sealed().unwrap(), self.sealed.as_ref().map(|(batch, _)| *batch));
    }
}

/// All sequences of so many steps.
fn sequences(len: u32) -> impl Iterator<Item = Vec<Step>> {
    let steps = [Step::New, Step::Repeat, Step::Seal];
    (0..3_usize.pow(len)).map(move |run| (0..len).map(|place| steps[run / 3_usize.pow(place) % 3]).collect())
}

fn record(name: u8) -> RoundTerms {
    RoundTerms { signed: vec![name], server: [2; 32], record_len: 100, min_batch: MINIMUM }
}

#[test]
fn every_order_of_six_steps() {
    let mut sealed = 0;
    for steps in sequences(6) {
        let mut store = SqliteStore::in_memory(&record(0)).unwrap();
        let mut model = Model::default();
        for step in steps {
            model.step(&mut store, step);
        }
        sealed += usize::from(model.sealed.is_some());
    }
    assert!(sealed > 200, "the test would not see a batch: {sealed}");
}

#[test]
fn every_order_of_three_steps_a_restart_and_two_more() {
    let path = TempDir::new().unwrap();
    let stores = folder(path.path());
    // Each sequence has a store of its own; the restart is one for all.
    let runs: Vec<Vec<Step>> = sequences(4).collect();
    let mut models: Vec<Model> = Vec::new();
    for (name, steps) in (0..).zip(&runs) {
        let mut store = stores.create(&context(name, 1), &record(name)).unwrap().unwrap();
        let mut model = Model::default();
        steps[..3].iter().for_each(|step| model.step(&mut *store, *step));
        models.push(model);
    }
    drop(stores);
    let stores = folder(path.path());
    let mut left = stores.unfinished().unwrap();
    assert_eq!(left.len(), runs.len());
    for store in &mut left {
        let name = usize::from(store.record().signed[0]);
        for step in [runs[name][3], Step::Seal] {
            models[name].step(&mut **store, step);
        }
    }
    let sealed = models.iter().filter(|model| model.sealed.is_some()).count();
    assert!(sealed > 20, "the test would not see a batch: {sealed}");
}

#[test]
fn a_lowered_minimum_does_not_reach_back() {
    let path = TempDir::new().unwrap();
    let stores = folder(path.path());
    let record = RoundTerms { signed: vec![1], server: [2; 32], record_len: 100, min_batch: 3 };
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
