//! Runs the program as a user does.
#![allow(dead_code)] // Each test file uses its part.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing that a test asks may take longer: what does is called a hang. Far above the slowest
/// answer (well below a second), for the sake of a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The result of running the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The single JSON object on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// Holds for every run, whatever was asked: a known exit code, no panic, data only where it
    /// belongs.
    pub(crate) fn assert_decent(&self, what: &str) {
        assert!(matches!(self.code, Some(0..=2)), "{what}: {self:?}");
        for stream in [&self.stdout, &self.stderr] {
            assert!(!stream.contains("panicked"), "{what}: {self:?}");
        }
        assert_eq!(
            self.code == Some(0),
            !self.stdout.is_empty(),
            "{what}: data without success or the reverse: {self:?}"
        );
        assert_eq!(self.code == Some(0), !self.stderr.contains("error:"), "{what}: {self:?}");
        assert!(!self.stdout.contains("NaN") && !self.stdout.contains(":null"), "{what}: {self:?}");
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shuffledp"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program with these arguments in this folder.
pub(crate) fn run_in<S: AsRef<str>>(folder: &Path, args: &[S]) -> Run {
    let mut command = program();
    command.current_dir(folder).args(args.iter().map(|arg| arg.as_ref()));
    finish(command.spawn().unwrap())
}

/// Runs the program with these arguments; not for commands that write files.
pub(crate) fn run<S: AsRef<str>>(args: &[S]) -> Run {
    run_in(Path::new("."), args)
}

/// Runs a command line whose arguments hold no spaces.
pub(crate) fn run_line(line: &str) -> Run {
    run(&line.split_whitespace().collect::<Vec<_>>())
}

/// Waits for the end, and kills what does not come to one.
pub(crate) fn finish(mut child: Child) -> Run {
    let out = child.stdout.take().map(|stream| thread::spawn(|| read(stream)));
    let err = child.stderr.take().map(|stream| thread::spawn(|| read(stream)));
    let started = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("hangs");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text =
        |reader: Option<thread::JoinHandle<String>>| reader.map_or(String::new(), |reader| reader.join().unwrap());
    Run { code, stdout: text(out), stderr: text(err) }
}

fn read(mut stream: impl Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The headline question.
pub(crate) const HEADLINE: &str = "epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 1e-8";
