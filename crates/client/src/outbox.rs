//! Reports on their way, beside the polling: neither the time that a gradient takes nor a shuffler
//! that does not answer may show in when this client next asks its server. And nothing that goes
//! wrong here ends the client: whoever stops polling after a coin has told how it fell.

use crate::assignment::Assignment;
use crate::config::Times;
use crate::error::{ClientError, Result};
use crate::link::Link;
use crate::participate::{Interrupt, Moment};
use crate::report::sealed_report;
use crate::send::{Sent, Waiting, send};
use crate::state::State;
use crate::vectors::{Vectors, finite};
use shuffledp_host::Clock;
use shuffledp_learning::collect::Collector;
use shuffledp_randomizers::ReleaseRng;
use shuffledp_transport::Shutdown;
use shuffledp_wire::{RoundOffer, ShufflerKeys, SystemRandom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;

/// The state folder, for polling and sending.
pub(crate) type SharedState = Arc<Mutex<State>>;

/// For a moment: it is never held while something is waited for.
pub(crate) fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A thread that panicked left what is on the disk, or what `State` itself holds for doubtful.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A round in which the coin said yes.
pub(crate) struct Job {
    pub(crate) round: RoundOffer,
    pub(crate) keys: ShufflerKeys,
    pub(crate) weights: Vec<f32>,
}

/// Makes reports as it is told to, and sends them.
pub(crate) struct Outbox {
    pub(crate) jobs: UnboundedReceiver<Job>,
    pub(crate) courier: Courier,
}

/// Everything that is needed to make a report and to send it.
pub(crate) struct Courier {
    pub(crate) link: Arc<Link>,
    pub(crate) state: SharedState,
    /// The source of the reports that its client sends.
    pub(crate) vectors: Arc<dyn Vectors>,
    pub(crate) times: Times,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: ReleaseRng,
    pub(crate) interrupt: Interrupt,
}

impl Outbox {
    /// Works until nobody is left to tell it what to do and nothing is on its way.
    pub(crate) async fn run(mut self, shutdown: &Shutdown) {
        loop {
            let job = tokio::select! {
                job = self.jobs.recv() => job,
                () = self.courier.deliver_for_good(shutdown) => self.jobs.recv().await,
            };
            let Some(job) = job else { break };
            if let Err(error) = self.courier.make(job).await {
                // Not louder: that there was a report is nobody's business, the log's least of all.
                tracing::debug!(%error, "silent in this round");
            }
        }
        self.courier.deliver_for_good(shutdown).await;
    }

    /// Does what there is to do. False if told to stop before.
    pub(crate) async fn settle(&mut self, shutdown: &Shutdown) -> Result<bool> {
        while let Ok(job) = self.jobs.try_recv() {
            self.courier.make(job).await?;
        }
        self.courier.deliver(shutdown).await
    }
}

impl Courier {
    /// Makes a report and keeps it on the disk, in the place of an older one: its round is over.
    async fn make(&mut self, job: Job) -> Result<()> {
        let (context, closes) = (job.round.context(), job.round.closes);
        let (link, vectors) = (Arc::clone(&self.link), Arc::clone(&self.vectors));
        let sealed = tokio::task::spawn_blocking(move || seal(&link.assignment, &*vectors, &job)).await;
        let sealed = sealed.map_err(|error| ClientError::Interrupted(error.to_string()))??;
        (self.interrupt)(Moment::Sealed)?;
        let shuffler_url = &self.link.assignment.task().shuffler_url;
        locked(&self.state).keep_report(context, shuffler_url, closes, &sealed)?;
        (self.interrupt)(Moment::Kept)
    }

    /// Sends the kept report until it is acknowledged or too late. False if told to stop before.
    async fn deliver(&mut self, shutdown: &Shutdown) -> Result<bool> {
        let Some((pending, sealed)) = locked(&self.state).pending()? else { return Ok(true) };
        let waiting = Waiting { clock: &*self.clock, times: &self.times, shutdown };
        let (url, closes) = (&pending.shuffler_url, pending.closes);
        match send(&self.link, url, closes, sealed.into(), &waiting).await {
            Sent::Stopped => return Ok(false),
            Sent::Acknowledged => (self.interrupt)(Moment::Acknowledged)?,
            Sent::Late => tracing::debug!(round = pending.context.round, "the window closed before an acknowledgement"),
        }
        locked(&self.state).settle_report()?;
        Ok(true)
    }

    /// [`deliver`](Self::deliver), again if the disk refuses: equal bytes count once.
    async fn deliver_for_good(&mut self, shutdown: &Shutdown) {
        while let Err(error) = self.deliver(shutdown).await {
            tracing::debug!(%error, "tried again later");
            let waiting = Waiting { clock: &*self.clock, times: &self.times, shutdown };
            if !waiting.nap(self.times.longest_retry_seconds, &mut self.rng).await {
                return;
            }
        }
    }
}

/// The vector of this client, randomized and sealed.
fn seal(assignment: &Assignment, vectors: &dyn Vectors, job: &Job) -> Result<Vec<u8>> {
    let vector = finite(vectors, assignment, job.round.round, &job.weights)?;
    let mut release = ReleaseRng::from_operating_system()?;
    let mut system = SystemRandom::from_operating_system().map_err(ClientError::wire("sealing a report"))?;
    let mut frame = assignment.frames.blank();
    sealed_report(assignment, &job.round, &job.keys, &vector, &mut release, &mut system, &mut frame)
}
