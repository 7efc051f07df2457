//! Thousands of clients in one process, for demonstrations, load and tests.
//!
//! Each has its own example, coin and randomness, and its report is sealed and sent like any other.
//! What is shared is what would be the same for all: the connections, one download of round, keys
//! and model, and the ledger, because all of them are offered the same rounds. One process that
//! plays everybody protects nobody; real clients run [`crate::run`].

use crate::assignment::Assignment;
use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::link::{Link, Next};
use crate::report::sealed_report;
use crate::run::Ended;
use crate::send::{Sent, Waiting, send};
use crate::state;
use shuffledp_accounting::accountant::Accountant;
use shuffledp_host::{Clock, SystemClock};
use shuffledp_learning::LearningError;
use shuffledp_learning::collect::Collector;
use shuffledp_learning::data::{Clients, Examples};
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::models::Model;
use shuffledp_learning::training::Population;
use shuffledp_randomizers::{Randomness, ReleaseRng, SimulationRng};
use shuffledp_transport::Shutdown;
use shuffledp_wire::{RoundContext, RoundOffer, ShufflerKeys, SystemRandom};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Reports on their way at one time.
const WORKERS: usize = 64;

/// The purpose of a simulated client's generator; see [`SimulationRng::named`].
const COIN: u64 = 101;
const REPORT: u64 = 102;

/// A crowd of simulated clients that take part in one task.
pub struct Crowd {
    link: Arc<Link>,
    config: Arc<ClientConfig>,
    clock: Arc<dyn Clock>,
    examples: Arc<Examples>,
    clients: u64,
    seed: Option<u64>,
    /// Everybody's, because everybody is offered every round.
    ledger: Ledger,
    last: Option<RoundContext>,
    /// In how many rounds each of them participated.
    spoken: Vec<u32>,
}

/// A round of a crowd. Only a simulation can know how many participated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdRound {
    /// Which one.
    pub round: u64,
    /// Clients to whom it was offered.
    pub clients: u64,
    /// Those that made a report.
    pub spoke: u64,
    /// Reports that the shuffler acknowledged in time.
    pub acknowledged: u64,
    /// At least ε of each client so far.
    pub epsilon: f64,
    /// Seconds for gradients, randomizing and sealing.
    pub sealing_seconds: f64,
    /// Seconds from then to the last acknowledgement.
    pub sending_seconds: f64,
}

/// The outcome of one step of a crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CrowdStep {
    /// No new round is open.
    Nothing,
    /// A round is over for all of them.
    Done(CrowdRound),
    /// No further round is opened.
    Finished,
    /// Told to stop.
    Stopped,
}

/// One round, for the threads that make its reports.
struct Work {
    link: Arc<Link>,
    examples: Arc<Examples>,
    clients: u64,
    seed: Option<u64>,
    round: RoundOffer,
    keys: ShufflerKeys,
    weights: Vec<f32>,
    /// Where sealed reports go.
    outbox: UnboundedSender<Vec<u8>>,
}

impl Crowd {
    /// `clients` clients, each with an example of the configuration's data: its own while there are
    /// enough, drawn with replacement else. Its `state` and `example` are not used.
    ///
    /// With a `seed` coins and randomizers can be repeated, for tests; ids and keys of the
    /// encryption never can.
    pub async fn join(config: &ClientConfig, clients: u64, seed: Option<u64>) -> Result<Self> {
        config.check()?;
        let (link, train) = (Link::open(config).await?, config.data.load(config.data_directory.as_deref())?.train);
        let examples = if clients <= train.len() as u64 { train.truncated(clients as usize) } else { train };
        // Also refuses a population of nobody.
        population(&examples, clients)?;
        let (link, directory) = (Arc::new(link), config.data_directory.clone());
        let preparing = Arc::clone(&link);
        let prepare = move || preparing.assignment.prepared(examples, directory.as_deref());
        // Features of thousands of pictures take seconds.
        let examples = tokio::task::spawn_blocking(prepare)
            .await
            .map_err(|error| ClientError::Interrupted(error.to_string()))??;
        Self::new(link, config, examples, clients, seed)
    }

    /// Joins one client for each of these examples, which are prepared already, as the task has it.
    /// Such a crowd is there from the first round on: it has nothing to compute when a round opens.
    /// The configuration's `data`, `state` and `example` are not used.
    pub async fn join_prepared(config: &ClientConfig, examples: Examples, seed: Option<u64>) -> Result<Self> {
        config.check()?;
        let link = Link::open(config).await?;
        link.assignment.check_examples(&examples)?;
        let clients = examples.count();
        Self::new(Arc::new(link), config, examples, clients, seed)
    }

