//! The contract of stores: what they keep, for how long, and what they refuse.

use super::world::{World, id};
use crate::error::ServerError;
use crate::plan::Plan;
use crate::store::{Beginning, Closing, ClosingBatch, Opening, Status, Store};
use shuffledp_wire::{HpkeSecretKey, KeyId, KeysHash, ModelHash, ReportId, RoundContext, TaskHash};

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
fn fill(store: &mut dyn Store, plan: &Plan, rounds: u64) -> Vec<ModelHash> {
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
        store.open(&opening, round - 1).unwrap();
        // A round that was opened is charged, and the same one is not opened twice.
        assert!(store.open(&opening, round).is_err());
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

fn old_models_go_and_the_ledger_stays(world: &World) {
    let plan = Plan::new(&world.config).unwrap();
    let mut store = world.store();
    let models = fill(&mut *store, &plan, 20);
    let kept = models.iter().filter(|model| store.model(model).unwrap().is_some()).count();
    assert!((8..=10).contains(&kept), "{kept}");
    assert!(store.model(&models[20]).unwrap().is_some() && store.model(&models[0]).unwrap().is_none());
    drop(store);
    let mut store = world.store();
    assert_eq!(store.ledger().unwrap(), [(plan.charge, 20)]);
    let rounds = store.rounds(&plan.hash()).unwrap();
    assert_eq!(rounds.len(), 20);
    assert!(rounds.iter().all(|round| round.epsilon == f64::INFINITY && round.accepted == 1 && round.rejected == 1));
    let record = store.task(&plan.hash()).unwrap().unwrap();
    assert_eq!((record.last.unwrap().context.round, record.is_open), (20, false));
    assert_eq!(store.batch(&id(3)).unwrap().unwrap().context, opening(&plan, 3, models[2]).context);
}

fn a_report_counts_once_whoever_hands_it_over(world: &World) {
    let plan = Plan::new(&world.config).unwrap();
    let mut store = world.store();
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
    store.open(&opening, 0).unwrap();
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

/// An ε that was computed without some charge is too small: it opens nothing.
fn a_ledger_that_is_behind_opens_nothing(world: &World) {
    let plan = Plan::new(&world.config).unwrap();
    let mut store = world.store();
    let models = fill(&mut *store, &plan, 2);
    for known in [0, 1, 3] {
        let error = store.open(&opening(&plan, 3, models[2]), known).unwrap_err();
        assert!(matches!(error, ServerError::Overtaken { found: 2, known: said } if said == known), "{error}");
    }
    assert_eq!(store.ledger().unwrap(), [(plan.charge, 2)]);
    assert!(!store.task(&plan.hash()).unwrap().unwrap().is_open);
    store.open(&opening(&plan, 3, models[2]), 2).unwrap();
}

/// Another task takes over: the open round is given up, and stays charged.
fn one_round_is_open_whatever_the_task(world: &World) {
    let plan = Plan::new(&world.config).unwrap();
    let mut store = world.store();
    let models = fill(&mut *store, &plan, 1);
    store.open(&opening(&plan, 2, models[1]), 1).unwrap();
    let state = plan.first_state();
    let other = TaskHash::from_bytes([9; 32]);
    let mut beginning = Beginning {
        task: other,
        encoding: b"other",
        state: &state,
        model: models[0],
        bytes: b"model",
        replaces: false,
    };
    assert!(matches!(store.begin(&beginning), Err(ServerError::TaskChanged)));
    assert!(store.task(&plan.hash()).unwrap().unwrap().is_open, "nothing was given up");
    beginning.replaces = true;
    store.begin(&beginning).unwrap();
    assert!(!store.task(&plan.hash()).unwrap().unwrap().is_open);
    let rounds = store.rounds(&plan.hash()).unwrap();
    assert_eq!(rounds.iter().map(|round| round.status).collect::<Vec<_>>(), [Status::Done, Status::Abandoned]);
    let mut first = opening(&plan, 1, models[0]);
    first.context.task = other;
    store.open(&first, 2).unwrap();
    // Two at once are refused, even with the right count.
    assert!(store.open(&opening(&plan, 3, models[1]), 3).is_err());
    assert_eq!(store.ledger().unwrap(), [(plan.charge, 3)]);
}

/// Every promise of a store, each on a world of its own.
pub(super) fn all(world: impl Fn() -> World) {
    for promise in [
        old_models_go_and_the_ledger_stays,
        a_report_counts_once_whoever_hands_it_over,
        a_ledger_that_is_behind_opens_nothing,
        one_round_is_open_whatever_the_task,
    ] {
        promise(&world());
    }
}

#[test]
fn an_sqlite_file_keeps_the_contract_of_stores() {
    all(World::new);
}
