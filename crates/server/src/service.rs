//! The server without its sockets: the conductor behind a lock, and what it last made public.
//!
//! Whoever asks for a task, a round, a model or the status is answered from what was published, and never waits for a batch or for the disk.

use crate::batch::Gathered;
use crate::conductor::{Admission, Conductor, Phase};
use crate::config::RoundConfig;
use crate::error::{Result, ServerError};
use crate::keys::KeyRing;
use crate::plan::Plan;
use crate::published::Published;
use crate::store::{BatchRecord, Store};
use bytes::Bytes;
use shuffledp_host::Clock;
use shuffledp_wire::{BatchHeader, BatchId, ModelHash, RoundContext, RoundOffer, Signed, Task};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::Notify;

/// Batches that are received at once. Anybody who has seen the header of the true batch can begin to
/// send it: the true one must find a place beside such uploads, and memory must stay bounded.
const PLACES: usize = 8;

/// All that requests share.
pub(crate) struct Service {
    plan: Arc<Plan>,
    keys: KeyRing,
    times: RoundConfig,
    clock: Arc<dyn Clock>,
    conductor: Mutex<Conductor>,
    published: RwLock<Arc<Published>>,
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
        let published = Published::new(&plan, &mut conductor, &keys, None)?;
        Ok(Self {
            plan,
            keys,
            times,
            clock,
            conductor: Mutex::new(conductor),
            published: RwLock::new(Arc::new(published)),
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

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The task, signed.
    pub(crate) fn signed_task(&self) -> Bytes {
        self.signed_task.clone()
    }

    /// What everybody may see.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A place for a batch that the open round waits for, if one is free. Call only for a batch that
    /// was [admitted](Self::admit).
    pub(crate) fn try_receive(&self, header: &BatchHeader) -> Option<Place<'_>> {
        let mut uploads = self.uploads();
        if uploads.len() >= PLACES {
            return None;
        }
        uploads.push(Upload { context: header.context, patience: self.times.patience(header.stream_len()) });
        Some(Place { service: self, context: header.context })
    }

    /// By how many milliseconds the end of the open round is postponed for the batches that are
    /// coming in for it. Bounded by the length that the shuffler signed, however often they begin anew.
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

    /// When time alone changes something: at the open round's deadline, later if a batch is coming in.
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
        let phase = conductor.tick(
            || self.clock.now(),
            postponed,
            || {
                self.keys.refresh();
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

    /// Whether a batch is to be received. Blocks on the disk.
    pub(crate) fn admit(&self, header: &BatchHeader) -> Result<Admission> {
        self.lock().admit(&header.batch, &header.context)
    }

    /// An empty sum for the batch of this header.
    pub(crate) fn gathering(&self, header: &BatchHeader) -> Gathered {
        Gathered::new(&self.plan, self.keys.sealing(), header.context)
    }

    /// Closes the round with a batch that has come whole. Blocks on the disk and on evaluation.
    pub(crate) fn close(&self, id: BatchId, gathered: &Gathered) -> Result<BatchRecord> {
        let mut conductor = self.lock();
        let record = conductor.close(id, gathered)?;
        // The batch is taken, whatever happens now: what is published follows with the next round at the latest.
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
        let published = Published::new(&self.plan, conductor, &self.keys, Some(phase))?;
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

/// Signs the last round that was opened, with the keys that it was opened with, whatever was rotated since: the same bytes whenever it is signed.
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
