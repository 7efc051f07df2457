//! The whole service: started, ticking, stopped.

use crate::config::Config;
use crate::error::Result;
use crate::files::read_signing_key;
use crate::intake::router;
use crate::keys::KeyRing;
use crate::metrics::Metrics;
use crate::permutation::{FisherYates, Permute};
use crate::rounds::{Learner, NewPermute, Shared, Table, blocking, tend};
use crate::store;
use crate::witness::{NoWitness, Witness};
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::{HttpClient, Serving, Shutdown, serve};
use shuffledp_wire::VerifyingKey;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior};

/// What a test may replace.
#[derive(Clone)]
pub struct Environment {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who is told about commits.
    pub witness: Arc<dyn Witness>,
    /// A permutation for each batch.
    pub permute: Arc<dyn Fn() -> Result<Box<dyn Permute>> + Send + Sync>,
    /// Whether to look after rounds every `poll_seconds`. Without, only [`Running::tick`] does.
    pub ticking: bool,
}

impl Default for Environment {
    /// The real one.
    fn default() -> Self {
        let permute: NewPermute =
            Arc::new(|| -> Result<Box<dyn Permute>> { Ok(Box::new(FisherYates::from_operating_system()?)) });
        Self { clock: Arc::new(SystemClock), witness: Arc::new(NoWitness), permute, ticking: true }
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("ticking", &self.ticking).finish_non_exhaustive()
    }
}

/// A shuffler that is running.
pub struct Running {
    shared: Arc<Shared>,
    learner: Arc<Learner>,
    serving: Serving,
    ticking: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("serving", &self.serving).finish_non_exhaustive()
    }
}

/// Runs a shuffler until `shutdown`.
///
/// # Errors
///
/// If it cannot start, or serving breaks down.
pub async fn run(config: Config, shutdown: Shutdown) -> Result<()> {
    start(config, Environment::default(), shutdown).await?.ended().await
}

/// Starts a shuffler: keys read, stores of an earlier process taken up, listening.
///
/// # Errors
///
/// If the configuration, a key, a store or the address cannot be used.
pub async fn start(config: Config, environment: Environment, shutdown: Shutdown) -> Result<Running> {
    config.check()?;
    let http = HttpClient::new(&config.http)?;
    for server in &config.servers {
        http.check_url(&server.url)?;
    }
    let signing = read_signing_key(&config.signing_key)?;
    let keys = KeyRing::load(config.hpke_keys.clone(), signing, config.min_batch)?;
    let (stores, left, learner) = blocking({
        let (config, witness) = (config.clone(), Arc::clone(&environment.witness));
        move || {
            let stores = store::open(&config, witness)?;
            let left = stores.unfinished()?;
            let learner = Learner::new(&config.servers, &*stores.memory())?;
            Ok((stores, left, Arc::new(learner)))
        }
    })
    .await?;
    let shared = Arc::new(Shared {
        clock: stores.clock().unwrap_or(environment.clock),
        witness: environment.witness,
        new_permute: environment.permute,
        keys,
        metrics: Metrics::default(),
        memory: stores.memory(),
        stores,
        http,
        table: Table::default(),
        shutdown: shutdown.clone(),
        config,
    });
    learner.resume(&shared, left)?;
    let router = router(Arc::clone(&shared), Arc::clone(&learner));
    let serving = serve(&shared.config.listen, router, shutdown).await?;
    tracing::info!(url = serving.url(), key = %shared.keys.signing().verifying_key(), "the shuffler listens");
    let ticking = environment.ticking.then(|| tokio::spawn(keep_ticking(Arc::clone(&shared), Arc::clone(&learner))));
    Ok(Running { shared, learner, serving, ticking })
}

/// Two loops, so that a server that is slow to answer does not keep the rounds of others from ending.
async fn keep_ticking(shared: Arc<Shared>, learner: Arc<Learner>) {
    tokio::select! {
        () = keep_looking(&shared, &learner) => {}
        () = keep_tending(&shared) => {}
        () = shared.shutdown.stopped() => {}
    }
}

async fn keep_looking(shared: &Arc<Shared>, learner: &Learner) {
    let mut interval = pace(shared);
    loop {
        interval.tick().await;
        learner.look(shared).await;
    }
}

async fn keep_tending(shared: &Arc<Shared>) {
    let mut interval = pace(shared);
    loop {
        interval.tick().await;
        tend(shared).await;
    }
}

fn pace(shared: &Shared) -> Interval {
    let mut interval = tokio::time::interval(Duration::from_secs_f64(shared.config.poll_seconds));
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// Its address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        self.serving.url()
    }

    /// The key that tasks name.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        self.shared.keys.signing().verifying_key()
    }

    /// Looks after rounds now: learns new ones, ends those that are over.
    pub async fn tick(&self) {
        self.learner.look(&self.shared).await;
        tend(&self.shared).await;
    }

    /// Waits until no round is being brought to its end. While a server does not answer, that is long.
    pub async fn settle(&self) {
        self.shared.table.settle().await;
    }

    /// How many rounds are not finished.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.shared.table.len()
    }

    /// Waits for the end: after the signal to stop, requests under way are answered, what waits is committed, batches on their way are left to the next start.
    ///
    /// # Errors
    ///
    /// If serving ended for another reason than the signal.
    pub async fn ended(self) -> Result<()> {
        let served = self.serving.ended().await;
        if let Some(ticking) = self.ticking {
            // Ended by the same signal, and by itself if serving broke down.
            if served.is_err() {
                ticking.abort();
            }
            let _ = ticking.await;
        }
        if served.is_ok() {
            self.shared.table.settle().await;
        }
        let shared = self.shared;
        let _ = tokio::task::spawn_blocking(move || shared.table.stop()).await;
        tracing::info!("the shuffler has stopped");
        Ok(served?)
    }
}
