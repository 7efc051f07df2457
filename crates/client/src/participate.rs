//! One client: verify → charge → coin → gradient → randomize → seal → keep → send.

use crate::clock::{Clock, SystemClock};
use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::link::{Link, Next};
use crate::report::sealed_report;
use crate::send::{Sent, Waiting, send};
use crate::state::State;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_randomizers::ReleaseRng;
use shuffledp_transport::Shutdown;
use shuffledp_wire::{Round, ShufflerKeys, SystemRandom};

/// A client that takes part in a task.
pub struct Client {
    link: Link,
    config: ClientConfig,
    state: State,
    /// Its one example.
    own: Examples,
    clock: Box<dyn Clock>,
    rng: ReleaseRng,
    interrupt: Box<dyn Fn(Moment) -> Result<()> + Send + Sync>,
}

/// What a client did when it was asked to go on. Whether it spoke is not part of it: that is written to its own disk and nowhere else.
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
    /// Opens the state folder, loads its own example, and fetches and verifies the task. In this order: a client whose budget is in use or damaged does
    /// not show itself.
    pub async fn open(config: &ClientConfig) -> Result<Self> {
        config.check()?;
        let state = State::open(&config.state, config.budget)?;
        let own = own_example(config)?;
        let link = Link::open(config).await?;
        link.assignment.check_examples(&own)?;
        Ok(Self {
            link,
            config: config.clone(),
            state,
            own,
            clock: Box::new(SystemClock),
            rng: ReleaseRng::from_operating_system()?,
            interrupt: Box::new(|_| Ok(())),
        })
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Calls `interrupt` between the steps; if that fails, the client stops there, as if killed.
    #[doc(hidden)]
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: impl Fn(Moment) -> Result<()> + Send + Sync + 'static) -> Self {
        self.interrupt = Box::new(interrupt);
        self
    }

    /// What is known of its budget.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Settles the report on its way, if there is one; then looks for a new round, and decides in it.
    pub async fn step(&mut self, shutdown: &Shutdown) -> Result<Step> {
        if !self.settle(shutdown).await? {
            return Ok(Step::Stopped);
        }
        let round = match self.link.next(&*self.clock, |offered| self.state.judge(offered)).await? {
            Next::Decide(round) => round,
            Next::Nothing => return Ok(Step::Nothing),
            Next::Finished => return Ok(Step::Finished),
        };
        let context = round.context();
        let (keys, weights) = self.link.round_needs(&round).await?;
        (self.interrupt)(Moment::Verified)?;
        self.state.charge(context, self.link.assignment.cost())?;
        (self.interrupt)(Moment::Charged)?;
        if self.link.assignment.coin().flip(&mut self.rng) {
            let sealed = self.seal(&round, &keys, &weights)?;
            (self.interrupt)(Moment::Sealed)?;
            let shuffler_url = &self.link.assignment.task().shuffler_url;
            self.state.keep_report(context, shuffler_url, round.closes, &sealed)?;
            (self.interrupt)(Moment::Kept)?;
            if !self.settle(shutdown).await? {
                return Ok(Step::Stopped);
            }
        }
        Ok(Step::Decided { round: round.round })
    }

    /// Sends the kept report until it is acknowledged or too late. False if told to stop before.
    async fn settle(&mut self, shutdown: &Shutdown) -> Result<bool> {
        let Some((pending, sealed)) = self.state.pending()? else { return Ok(true) };
        let waiting = Waiting { clock: &*self.clock, times: &self.config.times, shutdown };
        let (url, closes) = (&pending.shuffler_url, pending.closes);
        match send(&self.link, url, closes, sealed.into(), &waiting, &mut self.rng).await? {
            Sent::Stopped => return Ok(false),
            Sent::Acknowledged => (self.interrupt)(Moment::Acknowledged)?,
            // Whether a client spoke is nobody's business, its own log's least of all.
            Sent::Late => tracing::debug!(round = pending.context.round, "the window closed before an acknowledgement"),
        }
        self.state.settle_report()?;
        Ok(true)
    }

    /// Its own gradient at these weights, randomized and sealed.
    fn seal(&mut self, round: &Round, keys: &ShufflerKeys, weights: &[f32]) -> Result<Vec<u8>> {
        let assignment = &self.link.assignment;
        let gradient = assignment.model.fold_gradients(
            weights,
            &self.own,
            &[0],
            Vec::<f32>::new,
            |own, client| {
                own.extend_from_slice(client.gradient);
                Ok(())
            },
            |all, more| all.extend(more),
        )?;
        let mut system = SystemRandom::from_operating_system().map_err(ClientError::wire("sealing a report"))?;
        let mut frame = vec![0; assignment.mechanism.frame_len()];
        sealed_report(assignment, round, keys, &gradient, &mut self.rng, &mut system, &mut frame)
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
