//! A shuffler that dies, for good and without warning: at every commit point, and killed from
//! outside. Afterwards another is started on the same folder, clients send again what was not
//! acknowledged, and the server must have every report exactly once, in one batch.
//!
//! This file is its own program: called with `shuffler` it is the process that dies.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use shuffledp_shuffler::{Clock, CommitPoint, Config, Environment, NoWitness, ServerConfig, Witness, start};
use shuffledp_transport::Shutdown;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::block_in_place;

const MINIMUM: u64 = 3;
const REPORTS: u64 = 6;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "shuffler") {
        runtime.block_on(shuffler(&arguments[1..]));
    } else {
        runtime.block_on(all());
    }
}

/// The time is what a file says: both processes see it.
struct FileClock(PathBuf);

impl Clock for FileClock {
    fn now(&self) -> u64 {
        std::fs::read_to_string(&self.0).unwrap().parse().unwrap()
    }
}

/// Ends the process at the n-th visit to a point.
struct DieAt(CommitPoint, AtomicUsize);

impl Witness for DieAt {
    fn reached(&self, point: CommitPoint) {
        if point == self.0 && self.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            // No destructor runs, nothing is flushed.
            std::process::abort();
        }
    }
}

/// The process that dies: does what its standard input says, line by line.
async fn shuffler(arguments: &[String]) {
    let [folder, url, key, point, visit] = arguments else { panic!("{arguments:?}") };
    let folder = Path::new(folder);
    let servers = vec![ServerConfig { url: url.clone(), key: key.parse().unwrap(), tasks: Vec::new() }];
    let witness: Arc<dyn Witness> = match CommitPoint::ALL.iter().find(|known| format!("{known:?}") == *point) {
        Some(point) => Arc::new(DieAt(*point, AtomicUsize::new(visit.parse().unwrap()))),
        None => Arc::new(NoWitness),
    };
    let clock = Arc::new(FileClock(folder.join("clock")));
    let environment = Environment { clock, witness, ticking: false, ..Environment::default() };
    let (_trigger, shutdown) = Shutdown::new();
    let running = start(Config::loopback(folder, MINIMUM, servers), environment, shutdown).await.unwrap();
    println!("{}", running.url());
    let mut lines = std::io::stdin().lines();
    while let Some(line) = block_in_place(|| lines.next()) {
        match line.unwrap().as_str() {
            "tick" => running.tick().await,
            "settle" => running.settle().await,
            other => panic!("{other}"),
        }
        println!("done");
    }
}

