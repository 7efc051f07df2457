//! The configuration file.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Parties, task};
use shuffledp_client::ClientConfig;
use std::path::Path;

const EXAMPLE: &str = include_str!("../../../examples/services/client.toml");

fn example() -> String {
    let parties = Parties::new();
    let task = task(&parties, "https://shuffler.example").hash().unwrap().to_string();
    EXAMPLE
        .replace("PASTE-THE-SERVERS-VERIFYING-KEY", &parties.server.verifying_key().to_string())
        .replace("PASTE-THE-TASKS-HASH", &task)
}

fn refusal(text: &str) -> String {
    ClientConfig::parse(text, Path::new("client.toml")).unwrap_err().to_string()
}

#[test]
fn the_example_wants_two_things_and_is_then_complete() {
    let config = ClientConfig::parse(&example(), Path::new("/home/someone/client.toml")).unwrap();
    assert_eq!(config.state, Path::new("/home/someone/client-state"));
    assert_eq!(config.server_key, Parties::new().server.verifying_key());
    assert!(refusal(EXAMPLE).contains("server_key"));
    // What is commented out says the defaults.
    let text = example();
    let spelled_out = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(setting) if setting.contains(" = ") && !setting.contains("ca.pem") => format!("{setting}\n"),
        _ => format!("{line}\n"),
    });
    let mut spelled_out = ClientConfig::parse(&spelled_out.collect::<String>(), Path::new("client.toml")).unwrap();
    assert_eq!((spelled_out.floors, spelled_out.times), (config.floors, config.times));
    assert_eq!(spelled_out.budget.most_clients.take(), Some(20_000));
    assert_eq!(format!("{:?}", spelled_out.connection), format!("{:?}", config.connection));
    assert_eq!(spelled_out.budget, config.budget);
}

#[test]
fn what_decides_about_privacy_has_no_default() {
    for name in ["clients", "min_batch", "local_epsilon", "epsilon", "delta", "server_key", "task", "state"] {
        let without: String = example()
            .lines()
            .filter(|line| !line.starts_with(&format!("{name} =")))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_ne!(without, example());
        let error = refusal(&without);
        assert!(error.contains(name), "{name}: {error}");
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    for (line, nonsense, name) in [
        ("\nepsilon = 2.0", "\nepsilon = nan", "budget.epsilon"),
        ("delta = 1e-6", "delta = 0.0", "budget.delta"),
        ("min_batch = 1000", "min_batch = 1", "floors.min_batch"),
        ("local_epsilon = 2.0", "local_epsilon = nan", "floors.local_epsilon"),
        ("poll_seconds = 1.0", "poll_seconds = 0.0", "times.poll_seconds"),
        ("example = 0", "example = 0\nexmaple = 1", "exmaple"),
        ("server_key = \"shuffledp-verifying", "server_key = \"shuffledp-signing", "server_key"),
    ] {
        let text = example();
        let changed = text.replacen(line, nonsense, 1);
        assert_ne!(changed, text);
        let error = refusal(&changed);
        assert!(error.contains(name), "{nonsense}: {error}");
    }
}
