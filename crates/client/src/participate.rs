//! One client: verify → charge → coin; and if it says yes, in the outbox: gradient → randomize →
//! seal → keep → send.

use crate::assignment::Assignment;
use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::link::{Link, Next};
use crate::outbox::{Courier, Job, Outbox, SharedState, locked};
use crate::state::State;
use crate::vectors::{Gradient, Vectors};
use shuffledp_accounting::accountant::ANALYSIS;
use shuffledp_host::{Clock, SystemClock};
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_randomizers::ReleaseRng;
use shuffledp_transport::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// A client that takes part in a task.
pub struct Client {
    pub(crate) decider: Decider,
    pub(crate) outbox: Outbox,
}

/// Polls, charges and flips the coin. What follows from the coin is the outbox's.
pub(crate) struct Decider {
    link: Arc<Link>,
    state: SharedState,
    clock: Arc<dyn Clock>,
    rng: ReleaseRng,
    interrupt: Interrupt,
    jobs: UnboundedSender<Job>,
}

/// Called between the steps; if it fails, the client stops there.
pub(crate) type Interrupt = Arc<dyn Fn(Moment) -> Result<()> + Send + Sync>;

/// The outcome of one step of a client. Whether it participated is not part of it: that is
/// written to its own disk and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// No new round is open.
    Nothing,
    /// A round was charged and decided.
    Decided {
        /// Which one.
        round: u64,
    },
    /// No further round is opened.
    Finished,
    /// Told to stop.
    Stopped,
}

/// Between which steps a client may be killed; tests do it at each.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Round, keys and model are verified; nothing is charged.
    Verified,
    /// The charge is on the disk.
    Charged,
    /// The coin said yes, and the report is in memory.
    Sealed,
    /// The report is on the disk.
    Kept,
    /// The report was acknowledged, which is not on the disk yet.
    Acknowledged,
}

impl Client {
    /// Opens the state folder, loads its own example, and fetches and verifies the task. In this
    /// order: a client whose budget is in use or damaged does not show itself.
    pub async fn open(config: &ClientConfig) -> Result<Self> {
        Self::open_with(config, None).await
    }

    /// The same, with `vectors` in place of the gradient of the task's model on its own example,
    /// which is not loaded then.
    pub async fn open_with(config: &ClientConfig, vectors: Option<Arc<dyn Vectors>>) -> Result<Self> {
        config.check()?;
        let state = State::open(&config.state, config.budget)?;
        if state.is_repriced() {
            let epsilon = state.ledger().epsilon()?;
            tracing::warn!(
                epsilon,
                analysis = ANALYSIS,
                "the rounds so far were charged by an earlier analysis; this is what today's makes of them, and further rounds are added to it"
            );
        }
        let own = if vectors.is_none() { Some(own_example(config)?) } else { None };
        let link = Arc::new(Link::open(config).await?);
        let prepared = |own| link.assignment.prepared(own, config.data_directory.as_deref());
        let vectors = match (vectors, own.map(prepared).transpose()?) {
            (Some(vectors), _) => vectors,
            (None, Some(own)) => Arc::new(Gradient(own)),
            (None, None) => return Err(ClientError::Config("this client has nothing to send".to_owned())),
        };
        let state = Arc::new(Mutex::new(state));
        let (clock, interrupt): (Arc<dyn Clock>, Interrupt) = (Arc::new(SystemClock), Arc::new(|_| Ok(())));
        let (send, jobs) = unbounded_channel();
        let courier = Courier {
            link: Arc::clone(&link),
            state: Arc::clone(&state),
            vectors,
            times: config.times,
            clock: Arc::clone(&clock),
            rng: ReleaseRng::from_operating_system()?,
            interrupt: Arc::clone(&interrupt),
        };
        let rng = ReleaseRng::from_operating_system()?;
        Ok(Self {
            decider: Decider { link, state, clock, rng, interrupt, jobs: send },
            outbox: Outbox { jobs, courier },
        })
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.decider.clock = Arc::new(clock);
        self.outbox.courier.clock = Arc::clone(&self.decider.clock);
        self
    }

    /// Calls `interrupt` between the steps; if that fails, the client stops there, as if killed.
    #[doc(hidden)]
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: impl Fn(Moment) -> Result<()> + Send + Sync + 'static) -> Self {
        self.decider.interrupt = Arc::new(interrupt);
        self.outbox.courier.interrupt = Arc::clone(&self.decider.interrupt);
        self
    }

    /// The task, verified.
    pub fn assignment(&self) -> &Assignment {
        &self.decider.link.assignment
    }

    /// Returns the state of its budget.
    pub fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.decider.state)
    }

    /// Settles the report on its way, if there is one; then looks for a new round, decides in it,
    /// and waits until its report is settled. One thing after the other, for tests and
    /// demonstrations: who polls only when its report is acknowledged shows the server that it
    /// participated. [`run`](crate::run()) does not wait.
    pub async fn step(&mut self, shutdown: &Shutdown) -> Result<Step> {
        if !self.outbox.settle(shutdown).await? {
            return Ok(Step::Stopped);
        }
        let step = self.decider.step().await?;
        Ok(if self.outbox.settle(shutdown).await? { step } else { Step::Stopped })
    }
}

impl Decider {
    /// Looks for a new round, and decides in it.
    pub(crate) async fn step(&mut self) -> Result<Step> {
        let round = match self.link.next(&*self.clock, |offered| locked(&self.state).judge(offered)).await? {
            Next::Decide(round) => round,
            Next::Nothing => return Ok(Step::Nothing),
            Next::Finished => return Ok(Step::Finished),
        };
        let context = round.context();
        let (keys, weights) = self.link.round_needs(&round).await?;
        (self.interrupt)(Moment::Verified)?;
        locked(&self.state).charge(context, self.link.assignment.cost())?;
        (self.interrupt)(Moment::Charged)?;
        let number = round.round;
        if self.link.assignment.coin().flip(&mut self.rng) {
            // Fails only if the outbox is gone, and the client with it.
            let _ = self.jobs.send(Job { round, keys, weights });
        }
        Ok(Step::Decided { round: number })
    }
}

/// The one example that is this client's, and nothing else of the data.
fn own_example(config: &ClientConfig) -> Result<Examples> {
    let train = config.data.load(config.data_directory.as_deref())?.train;
    if config.example >= train.count() {
        let (last, example) = (train.count() - 1, config.example);
        return Err(ClientError::Config(format!("example must be at most {last}, the data's last, but is {example}")));
    }
    let mut values = vec![0.0; train.shape().len()];
    let label = train.example(config.example, &mut values);
    // Labels fit a byte: there are at most 256 classes.
    Ok(Examples::from_floats(train.shape(), train.classes(), values, vec![label as u8])?)
}
