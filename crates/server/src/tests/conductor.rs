//! Tests of the conductor: its forecasts, the state that it keeps, and its checks.

use super::world::{World, get, id, put};
use crate::conductor::Phase;
use crate::error::Result;
use crate::service::Service;
use crate::store::{BatchRecord, Beginning, Charges, Closing, FileStore, Opening, RoundSummary, Store, TaskRecord};
use axum::http::StatusCode;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_learning::ledger::Ledger;
use shuffledp_wire::{BatchId, ModelHash, RoundContext, TaskHash, paths};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

async fn take(world: &World, service: &Arc<Service>, number: u8) {
    let round = world.round(service);
    let first = 10 * u32::from(number);
    let batch = world.batch(id(number), round.context(), &world.records(&round, first..first + 3));
    assert_eq!(put(service, id(number), batch).await.status, StatusCode::OK);
}

/// An accountant of its own says what is left, after every round.
#[tokio::test]
async fn what_is_left_is_what_the_accountant_says() {
    for (lines, possible) in [("rounds = 4", 4), ("rounds = 40\nbudget = 0.7", 0)] {
        let world = World::with(lines);
        let service = world.serve();
        let task = service.plan().task();
        let end = |opened: u64, left: u64| {
            let mut accountant = Accountant::new();
            accountant.compose(service.plan().charge, opened + left).unwrap();
            accountant.epsilon(task.delta).unwrap()
        };
        // As many as the budget allows, counted one by one, if the task's number does not end it
        // before.
        let mut ledger = Ledger::new(task.delta, Some(task.budget)).unwrap();
        let affordable = (0..task.rounds).take_while(|_| ledger.charge(service.plan().charge).unwrap()).count() as u64;
        assert!(possible == 0 || affordable == possible);
        assert!((2..40).contains(&affordable), "{affordable}");
        let mut opened = 0;
        loop {
            let privacy = get(&service, "/v1/privacy").await.json();
            assert_eq!(privacy["rounds_left"].as_u64(), Some(affordable - opened), "{lines}");
            let at_end = privacy["epsilon_at_end"].as_f64().unwrap();
            assert_eq!(at_end.to_bits(), end(opened, affordable - opened).to_bits(), "{lines}, after {opened}");
            if service.tick().unwrap() != Phase::Open {
                break;
            }
            opened += 1;
            take(&world, &service, opened as u8).await;
        }
        assert_eq!(opened, affordable);
    }
}

/// Where weights are averaged, the model to use is another than the one that gradients are taken
/// at: both can be downloaded, also when others have come after them.
#[tokio::test]
async fn the_averaged_model_can_be_downloaded_as_long_as_the_others() {
    let world = World::with("step = { schedule = { kind = 'constant', rate = 0.5 }, average_from = 1 }");
    let service = world.serve();
    let mut answers = Vec::new();
    for number in 1..=4 {
        service.tick().unwrap();
        take(&world, &service, number).await;
        let answer = get(&service, "/v1/status").await.json()["answer"].as_str().unwrap().to_owned();
        answers.push(answer.parse::<ModelHash>().unwrap());
    }
    let round = world.round(&service);
    assert!(!answers[1..].contains(&round.model), "the mean of two models is neither");
    for (number, answer) in answers.iter().enumerate() {
        let file = get(&service, &paths::model(answer)).await;
        assert_eq!((file.status, ModelHash::of(&file.body)), (StatusCode::OK, *answer), "after round {}", number + 1);
    }
}

/// A store that does what it is told, and then panics, once.
struct Panicking(FileStore, bool);

impl Store for Panicking {
    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
        self.0.ledger()
    }
    fn charges(&mut self) -> Result<Vec<Charges>> {
        self.0.charges()
    }
    fn charge(&mut self, charges: &[Charges]) -> Result<()> {
        self.0.charge(charges)
    }
    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
        self.0.task(task)
    }
    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
        self.0.begin(beginning)
    }
    fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
        self.0.open(opening, known)?;
        assert!(std::mem::replace(&mut self.1, true), "after the commit");
        Ok(())
    }
    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
        self.0.extend(context, gives_up)
    }
    fn close(&mut self, closing: &Closing<'_>) -> Result<()> {
        self.0.close(closing)
    }
    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>> {
        self.0.batch(id)
    }
    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.0.model(hash)
    }
    fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.0.models()
    }
    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>> {
        self.0.rounds(task)
    }
}

#[tokio::test]
async fn after_a_panic_the_store_is_asked_before_anything_else_is_done() {
    let world = World::new();
    let service = world.serve_on(Box::new(Panicking(FileStore::open(world.store_path()).unwrap(), false))).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| service.tick())).is_err());
    // The round was charged and opened: it is shown, and neither charged nor opened again.
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 1);
    assert_eq!(get(&service, "/v1/privacy").await.json()["rounds"], 1);
    take(&world, &service, 1).await;
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 2);
}
