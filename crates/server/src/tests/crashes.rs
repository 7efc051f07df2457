//! A server that dies before or after any of its commits: nothing is lost, nothing twice, nothing
//! free.

use super::world::{GRACE, WINDOW, World, id, put, weights};
use crate::conductor::Phase;
use crate::error::{Result, ServerError};
use crate::service::Service;
use crate::store::{BatchRecord, Beginning, Charges, Closing, Opening, RoundSummary, Status, Store, TaskRecord};
use axum::http::StatusCode;
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::step::ServerState;
use shuffledp_wire::{BatchId, ModelHash, RoundContext, TaskHash};
use std::collections::HashSet;
use std::sync::Arc;

/// Where the machine dies: at the commit of this number, before it or after it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fault {
    commit: usize,
    after: bool,
}

/// A store that is gone, with everything that called it, from a chosen moment on.
struct Mortal {
    inner: Box<dyn Store>,
    fault: Option<Fault>,
    commits: usize,
    dead: bool,
}

impl Mortal {
    fn new(inner: Box<dyn Store>, fault: Option<Fault>) -> Self {
        Self { inner, fault, commits: 0, dead: false }
    }

    fn alive(&self) -> Result<()> {
        if self.dead { Err(ServerError::Interrupted("dead".to_owned())) } else { Ok(()) }
    }

    fn commit(&mut self, work: impl FnOnce(&mut dyn Store) -> Result<()>) -> Result<()> {
        self.alive()?;
        let now = self.fault.is_some_and(|fault| fault.commit == self.commits);
        self.commits += 1;
        if now {
            self.dead = true;
            if self.fault.is_some_and(|fault| fault.after) {
                work(&mut *self.inner)?;
            }
            return self.alive();
        }
        work(&mut *self.inner)
    }
}

impl Store for Mortal {
    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
        self.alive()?;
        self.inner.ledger()
    }

    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
        self.alive()?;
        self.inner.task(task)
    }

    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
        self.commit(|inner| inner.begin(beginning))
    }

    fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
        self.commit(|inner| inner.open(opening, known))
    }

    // A second start may put an end off or not, depending on where the first died: not one of the
    // counted commits.
    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
        self.alive()?;
        self.inner.extend(context, gives_up)
    }

    fn charge(&mut self, charges: &[Charges]) -> Result<()> {
        self.commit(|inner| inner.charge(charges))
    }

    fn charges(&mut self) -> Result<Vec<Charges>> {
        self.alive()?;
        self.inner.charges()
    }

    fn close(&mut self, closing: &Closing<'_>) -> Result<()> {
        self.commit(|inner| inner.close(closing))
    }

    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>> {
        self.alive()?;
        self.inner.batch(id)
    }

    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.alive()?;
        self.inner.model(hash)
    }

    fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.alive()?;
        self.inner.models()
    }

    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>> {
        self.alive()?;
        self.inner.rounds(task)
    }
}

/// The state at the end.
#[derive(Debug, PartialEq)]
struct Outcome {
    state: ServerState,
    rounds: Vec<RoundSummary>,
    charged: u64,
}

/// The rounds that were shown to clients, and the batch that was not acknowledged yet.
#[derive(Default)]
struct Outside {
    shown: Vec<u64>,
    waiting: Option<(BatchId, Vec<u8>)>,
}

/// Five rounds, of which the budget allows four; the second gets no batch. `None`: it died on the
/// way.
async fn drive(world: &World, service: &Arc<Service>, outside: &mut Outside) -> Option<()> {
    loop {
        if let Some((id, bytes)) = &outside.waiting {
            let answer = put(service, *id, bytes.clone()).await;
            match answer.status {
                StatusCode::OK => outside.waiting = None,
                StatusCode::SERVICE_UNAVAILABLE => return None,
                other => panic!("a batch was refused with {other}: {}", String::from_utf8_lossy(&answer.body)),
            }
        }
        match service.tick().ok()? {
            Phase::Open => {}
            Phase::BudgetSpent => return Some(()),
            Phase::Finished => panic!("the budget was exceeded"),
            Phase::Paused(pause) => panic!("paused: {pause:?}"),
        }
        let round = world.round(service);
        outside.shown.push(round.round);
        if round.round == 2 {
            // After the window and the grace, of a server that may just have begun.
            world.clock.advance(WINDOW + GRACE);
        } else {
            // Clients report, and the shuffler keeps the batch until it is acknowledged.
            let first = 100 * round.round as u32;
            let batch = id(round.round as u8);
            outside.waiting =
                Some((batch, world.batch(batch, round.context(), &world.records(&round, first..first + 90))));
        }
    }
}

