//! How fast reports become durable, and how long a large batch takes: `load [reports] [connections] [batch]`.
//!
//! Everything runs in this process on loopback, client and server included, so that the figures are a lower bound. Reports carry 1 KB and are
//! sealed beforehand. The rate at which the disk can make a 4 KB write durable is printed beside: no store can commit more often.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use sha2::{Digest, Sha256};
use shuffledp_shuffler::store::{Entry, RoundRecord, SqliteFolder, Stores};
use shuffledp_shuffler::{Config, Environment, NoWitness, ServerConfig, init, start};
use shuffledp_transport::{ClientConfig, HttpClient, ListenConfig, Shutdown, join, serve};
use shuffledp_wire::{
    BatchDecoder, BatchEvent, KeyId, KeysHash, ModelHash, Round, RoundContext, ServerSecretKeys, ShufflerKeys, Signed,
    SigningKey, SystemRandom, TaskHash, VerifyingKey, inner_len, paths, seal_report,
};
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio_stream::StreamExt;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PAYLOAD: u32 = 1024;

struct Server {
    shuffler: VerifyingKey,
    rounds: Mutex<HashMap<TaskHash, Vec<u8>>>,
    received: Mutex<Vec<u64>>,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default));
    let (reports, connections, batch) = (next(20_000)?, next(64)?, next(100_000)?);
    let folder = tempfile::TempDir::new_in(".")?;
    println!("disk: {:.0} durable writes of 4 KB a second", syncs(folder.path())?);

    let shuffler_key = init(folder.path())?;
    let signing = SigningKey::generate()?;
    let secrets = ServerSecretKeys::generate()?;
    let server = Arc::new(Server { shuffler: shuffler_key, rounds: Mutex::default(), received: Mutex::default() });
    let router = Router::new()
        .route(paths::ROUND_ROUTE, get(round))
        .route(paths::BATCH_ROUTE, put(receive))
        .with_state(Arc::clone(&server));
    let (_server_trigger, shutdown) = Shutdown::new();
    let serving = serve(&ListenConfig::loopback(), router, shutdown).await?;
    let servers = vec![ServerConfig { url: serving.url(), key: signing.verifying_key(), tasks: Vec::new() }];
    let config = Config::loopback(folder.path(), 2, servers);

    // A large batch, left by an earlier process, whose window ended just now.
    let large = context(2, &secrets);
    let filled = Instant::now();
    if batch > 0 {
        let now = now();
        let signed = sign(&large, &secrets, &signing, (now - 1000, now))?;
        let stores = SqliteFolder::open(&config.data, Arc::new(NoWitness))?;
        fill(&stores, &large, signed, &signing, batch)?;
        println!("filled a store with {batch} reports in {:.1} s", filled.elapsed().as_secs_f64());
    }

    let small = context(1, &secrets);
    let signed = sign(&small, &secrets, &signing, (now() - 1000, now() + 3_600_000))?;
    server.rounds.lock().map_err(|_| "poisoned")?.insert(small.task, signed);
    let (trigger, shutdown) = Shutdown::new();
    let running = start(config, Environment::default(), shutdown).await?;
    let began = Instant::now();
    let client = HttpClient::new(&ClientConfig::default())?;
    let bytes = client.get(&join(&running.url(), paths::KEYS))?.send().await?.bytes().await?;
    let keys = Signed::<ShufflerKeys>::decode(&bytes)?.verify(&shuffler_key)?;
    let mut random = SystemRandom::from_operating_system()?;
    let sealed: Vec<Vec<u8>> = (0..reports)
        .map(|_| seal_report(&[7; PAYLOAD as usize], &small, &secrets.public_keys()[0], &keys.keys[0], &mut random))
        .collect::<Result<_, _>>()?;
    println!("sealed {reports} reports in {:.1} s", began.elapsed().as_secs_f64());
    if batch > 0 {
        while server.received.lock().map_err(|_| "poisoned")?.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        println!("sealed and sent {batch} reports in at most {:.1} s", began.elapsed().as_secs_f64());
        println!("memory at most {} MB, client and server included", peak_memory());
    }
    load(&client, &join(&running.url(), paths::REPORTS), sealed, connections).await?;
    println!("memory at most {} MB, client and server included", peak_memory());
    trigger.stop();
    running.ended().await?;
    Ok(())
}

