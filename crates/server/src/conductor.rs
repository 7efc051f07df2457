//! One round after another: charged, opened, closed; stopped by the budget, resumed after a crash.
//!
//! What it remembers is a copy of what the store says, and follows it: whenever the store failed,
//! in whatever way, the copy is read again before anything else is done. A charge in memory alone
//! would be lost by a crash, a round that was published before its charge would be free.

use crate::batch::Gathered;
use crate::config::RoundConfig;
use crate::error::{Result, ServerError};
use crate::plan::Plan;
use crate::store::{
    BatchRecord, Beginning, Charges, Closing, ClosingBatch, Opening, RoundSummary, Status, Store, TaskRecord,
};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::models::Model;
use shuffledp_learning::step::ServerState;
use shuffledp_wire::{BatchId, HpkePublicKey, KeyId, KeysHash, ModelHash, RoundContext};
use std::collections::HashSet;
use std::path::Path;
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
    /// No round is opened, and nothing charged, until something changes.
    Paused(Pause),
}

/// Why no round is opened although the budget allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Too many rounds in a row ended without a batch.
    NoBatch,
    /// The clock may be wrong.
    Clock,
}

/// A paused server that tried in vain waits longer before it tries again, but no longer than this.
const LONGEST_PAUSE: u64 = 86_400_000;

/// The public keys to which reports of a round are sealed.
pub(crate) type PublicKeys = Vec<(KeyId, HpkePublicKey)>;

/// Leads the rounds of a task.
pub(crate) struct Conductor {
    plan: Arc<Plan>,
    times: RoundConfig,
    store: Box<dyn Store>,
    ledger: Ledger,
    record: TaskRecord,
    /// The last round that will be opened and at least ε after it, once somebody has asked.
    /// Charging what was foreseen does not change it.
    end: Option<(u64, f64)>,
    /// At least ε of everything in the ledger, other tasks' rounds included, and at most what any
    /// analysis could say, once known.
    spent: Option<(f64, f64)>,
    /// The store failed, and may hold something else than we remember.
    in_doubt: bool,
    /// The store's number when it was read last.
    revision: Option<u64>,
    /// Rounds in a row, up to the last that ended, that were charged and had no batch.
    silent: u64,
    /// The last round that may be opened although no batch comes.
    allowed: u64,
    /// When the pause began.
    paused: Option<u64>,
    /// The last batch that this process took: its round, and when.
    last_batch: Option<(u64, u64)>,
}

