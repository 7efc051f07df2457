//! A server that dies, for good and without warning, before or after each of its commits.
//! Afterwards another is started on the same file, the shuffler sends again what was not
//! acknowledged, and everything is as if nothing had happened: the same weights, the same rounds,
//! the same ledger.
//!
//! This file is its own program: called with `server` it is the process that dies.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_learning::ledger::Ledger;
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{RInf, Randomizer};
use shuffledp_server::store::{
    BatchRecord, Beginning, Charges, Closing, FileStore, Opening, RoundSummary, Store, TaskRecord,
};
use shuffledp_server::{Clock, Parts, Result, ServerConfig, ServerKeys, start};
use shuffledp_transport::{ClientConfig, HttpClient, Shutdown, join};
use shuffledp_wire::{
    BatchEncoder, BatchHeader, BatchId, ModelHash, RoundContext, RoundOffer, ShufflerSecretKeys, Signed, SigningKey,
    SystemRandom, TaskHash, open_outer, paths, seal_report,
};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const WEIGHTS: u32 = 7850;
/// Rounds that the budget allows; the second gets no batch.
const ROUNDS: u64 = 3;
/// The task begins; every round is opened and closed.
const COMMITS: usize = 1 + 2 * ROUNDS as usize;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "server") {
        runtime.block_on(server(&arguments[1..]));
    } else {
        runtime.block_on(all());
    }
}

/// The time is what a file says: both processes see it.
struct FileClock(PathBuf);

impl Clock for FileClock {
    fn now(&self) -> u64 {
        // Empty for a moment while it is written.
        loop {
            if let Ok(now) = std::fs::read_to_string(&self.0).unwrap().parse() {
                return now;
            }
        }
    }
}

/// Ends the process before or after the commit of a number.
struct Mortal {
    inner: FileStore,
    commits: usize,
    dies_at: Option<(usize, bool)>,
}

impl Mortal {
    fn commit(&mut self, work: impl FnOnce(&mut FileStore) -> Result<()>) -> Result<()> {
        // No destructor runs, nothing is flushed.
        let die_if = |after| {
            if self.dies_at == Some((self.commits, after)) {
                std::process::abort()
            }
        };
        die_if(false);
        work(&mut self.inner)?;
        die_if(true);
        self.commits += 1;
        Ok(())
    }
}

impl Store for Mortal {
    fn ledger(&mut self) -> Result<Vec<(AccountedRound, u64)>> {
        self.inner.ledger()
    }
    fn task(&mut self, task: &TaskHash) -> Result<Option<TaskRecord>> {
        self.inner.task(task)
    }
    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<()> {
        self.commit(|inner| inner.begin(beginning))
    }
    fn open(&mut self, opening: &Opening, known: u64) -> Result<()> {
        self.commit(|inner| inner.open(opening, known))
    }
    fn extend(&mut self, context: &RoundContext, gives_up: u64) -> Result<()> {
        // Only a second start does this, and that one lives.
        self.inner.extend(context, gives_up)
    }
    fn charge(&mut self, charges: &[Charges]) -> Result<()> {
        self.commit(|inner| inner.charge(charges))
    }
    fn charges(&mut self) -> Result<Vec<Charges>> {
        self.inner.charges()
    }
    fn close(&mut self, closing: &Closing<'_>) -> Result<()> {
        self.commit(|inner| inner.close(closing))
    }
    fn batch(&mut self, id: &BatchId) -> Result<Option<BatchRecord>> {
        self.inner.batch(id)
    }
    fn model(&mut self, hash: &ModelHash) -> Result<Option<Vec<u8>>> {
        self.inner.model(hash)
    }
    fn models(&mut self) -> Result<HashSet<ModelHash>> {
        self.inner.models()
    }
    fn rounds(&mut self, task: &TaskHash) -> Result<Vec<RoundSummary>> {
        self.inner.rounds(task)
    }
}

/// The process that dies.
async fn server(arguments: &[String]) {
    let [folder, commit, after] = arguments else { panic!("{arguments:?}") };
    let folder = Path::new(folder);
    let config = ServerConfig::read(&folder.join("server.toml")).unwrap();
    let dies_at = commit.parse().ok().map(|commit| (commit, after == "after"));
    let store = Mortal { inner: FileStore::open(&config.store).unwrap(), commits: 0, dies_at };
    let parts = Parts::with(&config, ServerKeys::read(&config.keys).unwrap(), Box::new(store)).unwrap();
    let (_trigger, shutdown) = Shutdown::new();
    let running = start(parts, &config.listen, Arc::new(FileClock(folder.join("clock"))), shutdown).await.unwrap();
    println!("{} {}", running.url(), running.task());
    running.ended().await.unwrap();
}

