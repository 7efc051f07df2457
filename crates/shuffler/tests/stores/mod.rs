//! The contract of every store, tested through the traits alone. A new store calls [`all`].

#![allow(unreachable_pub, missing_docs)] // Every test file uses its part of it.

use sha2::{Digest, Sha256};
use shuffledp_shuffler::ShufflerError;
use shuffledp_shuffler::permutation::FisherYates;
use shuffledp_shuffler::store::{OpaqueReport, Outcome, RoundStore, RoundTerms, SealedBatch, Stores};
use shuffledp_wire::{KeysHash, ModelHash, RoundContext, TaskHash};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Opens the same stores once more, as the next process does; the ones before are dropped.
pub type Open<'a> = &'a dyn Fn() -> Arc<dyn Stores>;

const LEN: u32 = 100;

fn context(number: u64) -> RoundContext {
    let (task, keys) = (TaskHash::from_bytes([1; 32]), KeysHash::of(&[]));
    RoundContext { task, round: number, model: ModelHash::of(b"model"), keys }
}

fn terms(min_batch: u64) -> RoundTerms {
    RoundTerms { signed: vec![1, 2, 3], server: [2; 32], record_len: LEN, min_batch }
}

fn report(number: u16, len: u32) -> OpaqueReport {
    let mut body = vec![number as u8; len as usize];
    body[..2].copy_from_slice(&number.to_be_bytes());
    OpaqueReport { digest: Sha256::digest(&body).into(), body }
}

fn reports(numbers: impl IntoIterator<Item = u16>) -> Vec<OpaqueReport> {
    numbers.into_iter().map(|number| report(number, LEN)).collect()
}

fn seal(store: &mut dyn RoundStore, minimum: u64) -> Outcome {
    store.seal(minimum, &mut FisherYates::from_operating_system().unwrap()).unwrap()
}

fn sealed(store: &mut dyn RoundStore, minimum: u64) -> SealedBatch {
    match seal(store, minimum) {
        Outcome::Sealed(batch) => batch,
        Outcome::Short => panic!("there are enough"),
    }
}

/// The numbers of the batch, in its order.
fn numbers(store: &dyn RoundStore) -> Vec<u16> {
    let mut numbers = Vec::new();
    let visit = &mut |record: &[u8]| {
        let number = u16::from_be_bytes([record[0], record[1]]);
        assert_eq!(record, report(number, record.len() as u32).body, "every byte of it");
        numbers.push(number);
        ControlFlow::Continue(())
    };
    store.visit(visit).unwrap();
    numbers
}

fn sorted(mut numbers: Vec<u16>) -> Vec<u16> {
    numbers.sort_unstable();
    numbers
}