/// That process, seen from outside.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Process {
    fn start(world: &World, die_at: Option<(CommitPoint, usize)>) -> Self {
        let server = &world.config.servers[0];
        let (point, visit) = die_at.map_or((String::from("never"), 0), |(point, visit)| (format!("{point:?}"), visit));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg("shuffler")
            .arg(world.folder.path())
            .args([&server.url, &server.key.to_string(), &point, &visit.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = block_in_place(|| output.next()).expect("it starts").unwrap();
        Self { child, input, output, url }
    }

    /// `false` if it died of it, or was dead before.
    fn does(&mut self, what: &str) -> bool {
        // Others, such as the server, go on meanwhile.
        block_in_place(|| writeln!(self.input, "{what}").is_ok() && matches!(self.output.next(), Some(Ok(_))))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The outcome of a process that is killed, and of its restart.
struct Story {
    world: World,
    process: Process,
    /// Starts after the first.
    deaths: usize,
}

impl Story {
    async fn begin(die_at: Option<(CommitPoint, usize)>) -> Self {
        let world = World::new(MINIMUM).await;
        set_clock(&world, OPENS);
        world.server.show(&context(1, 1), OPENS, CLOSES);
        let process = Process::start(&world, die_at);
        Self { world, process, deaths: 0 }
    }

    /// Kills it, if it is not dead yet, and starts another that lives.
    fn start_again(&mut self) {
        let _ = self.process.child.kill();
        self.process.child.wait().unwrap();
        self.deaths += 1;
        self.process = Process::start(&self.world, None);
    }

    /// Does it, in this life or the next.
    fn does(&mut self, what: &str) {
        if !self.process.does(what) {
            self.start_again();
            assert!(self.process.does(what), "one death is enough");
        }
    }

    /// Sends the same bytes until they are acknowledged.
    async fn post(&mut self, report: &[u8]) {
        match common::post(&self.world.client, &self.process.url, report).await {
            Some(status) => assert_eq!(status, 202),
            None => {
                self.start_again();
                assert_eq!(common::post(&self.world.client, &self.process.url, report).await, Some(202));
            }
        }
    }

    async fn reports(&self) -> Vec<Vec<u8>> {
        let key = self.world.server.shuffler.lock().unwrap().unwrap();
        let keys = common::keys(&self.world.client, &self.process.url, &key).await;
        (0..REPORTS).map(|number| common::seal(&keys, &self.world.server, &context(1, 1), number)).collect()
    }

    /// The window closes, and the round comes to its end.
    fn close(&mut self) {
        set_clock(&self.world, CLOSES);
        self.does("tick");
        if !self.process.does("settle") {
            self.start_again();
            assert!(self.process.does("tick") && self.process.does("settle"));
        }
    }

    /// Every report once, in one batch, and nothing left behind.
    fn check(&self) {
        assert!(self.world.server.taken_numbers().into_iter().eq(0..REPORTS));
        assert_eq!(self.world.server.taken.lock().unwrap().len(), 1);
        let attempts = self.world.server.attempts.lock().unwrap();
        assert!(attempts.iter().all(|attempt| *attempt == attempts[0]), "one order");
        assert_eq!(self.world.stores(), 0);
    }
}

fn set_clock(world: &World, now: u64) {
    std::fs::write(world.folder.path().join("clock"), now.to_string()).unwrap();
}

const FOLDS: [CommitPoint; 2] = [CommitPoint::BeforeFold, CommitPoint::AfterFold];

/// Dies at the `visit`-th visit to a point. Reports are sent one after the other, so that there is
/// one visit per report; between them the log is folded, if that is the point.
async fn dies_at(point: CommitPoint, visit: usize) {
    let mut story = Story::begin(Some((point, visit))).await;
    story.does("tick");
    let reports = story.reports().await;
    for report in &reports {
        story.post(report).await;
        if FOLDS.contains(&point) {
            story.does("tick");
        }
    }
    story.close();
    story.check();
    assert_eq!(story.deaths, 1, "it has to die for the test to mean anything");
}

/// Killed while reports are under way, after the first few answers.
async fn is_killed_after(answers: usize) {
    let mut story = Story::begin(None).await;
    let reports = story.reports().await;
    let mut posts = tokio::task::JoinSet::new();
    for (number, report) in reports.iter().cloned().enumerate() {
        let (client, url) = (story.world.client.clone(), story.process.url.clone());
        posts.spawn(async move { (number, common::post(&client, &url, &report).await) });
    }
    let mut acknowledged = vec![false; reports.len()];
    for _ in 0..answers {
        let (number, status) = posts.join_next().await.unwrap().unwrap();
        assert_eq!(status, Some(202));
        acknowledged[number] = true;
    }
    story.start_again();
    for (number, status) in posts.join_all().await {
        acknowledged[number] = status == Some(202);
    }
    for (report, _) in reports.iter().zip(acknowledged).filter(|(_, acknowledged)| !acknowledged) {
        story.post(report).await;
    }
    story.close();
    story.check();
}

async fn all() {
    let mut passed = 0;
    let mut pass = |name: String| {
        passed += 1;
        println!("test {name} ... ok");
    };
    for point in CommitPoint::ALL {
        let visits = match point {
            CommitPoint::BeforeReports | CommitPoint::AfterReports => 3,
            // The first behind the intake's back, the last at the end.
            point if FOLDS.contains(&point) => 2,
            _ => 1,
        };
        for visit in 1..=visits {
            dies_at(point, visit).await;
            pass(format!("dies_at_{point:?}_{visit}"));
        }
    }
    for answers in 0..REPORTS as usize {
        is_killed_after(answers).await;
        pass(format!("is_killed_after_{answers}"));
    }
    // A failure has panicked before. In the words of the usual harness, for those who count.
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
