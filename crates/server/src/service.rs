//! The server without its sockets: the conductor behind a lock, and what it last made public.
//!
//! Whoever asks for a task, a round, a model or the status is answered from what was published, and
//! never waits for a batch or for the disk.

use crate::batch::Gathered;
use crate::conductor::{Admission, Conductor, Pause, Phase};
use crate::config::RoundConfig;
use crate::error::{Result, ServerError};
use crate::keys::KeyRing;
use crate::ledger_file::LedgerFile;
use crate::link::Contact;
use crate::plan::Plan;
use crate::published::Published;
use crate::store::{BatchRecord, Store};
use crate::timekeeper::{Doubt, Timekeeper};
use bytes::Bytes;
use shuffledp_host::Clock;
use shuffledp_transport::{Counter, MetricsPage};
use shuffledp_wire::{BatchHeader, BatchId, ModelHash, RoundContext, RoundOffer, Signed, Task};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::Notify;

/// Batches that are received at once. Anybody who has seen the header of the true batch can begin
/// to send it: the true one must find a place beside such uploads, and memory must stay bounded.
const PLACES: usize = 8;

/// All that requests share.
pub(crate) struct Service {
    plan: Arc<Plan>,
    keys: KeyRing,
    times: RoundConfig,
    clock: Arc<dyn Clock>,
    timekeeper: Mutex<Timekeeper>,
    /// The doubt about the clock that the log has.
    said_of_clock: Mutex<Option<Doubt>>,
    link: Mutex<LinkState>,
    conductor: Mutex<Conductor>,
    shared: bool,
    published: RwLock<Arc<Published>>,
    /// The phase that was published last.
    phase: Mutex<Option<Phase>>,
    /// Why rounds cannot be opened or ended at the moment.
    failure: Mutex<Option<String>>,
    failures: Counter,
    signed_task: Bytes,
    /// Wakes the one who opens rounds and ends them.
    changed: Notify,
    /// The batches of the open round that are coming in.
    receiving: Mutex<Vec<Upload>>,
}

impl Service {
    /// Begins the task of the plan, or goes on with it.
    pub(crate) fn new(
        plan: Plan,
        keys: impl Into<KeyRing>,
        times: RoundConfig,
        store: Box<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        times.check()?;
        let (plan, keys) = (Arc::new(plan), keys.into());
        let signed_task = Bytes::from(Signed::<Task>::sign(plan.task(), keys.signing())?.encode());
        let mut conductor = Conductor::resume(Arc::clone(&plan), times, store, clock.now())?;
        let last = conductor.last_round().map(|last| (last.opens, last.gives_up));
        let timekeeper = Timekeeper::new(&*clock, last, times.window().saturating_add(times.grace()));
        let link = LinkState { last_good: None, began: clock.uptime(), failure: None };
        let problems = timekeeper.doubt().map(clock_problem).into_iter().collect();
        let published = Published::new(&plan, &mut conductor, &keys, None, problems)?;
        Ok(Self {
            plan,
            keys,
            times,
            clock,
            timekeeper: Mutex::new(timekeeper),
            said_of_clock: Mutex::new(None),
            link: Mutex::new(link),
            shared: conductor.is_shared(),
            conductor: Mutex::new(conductor),
            published: RwLock::new(Arc::new(published)),
            phase: Mutex::new(None),
            failure: Mutex::new(None),
            failures: Counter::default(),
            signed_task,
            changed: Notify::new(),
            receiving: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn times(&self) -> &RoundConfig {
        &self.times
    }

    /// The time that windows are judged by.
    pub(crate) fn now(&self) -> u64 {
        self.timekeeper().now(&*self.clock)
    }

    fn timekeeper(&self) -> MutexGuard<'_, Timekeeper> {
        // Changed by single calls: a thread that panicked left it whole.
        self.timekeeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self) -> MutexGuard<'_, LinkState> {
        // As above.
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where rotated keys appear, and what operators ask.
    pub(crate) fn keys_folder(&self) -> Option<&std::path::Path> {
        self.keys.folder()
    }

    /// The task, signed.
    pub(crate) fn signed_task(&self) -> Bytes {
        self.signed_task.clone()
    }

    /// Returns the public state.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A place for a batch that the open round waits for, if one is free. Call only for a batch
    /// that was [admitted](Self::admit).
    pub(crate) fn try_receive(&self, header: &BatchHeader) -> Option<Place<'_>> {
        let mut uploads = self.uploads();
        if uploads.len() >= PLACES {
            return None;
        }
        uploads.push(Upload { context: header.context, patience: self.times.patience(header.stream_len()) });
        Some(Place { service: self, context: header.context })
    }

    /// By how many milliseconds the end of the open round is postponed for the batches that are
    /// coming in for it. Bounded by the length that the shuffler signed, however often they begin
    /// anew.
    fn postponed(&self, open: Option<&RoundContext>) -> u64 {
        let uploads = self.uploads();
        uploads.iter().filter(|upload| Some(&upload.context) == open).map(|upload| upload.patience).max().unwrap_or(0)
    }

    fn uploads(&self) -> MutexGuard<'_, Vec<Upload>> {
        // Changed by single calls: a thread that panicked left it whole.
        self.receiving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened that time alone would not tell.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Waits for a [`wake`](Self::wake).
    pub(crate) async fn woken(&self) {
        self.changed.notified().await;
    }

    /// When time alone changes something: at the open round's deadline, later if a batch is coming
    /// in.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let conductor = self.lock();
        let postponed = self.postponed(conductor.open_round().map(|open| &open.context));
        conductor.deadline().map(|deadline| deadline.saturating_add(postponed))
    }

