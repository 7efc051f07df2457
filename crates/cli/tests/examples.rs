//! Every example in the documentation and in `--help` runs, and what is printed beside it is what comes out.
//!
//! After a change that is meant: `TRYCMD=overwrite cargo test --release --test examples`. (In these files trycmd writes `/` for `\`.)

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{run_in, run_line};
use std::path::Path;
use tempfile::tempdir;

#[test]
fn documentation_shows_real_output() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.trycmd")
        .case("../../README.md")
        .case("../../docs/command-line.md")
        .env("COLUMNS", "100");
}

/// The commands behind `$`, continuation lines joined, redirections cut off.
fn examples(help: &str) -> Vec<Vec<String>> {
    let joined = help.replace("\\\n", " ");
    let commands = joined.lines().filter_map(|line| line.trim_start().strip_prefix("$ shuffledp "));
    commands.map(|line| line.split_whitespace().take_while(|word| *word != ">").map(str::to_owned).collect()).collect()
}

/// Those that end by themselves and in seconds; a small `demo` is in streams.rs.
#[test]
fn examples_in_help_run() {
    let folder = tempdir().unwrap();
    for page in [
        "--help",
        "epsilon --help",
        "delta --help",
        "calibrate --help",
        "audit --help",
        "plot --help",
        "reproduce --help",
        "completions --help",
    ] {
        let examples = examples(&run_line(page).stdout);
        assert!(!examples.is_empty(), "{page} has no example");
        for example in examples {
            let result = run_in(folder.path(), &example);
            result.assert_decent(&example.join(" "));
            assert_eq!(result.code, Some(0), "{example:?}: {result:?}");
        }
    }
}

/// The picture in the README is what the command below it draws. Renewed like the rest: `TRYCMD=overwrite`.
#[test]
fn the_picture_of_the_readme_is_what_its_command_draws() {
    let readme = include_str!("../../../README.md");
    let line = readme.lines().find_map(|line| line.strip_prefix("shuffledp plot ")).unwrap();
    let folder = tempdir().unwrap();
    let place = line.rsplit(' ').next().unwrap();
    let words: Vec<&str> = ["plot"].into_iter().chain(line.split(' ')).collect();
    let words: Vec<&str> = words.iter().map(|word| if *word == place { "drawn.svg" } else { word }).collect();
    let result = run_in(folder.path(), &words);
    result.assert_decent(line);
    let drawn = std::fs::read_to_string(folder.path().join("drawn.svg")).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place);
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        std::fs::write(&committed, &drawn).unwrap();
    }
    assert!(drawn == std::fs::read_to_string(committed).unwrap(), "{place} is not what 'shuffledp {line}' draws");
    assert!(drawn.len() < 100_000);
}

/// The Rust example of the README, line by line: the test below compares them.
fn rust_example() -> Result<(), Box<dyn std::error::Error>> {
    use shuffledp_accounting::bound::Standing;
    use shuffledp_accounting::catalogue::{Options, Target, survey};
    use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};

    let round = Round { scheme: Scheme::subsampled(1_000_000, 1_000)?, randomizer: RandomizerSpec::any(2.0)? };
    let question = Question::new(round, 100_000)?;
    let survey = survey(&question, Target::EpsilonAt { delta: 1e-8 }, &Options::default())?;
    if let Some(best) = survey.best_upper(Standing::Rigorous) {
        println!("ε ≤ {} by {}, {}", best.value, best.id, best.citation);
    }
    Ok(())
}

#[test]
fn the_rust_example_of_the_readme_runs() {
    rust_example().unwrap();
    let readme = include_str!("../../../README.md");
    let shown = readme.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```")).map(|(code, _)| code);
    for line in shown.unwrap().lines().map(str::trim) {
        assert!(include_str!("examples.rs").lines().any(|ours| ours.trim() == line), "not tested: {line}");
    }
}
