//! Output streams: closed pipes, full disks, `--report`, completions.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{HEADLINE, finish, program, run_in, run_line};
use std::fs;
use tempfile::tempdir;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn a_reader_that_left_is_no_failure() {
    for line in [&format!("{HEADLINE} --all"), HEADLINE, "completions zsh", "--help", "epsilon --help", "--version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let result = finish(program().args(words(line)).stdout(writer).spawn().unwrap());
        assert_eq!(result.code, Some(0), "{line}: {result:?}");
        assert_eq!(result.stderr, "", "{line}");
    }
}

#[test]
fn the_page_is_written_even_if_the_reader_left() {
    let folder = tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = program();
    command.args(words(HEADLINE)).args(["--report", "page.html"]).current_dir(folder.path()).stdout(writer);
    assert_eq!(finish(command.spawn().unwrap()).code, Some(0));
    assert!(folder.path().join("page.html").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let result = finish(program().args(words(HEADLINE)).stdout(full).spawn().unwrap());
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(result.stderr.contains("cannot write to stdout"), "{result:?}");
}

#[test]
fn report_is_one_whole_page_and_nothing_else() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("page.html"), "old").unwrap();
    let with = run_in(folder.path(), &[words(HEADLINE), vec!["--report", "page.html"]].concat());
    with.assert_decent("--report");
    assert_eq!(with.stdout, run_line(HEADLINE).stdout, "--report changes nothing on stdout");
    assert!(with.stderr.contains("wrote page.html"), "{with:?}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    for needed in ["0.13755", "displacement-any-pld", "1.0403", "girgis-theorem-1", "replace-one", "honest shuffler"] {
        assert!(page.contains(needed), "the page lacks {needed}");
    }
    // A reader may follow links to papers; the page itself fetches nothing.
    for stranger in ["http://", "<script", "src=", "@import", "url(", "<link"] {
        let foreign = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!foreign.contains(stranger), "the page is not self-contained: {stranger}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn a_page_that_cannot_be_written_does_not_cost_the_answer() {
    let folder = tempdir().unwrap();
    for place in ["no/such/folder/page.html", ".", ""] {
        let result = run_in(folder.path(), &[words(HEADLINE), vec!["--report", place]].concat());
        assert_eq!(result.code, if place.is_empty() { Some(2) } else { Some(1) }, "{place}: {result:?}");
        assert!(result.stderr.contains("--report"), "{place}: {result:?}");
        if !place.is_empty() {
            assert!(result.stdout.starts_with("ε ≤ "), "{place}: {result:?}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
}

#[test]
fn demo_plays_all_roles_and_leaves_a_page() {
    let folder = tempdir().unwrap();
    let small = ["demo", "--clients", "800", "--rounds", "2"];
    // A data directory of the user's, which a demonstration does not write to.
    let play = |more: &[&str]| {
        let mut command = program();
        command.current_dir(folder.path()).env("SHUFFLEDP_DATA", "data").args(small).args(more);
        finish(command.spawn().unwrap())
    };
    let result = play(&[]);
    result.assert_decent("demo");
    // A line for each round, with a batch that is no shorter than the shuffler promises.
    let lines: Vec<Vec<&str>> = result.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    for round in ["1", "2"] {
        let line = lines.iter().find(|line| line.first() == Some(&round)).unwrap_or_else(|| panic!("{result:?}"));
        assert!(line[3].parse::<u64>().unwrap() >= 40, "{line:?}");
    }
    assert!(result.stdout.contains("ε ≤ ") && result.stdout.contains("local ε0 = 4"), "{result:?}");
    assert!(result.stderr.contains("wrote report.html"), "{result:?}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("check-in-theorem-2") && page.contains("The view of each party"));
    assert!(page.contains("shuffledp demo --clients 800 --rounds 2"), "the page does not say how it came about");
    for level in ["no privacy (", "chance (10 %)", "2 bytes each, 224 when sealed", "1,000 weights"] {
        assert!(page.contains(level), "the page does not say {level}");
    }
    let json = play(&["--json", "--report", "other.html"]).json();
    for (field, value) in [("weights", "1000"), ("payload_bytes", "2"), ("report_bytes", "224")] {
        assert_eq!(json[field].to_string(), value, "{field}");
    }
    assert_eq!(json["accuracy_by_chance"].to_string(), "0.1");
    // Few clients, but many rounds without noise.
    let without_privacy = json["accuracy_without_privacy"].as_f64().unwrap();
    assert!((0.9..=1.0).contains(&without_privacy), "{without_privacy}");
    // It is what the text says, too, although the clients' coins and noise were others.
    let said = format!("without privacy has {:.2} %, chance 10 %", 100.0 * without_privacy);
    assert!(result.stdout.contains(&said), "{said}: {result:?}");
    assert!(json["bounds"].is_array());
    assert_eq!(json["played"].as_array().unwrap().len(), 2);
    // The server's ledger and the client's own say just what `epsilon` says of these rounds.
    for party in ["server", "client"] {
        assert_eq!(json[party]["epsilon"], json["epsilon"], "{party}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "something was left behind");
}

#[test]
fn demo_refuses_before_it_begins() {
    let folder = tempdir().unwrap();
    for (arguments, code, named) in [
        ("demo --report no/such/folder.html", 1, "--report"),
        ("demo --clients 10", 2, "--clients"),
        ("demo --clients 1e12", 2, "--clients"),
        ("demo --rounds 0", 2, "--rounds"),
    ] {
        let refused = run_in(folder.path(), &words(arguments));
        assert_eq!(refused.code, Some(code), "{arguments}: {refused:?}");
        assert!(refused.stderr.contains(named), "{arguments}: {refused:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let result = run_line(&format!("completions {shell}"));
        result.assert_decent(shell);
        for word in ["epsilon", "local-epsilon", "completions"] {
            assert!(result.stdout.contains(word), "{shell} does not know {word}");
        }
    }
}
