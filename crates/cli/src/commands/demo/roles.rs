//! All roles on loopback: a server, a shuffler, a crowd of clients, and one client of its own.

use super::reference;
use super::setting::Setting;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use shuffledp_client::crowd::{self, CrowdRound};
use shuffledp_client::{Ended, Status};
use shuffledp_learning::data::scattering::quiet;
use shuffledp_server::store::FileStore;
use shuffledp_server::{Parts, RunningServer, ServerKeys, SystemClock};
use shuffledp_shuffler::Environment;
use shuffledp_transport::{HttpClient, Shutdown, bytes_at_most, join};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at what the server publishes.
const LOOK: Duration = Duration::from_millis(200);

/// An answer of ours is not longer.
const MOST_BYTES: usize = 1 << 20;

/// A round as anybody may read it at `/v1/status`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct PublicRound {
    pub(crate) round: u64,
    pub(crate) status: String,
    #[serde(with = "shuffledp_learning::unbounded")]
    pub(crate) epsilon: f64,
    #[serde(with = "shuffledp_learning::unbounded")]
    pub(crate) epsilon_lower: f64,
    pub(crate) accepted: u64,
    pub(crate) rejected: u64,
    pub(crate) test_accuracy: Option<f64>,
}

#[derive(Deserialize)]
struct PublicStatus {
    phase: String,
    rounds: Vec<PublicRound>,
}

/// The data that each party saw.
pub(crate) struct Seen {
    /// The server's public record of its rounds.
    pub(crate) rounds: Vec<PublicRound>,
    /// The server's public statement about privacy.
    pub(crate) privacy: serde_json::Value,
    /// The simulated clients' own record of the rounds.
    pub(crate) crowd: Vec<CrowdRound>,
    /// The state that the one real client keeps on its disk.
    pub(crate) client: Status,
    /// The metrics that the shuffler exposes to its operator.
    pub(crate) shuffler_metrics: String,
    /// The test accuracy of the same model without privacy, measured at the end.
    pub(crate) accuracy_without_privacy: f64,
}

/// Plays the task to its end; `ended` is called after each round, `listening` once with the address
/// of the server's page.
pub(super) async fn play(
    setting: &Setting,
    folder: &Path,
    window: f64,
    listening: impl FnOnce(&str),
    ended: impl FnMut(&PublicRound),
) -> Result<Seen> {
    let interrupted = Shutdown::on_signals().context("cannot listen for signals")?;
    let (stop, shutdown) = Shutdown::new();
    let shuffler_folder = folder.join("shuffler");
    let shuffler_key = shuffledp_shuffler::init(&shuffler_folder)?;
    let shuffler_address = free_address()?;
    let config = setting.server(folder, (&format!("http://{shuffler_address}"), shuffler_key.to_string()), window)?;
    // Before anybody listens: the first round opens as soon as the server does.
    let directory = config.data_directory.as_deref();
    let digits = config.task.preparation.apply(setting.digits().load(directory)?, directory, &quiet)?;
    let others = digits.train.clone().truncated(setting.clients as usize - 1);
    let parts = Parts::with(&config, ServerKeys::generate()?, Box::new(FileStore::open(&config.store)?))?;
    let server = shuffledp_server::start(parts, &config.listen, Arc::new(SystemClock), shutdown.clone()).await?;
    let shuffler = {
        let whom = shuffledp_shuffler::ServerConfig {
            url: server.url(),
            key: server.verifying_key(),
            tasks: vec![server.task()],
        };
        let mut config = shuffledp_shuffler::Config::loopback(&shuffler_folder, setting.min_batch, vec![whom]);
        config.listen.address = shuffler_address;
        config.poll_seconds = 0.1;
        shuffledp_shuffler::start(config, Environment::default(), shutdown.clone()).await?
    };
    listening(&server.url());
    let clients = setting.client(folder, &server)?;
    let spoken = Arc::new(Mutex::new(Vec::new()));
    let note = {
        let spoken = Arc::clone(&spoken);
        move |round: &CrowdRound| spoken.lock().unwrap_or_else(PoisonError::into_inner).push(*round)
    };
    let crowd = crowd::run_prepared(&clients, &others, None, shutdown.clone(), note);
    let one = shuffledp_client::run(&clients, shutdown.clone());
    let http = HttpClient::new(&clients.connection)?;
    let rounds = tokio::select! {
        rounds = watch(&http, &server, ended) => rounds?,
        // Both go on until the task is over; if they end before, the task cannot.
        failed = all_play(crowd, one) => return Err(failed),
        () = interrupted.stopped() => return Err(anyhow!("stopped before the end; no page was written")),
    };
    let privacy = serde_json::from_slice(&get(&http, &join(&server.url(), "/v1/privacy")).await?)?;
    let metrics = get(&http, &join(&shuffler.url(), "/metrics")).await?;
    stop.stop();
    shuffler.ended().await?;
    server.ended().await?;
    let crowd = std::mem::take(&mut *spoken.lock().unwrap_or_else(PoisonError::into_inner));
    let shuffler_metrics = String::from_utf8_lossy(&metrics).into_owned();
    let accuracy_without_privacy = reference::accuracy_without_privacy(&config.task, setting.digits(), &digits)?;
    Ok(Seen { rounds, privacy, crowd, client: Status::read(&clients)?, shuffler_metrics, accuracy_without_privacy })
}

/// Returns only if somebody fails.
async fn all_play(
    crowd: impl Future<Output = shuffledp_client::Result<Ended>>,
    one: impl Future<Output = shuffledp_client::Result<Ended>>,
) -> anyhow::Error {
    match tokio::try_join!(crowd, one) {
        Ok(_) => std::future::pending().await,
        Err(error) => error.into(),
    }
}

/// Reads what the server publishes until its task is over.
async fn watch(
    http: &HttpClient,
    server: &RunningServer,
    mut ended: impl FnMut(&PublicRound),
) -> Result<Vec<PublicRound>> {
    let url = join(&server.url(), "/v1/status");
    let mut told = 0;
    loop {
        let status: PublicStatus = serde_json::from_slice(&get(http, &url).await?)?;
        let over = status.rounds.iter().take_while(|round| round.status != "open").count();
        status.rounds[told.min(over)..over].iter().for_each(&mut ended);
        told = over;
        if matches!(status.phase.as_str(), "finished" | "budget-spent") {
            return Ok(status.rounds);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn get(http: &HttpClient, url: &str) -> Result<Vec<u8>> {
    Ok(bytes_at_most(http.get(url)?.send().await?, MOST_BYTES).await?)
}

/// A port that was free a moment ago: the task names the shuffler's address and the shuffler the
/// server's, so one of them must be known beforehand.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback is free")?;
    Ok(listener.local_addr()?)
}
