//! Three shufflers and their PostgreSQL, killed at random while clients report: every acknowledged
//! report is in the batch of its round, once, and there is one batch.
//!
//! Runs for some seconds, or for CHAOS_MINUTES; CHAOS_SEED draws other faults; CHAOS_RESULTS names
//! a file for the figures. This file is its own program: called with `shuffler` it is a replica.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;
#[path = "../../postgres/tests/server/mod.rs"]
mod server;

use common::{World, context};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use server::Server;
use shuffledp_shuffler::{Clock, Config, Environment, ServerConfig, SystemClock, start};
use shuffledp_transport::Shutdown;
use shuffledp_wire::ShufflerKeys;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::{JoinSet, block_in_place};

const REPLICAS: usize = 3;
const CLIENTS: u64 = 6;
const MINIMUM: u64 = 3;
/// Milliseconds of a window.
const WINDOW: u64 = 3000;
/// Without CHAOS_MINUTES.
const SHORT: Duration = Duration::from_secs(20);
/// Until the last batches must have come: leases of the dead run out first.
const PATIENCE: Duration = Duration::from_secs(180);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "shuffler") {
        runtime.block_on(shuffler(&arguments[1..]));
        return;
    }
    let Some(database) = Server::start() else {
        println!("\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        return;
    };
    runtime.block_on(chaos(database));
    println!("test three_replicas_and_their_database_are_killed ... ok");
    println!("\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}

/// A replica, until it is killed or its input ends.
async fn shuffler(arguments: &[String]) {
    let [folder, url, key, store] = arguments else { panic!("{arguments:?}") };
    let servers = vec![ServerConfig { url: url.clone(), key: key.parse().unwrap(), tasks: Vec::new() }];
    let mut config = Config::loopback(Path::new(folder), MINIMUM, servers);
    config.store = Some(store.parse().unwrap());
    config.poll_seconds = 0.2;
    let (trigger, shutdown) = Shutdown::new();
    let running = loop {
        // The database may be down at this moment.
        match start(config.clone(), Environment::default(), shutdown.clone()).await {
            Ok(running) => break running,
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    };
    println!("{}", running.url());
    block_in_place(|| std::io::stdin().lines().for_each(drop));
    trigger.stop();
    running.ended().await.unwrap();
}

/// The shared state of the test.
struct Stage {
    world: World,
    store: String,
    replicas: Mutex<Vec<Option<(Child, String)>>>,
    /// The round that reports are for, and when its window closes.
    round: Mutex<(u64, u64)>,
    acknowledged: Mutex<BTreeMap<u64, BTreeSet<u64>>>,
    next: AtomicU64,
    over: AtomicBool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Faults {
    replicas: u64,
    databases: u64,
    cuts: u64,
}

impl Stage {
    fn spawn(&self) -> (Child, String) {
        let server = &self.world.config.servers[0];
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("shuffler")
            .arg(self.world.folder.path())
            .args([&server.url, &server.key.to_string(), &self.store])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = BufReader::new(child.stdout.take().unwrap()).lines().next().expect("it starts").unwrap();
        (child, url)
    }

    fn urls(&self) -> Vec<String> {
        self.replicas.lock().unwrap().iter().flatten().map(|(_, url)| url.clone()).collect()
    }

    /// Kills a replica, and starts it again a moment later.
    fn kill(&self, place: usize, pause: Duration) {
        let killed = self.replicas.lock().unwrap()[place].take();
        if let Some((mut child, _)) = killed {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        std::thread::sleep(pause);
        let spawned = self.spawn();
        self.replicas.lock().unwrap()[place] = Some(spawned);
    }

    /// A client: reports without end, each sent to one replica after another until it is taken or
    /// its round is over, and some once more.
    async fn report(&self, keys: &ShufflerKeys, mut rng: ChaCha8Rng) {
        while !self.over.load(Ordering::SeqCst) {
            let (round, closes) = *self.round.lock().unwrap();
            if SystemClock.now() + 50 >= closes {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            let report = common::seal(keys, &self.world.server, &context(1, round), number);
            let mut copies = if rng.random_range(0..4) == 0 { 2 } else { 1 };
            while copies > 0 && SystemClock.now() < closes + 2000 {
                let urls = self.urls();
                if urls.is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
                let url = &urls[rng.random_range(0..urls.len())];
                match common::post(&self.world.client, url, &report).await {
                    Some(202) => {
                        self.acknowledged.lock().unwrap().entry(round).or_default().insert(number);
                        copies -= 1;
                    }
                    Some(410) => break,
                    _ => tokio::time::sleep(Duration::from_millis(rng.random_range(5..50))).await,
                }
            }
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..30))).await;
        }
    }

    /// Returns the problems of the batches that came, in words.
    fn violations(&self) -> Vec<String> {
        let (server, mut found) = (&self.world.server, Vec::new());
        let attempts = server.attempts.lock().unwrap();
        let mut batches: BTreeMap<u64, &common::Received> = BTreeMap::new();
        for attempt in attempts.iter() {
            let round = attempt.header.context.round;
            if *batches.entry(round).or_insert(attempt) != attempt {
                found.push(format!("round {round} has two batches, or one in two orders"));
            }
        }
        for (round, acknowledged) in self.acknowledged.lock().unwrap().iter() {
            let numbers = batches.get(round).map(|batch| server.numbers(batch)).unwrap_or_default();
            let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
            if distinct.len() < numbers.len() {
                found.push(format!("round {round}: a report came twice"));
            }
            // Without a batch, too few may have been heard.
            if batches.contains_key(round) || acknowledged.len() as u64 >= MINIMUM {
                let lost = acknowledged.difference(&distinct).count();
                if lost > 0 {
                    found.push(format!("round {round}: {lost} acknowledged reports are lost"));
                }
            }
            if batches.contains_key(round) && (numbers.len() as u64) < MINIMUM {
                found.push(format!("round {round}: {} reports are below the minimum", numbers.len()));
            }
        }
        found
    }

    /// Rounds with enough acknowledged reports whose batch has not come.
    fn missing(&self) -> usize {
        let attempts = self.world.server.attempts.lock().unwrap();
        let came: BTreeSet<u64> = attempts.iter().map(|attempt| attempt.header.context.round).collect();
        let acknowledged = self.acknowledged.lock().unwrap();
        let due = acknowledged.iter().filter(|(_, numbers)| numbers.len() as u64 >= MINIMUM);
        due.filter(|(round, _)| !came.contains(round)).count()
    }
}

/// One fault after another, until it is over.
fn torment(stage: &Stage, database: &Server, mut rng: ChaCha8Rng) -> Faults {
    let mut faults = Faults::default();
    while !stage.over.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(rng.random_range(200..2500)));
        let pause = Duration::from_millis(rng.random_range(0..800));
        match rng.random_range(0..100) {
            0..65 => {
                stage.kill(rng.random_range(0..REPLICAS), pause);
                faults.replicas += 1;
            }
            65..85 => {
                database.cut("chaos");
                faults.cuts += 1;
            }
            _ => {
                database.kill();
                std::thread::sleep(pause);
                database.restart();
                faults.databases += 1;
            }
        }
    }
    faults
}

async fn chaos(database: Server) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let time = number("CHAOS_MINUTES").map_or(SHORT, |minutes| Duration::from_secs(60 * minutes));
    let seed = number("CHAOS_SEED").unwrap_or(1);
    let world = World::new(MINIMUM).await;
    database.database("chaos");
    let stage = Arc::new(Stage {
        world,
        store: database.address("chaos"),
        replicas: Mutex::default(),
        round: Mutex::new((0, 0)),
        acknowledged: Mutex::default(),
        next: AtomicU64::new(0),
        over: AtomicBool::new(false),
    });
    let replicas = block_in_place(|| (0..REPLICAS).map(|_| Some(stage.spawn())).collect::<Vec<_>>());
    *stage.replicas.lock().unwrap() = replicas;
    let shuffler = stage.world.server.shuffler.lock().unwrap().unwrap();
    let keys = Arc::new(common::keys(&stage.world.client, &stage.urls()[0], &shuffler).await);
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (stage, keys, rng) =
            (Arc::clone(&stage), Arc::clone(&keys), ChaCha8Rng::seed_from_u64(seed * 1000 + client));
        clients.spawn(async move { stage.report(&keys, rng).await });
    }
    let tormentor = {
        let (stage, rng) = (Arc::clone(&stage), ChaCha8Rng::seed_from_u64(seed * 1000 + 999));
        tokio::task::spawn_blocking(move || (torment(&stage, &database, rng), database))
    };
    let began = Instant::now();
    let mut rounds = 0;
    while began.elapsed() < time {
        rounds += 1;
        let now = SystemClock.now();
        stage.world.server.show(&context(1, rounds), now.saturating_sub(1000), now + WINDOW);
        *stage.round.lock().unwrap() = (rounds, now + WINDOW);
        tokio::time::sleep(Duration::from_millis(WINDOW + 1000)).await;
    }
    stage.over.store(true, Ordering::SeqCst);
    while clients.join_next().await.is_some() {}
    let (faults, _database) = tormentor.await.unwrap();
    let patience = Instant::now();
    while stage.missing() > 0 && patience.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let violations = stage.violations();
    let acknowledged: usize = stage.acknowledged.lock().unwrap().values().map(BTreeSet::len).sum();
    let batches = stage.world.server.taken.lock().unwrap().len();
    let kills = faults.replicas + faults.databases;
    println!(
        "{:.0} s, {rounds} rounds, {batches} batches, {acknowledged} acknowledged reports; {kills} kills ({} of replicas, {} of PostgreSQL), \
         connections cut {} times; {} violations",
        began.elapsed().as_secs_f64(),
        faults.replicas,
        faults.databases,
        faults.cuts,
        violations.len()
    );
    if let Ok(path) = std::env::var("CHAOS_RESULTS") {
        let figures = serde_json::json!({
            "seconds": time.as_secs(), "seed": seed, "replicas": REPLICAS, "rounds": rounds, "batches": batches,
            "acknowledged_reports": acknowledged, "kills": kills, "replicas_killed": faults.replicas,
            "databases_killed": faults.databases, "connections_cut": faults.cuts, "violations": violations.len(),
        });
        std::fs::write(path, serde_json::to_string_pretty(&figures).unwrap() + "\n").unwrap();
    }
    for (mut child, _) in stage.replicas.lock().unwrap().drain(..).flatten() {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(batches > 0 && acknowledged > 0 && kills > 0, "the test saw nothing");
}
