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
use shuffledp_wire::{BatchHeader, BatchId, ModelHash, RoundOffer, Signed, Task};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

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
    /// One batch at a time, so that memory does not grow with those who push.
    receiving: Semaphore,
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
            receiving: Semaphore::new(1),
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

    /// The one place for a batch under way, if it is free.
    pub(crate) fn try_receive(&self) -> Option<SemaphorePermit<'_>> {
        self.receiving.try_acquire().ok()
    }

    fn is_receiving(&self) -> bool {
        self.receiving.available_permits() == 0
    }

    /// Something happened that time alone would not tell.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Waits for a [`wake`](Self::wake).
    pub(crate) async fn woken(&self) {
        self.changed.notified().await;
    }

    /// When time alone changes something: at the open round's deadline, unless a batch is coming in.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        if self.is_receiving() { None } else { self.lock().deadline() }
    }

    /// Does what the time demands. Blocks on the disk and on accounting.
    pub(crate) fn tick(&self) -> Result<Phase> {
        let mut conductor = self.lock();
        let before = conductor.open_round().map(|open| open.context.round);
        let phase = conductor.tick(
            || self.clock.now(),
            self.is_receiving(),
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