    fn new(
        link: Arc<Link>,
        config: &ClientConfig,
        examples: Examples,
        clients: u64,
        seed: Option<u64>,
    ) -> Result<Self> {
        Ok(Self {
            link,
            config: Arc::new(config.clone()),
            clock: Arc::new(SystemClock),
            examples: Arc::new(examples),
            clients,
            seed,
            ledger: config.budget.ledger(Accountant::new())?,
            last: None,
            spoken: vec![0; clients as usize],
        })
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns what each client has spent.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// In how many rounds each of them participated.
    pub fn spoken(&self) -> &[u32] {
        &self.spoken
    }

    /// Looks for a new round, and takes part in it.
    pub async fn step(&mut self, shutdown: &Shutdown) -> Result<CrowdStep> {
        let round = match self.link.next(&*self.clock, |offered| state::judge(self.last.as_ref(), offered)).await? {
            Next::Decide(round) => round,
            Next::Nothing => return Ok(CrowdStep::Nothing),
            Next::Finished => return Ok(CrowdStep::Finished),
        };
        let (keys, weights) = self.link.round_needs(&round).await?;
        state::charge_within(&mut self.ledger, self.link.assignment.cost(), &self.config.budget)?;
        self.last = Some(round.context());
        let speakers = self.flip(round.round)?;
        for &client in &speakers {
            self.spoken[client as usize] += 1;
        }
        let started = Instant::now();
        let (number, closes, spoke) = (round.round, round.closes, speakers.len() as u64);
        let (link, examples) = (Arc::clone(&self.link), Arc::clone(&self.examples));
        let (outbox, sealed) = mpsc::unbounded_channel();
        let work = Work { link, examples, clients: self.clients, seed: self.seed, round, keys, weights, outbox };
        let sealing = tokio::task::spawn_blocking(move || work.seal(&speakers).map(|()| started.elapsed()));
        // Sent while others are still being sealed: they have one window in common.
        let Some(acknowledged) = self.send_all(sealed, closes, shutdown).await? else { return Ok(CrowdStep::Stopped) };
        let sealing = sealing.await.map_err(|error| ClientError::Interrupted(error.to_string()))??;
        Ok(CrowdStep::Done(CrowdRound {
            round: number,
            clients: self.clients,
            spoke,
            acknowledged,
            epsilon: self.ledger.epsilon()?,
            sealing_seconds: sealing.as_secs_f64(),
            sending_seconds: started.elapsed().saturating_sub(sealing).as_secs_f64(),
        }))
    }

    /// Draws the clients that participate, independently.
    fn flip(&self, round: u64) -> Result<Vec<u64>> {
        let coin = self.link.assignment.coin();
        Ok(match self.seed {
            Some(seed) => (0..self.clients)
                .filter(|&client| coin.flip(&mut SimulationRng::named([seed, COIN, round, client])))
                .collect(),
            None => {
                let mut rng = ReleaseRng::from_operating_system()?;
                (0..self.clients).filter(|_| coin.flip(&mut rng)).collect()
            }
        })
    }

    /// Sends all reports as they come, some at a time; how many were acknowledged, or `None` if
    /// told to stop.
    async fn send_all(
        &self,
        reports: UnboundedReceiver<Vec<u8>>,
        closes: u64,
        shutdown: &Shutdown,
    ) -> Result<Option<u64>> {
        let reports = Arc::new(Mutex::new(reports));
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..WORKERS {
            let (link, config, clock) = (Arc::clone(&self.link), Arc::clone(&self.config), Arc::clone(&self.clock));
            let (reports, shutdown) = (Arc::clone(&reports), shutdown.clone());
            workers.spawn(async move {
                let wait = Waiting { clock: &*clock, times: &config.times, shutdown: &shutdown };
                let url = &link.assignment.task().shuffler_url;
                let mut acknowledged = 0;
                while let Some(report) = next(&reports).await {
                    match send(&link, url, closes, report.into(), &wait).await {
                        Sent::Acknowledged => acknowledged += 1,
                        Sent::Late => {}
                        Sent::Stopped => return Ok(None),
                    }
                }
                Ok::<_, ClientError>(Some(acknowledged))
            });
        }
        let mut total = Some(0);
        while let Some(worker) = workers.join_next().await {
            let acknowledged: Option<u64> = worker.map_err(|error| ClientError::Interrupted(error.to_string()))??;
            total = total.zip(acknowledged).map(|(total, more)| total + more);
        }
        Ok(total)
    }
}

/// Joins a crowd to the configuration's task, and calls `done` after every round.
pub async fn run(
    config: &ClientConfig,
    clients: u64,
    seed: Option<u64>,
    shutdown: Shutdown,
    done: impl FnMut(&CrowdRound),
) -> Result<Ended> {
    play(config, async || Crowd::join(config, clients, seed).await, shutdown, done).await
}

/// The same with a client for each of these examples, [prepared already](Crowd::join_prepared).
pub async fn run_prepared(
    config: &ClientConfig,
    examples: &Examples,
    seed: Option<u64>,
    shutdown: Shutdown,
    done: impl FnMut(&CrowdRound),
) -> Result<Ended> {
    play(config, async || Crowd::join_prepared(config, examples.clone(), seed).await, shutdown, done).await
}

/// Joins, again and again while nobody answers, and takes part until the task is over.
async fn play(
    config: &ClientConfig,
    join: impl AsyncFn() -> Result<Crowd>,
    shutdown: Shutdown,
    mut done: impl FnMut(&CrowdRound),
) -> Result<Ended> {
    let wait = Waiting { clock: &SystemClock, times: &config.times, shutdown: &shutdown };
    let mut rng = ReleaseRng::from_operating_system()?;
    let mut crowd = None;
    loop {
        let step = match &mut crowd {
            Some(crowd) => Crowd::step(crowd, &shutdown).await,
            None => join().await.map(|joined| {
                crowd = Some(joined);
                CrowdStep::Nothing
            }),
        };
        match step {
            Ok(CrowdStep::Finished) => return Ok(Ended::Finished),
            Ok(CrowdStep::Stopped) => return Ok(Ended::Stopped),
            Ok(CrowdStep::Nothing) => {}
            Ok(CrowdStep::Done(round)) => done(&round),
            Err(ClientError::BudgetSpent { .. }) => return Ok(Ended::BudgetSpent),
            Err(error) if error.is_temporary() => tracing::warn!(%error, "tried again later"),
            Err(error) => return Err(error),
        }
        if !wait.nap(config.times.poll_seconds, &mut rng).await {
            return Ok(Ended::Stopped);
        }
    }
}

async fn next(reports: &Mutex<UnboundedReceiver<Vec<u8>>>) -> Option<Vec<u8>> {
    reports.lock().await.recv().await
}

/// Another draw of examples would be other clients, so the seed is not the coins'.
const DRAW: u64 = 1;

fn population(examples: &Examples, clients: u64) -> Result<Population<&Examples>> {
    let own = clients == examples.len() as u64;
    Ok(Population::new(examples, if own { None } else { Some(clients) }, DRAW)?)
}

/// The working memory of one thread.
struct Tools {
    release: ReleaseRng,
    system: SystemRandom,
    frame: Vec<u8>,
}

impl Tools {
    fn new(assignment: &Assignment) -> Result<Self> {
        Ok(Self {
            release: ReleaseRng::from_operating_system()?,
            system: SystemRandom::from_operating_system().map_err(ClientError::wire("sealing a report"))?,
            frame: assignment.frames.blank(),
        })
    }
}

impl Work {
    /// Seals the reports of these clients and hands them on: gradients in groups, everything else
    /// one by one.
    fn seal(&self, speakers: &[u64]) -> Result<()> {
        let population = population(&self.examples, self.clients)?;
        // One client's overflow must not be seen, nor end the others.
        self.link.assignment.model.fold_gradients_or_zeros(
            &self.weights,
            &population,
            speakers,
            || None,
            |tools, client| {
                let report = self.report(tools, client.client, client.gradient).map_err(refused)?;
                self.outbox.send(report).map_err(|_| LearningError::Data("nobody sends reports any more".to_owned()))
            },
            |_, _| Ok(()),
        )?;
        Ok(())
    }

    fn report(&self, tools: &mut Option<Tools>, client: u64, gradient: &[f32]) -> Result<Vec<u8>> {
        let assignment = &self.link.assignment;
        let tools = match tools {
            Some(tools) => tools,
            none => none.insert(Tools::new(assignment)?),
        };
        let mut named = self.seed.map(|seed| SimulationRng::named([seed, REPORT, self.round.round, client]));
        let rng: &mut dyn Randomness = match &mut named {
            Some(named) => named,
            None => &mut tools.release,
        };
        sealed_report(assignment, &self.round, &self.keys, gradient, rng, &mut tools.system, &mut tools.frame)
    }
}

/// The closure returns learning's errors.
fn refused(error: ClientError) -> LearningError {
    match error {
        ClientError::Learning(error) => error,
        other => LearningError::Data(other.to_string()),
    }
}
