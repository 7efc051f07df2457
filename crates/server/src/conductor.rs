//! One round after another: charged, opened, closed; stopped by the budget, resumed after a crash.
//!
//! What it remembers is a copy of what the store says, and follows it: whenever the store failed, in whatever way, the copy is read again before
//! anything else is done. A charge in memory alone would be lost by a crash, a round that was published before its charge would be free.

use crate::batch::Gathered;
use crate::config::RoundConfig;
use crate::error::{Result, ServerError};
use crate::plan::Plan;
use crate::store::{BatchRecord, Beginning, Closing, ClosingBatch, Opening, RoundSummary, Store, TaskRecord};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::models::Model;
use shuffledp_learning::step::ServerState;
use shuffledp_wire::{BatchId, HpkePublicKey, KeyId, KeysHash, ModelHash, RoundContext};
use std::collections::HashSet;
use std::sync::Arc;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A round is open.
    Open,
    /// All rounds were run.
    Finished,
    /// Another round would exceed the budget.
    BudgetSpent,
}

/// What reports of a round are sealed to.
pub(crate) type PublicKeys = Vec<(KeyId, HpkePublicKey)>;

/// Leads the rounds of a task.
pub(crate) struct Conductor {
    plan: Arc<Plan>,
    times: RoundConfig,
    store: Box<dyn Store>,
    ledger: Ledger,
    record: TaskRecord,
    /// The last round that will be opened and at least ε after it, once somebody has asked. Charging what was foreseen does not change it.
    end: Option<(u64, f64)>,
    /// At least ε of everything in the ledger, other tasks' rounds included, and at most what any analysis could say, once known.
    spent: Option<(f64, f64)>,
    /// The store failed, and may hold something else than we remember.
    in_doubt: bool,
    /// When this process began. A batch could not come before.
    started: u64,
}

/// What becomes of a batch that has been announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is for the open round.
    Welcome,
    /// It came before.
    Known(BatchRecord),
    /// It is for a round that is not open, or for another model.
    NotOpen,
}

impl Conductor {
    /// Begins the task, or goes on where the store says it was.
    pub(crate) fn resume(plan: Arc<Plan>, times: RoundConfig, mut store: Box<dyn Store>, started: u64) -> Result<Self> {
        let state = plan.first_state();
        let (model, bytes) = plan.model_file(&state.weights)?;
        let encoding = plan.encoding();
        store.begin(&Beginning { task: plan.hash(), encoding, state: &state, model, bytes: &bytes })?;
        let (ledger, record) = read(&plan, &mut *store)?;
        Ok(Self { plan, times, store, ledger, record, end: None, spent: None, in_doubt: false, started })
    }

    /// The round that is open.
    pub(crate) fn open_round(&self) -> Option<&Opening> {
        self.record.last.as_ref().filter(|_| self.record.is_open)
    }

    /// The last round that was opened.
    pub(crate) fn last_round(&self) -> Option<&Opening> {
        self.record.last.as_ref()
    }

    /// What the server remembers from round to round.
    pub(crate) fn state(&self) -> &ServerState {
        &self.record.state
    }

    /// What has been spent.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many rounds may still be opened, by the task's number and by its budget, and at least ε after them.
    pub(crate) fn forecast(&mut self) -> Result<(u64, f64)> {
        let opened = self.record.last.as_ref().map_or(0, |last| last.context.round);
        let (last, epsilon) = match self.end {
            Some(end) => end,
            None => {
                let (left, epsilon) =
                    self.ledger.forecast(self.plan.charge, self.plan.rounds().saturating_sub(opened))?;
                *self.end.insert((opened + left, epsilon))
            }
        };
        Ok((last.saturating_sub(opened), epsilon))
    }

