//! A world of one server that does as it is told, one shuffler that is real, and clients that seal
//! real reports.

#![allow(dead_code, unreachable_pub, missing_docs)] // Every test file uses its part of it.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use shuffledp_shuffler::{Config, Environment, ManualClock, Running, ServerConfig, init, start};
use shuffledp_transport::{ClientConfig, HttpClient, ListenConfig, Serving, Shutdown, ShutdownTrigger, join, serve};
use shuffledp_wire::{
    BatchDecoder, BatchEvent, BatchHeader, BatchId, HpkeSecretKey, KeyId, KeysHash, ModelHash, RoundContext,
    RoundOffer, ServerSecretKeys, ShufflerKeys, Signed, SigningKey, SystemRandom, Task, TaskHash, VerifyingKey,
    open_inner, paths, seal_report,
};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_stream::StreamExt;

/// Reports carry a number.
pub const PAYLOAD: u32 = 8;
/// When rounds of these tests open and close.
pub const OPENS: u64 = 1_000_000;
pub const CLOSES: u64 = 2_000_000;

/// The test server's reaction to the next batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Takes it.
    Take,
    /// Takes it, and the answer is lost.
    TakeAndFail,
    /// Reads it and answers so.
    Say(u16),
    /// Reads the beginning, tells `stalled`, and says nothing more.
    Stall,
}

/// A batch as it came, whole and signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    pub header: BatchHeader,
    pub records: Vec<Vec<u8>>,
}

pub struct FakeServer {
    pub signing: SigningKey,
    pub secrets: ServerSecretKeys,
    pub shuffler: Mutex<Option<VerifyingKey>>,
    pub rounds: Mutex<HashMap<TaskHash, Vec<u8>>>,
    /// How often somebody asked for one.
    pub asked: AtomicU64,
    /// Everything that came whole, in order, repeated or not, taken or not.
    pub attempts: Mutex<Vec<Received>>,
    /// The accepted batches, by id.
    pub taken: Mutex<HashMap<BatchId, Received>>,
    pub replies: Mutex<VecDeque<Reply>>,
    pub stalled: Notify,
    /// The task that it says it has.
    pub task: Mutex<Option<Task>>,
}

