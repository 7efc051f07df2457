//! The shuffler as a program: what it logs, at which level, and about whom never; SIGHUP; the
//! check.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far above the usual time, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(120);

fn shuffledp() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shuffledp"))
}

/// Files of a shuffler whose server is not there. Returns the server's address.
fn without_a_server(folder: &Path) -> String {
    let made = shuffledp().args(["shuffler", "init"]).arg(folder).output().unwrap();
    assert!(made.status.success());
    let key = String::from_utf8(made.stdout).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let path = folder.join("shuffler.toml");
    let config = fs::read_to_string(&path)
        .unwrap()
        .replace("127.0.0.1:8440", &free.to_string())
        .replace("127.0.0.1:8441", "127.0.0.1:0")
        .replace("127.0.0.1:8451", "127.0.0.1:0")
        // Any key will do where nobody answers.
        .replace("PASTE-THE-SERVERS-VERIFYING-KEY", key.trim());
    fs::write(&path, config).unwrap();
    format!("http://{free}")
}

/// Waits for a line of the log that has all of these words.
fn line(log: &Receiver<String>, seen: &mut Vec<String>, words: &[&str]) -> String {
    loop {
        let line = log.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("no line with {words:?} in {seen:#?}"));
        seen.push(line.clone());
        if words.iter().all(|word| line.contains(word)) {
            return line;
        }
    }
}

#[test]
fn a_check_names_what_to_mend_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = without_a_server(folder.path());
    let check = || {
        let mut check = shuffledp();
        check.args(["shuffler", "check", "--config"]).arg(folder.path().join("shuffler.toml"));
        check
    };
    let checked = check().output().unwrap();
    let text = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("mend    server {server}: ")) && text.contains("mend `url`"), "{text}");
    assert!(text.contains("ok      signing_key\n"), "{text}");
    let checked = check().arg("--json").output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["findings"].as_array().unwrap().iter().filter(|found| found.get("problem").is_some()).count(), 1);
    assert!(!folder.path().join("data").exists());
}

#[test]
fn no_log_has_the_address_of_a_client_and_sighup_reads_the_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = without_a_server(folder.path());
    let path = folder.path().join("shuffler.toml");
    let mut child = shuffledp()
        .args(["shuffler", "--log-format", "json", "--log-level", "debug", "--config"])
        .arg(&path)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, log) = channel();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut seen = Vec::new();

    let listens: serde_json::Value =
        serde_json::from_str(&line(&log, &mut seen, &["the shuffler listens"])).expect("one JSON object a line");
    let address = listens["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let mut ports = Vec::new();
    for request in ["GET /v1/keys", "POST /v1/reports", "GET /nowhere", "nonsense"] {
        let mut stream = TcpStream::connect(&address).unwrap();
        ports.push(stream.local_addr().unwrap().port());
        let head = format!("{request} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc");
        stream.write_all(head.as_bytes()).unwrap();
        // Whatever it answers, be it a reset.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let warning = line(&log, &mut seen, &["WARN", "no round can be learned", "mend `url`"]);
    assert!(warning.contains(&server), "{warning}");

    // What cannot change is refused as a whole, and said; the process goes on.
    let config = fs::read_to_string(&path).unwrap();
    fs::write(&path, config.replace("min_batch = 1000", "min_batch = 1001")).unwrap();
    let hang_up = || assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    hang_up();
    line(&log, &mut seen, &["ERROR", "`min_batch`", "restart"]);
    fs::write(&path, config.replace("# max_rounds = 64", "max_rounds = 65")).unwrap();
    hang_up();
    line(&log, &mut seen, &["INFO", "the configuration was read again"]);
    assert!(TcpStream::connect(&address).is_ok());

    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    seen.extend(log.iter());
    for line in &seen {
        for port in &ports {
            assert!(!line.contains(&format!(":{port}")), "{line}");
        }
    }
}
