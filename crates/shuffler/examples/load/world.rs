//! A shuffler, and a server that signs its rounds and takes its batches.

use crate::{Outcome, PAYLOAD};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use sha2::{Digest, Sha256};
use shuffledp_shuffler::permutation::FisherYates;
use shuffledp_shuffler::store::{OpaqueReport, Outcome as End, RoundStore, RoundTerms, SqliteFolder, Stores};
use shuffledp_shuffler::{Config, Environment, NoWitness, Running, ServerConfig, init, start};
use shuffledp_transport::{ListenConfig, Serving, Shutdown, ShutdownTrigger, serve};
use shuffledp_wire::{
    BatchDecoder, BatchEvent, HpkeSecretKey, KeyId, ModelHash, RoundContext, RoundOffer, ServerSecretKeys,
    ShufflerSecretKeys, Signed, SigningKey, SystemRandom, TaskHash, VerifyingKey, inner_len, paths, seal_report,
};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio_stream::StreamExt;

/// The round that takes reports, and the one that is over.
const OPEN: u8 = 1;
const OVER: u8 = 2;

/// The server's, known to all.
fn server_key() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

fn server_secrets() -> Outcome<ServerSecretKeys> {
    Ok(ServerSecretKeys::new(vec![(KeyId(0), HpkeSecretKey::derive(&[4; 32]))])?)
}

fn round_of(task: u8, closes: u64) -> Outcome<RoundOffer> {
    Ok(RoundOffer {
        task: TaskHash::from_bytes([task; 32]),
        round: 1,
        model: ModelHash::of(b"model"),
        payload_len: PAYLOAD,
        server_keys: server_secrets()?.public_keys(),
        opens: now() - 1000,
        closes,
    })
}

fn context(task: u8) -> Outcome<RoundContext> {
    Ok(round_of(task, u64::MAX)?.context())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn signed_round(task: u8, closes: u64) -> Outcome<Vec<u8>> {
    Ok(Signed::sign(&round_of(task, closes)?, &server_key())?.encode())
}

struct Server {
    shuffler: VerifyingKey,
    open_round: Vec<u8>,
    received: watch::Sender<u64>,
}

/// Both, and what stops them.
pub(crate) struct World {
    folder: std::path::PathBuf,
    running: Running,
    received: watch::Receiver<u64>,
    triggers: [ShutdownTrigger; 2],
    serving: Serving,
}

impl World {
    /// The shuffler's files are in `folder`, made if need be.
    pub(crate) async fn start(folder: &Path) -> Outcome<Self> {
        Self::start_until(folder, Duration::from_secs(3600)).await
    }

    /// The same, with a round that is open for so long.
    pub(crate) async fn start_until(folder: &Path, window: Duration) -> Outcome<Self> {
        let shuffler = make_keys(folder)?;
        let (sender, received) = watch::channel(0);
        let server =
            Server { shuffler, open_round: signed_round(OPEN, now() + window.as_millis() as u64)?, received: sender };
        let router = Router::new()
            .route(paths::ROUND_ROUTE, get(round))
            .route(paths::BATCH_ROUTE, put(receive))
            .with_state(Arc::new(server));
        let (server_trigger, shutdown) = Shutdown::new();
        let serving = serve(&ListenConfig::loopback(), router, shutdown).await?;
        let tasks = vec![TaskHash::from_bytes([OPEN; 32])];
        let servers = vec![ServerConfig { url: serving.url(), key: server_key().verifying_key(), tasks }];
        let (trigger, shutdown) = Shutdown::new();
        let running = start(Config::loopback(folder, 2, servers), Environment::default(), shutdown).await?;
        // So that it knows the open round.
        running.tick().await;
        Ok(Self { folder: folder.to_owned(), running, received, triggers: [trigger, server_trigger], serving })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub(crate) fn unfinished(&self) -> usize {
        self.running.unfinished()
    }

    /// So many reports for the open round.
    pub(crate) fn seal(&self, reports: usize) -> Outcome<Vec<Vec<u8>>> {
        seal_for(&self.folder, reports)
    }

    /// How many reports the first batch had.
    pub(crate) async fn wait_for_batch(&self) -> u64 {
        let mut received = self.received.clone();
        received.wait_for(|count| *count > 0).await.map_or(0, |count| *count)
    }

    pub(crate) async fn stop(self) -> Outcome<()> {
        self.triggers.iter().for_each(ShutdownTrigger::stop);
        self.running.ended().await?;
        Ok(self.serving.ended().await?)
    }
}

fn make_keys(folder: &Path) -> Outcome<VerifyingKey> {
    let there = Config::loopback(folder, 2, Vec::new()).signing_key;
    Ok(if there.exists() {
        SigningKey::from_text(&std::fs::read_to_string(there)?)?.verifying_key()
    } else {
        init(folder)?
    })
}

/// Reports for the open round, sealed to the shuffler of a folder, on all processors.
pub(crate) fn seal_for(folder: &Path, reports: usize) -> Outcome<Vec<Vec<u8>>> {
    make_keys(folder)?;
    let text = std::fs::read_to_string(Config::loopback(folder, 2, Vec::new()).hpke_keys)?;
    let shuffler = ShufflerSecretKeys::from_text(&text)?.public_keys().remove(0);
    let (server, context) = (server_secrets()?.public_keys().remove(0), context(OPEN)?);
    let threads = std::thread::available_parallelism()?.get();
    let seal = |count: usize| -> Outcome<Vec<Vec<u8>>> {
        let mut random = SystemRandom::from_operating_system()?;
        let seal = |_| Ok(seal_report(&[7; PAYLOAD as usize], &context, &server, &shuffler, &mut random)?);
        (0..count).map(seal).collect()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| seal(reports / threads))).collect();
        let mut sealed = Vec::with_capacity(reports);
        for worker in workers {
            sealed.extend(worker.join().map_err(|_| "a thread panicked")??);
        }
        Ok(sealed)
    })
}

