//! A training run that is killed, for real, and taken up again.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const CONFIG: &str = "\
name = 'killed'
seed = 3
rounds = 60
delta = 1e-5
evaluate_every = 3
[data]
kind = 'digits'
train = 400
test = 100
[model]
kind = 'linear'
[algorithm]
kind = 'cldp-sgd'
sampled = 100
clip = 0.01
randomizer = { name = 'r-inf', local_epsilon = 2 }
[step]
average_from = 10
[step.schedule]
kind = 'constant'
rate = 0.1
";

fn train(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shuffledp"));
    command.arg("train").args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn lines(folder: &Path) -> usize {
    fs::read(folder.join("metrics.jsonl")).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
}

/// Metrics without their times.
fn metrics(folder: &Path) -> Vec<serde_json::Value> {
    let timeless = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["seconds"].take();
        line
    };
    fs::read_to_string(folder.join("metrics.jsonl")).unwrap().lines().map(timeless).collect()
}

#[test]
fn killed_twice_and_resumed_the_run_ends_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("run.toml");
    fs::write(&config, CONFIG).unwrap();
    let config = config.to_str().unwrap();
    let (whole, killed) = (scratch.path().join("whole"), scratch.path().join("killed"));
    assert!(train(&["--config", config, "-o", whole.to_str().unwrap()]).status().unwrap().success());
    let folder = killed.to_str().unwrap();
    for (arguments, until) in [(vec!["--config", config, "-o", folder], 3), (vec!["--resume", folder], 9)] {
        let mut child = train(&arguments).spawn().unwrap();
        while lines(&killed) < until {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // SIGKILL: nothing is tidied up.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!killed.join("run.json").exists(), "it was killed too late");
    }
    assert!(train(&["--resume", folder]).status().unwrap().success());
    for name in ["weights.safetensors", "ledger.json", "config.toml"] {
        assert_eq!(fs::read(whole.join(name)).unwrap(), fs::read(killed.join(name)).unwrap(), "{name}");
    }
    assert_eq!(metrics(&whole), metrics(&killed));
    // What is finished stays as it is.
    assert!(train(&["--resume", folder]).status().unwrap().success());
    assert_eq!(metrics(&whole), metrics(&killed));
    // What the folder already says cannot be said again, or otherwise.
    for other in [["--seed", "4"], ["--rounds", "9"], ["--config", config], ["-o", "elsewhere"]] {
        let status = train(&[["--resume", folder].as_slice(), &other].concat()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{other:?}");
    }
}
