//! The whole service: started, ticking, stopped.

use crate::config::Config;
use crate::error::Result;
use crate::files::read_signing_key;
use crate::house::House;
use crate::keys::KeyRing;
use crate::permutation::{FisherYates, Permute};
use crate::rounds::{NewPermute, blocking, tend};
use crate::witness::{NoWitness, Witness};
use shuffledp_host::{Clock, SystemClock};
use shuffledp_transport::{HttpClient, Operated, Serving, Shutdown, admin_router, serve, serve_admin};
use shuffledp_wire::VerifyingKey;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The parts that a test may replace.
#[derive(Clone)]
pub struct Environment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The observer of commits.
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
    house: Arc<House>,
    serving: Serving,
    admin: Option<Serving>,
    ticking: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("serving", &self.serving).finish_non_exhaustive()
    }
}

/// Runs a shuffler until `shutdown`. Configurations that `reloads` brings are taken up as far as a
/// running shuffler can; what it cannot take up is said, and changes nothing.
///
/// # Errors
///
/// If it cannot start, or serving breaks down.
pub async fn run(config: Config, mut reloads: mpsc::Receiver<Config>, shutdown: Shutdown) -> Result<()> {
    let running = start(config, Environment::default(), shutdown).await?;
    let house = Arc::clone(&running.house);
    let reloading = tokio::spawn(async move {
        while let Some(fresh) = reloads.recv().await {
            match house.reload(fresh) {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(error) => tracing::error!(%error, "the configuration was read again and is not taken up"),
            }
        }
    });
    let ended = running.ended().await;
    reloading.abort();
    ended
}

/// Starts a shuffler: keys read, stores of an earlier process taken up, listening. Where the disk
/// does not let the stores be opened, clients are told to come again until it does.
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
    let is_ticking = environment.ticking;
    let house = Arc::new(House::new(config, environment, keys, http, shutdown.clone()));
    blocking({
        let house = Arc::clone(&house);
        move || house.try_open().map(drop)
    })
    .await?;
    let config = house.config();
    let serving = serve(&config.listen, house.router(), shutdown.clone()).await?;
    house.set_link(serving.link());
    tracing::info!(url = serving.url(), key = %house.keys.signing().verifying_key(), "the shuffler listens");
    let operated: Arc<dyn Operated> = house.clone();
    let admin = serve_admin(&config.listen, admin_router(operated), shutdown).await?;
    let ticking = is_ticking.then(|| tokio::spawn(keep_ticking(Arc::clone(&house))));
    Ok(Running { house, serving, admin, ticking })
}

/// Two loops, so that a server that is slow to answer does not keep the rounds of others from
/// ending.
async fn keep_ticking(house: Arc<House>) {
    tokio::select! {
        () = keep_looking(&house) => {}
        () = keep_tending(&house) => {}
        () = house.shutdown.stopped() => {}
    }
}

async fn keep_looking(house: &Arc<House>) {
    loop {
        if let Some(open) = house.reopen().await {
            open.learner.look(&open.shared).await;
        }
        pause(house).await;
    }
}

async fn keep_tending(house: &Arc<House>) {
    loop {
        if let Some(open) = house.opened() {
            tend(&open.shared).await;
        }
        pause(house).await;
    }
}

async fn pause(house: &House) {
    tokio::time::sleep(Duration::from_secs_f64(house.config().poll_seconds)).await;
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

    /// The operator's address, if there is one.
    #[must_use]
    pub fn admin_url(&self) -> Option<String> {
        self.admin.as_ref().map(Serving::url)
    }

    /// The key that tasks name.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        self.house.keys.signing().verifying_key()
    }

    /// Looks after rounds now: learns new ones, ends those that are over.
    pub async fn tick(&self) {
        self.house.tick().await;
    }

    /// Takes up another configuration, as far as a running shuffler can. All or nothing.
    ///
    /// # Errors
    ///
    /// The first setting that cannot be or cannot change, by its name.
    pub fn reload(&self, fresh: Config) -> Result<()> {
        self.house.reload(fresh)
    }

    /// Waits until no round is being brought to its end. While a server does not answer, that is
    /// long.
    pub async fn settle(&self) {
        if let Some(open) = self.house.opened() {
            open.shared.table.settle().await;
        }
    }

    /// How many rounds are not finished.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.house.opened().map_or(0, |open| open.shared.table.len())
    }

    /// Waits for the end: after the signal to stop, requests under way are answered, what waits is
    /// committed, batches on their way are left to the next start.
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
            if let Some(open) = self.house.opened() {
                open.shared.table.settle().await;
            }
            if let Some(admin) = self.admin {
                admin.ended().await?;
            }
        }
        let house = self.house;
        let stop = move || {
            if let Some(open) = house.opened() {
                open.shared.table.stop();
            }
        };
        let _ = tokio::task::spawn_blocking(stop).await;
        tracing::info!("the shuffler has stopped");
        Ok(served?)
    }
}
