//! Both services, on loopback.

use super::{Parties, config, model, round, task};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use shuffledp_client::ClientConfig;
use shuffledp_transport::{ListenConfig, Shutdown, ShutdownTrigger, serve};
use shuffledp_wire::{ModelHash, ReportId, RoundContext, Task, open_inner, open_outer, paths};
use std::collections::HashMap;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, MutexGuard};

/// The current answers of the test server, and the requests that came.
#[derive(Default)]
pub struct Served {
    pub task: Vec<u8>,
    pub round: Option<Vec<u8>>,
    pub models: HashMap<String, Vec<u8>>,
    pub keys: Vec<u8>,
    /// The rounds left according to `GET /v1/privacy`.
    pub rounds_left: Option<u64>,
    /// So many reports are taken, and their acknowledgement is lost.
    pub lose: usize,
    /// Reports are taken, and never answered.
    pub mute: bool,
    /// Bodies of `POST /v1/reports`, in order.
    pub reports: Vec<Vec<u8>>,
    /// The requests: method and path.
    pub exchanges: Vec<String>,
}

type Shared = Arc<Mutex<Served>>;

pub struct World {
    pub parties: Parties,
    pub task: Task,
    pub server: String,
    served: Shared,
    _trigger: ShutdownTrigger,
}

impl World {
    /// Both services, with a task that `change` was applied to.
    pub async fn new(change: impl FnOnce(&mut Task)) -> Self {
        let served = Shared::default();
        let (trigger, shutdown) = Shutdown::new();
        let listen = ListenConfig::loopback();
        let shuffler = Router::new()
            .route(paths::KEYS, get(|State(served): State<Shared>| async move { lock(&served).keys.clone() }))
            .route(paths::REPORTS, post(take_report));
        let server = Router::new()
            .route(paths::TASK_ROUTE, get(|State(served): State<Shared>| async move { lock(&served).task.clone() }))
            .route(paths::ROUND_ROUTE, get(current_round))
            .route(paths::MODEL_ROUTE, get(a_model))
            .route(paths::PRIVACY, get(privacy));
        let start = async |router: Router<Shared>| {
            let router = router.layer(middleware::from_fn_with_state(Arc::clone(&served), note));
            serve(&listen, router.with_state(Arc::clone(&served)), shutdown.clone()).await.unwrap().url()
        };
        let (shuffler, server) = (start(shuffler).await, start(server).await);
        let parties = Parties::new();
        let mut task = task(&parties, &shuffler);
        change(&mut task);
        {
            let mut served = lock(&served);
            served.task = parties.sign(&task);
            served.keys = parties.shuffler_keys(20);
        }
        Self { parties, task, server, served, _trigger: trigger }
    }

    pub fn config(&self, state: &FilePath) -> ClientConfig {
        config(&self.parties, &self.task, &self.server, state)
    }

    pub fn served(&self) -> MutexGuard<'_, Served> {
        lock(&self.served)
    }

    /// Opens round `number` with the model of `seed`.
    pub fn open_round(&self, number: u64, seed: u64) -> RoundContext {
        let (hash, bytes) = model(seed);
        self.open(&round(&self.parties, &self.task, number, hash), hash, bytes)
    }

    /// Opens this round.
    pub fn open(&self, round: &shuffledp_wire::RoundOffer, hash: ModelHash, bytes: Vec<u8>) -> RoundContext {
        let mut served = self.served();
        served.models.insert(hash.to_string(), bytes);
        served.round = Some(self.parties.sign(round));
        round.context()
    }

    /// Opens a report with both parties' keys: for what it is, its id and payload.
    pub fn open_report(&self, report: &[u8]) -> (RoundContext, ReportId, Vec<u8>) {
        let (context, inner) = open_outer(report, &self.parties.shuffler_keys).unwrap();
        let (id, payload) = open_inner(inner.as_bytes(), &context, &self.parties.server_keys).unwrap();
        (context, id, payload)
    }

    /// Returns the reports sent so far, and clears the list.
    pub fn take_reports(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.served().reports)
    }

    /// Returns the requests so far, and clears the list.
    pub fn take_exchanges(&self) -> Vec<String> {
        std::mem::take(&mut self.served().exchanges)
    }
}

fn lock(served: &Shared) -> MutexGuard<'_, Served> {
    served.lock().unwrap()
}

async fn note(State(served): State<Shared>, request: Request, next: Next) -> axum::response::Response {
    lock(&served).exchanges.push(format!("{} {}", request.method(), request.uri().path()));
    next.run(request).await
}

async fn current_round(State(served): State<Shared>) -> Result<Vec<u8>, StatusCode> {
    lock(&served).round.clone().ok_or(StatusCode::NOT_FOUND)
}

async fn privacy(State(served): State<Shared>) -> Result<String, StatusCode> {
    let left = lock(&served).rounds_left.ok_or(StatusCode::NOT_FOUND)?;
    Ok(format!("{{\"epsilon\": 0.25, \"rounds_left\": {left}}}"))
}

async fn a_model(State(served): State<Shared>, Path(hash): Path<String>) -> Result<Vec<u8>, StatusCode> {
    lock(&served).models.get(&hash).cloned().ok_or(StatusCode::NOT_FOUND)
}

async fn take_report(State(served): State<Shared>, body: Bytes) -> StatusCode {
    let status = {
        let mut served = lock(&served);
        served.reports.push(body.to_vec());
        match (served.mute, served.lose) {
            (true, _) => None,
            (false, 0) => Some(StatusCode::ACCEPTED),
            (false, left) => {
                served.lose = left - 1;
                Some(StatusCode::BAD_GATEWAY)
            }
        }
    };
    match status {
        Some(status) => status,
        None => std::future::pending().await,
    }
}
