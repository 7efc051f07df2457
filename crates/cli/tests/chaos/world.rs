//! One server, one shuffler, both real programs, and what everybody in these tests knows about
//! them.

use super::faults::Weather;
use super::figures::Figures;
use super::http::{Request, get};
use super::program::Program;
use super::task::{server_toml, shuffler_toml};
use super::troubles::{Disk, faketime};
use super::watch::Watch;
use shuffledp_wire::{RoundContext, RoundOffer, Signed, TaskHash, VerifyingKey, paths};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Whatever should happen has happened by then, however busy the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// The process to kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Victim {
    Shuffler,
    Server,
    Both,
}

/// A request that the network kept, to replay it later.
#[derive(Default)]
pub(crate) struct Kept {
    /// Rounds and sealed reports.
    pub(crate) reports: Vec<(u64, Vec<u8>)>,
    /// Contexts and whole batches.
    pub(crate) batches: Vec<(RoundContext, Request)>,
    /// Answers to "which round is open?".
    pub(crate) rounds: Vec<Vec<u8>>,
}

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) min_batch: u64,
    /// Rounds that the budget allows, and the budget.
    pub(crate) affordable: u64,
    pub(crate) budget: f64,
    pub(crate) shuffler: Arc<Program>,
    pub(crate) server: Arc<Program>,
    pub(crate) shuffler_key: VerifyingKey,
    pub(crate) server_key: VerifyingKey,
    /// Where clients send reports, and where the shuffler finds the server.
    pub(crate) doors: [SocketAddr; 2],
    task: OnceLock<TaskHash>,
    pub(crate) figures: Arc<Figures>,
    pub(crate) watch: Mutex<Watch>,
    /// Every round that was ever visible, as it was first seen.
    pub(crate) rounds: Mutex<BTreeMap<u64, RoundOffer>>,
    /// Different reports that clients have begun to send in time, by round.
    pub(crate) sent: Mutex<BTreeMap<u64, u64>>,
    pub(crate) weather: Mutex<Weather>,
    pub(crate) kept: Mutex<Kept>,
    /// Held by whoever starts programs.
    starting: Mutex<()>,
    /// How long a program took to start, about: on a busy machine everything takes longer, and
    /// windows are longer too.
    pace: Mutex<Duration>,
    over: AtomicBool,
    began: Instant,
    story: Mutex<Vec<String>>,
    violations: Mutex<BTreeSet<String>>,
    folder: Mutex<TempDir>,
    /// The server's own file system, where this machine allows it.
    pub(crate) disk: Option<Disk>,
    /// The file that says by how much the server's clock is wrong.
    pub(crate) server_time: Option<PathBuf>,
}

impl World {
    /// Keys and configurations; nothing runs yet.
    pub(crate) fn new(
        seed: u64,
        min_batch: u64,
        rounds: u64,
        doors: [SocketAddr; 2],
        troubles: bool,
        figures: Arc<Figures>,
    ) -> Arc<Self> {
        let folder = TempDir::new().unwrap();
        let [shuffler, server] = ["shuffler", "server"].map(|name| folder.path().join(name));
        let disk = if troubles { Disk::mount(&server) } else { None };
        let library = if troubles { faketime() } else { None };
        let server_time = library.as_ref().map(|_| folder.path().join("server-time"));
        let mut variables = Vec::new();
        if let (Some(library), Some(file)) = (&library, &server_time) {
            std::fs::write(file, "+0").unwrap();
            variables = vec![
                ("LD_PRELOAD", library.clone()),
                ("FAKETIME_TIMESTAMP_FILE", file.clone()),
                ("FAKETIME_NO_CACHE", "1".into()),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
                ("FAKETIME_DISABLE_SHM", "1".into()),
            ];
        }
        let key = |name, folder: &PathBuf| -> VerifyingKey {
            Program::run(name, &["init", folder.to_str().unwrap()]).parse().unwrap()
        };
        let began = Instant::now();
        let (shuffler_key, server_key) = (key("shuffler", &shuffler), key("server", &server));
        let world = Self {
            seed,
            min_batch,
            affordable: rounds,
            budget: super::task::budget_of(rounds),
            shuffler: Program::new("shuffler", shuffler.join("shuffler.toml")),
            server: Program::with_environment("server", server.join("server.toml"), variables),
            shuffler_key,
            server_key,
            doors,
            task: OnceLock::new(),
            figures,
            watch: Mutex::new(Watch::new(shuffler_key, min_batch)),
            rounds: Mutex::default(),
            sent: Mutex::default(),
            weather: Mutex::new(Weather::calm(seed)),
            kept: Mutex::default(),
            starting: Mutex::default(),
            pace: Mutex::new(began.elapsed()),
            over: AtomicBool::new(false),
            began: Instant::now(),
            story: Mutex::default(),
            violations: Mutex::default(),
            folder: Mutex::new(folder),
            disk,
            server_time,
        };
        std::fs::write(world.shuffler.config(), shuffler_toml(min_batch, doors[1], &server_key)).unwrap();
        Arc::new(world)
    }