/// Posts all reports over so many connections.
async fn load(client: &HttpClient, url: &str, reports: Vec<Vec<u8>>, connections: usize) -> Outcome<()> {
    let count = reports.len();
    let reports = Arc::new(Mutex::new(reports));
    let began = Instant::now();
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..connections {
        let (client, url, reports) = (client.clone(), url.to_owned(), Arc::clone(&reports));
        posts.spawn(async move {
            let mut times = Vec::new();
            let next = || reports.lock().map_err(|_| "poisoned").map(|mut reports| reports.pop());
            while let Some(report) = next()? {
                let asked = Instant::now();
                let status = client.post(&url)?.body(report).send().await?.status();
                if status != StatusCode::ACCEPTED.as_u16() {
                    return Err(format!("answered {status}").into());
                }
                times.push(asked.elapsed());
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::with_capacity(count);
    while let Some(done) = posts.join_next().await {
        times.extend(done??);
    }
    let seconds = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!(
        "{count} durable reports of 1 KB over {connections} connections: {:.0} a second; p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        count as f64 / seconds,
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

/// Durable writes of 4 KB a second, in place, as a database does them.
fn syncs(folder: &std::path::Path) -> Outcome<f64> {
    let mut file = File::create(folder.join("sync"))?;
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < Duration::from_secs(1) {
        file.rewind()?;
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

fn fill(stores: &SqliteFolder, context: &RoundContext, signed: Vec<u8>, key: &SigningKey, count: usize) -> Outcome<()> {
    let record_len = inner_len(PAYLOAD);
    let server = *key.verifying_key().as_bytes();
    let record = RoundRecord { signed, server, record_len: record_len as u32, min_batch: 2 };
    let mut store = stores.create(context, &record)?.ok_or("finished already")?;
    // An inner report's first bytes are version, type and key; the rest is as good as random, and here it is a counter.
    let mut body = vec![0; record_len];
    body[..3].copy_from_slice(&[1, 5, KeyId(0).0]);
    for group in (0..count).collect::<Vec<_>>().chunks(4096) {
        let entry = |number: &usize| {
            let mut body = body.clone();
            body[40..48].copy_from_slice(&number.to_be_bytes());
            Entry { digest: Sha256::digest(&body).into(), body }
        };
        store.add(group.iter().map(entry).collect())?;
        store.fold()?;
    }
    Ok(())
}

fn context(task: u8, secrets: &ServerSecretKeys) -> RoundContext {
    let (task, keys) = (TaskHash::from_bytes([task; 32]), KeysHash::of(&secrets.public_keys()));
    RoundContext { task, round: 1, model: ModelHash::of(b"model"), keys }
}

fn sign(context: &RoundContext, secrets: &ServerSecretKeys, key: &SigningKey, window: (u64, u64)) -> Outcome<Vec<u8>> {
    let round = Round {
        task: context.task,
        round: context.round,
        model: context.model,
        payload_len: PAYLOAD,
        server_keys: secrets.public_keys(),
        opens: window.0,
        closes: window.1,
    };
    Ok(Signed::sign(&round, key)?.encode())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// `VmHWM` of Linux in MB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes / 1024)
}

async fn round(State(server): State<Arc<Server>>, Path(task): Path<String>) -> Result<Vec<u8>, StatusCode> {
    let task = task.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let rounds = server.rounds.lock().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    rounds.get(&task).cloned().ok_or(StatusCode::NOT_FOUND)
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
    server.received.lock().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?.push(count);
    Ok(())
}
