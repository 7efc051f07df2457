//! A server that runs: listens, and leads one round after another until it is told to stop.

use crate::conductor::{Pause, Phase};
use crate::config::{RoundConfig, ServerConfig};
use crate::error::{Result, ServerError};
use crate::http;
use crate::keys::{KeyRing, ServerKeys};
use crate::link::Link;
use crate::operate;
use crate::plan::Plan;
use crate::service::Service;
use crate::store::{self, Store};
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::{ClientConfig, ListenConfig, Serving, Shutdown, admin_router, serve_admin};
use shuffledp_wire::{TaskHash, VerifyingKey};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long a failed attempt to go on is left alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at the clock, at most.
const NAP: Duration = Duration::from_millis(200);

/// Between two questions to a shuffler that answers.
const BETWEEN_PROBES: Duration = Duration::from_secs(60);

/// Between the first two to one that does not; doubled up to [`BETWEEN_PROBES`].
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// Between two questions whether another replica has changed something.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Runs a server until `shutdown`, by the operating system's clock or, where replicas share a
/// database, by the database's. Of configurations that `reloads` brings, certificate, key and
/// limits of `[listen]` are taken up; everything else needs a new start.
pub async fn run(config: ServerConfig, reloads: mpsc::Receiver<ServerConfig>, shutdown: Shutdown) -> Result<()> {
    let parts = tokio::task::spawn_blocking({
        let config = config.clone();
        move || Parts::new(&config)
    });
    let parts = parts.await.map_err(|error| ServerError::Interrupted(error.to_string()))??;
    let clock = parts.store.clock().unwrap_or_else(|| Arc::new(SystemClock));
    let server = start(parts, &config.listen, clock, shutdown).await?;
    tracing::info!(url = %server.url(), task = %server.task(), key = %server.verifying_key(), "serving");
    let reloading = tokio::spawn(reload(server.serving.link(), reloads));
    let ended = server.ended().await;
    reloading.abort();
    ended
}

async fn reload(link: shuffledp_transport::Link, mut reloads: mpsc::Receiver<ServerConfig>) {
    while let Some(fresh) = reloads.recv().await {
        match link.reload(&fresh.listen) {
            Ok(()) => {
                tracing::info!("the configuration was read again: certificate, limits and log level are taken up")
            }
            Err(error) => tracing::error!(%error, "the configuration was read again and is not taken up"),
        }
    }
}

/// The parts of a server, before it listens.
pub struct Parts {
    plan: Plan,
    keys: KeyRing,
    times: RoundConfig,
    store: Box<dyn Store>,
    http: ClientConfig,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("task", &self.plan.hash()).field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl Parts {
    /// Loads what the configuration names: keys, store and test examples from their files. Rotated
    /// keys are picked up.
    pub fn new(config: &ServerConfig) -> Result<Self> {
        // What is wrong with the configuration is said before a store is made.
        let plan = Plan::new(config)?;
        let keys = KeyRing::follow(&config.keys, config.key_lifetime())?;
        let store = store::open(config)?;
        Ok(Self { plan, keys, times: config.round, store, http: config.http.clone() })
    }

    /// The same with other keys, which stay as they are, and another store.
    pub fn with(config: &ServerConfig, keys: ServerKeys, store: Box<dyn Store>) -> Result<Self> {
        Ok(Self { plan: Plan::new(config)?, keys: keys.into(), times: config.round, store, http: config.http.clone() })
    }

    /// The hash of the task that these parts would run.
    pub fn task(&self) -> TaskHash {
        self.plan.hash()
    }
}

/// The values that clients pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The key that signs tasks and rounds.
    pub verifying_key: VerifyingKey,
    /// The hash of the task.
    pub task: TaskHash,
}

/// Returns the values that clients of a server with this configuration pin. Writes nothing.
pub fn identity(config: &ServerConfig) -> Result<Identity> {
    Ok(Identity { verifying_key: ServerKeys::read(&config.keys)?.verifying_key(), task: Plan::new(config)?.hash() })
}

/// A server that listens and conducts.
#[derive(Debug)]
pub struct RunningServer {
    serving: Serving,
    admin: Option<Serving>,
    conducting: JoinHandle<()>,
    task: TaskHash,
    verifying_key: VerifyingKey,
}

/// Begins or resumes the task, and listens. Returns as soon as it listens; the first round is
/// opened right after.
pub async fn start(
    parts: Parts,
    listen: &ListenConfig,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
) -> Result<RunningServer> {
    let Parts { plan, keys, times, store, http } = parts;
    let link = Link::new(&plan, &http)?;
    let (task, verifying_key) = (plan.hash(), keys.signing().verifying_key());
    let service = tokio::task::spawn_blocking(move || Service::new(plan, keys, times, store, clock)).await;
    let service = Arc::new(service.map_err(|error| ServerError::Interrupted(error.to_string()))??);
    let serving = shuffledp_transport::serve(listen, http::router(Arc::clone(&service)), shutdown.clone()).await?;
    let operations = Arc::new(http::Operations { service: Arc::clone(&service), link: serving.link() });
    let admin = serve_admin(listen, admin_router(operations), shutdown.clone()).await?;
    let conducting = tokio::spawn(async move {
        tokio::select! {
            () = conduct(Arc::clone(&service)) => {}
            () = watch_link(Arc::clone(&service), link) => {}
            () = watch_clock(Arc::clone(&service)) => {}
            () = operate::serve(service) => {}
            () = shutdown.stopped() => {}
        }
    });
    Ok(RunningServer { serving, admin, conducting, task, verifying_key })
}

