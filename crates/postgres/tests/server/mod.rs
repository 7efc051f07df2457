//! A PostgreSQL of a test's own, on a socket in a temporary folder; other crates' tests include
//! this file.

#![allow(dead_code, unreachable_pub, missing_docs)] // Every test file uses its part of it.

use shuffledp_postgres::DatabaseUrl;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

pub struct Server {
    folder: TempDir,
    settings: Vec<&'static str>,
}

fn script(arguments: &[&str]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/postgres.sh");
    let output = Command::new(script).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || output.status.code() == Some(77), "{arguments:?}: {errors}");
    let words = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.code(), String::from_utf8(words).unwrap().trim().to_owned())
}

impl Server {
    /// `None` if PostgreSQL is not installed, and this is not continuous integration.
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// The same with settings, `name=value`.
    pub fn start_with(settings: &[&'static str]) -> Option<Self> {
        let server = Self { folder: TempDir::with_prefix("shuffledp-pg-").unwrap(), settings: settings.to_owned() };
        let (code, words) = script(&["check"]);
        if code == Some(77) {
            assert!(std::env::var("CI").is_err(), "{words}");
            println!("SKIPPED: {words}");
            return None;
        }
        server.restart();
        Some(server)
    }

    fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Starts it, again.
    pub fn restart(&self) {
        let mut arguments = vec!["start", self.folder()];
        arguments.extend(&self.settings);
        script(&arguments);
    }

    /// Ends it as a power cut does.
    pub fn kill(&self) {
        script(&["kill", self.folder()]);
    }

    /// Makes a database.
    pub fn database(&self, name: &str) -> DatabaseUrl {
        self.query("postgres", &format!("CREATE DATABASE {name}"));
        self.address(name).parse().unwrap()
    }

    /// The address of a database, as a configuration has it.
    pub fn address(&self, name: &str) -> String {
        format!("postgres://shuffledp@/{name}?host={}", self.folder())
    }

    pub fn query(&self, database: &str, sql: &str) -> String {
        script(&["query", self.folder(), database, sql]).1
    }

    /// Ends all connections of a database. How many there were.
    pub fn cut(&self, database: &str) -> u64 {
        let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        self.query(database, others).parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        script(&["stop", self.folder()]);
    }
}