    /// Starts what is not running. One at a time, so that nobody starts with a configuration that
    /// another is just writing.
    pub(crate) fn start(&self) {
        let _alone = self.starting.lock().unwrap();
        let window = Duration::from_millis(1500) + 5 * *self.pace.lock().unwrap();
        let text = server_toml(self.budget, window, self.doors[0], &self.shuffler_key);
        std::fs::write(self.server.config(), text).unwrap();
        for program in [&self.server, &self.shuffler] {
            match program.start() {
                Ok(took) => {
                    let pace = &mut *self.pace.lock().unwrap();
                    *pace = took.max(*pace * 3 / 4);
                }
                Err(problem) => self.violation(&problem),
            }
        }
    }

    /// Does something while no program is started by anybody else.
    pub(crate) fn while_nobody_starts(&self, work: impl FnOnce()) {
        let _alone = self.starting.lock().unwrap();
        work();
    }

    /// The task's hash, as soon as the server runs.
    pub(crate) fn task(&self) -> TaskHash {
        *self.task.get_or_init(|| {
            let status = self.status().expect("a server that has started has a status");
            status["task"].as_str().unwrap().parse().unwrap()
        })
    }

    /// Asks the server, without a proxy, until it answers; nothing if it does not in time.
    pub(crate) fn ask_server(&self, path: &str) -> Option<Vec<u8>> {
        self.until(|| self.server.ask(|server| get(server, path)))
    }

    pub(crate) fn status(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.ask_server("/v1/status")?).ok()
    }

    /// The round that the server shows at this moment, if it answers and shows one.
    pub(crate) fn shown_round(&self) -> Option<RoundOffer> {
        let path = paths::round(&self.task());
        let bytes = self.server.ask(|server| get(server, &path))?;
        Some(Signed::<RoundOffer>::decode(&bytes).unwrap().verify(&self.server_key).unwrap())
    }

    /// Tries until it works, or until all patience is spent.
    pub(crate) fn until<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(found) = attempt() {
                return Some(found);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// The shuffler's file of a round: named by SHA-256 of the context, as a model is by that of
    /// its bytes.
    pub(crate) fn is_stored(&self, context: &RoundContext) -> bool {
        let name = shuffledp_wire::ModelHash::of(&context.to_bytes()).to_string();
        self.shuffler.config().with_file_name("data").join(name).with_extension("round").exists()
    }

    /// Kills, and starts again a little later.
    pub(crate) fn strike(self: &Arc<Self>, victim: Victim, downtime: Duration) {
        let shuffler = victim != Victim::Server && self.shuffler.kill();
        let server = victim != Victim::Shuffler && self.server.kill();
        if shuffler && server {
            self.figures.one("kills_both");
        }
        self.tell(format!("kill -9: {victim:?}, down for {} ms", downtime.as_millis()));
        let world = Arc::clone(self);
        std::thread::spawn(move || {
            std::thread::sleep(downtime);
            world.start();
        });
    }

    /// Something happened.
    pub(crate) fn tell(&self, what: String) {
        let line = format!("{:>7.3} s  {what}", self.began.elapsed().as_secs_f64());
        if std::env::var_os("CHAOS_TELL").is_some() {
            eprintln!("world {}: {line}", self.seed);
        }
        self.story.lock().unwrap().push(line);
    }

    /// Something happened that must not. Told once, and then this world is not worth going on with.
    pub(crate) fn violation(&self, what: &str) {
        if !self.violations.lock().unwrap().insert(what.to_owned()) {
            return;
        }
        self.tell(format!("VIOLATION: {what}"));
        let mut folder = self.folder.lock().unwrap();
        folder.disable_cleanup(true);
        let story = self.story.lock().unwrap();
        let story = story[story.len().saturating_sub(120)..].join("\n");
        self.figures.violation(format!(
            "\nviolation in the world of seed {}: {what}\n{story}\nthe shuffler:\n{}\nthe server:\n{}\nits files: {}\n\
             again: CHAOS_SEED={} CHAOS_WORLDS=1 CHAOS_ROUNDS_OF_A_WORLD={} make chaos\n",
            self.seed,
            self.shuffler.last_lines(25),
            self.server.last_lines(25),
            folder.path().display(),
            self.seed,
            self.affordable,
        ));
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.violations.lock().unwrap().is_empty()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Kills both for good, and counts how often that happened before.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        for (program, name) in [(&self.shuffler, "kills_shuffler"), (&self.server, "kills_server")] {
            self.figures.add(name, program.kills());
            if program.has_ended() || program.has_panicked() {
                self.violation("a program ended by itself, or panicked");
            }
            program.end();
        }
        // Here, and not when the last thread lets go of the world: that may be after the tests.
        if self.is_sound() {
            if let Some(disk) = &self.disk {
                disk.unmount();
            }
            let _ = std::fs::remove_dir_all(self.folder.lock().unwrap().path());
        }
    }
}

/// Milliseconds since 1970, as everybody on this machine counts them.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}
