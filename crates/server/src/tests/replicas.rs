//! Several servers on one PostgreSQL: the contract of stores, crashes at every commit, and replicas
//! that race for rounds, batches and the budget.

use super::crashes::{budget_of, dies_at_any_commit};
use super::database::Server;
use super::storage;
use super::world::{GRACE, WINDOW, World, id, put, weights};
use crate::conductor::Phase;
use crate::service::Service;
use crate::store::Status;
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Worlds on databases of their own.
struct Databases(Server, AtomicU32);

impl Databases {
    fn start() -> Option<Self> {
        Server::start().map(|server| Self(server, AtomicU32::new(0)))
    }

    fn world(&self, lines: &str) -> World {
        let number = self.1.fetch_add(1, Ordering::SeqCst);
        World::with(lines).on(self.0.database(&format!("world{number}")))
    }
}

#[test]
fn postgresql_keeps_the_contract_of_stores() {
    let Some(databases) = Databases::start() else { return };
    storage::all(|| databases.world(""));
}

#[tokio::test]
async fn dying_at_any_commit_changes_nothing() {
    let Some(databases) = Databases::start() else { return };
    dies_at_any_commit(|lines| databases.world(lines)).await;
}

/// Returns the round that `replicas` publish.
fn shown(world: &World, replicas: &[Arc<Service>]) -> Vec<u64> {
    replicas.iter().map(|replica| world.round(replica).round).collect()
}

/// Three replicas that all try to open every round, and to give up those that end without a batch,
/// at the same moment.
#[tokio::test]
async fn replicas_never_open_two_rounds_nor_exceed_the_budget() {
    let Some(databases) = Databases::start() else { return };
    let budget = budget_of(4);
    let world = databases.world(&format!("budget = {budget:?}\nrounds = 9"));
    let replicas: Vec<Arc<Service>> = (0..3).map(|_| world.serve()).collect();
    let race = || -> Vec<Phase> {
        std::thread::scope(|scope| {
            let racing: Vec<_> = replicas.iter().map(|replica| scope.spawn(|| replica.tick())).collect();
            let first: Vec<_> = racing.into_iter().map(|thread| thread.join().unwrap()).collect();
            // Who lost the race hears what the winner did.
            first.into_iter().zip(&replicas).map(|(tick, replica)| tick.or_else(|_| replica.tick()).unwrap()).collect()
        })
    };
    for round in 1..=4 {
        assert_eq!(race(), [Phase::Open; 3]);
        assert_eq!(shown(&world, &replicas), [round; 3], "one round, whoever opened it");
        let open = databases.0.query("world0", "SELECT count(*) FROM shuffledp_server.rounds WHERE status = 'open'");
        let charged = databases.0.query("world0", "SELECT count(*) FROM shuffledp_server.ledger");
        assert_eq!((open.as_str(), charged), ("1", round.to_string()));
        if round % 2 == 0 {
            world.clock.advance(WINDOW + GRACE);
            continue;
        }
        // The batch comes to two replicas at once, which are not the one that it is asked of next.
        let offer = world.round(&replicas[0]);
        let batch = id(round as u8);
        let bytes = world.batch(batch, offer.context(), &world.records(&offer, 0..20));
        let (one, two) = tokio::join!(put(&replicas[1], batch, bytes.clone()), put(&replicas[2], batch, bytes.clone()));
        let taken = [one.status, two.status].iter().filter(|status| **status == StatusCode::OK).count();
        assert!(taken >= 1, "{} {}", one.status, two.status);
        let again = put(&replicas[0], batch, bytes).await;
        assert_eq!((again.status, again.json()["accepted"].as_u64()), (StatusCode::OK, Some(20)));
    }
    // A fifth would exceed the budget, whoever tries.
    assert_eq!(race(), [Phase::BudgetSpent; 3]);
    let mut store = world.store();
    let rounds = store.rounds(&replicas[0].plan().hash()).unwrap();
    let ended: Vec<(Status, u64)> = rounds.iter().map(|round| (round.status, round.accepted)).collect();
    assert_eq!(ended, [(Status::Done, 20), (Status::Expired, 0), (Status::Done, 20), (Status::Expired, 0)]);
    assert!(rounds.iter().all(|round| round.epsilon <= budget));
    assert_eq!(store.ledger().unwrap().iter().map(|(_, count)| count).sum::<u64>(), 4);
    let models: Vec<Vec<f32>> = replicas.iter().map(|replica| weights(replica)).collect();
    assert!(models.iter().all(|model| *model == models[0]), "all replicas have the same model");
}

/// Another task on the same population, led by another replica: the ledger is that of both.
#[test]
fn two_tasks_share_one_budget() {
    let Some(databases) = Databases::start() else { return };
    let budget = budget_of(2);
    let first = databases.world(&format!("budget = {budget:?}\nrounds = 9"));
    let replica = first.serve();
    assert_eq!(replica.tick().unwrap(), Phase::Open);
    first.clock.advance(WINDOW + GRACE);
    let url = first.config.database.clone().unwrap();
    let other = World::with(&format!("budget = {budget:?}\nrounds = 8")).on(url);
    assert_eq!(replica.tick().unwrap(), Phase::Open, "the second round");
    // While that one is open, the other task cannot begin, unless it is told to give it up.
    let error = other.serve_on(other.store()).err().unwrap().to_string();
    assert!(error.contains("another task is open"), "{error}");
    first.clock.advance(WINDOW + GRACE);
    assert_eq!(replica.tick().unwrap(), Phase::BudgetSpent);
    let late = other.serve();
    assert_eq!(late.tick().unwrap(), Phase::BudgetSpent, "both rounds were spent by the other task");
}

/// A replica does not give a round up while another one is receiving its batch.
#[test]
fn a_round_is_held_while_its_batch_comes_in_elsewhere() {
    let Some(databases) = Databases::start() else { return };
    let world = databases.world("");
    let (receiving, other) = (world.serve(), world.serve());
    assert_eq!((receiving.tick().unwrap(), other.tick().unwrap()), (Phase::Open, Phase::Open));
    let offer = world.round(&receiving);
    world.clock.advance(WINDOW + GRACE - 1);
    let record_len = world.records(&offer, 0..1)[0].len() as u32;
    let header = shuffledp_wire::BatchHeader { batch: id(1), context: offer.context(), count: 2, record_len };
    receiving.hold(&header).unwrap();
    world.clock.advance(2);
    assert!(other.is_overtaken().unwrap());
    assert_eq!(other.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&other).round, 1, "held");
    world.clock.advance(world.config.round.patience(header.stream_len()));
    assert_eq!(other.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&other).round, 2, "not for ever");
}