    /// At least ε of everything that was ever charged, and at most what any analysis could say.
    pub(crate) fn spent(&mut self) -> Result<(f64, f64)> {
        match self.spent {
            Some(spent) => Ok(spent),
            None => Ok(*self.spent.insert((self.ledger.epsilon()?, self.ledger.epsilon_lower()?))),
        }
    }

    /// All rounds so far, for people.
    pub(crate) fn rounds(&mut self) -> Result<Vec<RoundSummary>> {
        self.store.rounds(&self.plan.hash())
    }

    /// The hashes of all models that can be asked for.
    pub(crate) fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.store.models()
    }

    /// The bytes of a model that was published.
    pub(crate) fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.store.model(hash)
    }

    /// When the open round is given up: the grace after its window, and after this process began. While the server is down no batch can come, and the reports in it
    /// were acknowledged.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.open_round().map(|round| round.closes.max(self.started).saturating_add(self.times.grace()))
    }

    /// Does what the time demands: gives up a round whose batch did not come (`postponed` milliseconds
    /// later while one is coming in), and opens the next, for which it asks for the `keys`. They are
    /// fixed for as long as the round is open: two lists of one round would be two halves of its clients.
    pub(crate) fn tick(
        &mut self,
        now: impl Fn() -> u64,
        postponed: u64,
        keys: impl FnOnce() -> PublicKeys,
    ) -> Result<Phase> {
        self.settled(|conductor| {
            if let Some(deadline) = conductor.deadline() {
                if now() < deadline.saturating_add(postponed) {
                    return Ok(Phase::Open);
                }
                conductor.close_with(None)?;
            }
            conductor.open_next(now, keys)
        })
    }

    /// Whether this batch is to be received.
    pub(crate) fn admit(&mut self, id: &BatchId, context: &RoundContext) -> Result<Admission> {
        self.settled(|conductor| {
            Ok(match conductor.store.batch(id)? {
                Some(known) if known.context == *context => Admission::Known(known),
                Some(_) => Admission::NotOpen,
                None if conductor.open_round().is_some_and(|open| open.context == *context) => Admission::Welcome,
                None => Admission::NotOpen,
            })
        })
    }

    /// Takes the step and closes the round, all in one transaction. The same batch again has the same answer.
    pub(crate) fn close(&mut self, id: BatchId, gathered: &Gathered) -> Result<BatchRecord> {
        self.settled(|conductor| {
            let context = *gathered.context();
            match conductor.store.batch(&id)? {
                Some(known) if known.context == context => return Ok(known),
                Some(_) => return Err(ServerError::RoundClosed { round: context.round }),
                None => {}
            }
            if conductor.open_round().is_none_or(|open| open.context != context) {
                return Err(ServerError::RoundClosed { round: context.round });
            }
            conductor.close_with(Some((id, gathered)))?;
            Ok(BatchRecord {
                context,
                accepted: gathered.report_ids().len() as u64,
                rejected: gathered.rejected().total(),
            })
        })
    }

    fn close_with(&mut self, batch: Option<(BatchId, &Gathered)>) -> Result<()> {
        let Some(open) = self.open_round() else { return Ok(()) };
        let context = open.context;
        let estimate = match batch {
            Some((_, gathered)) if gathered.report_ids().len() as u64 >= self.times.min_batch => gathered.mean()?,
            Some((_, gathered)) => {
                let counted = gathered.report_ids().len();
                tracing::error!(round = context.round, counted, "fewer reports count than round.min_batch: no step");
                None
            }
            None => None,
        };
        let state = self.step(estimate.as_deref())?;
        let answer = state.answer();
        let (model, bytes) = self.plan.model_file(&state.weights)?;
        let mut models = vec![(model, bytes)];
        let (answer_hash, bytes) = self.plan.model_file(&answer)?;
        if answer_hash != model {
            models.push((answer_hash, bytes));
        }
        let looked_at = context.round % self.times.evaluate_every == 0 || context.round == self.plan.rounds();
        let accuracy = if looked_at { Some(self.plan.accuracy(&answer)?) } else { None };
        let batch = batch.map(|(id, gathered)| ClosingBatch {
            id,
            report_ids: gathered.report_ids(),
            rejected: gathered.rejected().total(),
        });
        self.store.close(&Closing { context, batch, state: &state, models: &models, answer: answer_hash, accuracy })?;
        if estimate.is_some() {
            tracing::info!(round = context.round, test_accuracy = accuracy, "step taken");
        }
        self.record.state = state;
        self.record.is_open = false;
        Ok(())
    }

    /// The state after a step; without one if it would leave the finite numbers, where no client could follow.
    fn step(&self, estimate: Option<&[f64]>) -> Result<ServerState> {
        let architecture = self.plan.model.architecture();
        let mut state = self.record.state.clone();
        match state.advance(estimate, &self.plan.step, architecture) {
            Ok(()) if state.weights.iter().chain(&state.velocity).all(|number| number.is_finite()) => return Ok(state),
            Ok(()) => tracing::error!(round = state.round, "the step left the finite numbers: take smaller steps"),
            Err(error) => tracing::error!(%error, "the step was not taken"),
        }
        let mut state = self.record.state.clone();
        state.advance(None, &self.plan.step, architecture)?;
        Ok(state)
    }

    /// Charge first, then open, both in one transaction; whoever calls publishes only what this has done.
    fn open_next(&mut self, now: impl Fn() -> u64, keys: impl FnOnce() -> PublicKeys) -> Result<Phase> {
        let round = self.record.last.as_ref().map_or(0, |last| last.context.round) + 1;
        if round > self.plan.rounds() {
            return Ok(Phase::Finished);
        }
        let mut ledger = self.ledger.clone();
        if !ledger.charge(self.plan.charge)? {
            return Ok(Phase::BudgetSpent);
        }
        let (epsilon, epsilon_lower) = (ledger.epsilon()?, ledger.epsilon_lower()?);
        let (model, _) = self.plan.model_file(&self.record.state.weights)?;
        let keys = keys();
        // The window begins when there is nothing left to compute.
        let opens = now();
        let opening = Opening {
            context: RoundContext { task: self.plan.hash(), round, model, keys: KeysHash::of(&keys) },
            keys,
            charge: self.plan.charge,
            opens,
            closes: opens.saturating_add(self.times.window()),
            epsilon,
            epsilon_lower,
        };
        let known = self.ledger.accountant().ledger().iter().map(|entry| entry.count).sum();
        self.store.open(&opening, known)?;
        self.ledger = ledger;
        self.spent = Some((opening.epsilon, opening.epsilon_lower));
        self.record.last = Some(opening);
        self.record.is_open = true;
        Ok(Phase::Open)
    }

    /// Something went wrong: the store is asked before anything else is done.
    pub(crate) fn doubt(&mut self) {
        self.in_doubt = true;
    }

    /// Does `work` on a copy that is known to be the store's; after a failure it no longer is.
    fn settled<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.in_doubt {
            (self.ledger, self.record) = read(&self.plan, &mut *self.store)?;
            (self.end, self.spent) = (None, None);
            self.in_doubt = false;
        }
        let result = work(self);
        self.in_doubt = result.is_err();
        result
    }
}

/// What the store says: everything spent by whatever task, and where this one is.
fn read(plan: &Plan, store: &mut dyn Store) -> Result<(Ledger, TaskRecord)> {
    let mut accountant = Accountant::new();
    for (round, count) in store.ledger()? {
        accountant.compose(round, count)?;
    }
    let ledger = Ledger::resume(accountant, plan.delta(), Some(plan.budget()))?;
    let record = store.task(&plan.hash())?.ok_or_else(|| ServerError::damaged("a task that has begun is missing"))?;
    if record.state.weights.len() != plan.model.parameters() {
        return Err(ServerError::damaged("the state of the task is that of another model"));
    }
    Ok((ledger, record))
}