impl FakeServer {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            signing: SigningKey::from_seed(&[3; 32]),
            secrets: secrets(),
            shuffler: Mutex::default(),
            rounds: Mutex::default(),
            asked: AtomicU64::new(0),
            attempts: Mutex::default(),
            taken: Mutex::default(),
            replies: Mutex::default(),
            stalled: Notify::new(),
            task: Mutex::default(),
        })
    }

    pub fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route(paths::ROUND_ROUTE, get(Self::get_round))
            .route(paths::TASK_ROUTE, get(Self::get_task))
            .route("/v1/status", get(Self::get_status))
            .route(paths::BATCH_ROUTE, put(Self::put_batch))
            .with_state(Arc::clone(self))
    }

    async fn get_status(State(server): State<Arc<Self>>) -> Result<String, StatusCode> {
        let task = server.task.lock().unwrap().clone().ok_or(StatusCode::NOT_FOUND)?;
        Ok(format!("{{\"name\": \"numbers\", \"task\": \"{}\"}}", task.hash().unwrap()))
    }

    async fn get_task(State(server): State<Arc<Self>>, Path(task): Path<String>) -> Result<Vec<u8>, StatusCode> {
        let found = server.task.lock().unwrap().clone().ok_or(StatusCode::NOT_FOUND)?;
        let is_it = found.hash().unwrap().to_string() == task;
        is_it.then(|| Signed::sign(&found, &server.signing).unwrap().encode()).ok_or(StatusCode::NOT_FOUND)
    }

    async fn get_round(State(server): State<Arc<Self>>, Path(task): Path<String>) -> Result<Vec<u8>, StatusCode> {
        server.asked.fetch_add(1, Ordering::SeqCst);
        let task = task.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
        server.rounds.lock().unwrap().get(&task).cloned().ok_or(StatusCode::NOT_FOUND)
    }

    async fn put_batch(State(server): State<Arc<Self>>, Path(id): Path<String>, body: Body) -> StatusCode {
        let reply = server.replies.lock().unwrap().pop_front().unwrap_or(Reply::Take);
        let mut decoder = BatchDecoder::new(server.shuffler.lock().unwrap().unwrap());
        let mut stream = body.into_data_stream();
        let (mut header, mut records) = (None, Vec::new());
        while let Some(piece) = stream.next().await {
            let Ok(piece) = piece else { return StatusCode::BAD_REQUEST };
            if reply == Reply::Stall {
                server.stalled.notify_one();
                std::future::pending::<()>().await;
            }
            let mut piece = &piece[..];
            while let Some(event) = decoder.next_event(&mut piece).unwrap() {
                match event {
                    BatchEvent::Header(found) => header = Some(found),
                    BatchEvent::Record(record) => records.push(record.to_vec()),
                    BatchEvent::End => {}
                }
            }
        }
        decoder.finish().unwrap();
        let received = Received { header: header.unwrap(), records };
        assert_eq!(received.header.batch.to_string(), id);
        server.attempts.lock().unwrap().push(received.clone());
        match reply {
            Reply::Take | Reply::TakeAndFail => {
                server.taken.lock().unwrap().entry(received.header.batch).or_insert(received);
                if reply == Reply::Take { StatusCode::OK } else { StatusCode::BAD_GATEWAY }
            }
            Reply::Say(status) => StatusCode::from_u16(status).unwrap(),
            Reply::Stall => unreachable!("a batch has at least a header"),
        }
    }

    /// Signs a round and shows it.
    pub fn show(&self, context: &RoundContext, opens: u64, closes: u64) {
        self.show_with(context, opens, closes, PAYLOAD);
    }

    pub fn show_with(&self, context: &RoundContext, opens: u64, closes: u64, payload_len: u32) {
        self.show_round(RoundOffer {
            task: context.task,
            round: context.round,
            model: context.model,
            payload_len,
            server_keys: self.secrets.public_keys(),
            opens,
            closes,
        });
    }

    pub fn show_round(&self, round: RoundOffer) {
        let signed = Signed::sign(&round, &self.signing).unwrap().encode();
        self.rounds.lock().unwrap().insert(round.task, signed);
    }

    /// The numbers in a batch, in its order.
    pub fn numbers(&self, batch: &Received) -> Vec<u64> {
        let open = |record: &Vec<u8>| {
            let (_, payload) = open_inner(record, &batch.header.context, &self.secrets).unwrap();
            u64::from_be_bytes(payload[..8].try_into().unwrap())
        };
        batch.records.iter().map(open).collect()
    }

    /// The numbers of everything taken, sorted.
    pub fn taken_numbers(&self) -> Vec<u64> {
        let taken = self.taken.lock().unwrap();
        let mut numbers: Vec<u64> = taken.values().flat_map(|batch| self.numbers(batch)).collect();
        numbers.sort_unstable();
        numbers
    }
}

pub struct World {
    pub folder: TempDir,
    pub server: Arc<FakeServer>,
    pub clock: Arc<ManualClock>,
    pub config: Config,
    pub environment: Environment,
    pub client: HttpClient,
    _serving: (Serving, ShutdownTrigger),
}

/// Returns the keys with which the server opens reports.
fn secrets() -> ServerSecretKeys {
    ServerSecretKeys::new(vec![(KeyId(0), HpkeSecretKey::derive(b"the server's"))]).unwrap()
}

/// A task that a shuffler with this key serves.
pub fn task(shuffler: VerifyingKey) -> Task {
    Task {
        name: "numbers".to_owned(),
        architecture: vec![1],
        randomizer: vec![1],
        clip: 1.0,
        clients: 100,
        check_in_rate: 0.5,
        drop_out: 0.0,
        rounds: 10,
        delta: 1e-6,
        budget: 1.0,
        step: vec![1],
        payload_len: PAYLOAD,
        shuffler_url: "https://shuffler.example".to_owned(),
        shuffler_key: shuffler,
    }
}

/// A task's round.
pub fn context(task: u8, round: u64) -> RoundContext {
    let (task, keys) = (TaskHash::from_bytes([task; 32]), KeysHash::of(&secrets().public_keys()));
    RoundContext { task, round, model: ModelHash::of(b"model"), keys }
}