/// That process, seen from outside.
struct Process {
    child: Child,
    url: String,
    task: TaskHash,
}

impl Process {
    /// Nothing if it dies before it listens.
    fn start(folder: &Path, dies_at: Option<(usize, bool)>) -> Option<Self> {
        let (commit, after) =
            dies_at.map_or(("never".to_owned(), false), |(commit, after)| (commit.to_string(), after));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("server")
            .arg(folder)
            .args([commit.as_str(), if after { "after" } else { "before" }])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines().next();
        let Some(Ok(line)) = said else {
            child.wait().unwrap();
            return None;
        };
        let (url, task) = line.split_once(' ').unwrap();
        Some(Self { child, url: url.to_owned(), task: task.parse().unwrap() })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server's folder, the shuffler that signs its batches, and what is not acknowledged yet.
struct World {
    folder: TempDir,
    keys: ServerKeys,
    shuffler: SigningKey,
    outer: ShufflerSecretKeys,
    client: HttpClient,
    waiting: Option<(BatchId, Vec<u8>)>,
    handled: u64,
}

/// The state at the end.
#[derive(Debug, PartialEq)]
struct Outcome {
    answer: String,
    rounds: serde_json::Value,
    privacy: serde_json::Value,
}

impl World {
    fn new(budget: f64) -> Self {
        let folder = TempDir::new().unwrap();
        let shuffler = SigningKey::from_seed(&[5; 32]);
        let keys = ServerKeys::create(&folder.path().join("keys")).unwrap();
        let text = config_text(budget, &shuffler);
        std::fs::write(folder.path().join("server.toml"), text).unwrap();
        std::fs::write(folder.path().join("clock"), "1000000").unwrap();
        Self {
            folder,
            keys,
            shuffler,
            outer: ShufflerSecretKeys::generate().unwrap(),
            client: HttpClient::new(&ClientConfig::default()).unwrap(),
            waiting: None,
            handled: 0,
        }
    }

    async fn get(&self, process: &Process, path: &str) -> Option<Vec<u8>> {
        let response = self.client.get(&join(&process.url, path)).unwrap().send().await.ok()?;
        // No round yet is as good as an empty one.
        Some(if response.status().is_success() { response.bytes().await.ok()?.to_vec() } else { Vec::new() })
    }

    async fn json(&self, process: &Process, path: &str) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.get(process, path).await?).ok()
    }