impl RunningServer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// The same, as a URL.
    pub fn url(&self) -> String {
        self.serving.url()
    }

    /// Where it tells operators how it is, if it does.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Serving::address)
    }

    /// The task's hash.
    pub fn task(&self) -> TaskHash {
        self.task
    }

    /// Returns the key that clients and shuffler pin.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.verifying_key
    }

    /// Waits until it was told to stop and has stopped.
    pub async fn ended(self) -> Result<()> {
        self.serving.ended().await?;
        if let Some(admin) = self.admin {
            admin.ended().await?;
        }
        self.conducting.await.map_err(|error| ServerError::Interrupted(error.to_string()))
    }
}

/// Ends rounds and opens them, as long as the server runs: when all are done there is nothing to
/// wake up for.
async fn conduct(service: Arc<Service>) {
    let mut said = None;
    loop {
        let ticked = {
            let service = Arc::clone(&service);
            tokio::task::spawn_blocking(move || service.tick()).await
        };
        let ticked = ticked.map_err(|error| ServerError::Interrupted(error.to_string())).flatten();
        service.note_failure(ticked.as_ref().err().map(|error| format!("no round can be opened or ended: {error}")));
        match ticked {
            Ok(phase) => {
                if said != Some(phase) {
                    say(phase);
                    said = Some(phase);
                }
                wait(&service).await;
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &(dyn std::error::Error + 'static),
                    "no round could be opened or ended; trying again"
                );
                tokio::time::sleep(PATIENCE).await;
            }
        }
    }
}

fn say(phase: Phase) {
    match phase {
        Phase::Open => {}
        Phase::Finished => tracing::info!("all rounds are done"),
        Phase::BudgetSpent => tracing::info!("the budget is spent: no further round is opened"),
        Phase::Paused(Pause::NoBatch) => tracing::error!(
            "paused: no batch came for too many rounds in a row, each of which was charged. The server goes on when \
             the shuffler answers, or when `shuffledp server resume` says so"
        ),
        Phase::Paused(Pause::Clock) => tracing::error!("paused: the clock may be wrong"),
    }
}

/// Asks the shuffler now and then whether it is there, and says what is wrong if it is not: at
/// once, and then more and more rarely.
async fn watch_link(service: Arc<Service>, link: Link) {
    let (mut failures, mut pause) = (0_u32, FIRST_RETRY);
    loop {
        let outcome = link.probe().await;
        match &outcome {
            Ok(_) if failures > 0 => tracing::info!("the shuffler answers again"),
            Err(problem) if failures.is_power_of_two() || failures == 0 => tracing::warn!("{problem}"),
            _ => {}
        }
        if outcome.is_ok() {
            (failures, pause) = (0, FIRST_RETRY);
        } else {
            failures = failures.saturating_add(1);
        }
        let answers = outcome.is_ok();
        let noted = {
            let service = Arc::clone(&service);
            tokio::task::spawn_blocking(move || service.note_probe(outcome)).await
        };
        if let Err(error) = noted.map_err(|error| ServerError::Interrupted(error.to_string())).flatten() {
            tracing::error!(%error, "the new status could not be published");
        }
        // A pause ends with an answer: it is asked for more often, also if it begins while we rest.
        let mut rested = Duration::ZERO;
        while rested < BETWEEN_PROBES && (rested < pause || (answers && !service.is_waiting())) {
            tokio::time::sleep(FIRST_RETRY).await;
            rested += FIRST_RETRY;
        }
        pause = (pause * 2).min(BETWEEN_PROBES);
    }
}

async fn watch_clock(service: Arc<Service>) {
    loop {
        tokio::time::sleep(PATIENCE).await;
        let looked = {
            let service = Arc::clone(&service);
            tokio::task::spawn_blocking(move || service.look_at_the_clock()).await
        };
        if let Err(error) = looked.map_err(|error| ServerError::Interrupted(error.to_string())).flatten() {
            tracing::error!(%error, "the new status could not be published");
        }
    }
}

/// Until the open round's deadline, or until something happens before.
async fn wait(service: &Arc<Service>) {
    let deadline = {
        let service = Arc::clone(service);
        tokio::task::spawn_blocking(move || service.next_deadline()).await.ok().flatten()
    };
    let deadline = async {
        match deadline {
            Some(deadline) => sleep_until(deadline, service).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = deadline => {}
        () = service.woken() => {}
        () = overtaken(service) => {}
    }
}

/// Returns when another replica has changed something.
async fn overtaken(service: &Arc<Service>) {
    if !service.is_shared() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        let service = Arc::clone(service);
        // A store that does not answer is the next tick's to complain about.
        if !matches!(tokio::task::spawn_blocking(move || service.is_overtaken()).await, Ok(Ok(false))) {
            return;
        }
    }
}

/// In small naps, because the clock may be set while we sleep.
async fn sleep_until(then: u64, service: &Service) {
    loop {
        match then.saturating_sub(service.now()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(NAP)).await,
        }
    }
}