impl World {
    pub async fn new(min_batch: u64) -> Self {
        let folder = TempDir::new().unwrap();
        let key = init(folder.path()).unwrap();
        let server = FakeServer::new();
        *server.shuffler.lock().unwrap() = Some(key);
        *server.task.lock().unwrap() = Some(task(key));
        let (trigger, shutdown) = Shutdown::new();
        let serving = serve(&ListenConfig::loopback(), server.router(), shutdown).await.unwrap();
        let clock = Arc::new(ManualClock::at(OPENS));
        let servers = vec![ServerConfig { url: serving.url(), key: server.signing.verifying_key(), tasks: Vec::new() }];
        let config = Config::loopback(folder.path(), min_batch, servers);
        let environment = Environment { clock: clock.clone(), ticking: false, ..Environment::default() };
        let client = HttpClient::new(&ClientConfig::default()).unwrap();
        Self { folder, server, clock, config, environment, client, _serving: (serving, trigger) }
    }

    pub async fn start(&self) -> Shuffler {
        let (trigger, shutdown) = Shutdown::new();
        let running = start(self.config.clone(), self.environment.clone(), shutdown).await.unwrap();
        Shuffler { url: running.url(), key: running.verifying_key(), running, trigger, client: self.client.clone() }
    }

    /// Files of stores.
    pub fn stores(&self) -> usize {
        let files = std::fs::read_dir(&self.config.data).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().contains(".round")).count()
    }
}

pub struct Shuffler {
    pub url: String,
    pub key: VerifyingKey,
    pub running: Running,
    pub trigger: ShutdownTrigger,
    pub client: HttpClient,
}

impl Shuffler {
    pub async fn keys(&self) -> ShufflerKeys {
        keys(&self.client, &self.url, &self.key).await
    }

    /// A report with a number, sealed to the newest key.
    pub async fn seal(&self, server: &FakeServer, context: &RoundContext, number: u64) -> Vec<u8> {
        seal(&self.keys().await, server, context, number)
    }

    /// Posts bytes; the answer's status. The body is always empty.
    pub async fn post(&self, report: &[u8]) -> u16 {
        post(&self.client, &self.url, report).await.unwrap()
    }

    pub async fn stop(self) {
        self.trigger.stop();
        self.running.ended().await.unwrap();
    }

    /// Looks after rounds, and waits until those that are over are finished.
    pub async fn tick_and_settle(&self) {
        self.running.tick().await;
        self.running.settle().await;
    }

    /// Returns the answer of the operator's listener: status and body.
    pub async fn admin(&self, path: &str) -> (u16, String) {
        let url = join(&self.running.admin_url().unwrap(), path);
        let answer = self.client.get(&url).unwrap().send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    pub async fn metric(&self, name: &str) -> u64 {
        let text = self.client.get(&join(&self.url, "/metrics")).unwrap().send().await.unwrap().text().await.unwrap();
        let name = format!("shuffledp_shuffler_{name}_total ");
        text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
    }
}

pub async fn keys(client: &HttpClient, url: &str, key: &VerifyingKey) -> ShufflerKeys {
    let bytes = client.get(&join(url, paths::KEYS)).unwrap().send().await.unwrap().bytes().await.unwrap();
    Signed::<ShufflerKeys>::decode(&bytes).unwrap().verify(key).unwrap()
}

pub fn seal(keys: &ShufflerKeys, server: &FakeServer, context: &RoundContext, number: u64) -> Vec<u8> {
    let mut random = SystemRandom::from_operating_system().unwrap();
    let payload = number.to_be_bytes();
    seal_report(&payload, context, &server.secrets.public_keys()[0], &keys.keys[0], &mut random).unwrap()
}

/// `None` if there was no answer.
pub async fn post(client: &HttpClient, url: &str, report: &[u8]) -> Option<u16> {
    let answer = client.post(&join(url, paths::REPORTS)).unwrap().body(report.to_vec()).send().await.ok()?;
    let status = answer.status().as_u16();
    assert_eq!(answer.content_length(), Some(0));
    Some(status)
}
