//! A real program, started and killed. It listens wherever the system lets it; proxies know where.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// A program that has not said where it listens by then never will.
const STARTING: Duration = Duration::from_secs(120);
/// Lines of its log that are kept.
const LINES: usize = 400;

#[derive(Default)]
struct State {
    child: Option<Child>,
    /// The world ends: nothing is started any more.
    over: bool,
}

/// `shuffledp shuffler` or `shuffledp server`.
pub(crate) struct Program {
    name: &'static str,
    config: PathBuf,
    /// Variables of its environment.
    variables: Vec<(&'static str, PathBuf)>,
    state: Mutex<State>,
    /// Apart from the rest: whoever knocks while it starts finds the door closed and does not wait.
    address: Mutex<Option<SocketAddr>>,
    log: Arc<Mutex<Vec<String>>>,
    kills: AtomicU64,
}

impl Program {
    pub(crate) fn new(name: &'static str, config: PathBuf) -> Arc<Self> {
        Self::with_environment(name, config, Vec::new())
    }

    pub(crate) fn with_environment(
        name: &'static str,
        config: PathBuf,
        variables: Vec<(&'static str, PathBuf)>,
    ) -> Arc<Self> {
        let (state, address, log) = (Mutex::default(), Mutex::default(), Arc::default());
        Arc::new(Self { name, config, variables, state, address, log, kills: AtomicU64::new(0) })
    }

    /// `shuffledp NAME ARGUMENTS…` to its end; what it printed.
    pub(crate) fn run(name: &str, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_shuffledp")).arg(name).args(arguments).output().unwrap();
        assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn rotate_key(&self) {
        Self::run(self.name, &["rotate-key", "--config", path(&self.config)]);
    }

    /// Asks it for something, as its operator does. Whether it was done.
    pub(crate) fn try_command(&self, arguments: &[&str]) -> bool {
        let config = path(&self.config);
        let mut command = Command::new(env!("CARGO_BIN_EXE_shuffledp"));
        command.arg(self.name).args(arguments).args(["--config", config]);
        command.output().unwrap().status.success()
    }

    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// Where it listens, if it does.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap()
    }

    /// Starts it, if it is not running, and waits until it listens. How long that took.
    pub(crate) fn start(&self) -> Result<Duration, String> {
        let mut state = self.state.lock().unwrap();
        let began = Instant::now();
        if state.over || state.child.is_some() {
            return Ok(Duration::ZERO);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_shuffledp"))
            .arg(self.name)
            .args(["--config", path(&self.config)])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (found, address) = mpsc::channel();
        let log = Arc::clone(&self.log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(address) = listening(&line) {
                    let _ = found.send(address);
                }
                let mut log = log.lock().unwrap();
                log.push(line);
                let excess = log.len().saturating_sub(LINES);
                log.drain(..excess);
            }
        });
        match address.recv_timeout(STARTING) {
            Ok(address) => {
                state.child = Some(child);
                *self.address.lock().unwrap() = Some(address);
                Ok(began.elapsed())
            }
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("the {} does not start; its log ends in\n{}", self.name, self.last_lines(20)))
            }
        }
    }

    /// Ends it without a warning (SIGKILL), if it is running; whether it was.
    pub(crate) fn kill(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        *self.address.lock().unwrap() = None;
        let Some(mut child) = state.child.take() else { return false };
        self.kills.fetch_add(1, Ordering::SeqCst);
        child.kill().unwrap();
        child.wait().unwrap();
        true
    }

    /// Asks it something. Nothing if it was killed meanwhile: its port may be another program's by
    /// then.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(SocketAddr) -> Option<T>) -> Option<T> {
        let kills = self.kills();
        ask(self.address()?).filter(|_| self.kills() == kills)
    }

    /// How often it was killed.
    pub(crate) fn kills(&self) -> u64 {
        self.kills.load(Ordering::SeqCst)
    }

    /// Whether it ended by itself, which neither program does.
    pub(crate) fn has_ended(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains("panicked at"))
    }

    pub(crate) fn last_lines(&self, count: usize) -> String {
        let log = self.log.lock().unwrap();
        log[log.len().saturating_sub(count)..].join("\n")
    }

    /// Kills it for good.
    pub(crate) fn end(&self) {
        self.state.lock().unwrap().over = true;
        self.kill();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The address in the line that says where a program listens.
fn listening(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("url=")?;
    let address = url.trim_start_matches('"').strip_prefix("http://")?;
    address.split([' ', '/', '"']).next()?.parse().ok()
}