    /// The budget's rounds to their end, or nothing if the server dies on the way.
    async fn drive(&mut self, process: &Process) -> Option<Outcome> {
        loop {
            if let Some((id, bytes)) = &self.waiting {
                let url = join(&process.url, &paths::batch(id));
                let answer = self.client.put(&url).unwrap().body(bytes.clone()).send().await.ok()?;
                assert_eq!(answer.status().as_u16(), 200);
                self.waiting = None;
            }
            let status = self.json(process, "/v1/status").await?;
            if status["phase"] == "budget-spent" {
                let answer = status["answer"].as_str().unwrap().to_owned();
                let privacy = self.json(process, paths::PRIVACY).await?;
                return Some(Outcome { answer, rounds: status["rounds"].clone(), privacy });
            }
            let bytes = self.get(process, &paths::round(&process.task)).await?;
            // Nothing to decode: none is open yet.
            if let Ok(signed) = Signed::<RoundOffer>::decode(&bytes) {
                self.handle(&signed.verify(&self.keys.verifying_key()).unwrap());
            }
            if self.waiting.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Clients report to a round, once; in the second nobody does, and time passes.
    fn handle(&mut self, round: &RoundOffer) {
        assert!(round.round == self.handled || round.round == self.handled + 1, "rounds come one after the other");
        if round.round == 2 {
            // Again and again: the grace begins anew when a server starts.
            let clock = FileClock(self.folder.path().join("clock"));
            let then = clock.now().max(round.closes) + 5000;
            std::fs::write(&clock.0, then.to_string()).unwrap();
        } else if round.round > self.handled {
            let id = BatchId::from_bytes([round.round as u8; 16]);
            let first = 100 * round.round as u32;
            self.waiting = Some((id, self.batch(id, round, first..first + 70)));
        }
        self.handled = round.round;
    }

    fn batch(&self, batch: BatchId, round: &RoundOffer, coordinates: std::ops::Range<u32>) -> Vec<u8> {
        let mechanism = RInf::new(1.0, WEIGHTS, 0.01).unwrap();
        let mut rng = SystemRandom::from_operating_system().unwrap();
        let records: Vec<Vec<u8>> = coordinates
            .map(|index| {
                let mut frame = vec![0; mechanism.frame_len()];
                mechanism.encode(&SignedIndex { index, is_positive: true }, &mut frame);
                let outer = &self.outer.public_keys()[0];
                let sealed = seal_report(&frame, &round.context(), &round.server_keys[0], outer, &mut rng).unwrap();
                open_outer(&sealed, &self.outer).unwrap().1.into_bytes()
            })
            .collect();
        let record_len = records[0].len() as u32;
        let header = BatchHeader { batch, context: round.context(), count: records.len() as u64, record_len };
        let mut bytes = Vec::new();
        let mut encoder = BatchEncoder::start(&header, &self.shuffler, &mut bytes).unwrap();
        records.iter().for_each(|record| encoder.record(record, &mut bytes).unwrap());
        encoder.finish(&self.shuffler, &mut bytes).unwrap();
        bytes
    }
}

fn config_text(budget: f64, shuffler: &SigningKey) -> String {
    format!(
        "store = 'server.sqlite'\nkeys = 'keys'\nlisten = {{ address = '127.0.0.1:0' }}\n\
         data = {{ kind = 'digits', train = 1, test = 5 }}\nround = {{ window_seconds = 10, grace_seconds = 5 }}\n\
         [task]\nname = 'crash'\nclients = 100\ncheck_in_rate = 0.5\nrounds = 9\ndelta = 1e-5\nbudget = {budget:?}\nclip = 0.01\n\
         randomizer = {{ name = 'r-inf', local_epsilon = 1.0 }}\nmodel = {{ kind = 'linear' }}\n\
         step = {{ schedule = {{ kind = 'constant', rate = 0.5 }}, momentum = 0.5, average_from = 2 }}\n\
         shuffler = {{ url = 'http://127.0.0.1:1', verifying_key = '{}' }}\n",
        shuffler.verifying_key()
    )
}

/// A budget that so many rounds just fit into.
fn budget_of(rounds: u64) -> f64 {
    let config =
        ServerConfig::parse(&config_text(1.0, &SigningKey::from_seed(&[5; 32])), Path::new("server.toml")).unwrap();
    let task = config.task;
    let scheme =
        shuffledp_accounting::scheme::Scheme::check_in(task.clients, task.check_in_rate, task.drop_out).unwrap();
    // This one does not depend on the dimension.
    let randomizer = task.randomizer.of_dimension(1).unwrap();
    let mut ledger = Ledger::new(task.delta, None).unwrap();
    for _ in 0..rounds {
        assert!(ledger.charge(AccountedRound { scheme, randomizer }).unwrap());
    }
    ledger.epsilon().unwrap()
}

/// One life, or two.
async fn live(budget: f64, dies_at: Option<(usize, bool)>) -> Outcome {
    let mut world = World::new(budget);
    let mut deaths = 0;
    let mut dies_at = dies_at;
    let expected = usize::from(dies_at.is_some());
    loop {
        if let Some(process) = Process::start(world.folder.path(), dies_at)
            && let Some(outcome) = world.drive(&process).await
        {
            assert_eq!(deaths, expected, "it has to die for the test to mean anything");
            return outcome;
        }
        deaths += 1;
        assert!(deaths <= expected, "one death is enough");
        dies_at = None;
    }
}

async fn all() {
    let budget = budget_of(ROUNDS);
    let undisturbed = live(budget, None).await;
    let ended: Vec<_> =
        undisturbed.rounds.as_array().unwrap().iter().map(|round| round["status"].as_str().unwrap()).collect();
    assert_eq!(ended, ["done", "expired", "done"]);
    assert_eq!(undisturbed.privacy["rounds"], ROUNDS);
    assert!(undisturbed.privacy["epsilon"].as_f64().unwrap() <= budget);
    let mut passed = 0;
    for commit in 0..COMMITS {
        for after in [false, true] {
            assert_eq!(live(budget, Some((commit, after))).await, undisturbed, "commit {commit}, after: {after}");
            passed += 1;
            println!("test dies_{}_commit_{commit} ... ok", if after { "after" } else { "before" });
        }
    }
    // A failure has panicked before. In the words of the usual harness, for those who count.
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