/// A store as a shuffler leaves it that was stopped at the end of a window.
pub(crate) fn fill(folder: &Path, count: usize) -> Outcome<()> {
    filled(folder, count)?.maintain()?;
    Ok(())
}

/// The same, and its batch. How many reports there are.
pub(crate) fn fill_and_seal(folder: &Path, count: usize) -> Outcome<u64> {
    let mut permute = FisherYates::from_operating_system()?;
    match filled(folder, count)?.seal(2, &mut permute)? {
        End::Sealed(batch) => Ok(batch.count),
        End::Short => Err("no batch".into()),
    }
}

/// Reports in groups as a busy shuffler commits them.
fn filled(folder: &Path, count: usize) -> Outcome<Box<dyn RoundStore>> {
    make_keys(folder)?;
    let config = Config::loopback(folder, 2, Vec::new());
    let record_len = inner_len(PAYLOAD);
    let server = *server_key().verifying_key().as_bytes();
    let record = RoundTerms { signed: signed_round(OVER, now())?, server, record_len: record_len as u32, min_batch: 2 };
    let stores = SqliteFolder::open(&config.data, Arc::new(NoWitness))?;
    let mut store = stores.create(&context(OVER)?, &record)?.ok_or("finished already")?;
    // An inner report's first bytes are version, type and key; the rest is as good as random, and
    // here it is a counter.
    let entry = |number: usize| {
        let mut body = vec![0; record_len];
        body[..3].copy_from_slice(&[1, 5, 0]);
        body[40..48].copy_from_slice(&number.to_be_bytes());
        OpaqueReport { digest: Sha256::digest(&body).into(), body }
    };
    for group in (0..count).collect::<Vec<_>>().chunks(256) {
        store.add(group.iter().map(|number| entry(*number)).collect())?;
    }
    Ok(store)
}

async fn round(State(server): State<Arc<Server>>, UrlPath(task): UrlPath<String>) -> Result<Vec<u8>, StatusCode> {
    let task: TaskHash = task.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    (task == TaskHash::from_bytes([OPEN; 32])).then(|| server.open_round.clone()).ok_or(StatusCode::NOT_FOUND)
}

/// Reads and verifies a batch, and counts it.
async fn receive(State(server): State<Arc<Server>>, body: Body) -> Result<(), StatusCode> {
    let mut decoder = BatchDecoder::new(server.shuffler);
    let mut stream = body.into_data_stream();
    let mut count = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| StatusCode::BAD_REQUEST)?;
        let mut piece = &piece[..];
        while let Some(event) = decoder.next_event(&mut piece).map_err(|_| StatusCode::BAD_REQUEST)? {
            count += u64::from(matches!(event, BatchEvent::Record(_)));
        }
    }
    decoder.finish().map_err(|_| StatusCode::BAD_REQUEST)?;
    server.received.send_replace(count);
    Ok(())
}