/// Every promise. Each uses rounds of its own, and leaves none behind.
pub fn all(open: Open<'_>) {
    for (name, promise) in [
        ("a_report_counts_once", a_report_counts_once as fn(Open<'_>)),
        ("a_batch_is_the_same_for_ever", a_batch_is_the_same_for_ever),
        ("nothing_short_is_sealed", nothing_short_is_sealed),
        ("long_reports_come_back_whole", long_reports_come_back_whole),
        ("a_visit_ends_when_it_is_told_to", a_visit_ends_when_it_is_told_to),
        ("what_is_over_stays_over", what_is_over_stays_over),
        ("the_order_is_not_that_of_arrival", the_order_is_not_that_of_arrival),
        ("the_memory_keeps_what_it_is_told", the_memory_keeps_what_it_is_told),
    ] {
        println!("promise {name}");
        promise(open);
        assert_eq!(open().unfinished().unwrap().len(), 0, "{name} leaves nothing behind");
    }
}

/// Within a group, from group to group, and across processes.
fn a_report_counts_once(open: Open<'_>) {
    let context = context(1);
    {
        let stores = open();
        let mut store = stores.create(&context, &terms(2)).unwrap().unwrap();
        store.add(reports([1, 2, 1, 3])).unwrap();
        store.maintain().unwrap();
        store.add(reports([3, 4, 2])).unwrap();
    }
    let stores = open();
    let mut left = stores.unfinished().unwrap();
    assert_eq!(left.len(), 1);
    let mut store = left.remove(0);
    assert_eq!(*store.record(), terms(2));
    store.add(reports([1, 5])).unwrap();
    store.maintain().unwrap();
    assert_eq!(sealed(&mut *store, 2).count, 5);
    assert_eq!(sorted(numbers(&*store)), [1, 2, 3, 4, 5]);
    stores.finish(&context, store).unwrap();
}

fn a_batch_is_the_same_for_ever(open: Open<'_>) {
    let context = context(2);
    let (batch, order) = {
        let stores = open();
        let mut store = stores.create(&context, &terms(2)).unwrap().unwrap();
        assert_eq!(store.sealed().unwrap(), None);
        store.add(reports(0..300)).unwrap();
        let batch = sealed(&mut *store, 2);
        assert_eq!((batch.count, batch.record_len), (300, LEN));
        assert_eq!(store.sealed().unwrap(), Some(batch));
        assert!(matches!(store.add(reports([300])), Err(ShufflerError::Sealed)), "a batch does not grow");
        assert_eq!(sealed(&mut *store, 1000), batch);
        (batch, numbers(&*store))
    };
    let stores = open();
    let mut store = stores.unfinished().unwrap().remove(0);
    assert_eq!(store.sealed().unwrap(), Some(batch));
    assert_eq!(numbers(&*store), order);
    assert!(matches!(store.add(reports([300])), Err(ShufflerError::Sealed)));
    assert_eq!(sealed(&mut *store, 2), batch);
    assert_eq!(numbers(&*store), order);
    stores.finish(&context, store).unwrap();
}

fn nothing_short_is_sealed(open: Open<'_>) {
    let context = context(3);
    for (numbers, minimum, why) in [
        (&[][..], 2, "nothing"),
        (&[1, 2, 2, 1], 2, "a lowered minimum does not reach back"),
        (&[1, 2, 3, 3], 4, "a raised one holds at once"),
    ] {
        let stores = open();
        let other = RoundContext { model: ModelHash::of(why.as_bytes()), ..context };
        let mut store = stores.create(&other, &terms(3)).unwrap().unwrap();
        store.add(reports(numbers.iter().copied())).unwrap();
        assert_eq!(seal(&mut *store, minimum), Outcome::Short, "{why}");
        assert_eq!((store.sealed().unwrap(), seal(&mut *store, minimum)), (None, Outcome::Short), "{why}");
        stores.finish(&other, store).unwrap();
    }
    let stores = open();
    let mut store = stores.create(&context, &terms(3)).unwrap().unwrap();
    store.add(reports([1, 2, 3])).unwrap();
    assert_eq!(sealed(&mut *store, 2).count, 3, "exactly enough");
    stores.finish(&context, store).unwrap();
}

fn long_reports_come_back_whole(open: Open<'_>) {
    for (number, len) in [(4, 5000), (5, 200_000)] {
        let context = context(number);
        let stores = open();
        let record = RoundTerms { record_len: len, ..terms(2) };
        let mut store = stores.create(&context, &record).unwrap().unwrap();
        store.add((0..20).map(|number| report(number, len)).collect()).unwrap();
        sealed(&mut *store, 2);
        assert!(sorted(numbers(&*store)).into_iter().eq(0..20));
        stores.finish(&context, store).unwrap();
    }
}

fn a_visit_ends_when_it_is_told_to(open: Open<'_>) {
    let context = context(6);
    let stores = open();
    let mut store = stores.create(&context, &terms(2)).unwrap().unwrap();
    store.add(reports(0..50)).unwrap();
    sealed(&mut *store, 2);
    let mut seen = 0;
    let visit = &mut |_: &[u8]| {
        seen += 1;
        if seen == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    store.visit(visit).unwrap();
    assert_eq!(seen, 7);
    stores.finish(&context, store).unwrap();
}

/// Sealed or short, a context has its end once.
fn what_is_over_stays_over(open: Open<'_>) {
    for (number, enough) in [(7, true), (8, false)] {
        let context = context(number);
        let hash: [u8; 32] = Sha256::digest(context.to_bytes()).into();
        {
            let stores = open();
            assert!(!stores.memory().is_finished(&hash).unwrap());
            let mut store = stores.create(&context, &terms(2)).unwrap().unwrap();
            store.add(reports(if enough { 0..2 } else { 0..1 })).unwrap();
            assert_eq!(matches!(seal(&mut *store, 2), Outcome::Sealed(_)), enough);
            stores.finish(&context, store).unwrap();
            assert!(stores.memory().is_finished(&hash).unwrap());
            assert!(stores.create(&context, &terms(2)).unwrap().is_none());
        }
        let stores = open();
        assert!(stores.memory().is_finished(&hash).unwrap());
        assert!(stores.create(&context, &terms(2)).unwrap().is_none(), "for the next process, too");
        assert!(stores.unfinished().unwrap().is_empty());
    }
}

/// Neither as they came nor sorted by digest; and the generator that is passed in decides.
fn the_order_is_not_that_of_arrival(open: Open<'_>) {
    let mut orders = Vec::new();
    for number in [9, 10] {
        let context = context(number);
        let stores = open();
        let mut store = stores.create(&context, &terms(2)).unwrap().unwrap();
        store.add(reports(0..100)).unwrap();
        sealed(&mut *store, 2);
        let order = numbers(&*store);
        let mut by_digest: Vec<u16> = (0..100).collect();
        by_digest.sort_unstable_by_key(|number| report(*number, LEN).digest);
        assert!(!order.iter().copied().eq(0..100) && order != by_digest);
        orders.push(order);
        stores.finish(&context, store).unwrap();
    }
    assert_ne!(orders[0], orders[1]);
}

fn the_memory_keeps_what_it_is_told(open: Open<'_>) {
    let (ours, other) = ([5; 32], [6; 32]);
    let tasks = [TaskHash::from_bytes([7; 32]), TaskHash::from_bytes([8; 32])];
    {
        let memory = open().memory();
        for task in [&tasks[0], &tasks[1], &tasks[0]] {
            memory.know(&ours, task).unwrap();
        }
        assert_eq!(memory.retired_since(&[9; 32], 1000).unwrap(), 1000);
    }
    let memory = open().memory();
    let mut known = memory.tasks(&ours).unwrap();
    known.sort_unstable_by_key(|task| *task.as_bytes());
    assert_eq!(known, tasks);
    assert!(memory.tasks(&other).unwrap().is_empty());
    assert_eq!(memory.retired_since(&[9; 32], 2000).unwrap(), 1000, "the first time counts");
    assert_eq!(memory.retired_since(&[10; 32], 2000).unwrap(), 2000);
}
