//! Ledgers that leave the store and come back: whatever is lost, no charge is.

use super::world::{World, get, id, put};
use crate::conductor::Phase;
use crate::ledger_file::LedgerFile;
use crate::service::Service;
use crate::store::{FileStore, Store};
use crate::{export_ledger, import_ledger, restore};
use axum::http::StatusCode;
use std::path::PathBuf;
use std::sync::Arc;

async fn run_to(world: &World, service: &Arc<Service>, last: u8) {
    loop {
        assert_eq!(service.tick().unwrap(), Phase::Open);
        let round = world.round(service);
        if round.round == u64::from(last) {
            return;
        }
        let number = id(round.round as u8);
        let batch = world.batch(number, round.context(), &world.records(&round, 0..3));
        assert_eq!(put(service, number, batch).await.status, StatusCode::OK);
    }
}

/// A server that is in its fourth round, and a copy that was made in its second; ε and rounds as
/// published.
async fn with_a_copy() -> (World, PathBuf, (f64, u64)) {
    let world = World::with("rounds = 30");
    let service = world.serve();
    run_to(&world, &service, 2).await;
    let copy = world.store_path().with_file_name("copy.sqlite");
    service.backup(&copy).unwrap();
    run_to(&world, &service, 4).await;
    let spent = spent(&service).await;
    drop(service);
    (world, copy, spent)
}

async fn spent(service: &Arc<Service>) -> (f64, u64) {
    let privacy = get(service, "/v1/privacy").await.json();
    (privacy["epsilon"].as_f64().unwrap(), privacy["rounds"].as_u64().unwrap())
}

/// The server that starts on what was restored has spent as much as the one before, and goes on
/// with a round that nobody has seen.
async fn goes_on_after_round_4(world: &World, before: (f64, u64)) {
    let service = world.serve();
    assert_eq!(spent(&service).await, before);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 5);
    assert_eq!(spent(&service).await.1, 5);
}

#[tokio::test]
async fn a_copy_is_restored_with_the_charges_that_came_after_it() {
    let (world, copy, before) = with_a_copy().await;
    let restored = restore(&world.config, &copy, None).unwrap();
    assert_eq!((restored.added, restored.rounds, restored.next), (2, 4, 5));
    assert!(restored.replaced.unwrap().exists());
    goes_on_after_round_4(&world, before).await;
    // The copy itself is as it was.
    assert_eq!(FileStore::open(&copy).unwrap().charges().unwrap()[0].last, 2);
}

#[tokio::test]
async fn a_copy_of_a_lost_store_is_not_restored_without_what_clients_saw() {
    let (world, copy, before) = with_a_copy().await;
    for damage in [None, Some(&b"not a store, and longer than a header of SQLite is, which has a hundred bytes ............................."[..])] {
        std::fs::remove_file(world.store_path()).unwrap();
        if let Some(bytes) = damage {
            std::fs::write(world.store_path(), bytes).unwrap();
        }
        let refused = restore(&world.config, &copy, None).unwrap_err().to_string();
        assert!(refused.contains("--rounds-seen") && refused.contains("client --status"), "{refused}");
        let refused = restore(&world.config, &copy, Some(31)).unwrap_err().to_string();
        assert!(refused.contains("at most the task's 30 rounds"), "{refused}");
        assert_eq!(world.store_path().exists(), damage.is_some(), "nothing was put in its place");
        let restored = restore(&world.config, &copy, Some(4)).unwrap();
        assert_eq!((restored.added, restored.next, restored.replaced.is_some()), (2, 5, damage.is_some()));
        goes_on_after_round_4(&world, before).await;
        std::fs::remove_file(world.store_path()).unwrap();
        // For the second time around: a store as it was restored.
        restore(&world.config, &copy, Some(4)).unwrap();
    }
}

#[tokio::test]
async fn a_store_in_use_is_not_replaced() {
    let (world, copy, _) = with_a_copy().await;
    let service = world.serve();
    let refused = restore(&world.config, &copy, Some(4)).unwrap_err().to_string();
    assert!(refused.contains("in use"), "{refused}");
    drop(service);
}

#[tokio::test]
async fn an_exported_ledger_is_charged_in_another_store() {
    let (world, _, before) = with_a_copy().await;
    let text = export_ledger(&world.config).unwrap().to_text().unwrap();
    let ledger = LedgerFile::parse(&text).unwrap();
    assert_eq!(ledger.rounds(), 4);
    assert_eq!(ledger.epsilon(1e-5).unwrap().to_bits(), before.0.to_bits());
    assert_eq!(ledger.to_text().unwrap(), text);
    std::fs::remove_file(world.store_path()).unwrap();
    assert_eq!(import_ledger(&world.config, &ledger).unwrap(), 4);
    assert_eq!(import_ledger(&world.config, &ledger).unwrap(), 0, "once");
    goes_on_after_round_4(&world, before).await;
    // The store has a round more now; nothing of the file is missing in it.
    let now = export_ledger(&world.config).unwrap();
    assert_eq!(ledger.missing_in(&now), None);
    let missing = now.missing_in(&ledger).unwrap();
    assert!(missing.starts_with("1 of the rounds 5 to 5 of task "), "{missing}");
}

#[tokio::test]
async fn a_ledger_that_was_changed_is_no_ledger() {
    let (world, _, _) = with_a_copy().await;
    let text = export_ledger(&world.config).unwrap().to_text().unwrap();
    for (from, to, words) in [
        ("\"last\": 4", "\"last\": 3", "SHA-256"),
        ("\"version\": 1", "\"version\": 2", "of version 2"),
        ("\"rounds\": 4", "\"rounds\": 3", "it says 3 rounds and has 4"),
        ("\"format\"", "\"formats\"", "unknown field"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let refused = LedgerFile::parse(&text.replace(from, to)).unwrap_err().to_string();
        assert!(refused.starts_with("not a ledger") && refused.contains(words), "{refused}");
    }
    // Twice the same round is more than was charged, and says that something is wrong.
    let one = LedgerFile::parse(&text).unwrap().charges()[0];
    let twice = LedgerFile::new(vec![one, one]).to_text().unwrap();
    let refused = LedgerFile::parse(&twice).unwrap_err().to_string();
    assert!(refused.contains("is there twice"), "{refused}");
    // The same round with another charge belongs to other clients.
    let other = World::with("clients = 200").config;
    let charge = crate::plan::Plan::new(&other).unwrap().charge;
    let foreign = LedgerFile::new(vec![crate::store::Charges { charge, ..one }]);
    let refused = import_ledger(&world.config, &foreign).unwrap_err().to_string();
    assert!(refused.contains("with another charge"), "{refused}");
    assert!(foreign.missing_in(&LedgerFile::new(vec![one])).is_some());
}