    /// Does what the time demands. Blocks on the disk and on accounting.
    pub(crate) fn tick(&self) -> Result<Phase> {
        let mut conductor = self.lock();
        let before = conductor.open_round().map(|open| open.context.round);
        let postponed = self.postponed(conductor.open_round().map(|open| &open.context));
        self.now();
        let held = self.timekeeper().doubt().map(|_| Pause::Clock);
        let phase = conductor.tick(
            || self.now(),
            postponed,
            held,
            || {
                self.keys.refresh(self.now());
                self.keys.sealing().public_keys()
            },
        )?;
        let open = conductor.open_round().map(|open| (open.context.round, open.epsilon));
        if open.map(|(round, _)| round) != before {
            if let Some(round) = before {
                tracing::warn!(round, "no batch came in time; the round is given up, and stays charged");
            }
            if let Some((round, epsilon)) = open {
                tracing::info!(round, epsilon, "round open");
            }
        }
        self.publish(&mut conductor, phase)?;
        Ok(phase)
    }

    /// The shuffler answered, or did not: says so where people look, and ends a pause if it
    /// answered. True if something changed. Blocks on the disk.
    pub(crate) fn note_probe(&self, outcome: std::result::Result<Contact, String>) -> Result<bool> {
        let mut conductor = self.lock();
        let before = self.situation();
        match outcome {
            Ok(contact) => {
                if let Some(time) = contact.time {
                    self.timekeeper().compare(&*self.clock, time);
                }
                let link = &mut *self.link();
                (link.last_good, link.failure) = (Some(self.clock.uptime()), None);
            }
            Err(problem) => self.link().failure = Some(problem),
        }
        let answers = self.situation().0.is_none();
        let waited = conductor.pause_ends().is_some_and(|end| self.now() >= end);
        let goes_on = answers && waited;
        if goes_on {
            tracing::info!("the shuffler answers: one more round is tried");
            conductor.allow(1);
        }
        let changed = goes_on || before != self.situation();
        if changed {
            self.republish(&mut conductor)?;
            self.wake();
        }
        Ok(changed)
    }

    /// Whether the clock was set; who waits is woken if that changed anything.
    pub(crate) fn look_at_the_clock(&self) -> Result<()> {
        self.now();
        let doubt = self.timekeeper().doubt();
        // Compared with what was said, not with a moment ago: whoever asks for the time may have
        // noticed before.
        if std::mem::replace(&mut *self.said_of_clock.lock().unwrap_or_else(PoisonError::into_inner), doubt) == doubt {
            return Ok(());
        }
        match doubt {
            Some(doubt) => tracing::error!("{}", clock_problem(doubt).1),
            None => tracing::info!("the clock is right again"),
        }
        self.republish(&mut self.lock())?;
        self.wake();
        Ok(())
    }

