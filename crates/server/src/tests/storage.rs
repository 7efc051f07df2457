//! What the file keeps, and for how long.

use super::world::{World, id};
use crate::plan::Plan;
use crate::store::{Beginning, Closing, ClosingBatch, FileStore, Opening, Store};
use shuffledp_wire::{HpkeSecretKey, KeyId, KeysHash, ModelHash, ReportId, RoundContext};

fn opening(plan: &Plan, round: u64, model: ModelHash) -> Opening {
    let keys = vec![(KeyId(7), HpkeSecretKey::derive(b"server").public_key())];
    let context = RoundContext { task: plan.hash(), round, model, keys: KeysHash::of(&keys) };
    Opening {
        context,
        keys,
        charge: plan.charge,
        opens: 1,
        closes: 2,
        gives_up: 3,
        extended: false,
        epsilon: 1.0,
        epsilon_lower: 0.5,
    }
}

/// Opens and closes rounds with made-up models; returns them, the first one's first.
fn fill(store: &mut FileStore, plan: &Plan, rounds: u64) -> Vec<ModelHash> {
    let state = plan.first_state();
    let file = |round: u64| round.to_le_bytes().to_vec();
    let mut models = vec![ModelHash::of(&file(0))];
    store
        .begin(&Beginning {
            task: plan.hash(),
            encoding: b"task",
            state: &state,
            model: models[0],
            bytes: &file(0),
            replaces: false,
        })
        .unwrap();
    for round in 1..=rounds {
        let opening = Opening { epsilon: f64::INFINITY, ..opening(plan, round, models[round as usize - 1]) };
        let context = opening.context;
        store.open(&opening).unwrap();
        // A round that was opened is charged, and the same one is not opened twice.
        assert!(store.open(&opening).is_err());
        assert_eq!(store.ledger().unwrap(), [(plan.charge, round)]);
        let next = ModelHash::of(&file(round));
        let report_ids = [ReportId::from_bytes([round as u8; 16])];
        let batch = Some(ClosingBatch { id: id(round as u8), report_ids: &report_ids, rejected: 1 });
        let closing =
            Closing { context, batch, state: &state, models: &[(next, file(round))], answer: next, accuracy: None };
        store.close(&closing).unwrap();
        assert!(store.close(&closing).is_err(), "a round is closed once");
        models.push(next);
    }
    models
}

#[test]
fn old_models_go_and_the_ledger_stays() {
    let world = World::new();
    let plan = Plan::new(&world.config).unwrap();
    let mut store = FileStore::open(world.store_path()).unwrap();
    let models = fill(&mut store, &plan, 20);
    let kept = models.iter().filter(|model| store.model(model).unwrap().is_some()).count();
    assert!((8..=10).contains(&kept), "{kept}");
    assert!(store.model(&models[20]).unwrap().is_some() && store.model(&models[0]).unwrap().is_none());
    drop(store);
    let mut store = FileStore::open(world.store_path()).unwrap();
    assert_eq!(store.ledger().unwrap(), [(plan.charge, 20)]);
    let rounds = store.rounds(&plan.hash()).unwrap();
    assert_eq!(rounds.len(), 20);
    assert!(rounds.iter().all(|round| round.epsilon == f64::INFINITY && round.accepted == 1 && round.rejected == 1));
    let record = store.task(&plan.hash()).unwrap().unwrap();
    assert_eq!((record.last.unwrap().context.round, record.is_open), (20, false));
    assert_eq!(store.batch(&id(3)).unwrap().unwrap().context, opening(&plan, 3, models[2]).context);
}

#[test]
fn a_report_counts_once_whoever_hands_it_over() {
    let world = World::new();
    let plan = Plan::new(&world.config).unwrap();
    let mut store = FileStore::open(world.store_path()).unwrap();
    let state = plan.first_state();
    let model = ModelHash::of(b"model");
    store
        .begin(&Beginning {
            task: plan.hash(),
            encoding: b"task",
            state: &state,
            model,
            bytes: b"model",
            replaces: false,
        })
        .unwrap();
    let opening = opening(&plan, 1, model);
    let context = opening.context;
    store.open(&opening).unwrap();
    assert_eq!(store.task(&plan.hash()).unwrap().unwrap().last.unwrap(), opening);
    let twice = [ReportId::from_bytes([1; 16]); 2];
    let closing = |report_ids| Closing {
        context,
        batch: Some(ClosingBatch { id: id(1), report_ids, rejected: 0 }),
        state: &state,
        models: &[],
        answer: model,
        accuracy: None,
    };
    assert!(store.close(&closing(&twice)).is_err());
    // All of it was undone: the round is open, and the batch unknown.
    assert!(store.batch(&id(1)).unwrap().is_none());
    assert!(store.task(&plan.hash()).unwrap().unwrap().is_open);
    store.close(&closing(&twice[..1])).unwrap();
    assert_eq!(store.batch(&id(1)).unwrap().unwrap().accepted, 1);
}
