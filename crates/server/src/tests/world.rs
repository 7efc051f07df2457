//! A server, a shuffler that signs what tests want it to, and clients that report one chosen
//! coordinate each.

use crate::http::router;
use crate::keys::KeyRing;
use crate::plan::Plan;
use crate::service::Service;
use crate::store::{self, Store};
use crate::{Result, ServerConfig, ServerKeys};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use shuffledp_host::ManualClock;
use shuffledp_learning::models::{Model, load_weights};
use shuffledp_postgres::DatabaseUrl;
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{RInf, Randomizer};
use shuffledp_wire::{
    BatchEncoder, BatchHeader, BatchId, RoundContext, RoundOffer, ShufflerSecretKeys, Signed, SigningKey, SystemRandom,
    open_outer, paths, seal_report,
};
use std::path::Path;
use std::sync::Arc;
use tower::ServiceExt;

/// Weights of the tests' model: ten classes of 784 pixels, with biases.
pub(super) const WEIGHTS: u32 = 7850;
/// Milliseconds of the tests' window and grace.
pub(super) const WINDOW: u64 = 10_000;
pub(super) const GRACE: u64 = 5_000;

pub(super) struct World {
    pub(super) config: ServerConfig,
    pub(super) keys: ServerKeys,
    pub(super) shuffler: SigningKey,
    outer: ShufflerSecretKeys,
    pub(super) clock: Arc<ManualClock>,
    _folder: tempfile::TempDir,
}

impl World {
    /// Five rounds of a hundred clients, with plenty of budget.
    pub(super) fn new() -> Self {
        Self::with("")
    }

    /// The same with other lines in the `[task]` part.
    pub(super) fn with(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shuffler = SigningKey::from_seed(&[5; 32]);
        let defaults = [
            ("clients", "100"),
            ("check_in_rate", "0.5"),
            ("rounds", "5"),
            ("delta", "1e-5"),
            ("budget", "50.0"),
            ("clip", "0.01"),
            ("model", "{ kind = 'linear' }"),
            ("randomizer", "{ name = 'r-inf', local_epsilon = 1.0 }"),
            ("step", "{ schedule = { kind = 'constant', rate = 0.5 } }"),
        ];
        let given = |name: &str| lines.lines().any(|line| line.trim_start().starts_with(name));
        let task: String = defaults
            .iter()
            .filter(|(name, _)| !given(name))
            .map(|(name, value)| format!("{name} = {value}\n"))
            .collect();
        let text = format!(
            "store = 'server.sqlite'\nkeys = 'keys'\nlisten = {{ address = '127.0.0.1:0' }}\n\
             data = {{ kind = 'digits', train = 1, test = 20 }}\n\
             round = {{ window_seconds = 10, grace_seconds = 5 }}\n\
             [task]\nname = 'test'\n\
             shuffler = {{ url = 'http://127.0.0.1:1', verifying_key = '{}' }}\n{task}{lines}",
            shuffler.verifying_key()
        );
        Self {
            config: ServerConfig::parse(&text, &folder.path().join("server.toml")).unwrap(),
            keys: ServerKeys::generate().unwrap(),
            shuffler,
            outer: ShufflerSecretKeys::generate().unwrap(),
            clock: Arc::new(ManualClock::at(1_000_000)),
            _folder: folder,
        }
    }

    pub(super) fn store_path(&self) -> &Path {
        &self.config.store
    }

    /// The same with a database in the place of the file.
    pub(super) fn on(mut self, url: DatabaseUrl) -> Self {
        self.config.database = Some(url);
        self
    }

    /// This world's store; the one before has to be gone, unless it is a database.
    pub(super) fn store(&self) -> Box<dyn Store> {
        store::open(&self.config).unwrap()
    }

    /// A server on this world's file; the one before has to be gone.
    pub(super) fn serve(&self) -> Arc<Service> {
        self.serve_on(self.store()).unwrap()
    }

    pub(super) fn serve_on(&self, store: Box<dyn Store>) -> Result<Arc<Service>> {
        self.serve_with(self.keys.clone(), store)
    }