    /// An operator says that the server is to go on: the clock is right, and rounds are worth their
    /// charge. Returns what that changed, for the operator.
    pub(crate) fn resume(&self) -> Result<String> {
        let mut conductor = self.lock();
        self.timekeeper().accept(&*self.clock);
        conductor.allow(self.times.pause_after);
        self.republish(&mut conductor)?;
        self.wake();
        tracing::warn!("an operator says that the server is to go on");
        Ok(format!("the server goes on; it pauses again after {} rounds without a batch", self.times.pause_after))
    }

    /// An operator gives up the open round. Blocks on the disk.
    pub(crate) fn abandon(&self, round: u64) -> Result<String> {
        let mut conductor = self.lock();
        conductor.abandon(round)?;
        tracing::warn!(round, "an operator gave the round up; it stays charged");
        self.republish(&mut conductor)?;
        self.wake();
        Ok(format!("round {round} was given up; it stays charged"))
    }

    /// Why this server cannot do its work now, with a name for programs; empty if it can.
    pub(crate) fn reasons(&self) -> Vec<(&'static str, String)> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let failure = failure.map(|problem| ("store", problem));
        self.published().reasons.iter().cloned().chain(failure).collect()
    }

    /// Whether an answer of the shuffler would change something soon.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_paused() || self.timekeeper().doubt().is_some()
    }

    /// Whether rounds wait for the shuffler or an operator.
    pub(crate) fn is_paused(&self) -> bool {
        matches!(*self.phase.lock().unwrap_or_else(PoisonError::into_inner), Some(Phase::Paused(_)))
    }

    /// Copies the store to a new file, as it is at this moment. Blocks on the disk.
    pub(crate) fn backup(&self, to: &std::path::Path) -> Result<String> {
        self.lock().backup(to)?;
        Ok(format!("the store was copied to {}", to.display()))
    }

    /// Everything that was charged. Blocks on the disk.
    pub(crate) fn ledger(&self) -> Result<LedgerFile> {
        Ok(LedgerFile::new(self.lock().charges()?))
    }

    /// Remembers why rounds could not be opened or ended, until it works again.
    pub(crate) fn note_failure(&self, failure: Option<String>) {
        if failure.is_some() {
            self.failures.add_one();
        }
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// All figures, in Prometheus' text format. Waits for no batch.
    pub(crate) fn metrics(&self) -> String {
        let published = self.published();
        let (age, up) = {
            let link = self.link();
            let age = self.clock.uptime().saturating_sub(link.last_good.unwrap_or(link.began));
            (age as f64 / 1000.0, link.last_good.is_some() && link.failure.is_none())
        };
        let doubted = self.timekeeper().doubt().is_some();
        let flag = |is_so: bool| f64::from(u8::from(is_so));
        let mut page = MetricsPage::new("shuffledp_server");
        page.gauge("ready", "1 if it can do its work; /readyz has the reasons.", flag(self.reasons().is_empty()));
        page.gauge("shuffler_up", "1 if the shuffler answered the last time it was asked.", flag(up));
        page.gauge("shuffler_contact_age_seconds", "Since the shuffler last answered, or since the start.", age);
        page.gauge("clock_doubted", "1 if no round is opened because the clock may be wrong.", flag(doubted));
        page.counter("failures", "Attempts to open or end a round that failed.", self.failures.get());
        if let Some(opens) = published.opened {
            let age = self.now().saturating_sub(opens) as f64 / 1000.0;
            page.gauge("round_age_seconds", "Since the open round opened.", age);
        }
        published.metrics.clone() + &page.finish()
    }

    /// Why the shuffler did not answer, and why the clock is not believed.
    fn situation(&self) -> (Option<String>, Option<Doubt>) {
        let failure = self.link().failure.clone();
        (failure, self.timekeeper().doubt())
    }

    fn republish(&self, conductor: &mut Conductor) -> Result<()> {
        let phase = *self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        self.publish_as(conductor, phase)
    }

    /// Whether a batch is to be received. Blocks on the disk.
    pub(crate) fn admit(&self, header: &BatchHeader) -> Result<Admission> {
        let mut conductor = self.lock();
        let admission = conductor.admit(&header.batch, &header.context)?;
        if admission == Admission::Welcome
            && let Some(open) = conductor.open_round()
            && !self.keys.can_open(&open.keys)
        {
            // Taken here, all of its reports would be rejected. Another replica may have the key,
            // and the shuffler tries again.
            return Err(ServerError::KeysMissing { round: open.context.round });
        }
        Ok(admission)
    }

    /// Tells other replicas that a batch with a place is coming in. Blocks on the disk.
    pub(crate) fn hold(&self, header: &BatchHeader) -> Result<()> {
        let until = self.now().saturating_add(self.times.patience(header.stream_len()));
        if self.shared { self.lock().hold(&header.context, until) } else { Ok(()) }
    }

    /// Whether another replica has changed what is published here. Blocks on the disk.
    pub(crate) fn is_overtaken(&self) -> Result<bool> {
        self.lock().is_overtaken()
    }

    /// Whether there may be other replicas.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// An empty sum for the batch of this header.
    pub(crate) fn gathering(&self, header: &BatchHeader) -> Gathered {
        Gathered::new(&self.plan, self.keys.sealing(), header.context)
    }

    /// Closes the round with a batch that has come whole. Blocks on the disk and on evaluation.
    pub(crate) fn close(&self, id: BatchId, gathered: &Gathered) -> Result<BatchRecord> {
        let mut conductor = self.lock();
        let record = conductor.close(id, gathered, self.now())?;
        // The batch is taken, whatever happens now: what is published follows with the next round
        // at the latest.
        if let Err(error) = self.publish(&mut conductor, Phase::Open) {
            tracing::error!(%error, "the new status could not be published");
        }
        self.wake();
        Ok(record)
    }

    /// An older model than those that are published. Blocks on the disk.
    pub(crate) fn stored_model(&self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.lock().model(hash)
    }

    fn publish(&self, conductor: &mut Conductor, phase: Phase) -> Result<()> {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
        self.publish_as(conductor, Some(phase))
    }

    fn publish_as(&self, conductor: &mut Conductor, phase: Option<Phase>) -> Result<()> {
        let (failure, doubt) = self.situation();
        // Some servers cannot reach their shuffler, which reaches them: batches that come are proof
        // enough.
        let heard = conductor.last_batch().is_some() && conductor.silent() == 0;
        let failure = failure.filter(|_| !heard).map(|problem| ("shuffler", problem));
        let problems = doubt.map(clock_problem).into_iter().chain(failure).collect();
        let published = Published::new(&self.plan, conductor, &self.keys, phase, problems)?;
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(published);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Conductor> {
        self.conductor.lock().unwrap_or_else(|poisoned| {
            // A panic is a failure like any other: the conductor asks the store before it goes on.
            self.conductor.clear_poison();
            let mut conductor = PoisonError::into_inner(poisoned);
            conductor.doubt();
            conductor
        })
    }
}

/// The advice for a clock that is not trusted.
const CLOCK_ADVICE: &str = "no round is opened until the clock is right, the shuffler's clock agrees with it, or `shuffledp server resume` says so";

/// The known state of the shuffler.
#[derive(Debug)]
struct LinkState {
    /// The uptime when it last answered.
    last_good: Option<u64>,
    /// The uptime when this process began.
    began: u64,
    /// Why it did not answer the last time.
    failure: Option<String>,
}

fn clock_problem(doubt: Doubt) -> (&'static str, String) {
    ("clock", format!("{doubt}: {CLOCK_ADVICE}"))
}

/// A batch that is coming in.
struct Upload {
    context: RoundContext,
    /// Milliseconds that it may take at the most.
    patience: u64,
}

/// The place of one upload; free again when it is dropped.
pub(crate) struct Place<'a> {
    service: &'a Service,
    context: RoundContext,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut uploads = self.service.uploads();
        if let Some(mine) = uploads.iter().position(|upload| upload.context == self.context) {
            uploads.swap_remove(mine);
        }
        drop(uploads);
        // Whoever waits for the end of this upload, successful or not, looks again.
        self.service.wake();
    }
}

/// Signs the last round that was opened, with the keys that it was opened with, whatever was
/// rotated since: the same bytes whenever it is signed.
pub(crate) fn sign_round(plan: &Plan, conductor: &Conductor, keys: &KeyRing) -> Result<Option<Bytes>> {
    let Some(last) = conductor.last_round() else { return Ok(None) };
    let round = RoundOffer {
        task: last.context.task,
        round: last.context.round,
        model: last.context.model,
        payload_len: plan.task().payload_len,
        server_keys: last.keys.clone(),
        opens: last.opens,
        closes: last.closes,
    };
    let signed = Signed::sign(&round, keys.signing()).map_err(ServerError::from)?;
    Ok(Some(Bytes::from(signed.encode())))
}