pub(super) fn budget_of(rounds: u64) -> f64 {
    let charge_of_a_round = crate::plan::Plan::new(&World::new().config).unwrap().charge;
    let mut ledger = Ledger::new(1e-5, None).unwrap();
    for _ in 0..rounds {
        assert!(ledger.charge(charge_of_a_round).unwrap());
    }
    ledger.epsilon().unwrap()
}

/// The lines of a task with this budget.
fn lines(budget: f64) -> String {
    format!(
        "budget = {budget:?}\nrounds = 7\n\
         step = {{ schedule = {{ kind = 'constant', rate = 0.5 }}, momentum = 0.5, average_from = 2 }}"
    )
}

async fn run(world: &World, budget: f64, fault: Option<Fault>) -> (Outcome, bool) {
    let mut outside = Outside::default();
    let mut died = false;
    let mut fault = fault;
    loop {
        if let Ok(service) = world.serve_on(Box::new(Mortal::new(world.store(), fault)))
            && drive(world, &service, &mut outside).await.is_some()
        {
            drop(service);
            break;
        }
        assert!(!died, "it dies once");
        died = true;
        fault = None;
    }
    // As somebody finds it who opens the file.
    let mut store = world.store();
    let task = crate::plan::Plan::new(&world.config).unwrap().hash();
    let rounds = store.rounds(&task).unwrap();
    let charged = store.ledger().unwrap().iter().map(|(_, count)| count).sum();
    let state = store.task(&task).unwrap().unwrap().state;
    outside.shown.dedup();
    assert_eq!(outside.shown, (1..=rounds.len() as u64).collect::<Vec<_>>(), "no round is shown that was not charged");
    assert!(rounds.iter().all(|round| round.epsilon <= budget));
    drop(store);
    // A server that is started once more has nothing to add.
    let service = world.serve();
    world.clock.advance(10 * (WINDOW + GRACE));
    assert_eq!(service.tick().unwrap(), Phase::BudgetSpent);
    assert_eq!(weights(&service), state.weights);
    (Outcome { state, rounds, charged }, died)
}

#[tokio::test]
async fn dying_at_any_commit_changes_nothing() {
    dies_at_any_commit(World::with).await;
}

/// Each time in a world of its own.
pub(super) async fn dies_at_any_commit(world: impl Fn(&str) -> World) {
    let budget = budget_of(4);
    let lines = lines(budget);
    let (undisturbed, died) = run(&world(&lines), budget, None).await;
    assert!(!died);
    assert_eq!((undisturbed.charged, undisturbed.rounds.len()), (4, 4));
    let ended: Vec<_> = undisturbed.rounds.iter().map(|round| (round.status, round.accepted)).collect();
    assert_eq!(ended, [(Status::Done, 90), (Status::Expired, 0), (Status::Done, 90), (Status::Done, 90)]);
    // Begin, and open and close of four rounds.
    for commit in 0.. {
        let mut reached = false;
        for after in [false, true] {
            let (outcome, died) = run(&world(&lines), budget, Some(Fault { commit, after })).await;
            reached |= died;
            assert_eq!(outcome, undisturbed, "commit {commit}, after: {after}");
        }
        if !reached {
            assert_eq!(commit, 9);
            break;
        }
    }
}

/// A store that says no once, and a server that lives on: a full disk, say.
#[tokio::test]
async fn a_failed_commit_is_asked_about_before_anything_else_is_done() {
    struct Moody(Box<dyn Store>, u32);
    impl Store for Moody {
        fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
            self.0.ledger()
        }
        fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
            self.0.task(task)
        }
        fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
            self.0.begin(beginning)
        }
        fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
            self.1 += 1;
            // Before the commit, after it, and not at all, in turn.
            match self.1 % 3 {
                1 => Err(ServerError::Interrupted("full".to_owned())),
                2 => self.0.open(opening, known).and_then(|()| Err(ServerError::Interrupted("late".to_owned()))),
                _ => self.0.open(opening, known),
            }
        }
        fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
            self.0.extend(context, gives_up)
        }
        fn charge(&mut self, charges: &[Charges]) -> Result<()> {
            self.0.charge(charges)
        }
        fn charges(&mut self) -> Result<Vec<Charges>> {
            self.0.charges()
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
    let world = World::new();
    let service = world.serve_on(Box::new(Moody(world.store(), 0))).unwrap();
    assert!(service.tick().is_err());
    assert!(service.published().round.is_none(), "nothing was charged, so nothing is shown");
    assert!(service.tick().is_err());
    // It was charged after all: the same round is shown, and not charged again.
    assert_eq!(service.tick().unwrap(), Phase::Open);
    let round = world.round(&service);
    assert_eq!(round.round, 1);
    let answer = put(&service, id(1), world.batch(id(1), round.context(), &world.records(&round, 0..3))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 2);
    drop(service);
    let mut store = world.store();
    assert_eq!(store.ledger().unwrap().iter().map(|(_, count)| count).sum::<u64>(), 2);
}
