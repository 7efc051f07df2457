//! A server that runs: listens, and leads one round after another until it is told to stop.

use crate::conductor::Phase;
use crate::config::{RoundConfig, ServerConfig};
use crate::error::{Result, ServerError};
use crate::http;
use crate::keys::{KeyRing, ServerKeys};
use crate::plan::Plan;
use crate::service::Service;
use crate::store::{self, Store};
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::{ListenConfig, Serving, Shutdown};
use shuffledp_wire::{TaskHash, VerifyingKey};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long a failed attempt to go on is left alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at the clock, at most.
const NAP: Duration = Duration::from_millis(200);

/// Runs a server with the operating system's clock until `shutdown`.
pub async fn run(config: ServerConfig, shutdown: Shutdown) -> Result<()> {
    let parts = tokio::task::spawn_blocking({
        let config = config.clone();
        move || Parts::new(&config)
    });
    let parts = parts.await.map_err(|error| ServerError::Interrupted(error.to_string()))??;
    let server = start(parts, &config.listen, Arc::new(SystemClock), shutdown).await?;
    tracing::info!(url = %server.url(), task = %server.task(), key = %server.verifying_key(), "serving");
    server.ended().await
}

/// What a server is made of, before it listens.
pub struct Parts {
    plan: Plan,
    keys: KeyRing,
    times: RoundConfig,
    store: Box<dyn Store>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("task", &self.plan.hash()).field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl Parts {
    /// What the configuration names: keys and store from their files, test examples from theirs. Keys that are rotated there are taken up.
    pub fn new(config: &ServerConfig) -> Result<Self> {
        // What is wrong with the configuration is said before a store is made.
        let plan = Plan::new(config)?;
        let keys = KeyRing::follow(&config.keys)?;
        let store = store::open(config)?;
        Ok(Self { plan, keys, times: config.round, store })
    }

    /// The same with other keys, which stay as they are, and another store.
    pub fn with(config: &ServerConfig, keys: ServerKeys, store: Box<dyn Store>) -> Result<Self> {
        Ok(Self { plan: Plan::new(config)?, keys: keys.into(), times: config.round, store })
    }

    /// The hash of the task that these parts would run.
    pub fn task(&self) -> TaskHash {
        self.plan.hash()
    }
}

/// What clients pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The key that signs tasks and rounds.
    pub verifying_key: VerifyingKey,
    /// The hash of the task.
    pub task: TaskHash,
}

/// What clients of a server with this configuration pin, whether it runs or not. Writes nothing.
pub fn identity(config: &ServerConfig) -> Result<Identity> {
    Ok(Identity { verifying_key: ServerKeys::read(&config.keys)?.verifying_key(), task: Plan::new(config)?.hash() })
}

/// A server that listens and conducts.
#[derive(Debug)]
pub struct RunningServer {
    serving: Serving,
    conducting: JoinHandle<()>,
    task: TaskHash,
    verifying_key: VerifyingKey,
}

/// Begins or resumes the task, and listens. Returns as soon as it listens; the first round is opened right after.
pub async fn start(
    parts: Parts,
    listen: &ListenConfig,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
) -> Result<RunningServer> {
    let Parts { plan, keys, times, store } = parts;
    let (task, verifying_key) = (plan.hash(), keys.signing().verifying_key());
    let service = tokio::task::spawn_blocking(move || Service::new(plan, keys, times, store, clock)).await;
    let service = Arc::new(service.map_err(|error| ServerError::Interrupted(error.to_string()))??);
    let serving = shuffledp_transport::serve(listen, http::router(Arc::clone(&service)), shutdown.clone()).await?;
    let conducting = tokio::spawn(async move {
        tokio::select! {
            () = conduct(service) => {}
            () = shutdown.stopped() => {}
        }
    });
    Ok(RunningServer { serving, conducting, task, verifying_key })
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

    /// The task's hash.
    pub fn task(&self) -> TaskHash {
        self.task
    }

    /// What clients and shuffler pin.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.verifying_key
    }

    /// Waits until it was told to stop and has stopped.
    pub async fn ended(self) -> Result<()> {
        self.serving.ended().await?;
        self.conducting.await.map_err(|error| ServerError::Interrupted(error.to_string()))
    }
}

/// Ends rounds and opens them, until there are no more to open.
async fn conduct(service: Arc<Service>) {
    loop {
        let ticked = {
            let service = Arc::clone(&service);
            tokio::task::spawn_blocking(move || service.tick()).await
        };
        match ticked {
            Ok(Ok(Phase::Open)) => wait(&service).await,
            Ok(Ok(Phase::Finished)) => {
                tracing::info!("all rounds are done");
                return;
            }
            Ok(Ok(Phase::BudgetSpent)) => {
                tracing::info!("the budget is spent: no further round is opened");
                return;
            }
            Ok(Err(error)) => {
                tracing::error!(
                    error = &error as &(dyn std::error::Error + 'static),
                    "no round could be opened or ended; trying again"
                );
                tokio::time::sleep(PATIENCE).await;
            }
            Err(error) => {
                tracing::error!(%error, "no round could be opened or ended; trying again");
                tokio::time::sleep(PATIENCE).await;
            }
        }
    }
}

/// Until the open round's deadline, or until something happens before.
async fn wait(service: &Arc<Service>) {
    let deadline = {
        let service = Arc::clone(service);
        tokio::task::spawn_blocking(move || service.next_deadline()).await.ok().flatten()
    };
    match deadline {
        Some(deadline) => tokio::select! {
            () = sleep_until(deadline, service.clock()) => {}
            () = service.woken() => {}
        },
        None => service.woken().await,
    }
}

/// In small naps, because the clock may be set while we sleep.
async fn sleep_until(then: u64, clock: &dyn Clock) {
    loop {
        match then.saturating_sub(clock.now()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left).min(NAP)).await,
        }
    }
}