/// The decision on a batch that was announced.
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
    pub(crate) fn resume(plan: Arc<Plan>, times: RoundConfig, mut store: Box<dyn Store>, now: u64) -> Result<Self> {
        let state = plan.first_state();
        let (model, bytes) = plan.model_file(&state.weights)?;
        let encoding = plan.encoding();
        let replaces = plan.replaces();
        store.begin(&Beginning { task: plan.hash(), encoding, state: &state, model, bytes: &bytes, replaces })?;
        let revision = store.revision()?;
        let Remembered { ledger, record, silent } = read(&plan, &mut *store)?;
        let mut conductor = Self {
            plan,
            times,
            store,
            ledger,
            record,
            end: None,
            spent: None,
            in_doubt: false,
            revision,
            silent,
            allowed: 0,
            paused: None,
            last_batch: None,
        };
        conductor.allow_for_downtime(now)?;
        Ok(conductor)
    }

    /// While the server was down no batch could come, and the reports in it were acknowledged: the
    /// open round waits one grace from now on. Once: a server that starts again and again must not
    /// keep a round open for ever.
    fn allow_for_downtime(&mut self, now: u64) -> Result<()> {
        let Some(open) = self.open_round() else { return Ok(()) };
        let wanted = open.closes.max(now).saturating_add(self.times.grace());
        if open.extended || wanted <= open.gives_up {
            return Ok(());
        }
        let context = open.context;
        match self.store.extend(&context, wanted) {
            // Another replica was first.
            Err(ServerError::RoundClosed { .. }) => {
                self.in_doubt = true;
                return Ok(());
            }
            extended => extended?,
        }
        if let Some(open) = &mut self.record.last {
            (open.gives_up, open.extended) = (wanted, true);
        }
        Ok(())
    }

    /// The round that is open.
    pub(crate) fn open_round(&self) -> Option<&Opening> {
        self.record.last.as_ref().filter(|_| self.record.is_open)
    }

    /// The last round that was opened.
    pub(crate) fn last_round(&self) -> Option<&Opening> {
        self.record.last.as_ref()
    }

    /// Returns the state that the server keeps between rounds.
    pub(crate) fn state(&self) -> &ServerState {
        &self.record.state
    }

    /// Returns the ledger of charged rounds.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many rounds may still be opened, by the task's number and by its budget, and at least ε
    /// after them.
    pub(crate) fn forecast(&mut self) -> Result<(u64, f64)> {
        let opened = self.charged();
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

    /// Everything that was charged, by task and round.
    pub(crate) fn charges(&mut self) -> Result<Vec<Charges>> {
        self.store.charges()
    }

    /// Copies the store to a new file.
    pub(crate) fn backup(&mut self, to: &Path) -> Result<()> {
        self.store.backup(to)
    }

    /// The hashes of all models that can be asked for.
    pub(crate) fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.store.models()
    }

    /// The bytes of a model that was published.
    pub(crate) fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.store.model(hash)
    }

    /// When the open round is given up, as the store has it.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.open_round().map(|round| round.gives_up)
    }

    /// The last round that was charged. It may be later than the last that is known otherwise: a
    /// ledger that was brought from elsewhere has no more.
    fn charged(&self) -> u64 {
        self.record.charged
    }

    /// Rounds in a row that were charged and had no batch.
    pub(crate) fn silent(&self) -> u64 {
        self.silent
    }

    /// The last batch that this process took: its round, and when.
    pub(crate) fn last_batch(&self) -> Option<(u64, u64)> {
        self.last_batch
    }

    /// When a pause for want of batches may end if the shuffler answers: at once the first time,
    /// and after a wait that doubles with every further round that was tried in vain.
    pub(crate) fn pause_ends(&self) -> Option<u64> {
        let tried = self.silent.saturating_sub(self.times.pause_after);
        let round = self.times.window().saturating_add(self.times.grace());
        let wait = match tried {
            0 => 0,
            _ => round.saturating_mul(1 << (tried - 1).min(32)).min(LONGEST_PAUSE.max(round)),
        };
        self.paused.map(|began| began.saturating_add(wait))
    }

    /// Ends a pause for want of batches: that many further rounds may be opened, whatever comes.
    pub(crate) fn allow(&mut self, rounds: u64) {
        self.allowed = self.charged().saturating_add(rounds);
        self.paused = None;
    }

    /// Gives up the open round before its time; it stays charged.
    pub(crate) fn abandon(&mut self, round: u64) -> Result<()> {
        self.settled(|conductor| {
            if conductor.open_round().is_none_or(|open| open.context.round != round) {
                return Err(ServerError::RoundClosed { round });
            }
            conductor.close_with(None)
        })
    }

    /// Does what the time demands: gives up a round whose batch did not come (`postponed`
    /// milliseconds later while one is coming in), and opens the next unless `held` says why not.
    /// For it, it asks for the `keys`. They are fixed for as long as the round is open: two lists
    /// of one round would be two halves of its clients.
    pub(crate) fn tick(
        &mut self,
        now: impl Fn() -> u64,
        postponed: u64,
        held: Option<Pause>,
        keys: impl FnOnce() -> PublicKeys,
    ) -> Result<Phase> {
        self.settled(|conductor| {
            if let Some(deadline) = conductor.deadline() {
                if now() < deadline.saturating_add(postponed) {
                    return Ok(Phase::Open);
                }
                conductor.close_with(None)?;
            }
            conductor.open_next(now, held, keys)
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

    /// Takes the step and closes the round, all in one transaction. The same batch again has the
    /// same answer.
    pub(crate) fn close(&mut self, id: BatchId, gathered: &Gathered, now: u64) -> Result<BatchRecord> {
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
            conductor.last_batch = Some((context.round, now));
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
        let silent = if batch.is_some() { 0 } else { self.silent.saturating_add(1) };
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
        self.silent = silent;
        Ok(())
    }

    /// The state after a step; without one if it would leave the finite numbers, where no client
    /// could follow.
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

    /// Charge first, then open, both in one transaction; whoever calls publishes only what this has
    /// done.
    fn open_next(
        &mut self,
        now: impl Fn() -> u64,
        held: Option<Pause>,
        keys: impl FnOnce() -> PublicKeys,
    ) -> Result<Phase> {
        let round = self.charged() + 1;
        if round > self.plan.rounds() {
            return Ok(Phase::Finished);
        }
        if let Some(pause) = held.or(self.brake(round)) {
            if pause == Pause::NoBatch {
                self.paused.get_or_insert(now());
            }
            return Ok(Phase::Paused(pause));
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
            gives_up: opens.saturating_add(self.times.window()).saturating_add(self.times.grace()),
            extended: false,
            epsilon,
            epsilon_lower,
        };
        let known = self.ledger.accountant().ledger().iter().map(|entry| entry.count).sum();
        self.store.open(&opening, known)?;
        self.ledger = ledger;
        self.spent = Some((opening.epsilon, opening.epsilon_lower));
        self.record.last = Some(opening);
        self.record.charged = round;
        self.record.is_open = true;
        Ok(Phase::Open)
    }

    /// Rounds are charged whether a batch comes or not: after some in a row without one, nobody is
    /// known to listen.
    fn brake(&self, round: u64) -> Option<Pause> {
        (self.silent >= self.times.pause_after && round > self.allowed).then_some(Pause::NoBatch)
    }

    /// Whether another process has changed the store since it was read.
    pub(crate) fn is_overtaken(&mut self) -> Result<bool> {
        Ok(self.store.revision()? != self.revision)
    }

    /// Whether other processes use the store, too.
    pub(crate) fn is_shared(&self) -> bool {
        self.revision.is_some()
    }

    /// Tells the other replicas that a batch of the open round is coming in, and may until then.
    pub(crate) fn hold(&mut self, context: &RoundContext, until: u64) -> Result<()> {
        self.store.hold(context, until)
    }

    /// Something went wrong: the store is asked before anything else is done.
    pub(crate) fn doubt(&mut self) {
        self.in_doubt = true;
    }

    /// Does `work` on a copy that is known to be the store's; after a failure it no longer is.
    fn settled<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.in_doubt || self.is_overtaken()? {
            // Asked before the store is read: what changes meanwhile is seen the next time.
            self.revision = self.store.revision()?;
            let Remembered { ledger, record, silent } = read(&self.plan, &mut *self.store)?;
            (self.ledger, self.record, self.silent) = (ledger, record, silent);
            (self.end, self.spent) = (None, None);
            self.in_doubt = false;
        }
        let result = work(self);
        self.in_doubt = result.is_err();
        result
    }
}

/// The cached state of the store.
struct Remembered {
    /// Everything spent, by whatever task.
    ledger: Ledger,
    /// Where this task is.
    record: TaskRecord,
    /// Rounds in a row without a batch.
    silent: u64,
}

fn read(plan: &Plan, store: &mut dyn Store) -> Result<Remembered> {
    let mut accountant = Accountant::new();
    for (round, count) in store.ledger()? {
        accountant.compose(round, count)?;
    }
    let ledger = Ledger::resume(accountant, plan.delta(), Some(plan.budget()))?;
    let record = store.task(&plan.hash())?.ok_or_else(|| ServerError::damaged("a task that has begun is missing"))?;
    if record.state.weights.len() != plan.model.parameters() {
        return Err(ServerError::damaged("the state of the task is that of another model"));
    }
    let rounds = store.rounds(&plan.hash())?;
    let ended = rounds.iter().rev().skip_while(|round| round.status == Status::Open);
    let silent = ended.take_while(|round| round.status == Status::Expired).count() as u64;
    Ok(Remembered { ledger, record, silent })
}