    pub(super) fn serve_with(&self, keys: impl Into<KeyRing>, store: Box<dyn Store>) -> Result<Arc<Service>> {
        let plan = Plan::new(&self.config)?;
        let clock = Arc::clone(&self.clock) as Arc<dyn crate::Clock>;
        Service::new(plan, keys, self.config.round, store, clock).map(Arc::new)
    }

    /// Returns the round that the server publishes.
    pub(super) fn round(&self, service: &Service) -> RoundOffer {
        let bytes = service.published().round.clone().expect("a round was opened");
        Signed::<RoundOffer>::decode(&bytes).unwrap().verify(&self.keys.verifying_key()).unwrap()
    }

    /// Returns the part of a client's report that the shuffler stores.
    pub(super) fn inner(&self, payload: &[u8], round: &RoundOffer) -> Vec<u8> {
        self.inner_to(payload, round, 0)
    }

    /// The same, sealed to an older key of the server's.
    pub(super) fn inner_to(&self, payload: &[u8], round: &RoundOffer, key: usize) -> Vec<u8> {
        let mut rng = SystemRandom::from_operating_system().unwrap();
        let sealed =
            seal_report(payload, &round.context(), &round.server_keys[key], &self.outer.public_keys()[0], &mut rng)
                .unwrap();
        let (context, inner) = open_outer(&sealed, &self.outer).unwrap();
        assert_eq!(context, round.context());
        inner.into_bytes()
    }

    /// One record for each coordinate: who is counted twice or not at all shows in its weight.
    pub(super) fn records(&self, round: &RoundOffer, coordinates: impl IntoIterator<Item = u32>) -> Vec<Vec<u8>> {
        coordinates.into_iter().map(|index| self.inner(&frame(index), round)).collect()
    }

    /// A batch as the shuffler streams it.
    pub(super) fn batch(&self, id: BatchId, context: RoundContext, records: &[Vec<u8>]) -> Vec<u8> {
        batch_of(&self.shuffler, id, context, records)
    }
}

pub(super) fn batch_of(key: &SigningKey, batch: BatchId, context: RoundContext, records: &[Vec<u8>]) -> Vec<u8> {
    let record_len = records[0].len() as u32;
    let header = BatchHeader { batch, context, count: records.len() as u64, record_len };
    let mut bytes = Vec::new();
    let mut encoder = BatchEncoder::start(&header, key, &mut bytes).unwrap();
    for record in records {
        encoder.record(record, &mut bytes).unwrap();
    }
    encoder.finish(key, &mut bytes).unwrap();
    bytes
}

/// The report "coordinate `index`, with a plus".
pub(super) fn frame(index: u32) -> Vec<u8> {
    let mechanism = RInf::new(1.0, WEIGHTS, 0.01).unwrap();
    let mut frame = vec![0; mechanism.frame_len()];
    mechanism.encode(&SignedIndex { index, is_positive: true }, &mut frame);
    frame
}

pub(super) fn id(number: u8) -> BatchId {
    BatchId::from_bytes([number; 16])
}

/// An answer, read to its end.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(super) async fn ask(service: &Arc<Service>, request: Request<Body>) -> Reply {
    let response = router(Arc::clone(service)).oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    Reply { status, headers, body: response.into_body().collect().await.unwrap().to_bytes().to_vec() }
}

pub(super) async fn get(service: &Arc<Service>, path: &str) -> Reply {
    ask(service, Request::get(path).body(Body::empty()).unwrap()).await
}

pub(super) async fn put(service: &Arc<Service>, id: BatchId, bytes: impl Into<Body>) -> Reply {
    ask(service, Request::put(paths::batch(&id)).body(bytes.into()).unwrap()).await
}

/// The weights that the server publishes for the next round.
pub(super) fn weights(service: &Service) -> Vec<f32> {
    let published = service.published();
    let (_, bytes) = &published.models[0];
    load_weights(service.plan().model.architecture(), bytes, Path::new("model")).unwrap()
}
