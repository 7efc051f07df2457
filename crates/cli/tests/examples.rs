//! Every example in the documentation and in `--help` runs, and what is printed beside it is what comes out.
//!
//! After a change that is meant: `TRYCMD=overwrite cargo test --release --test examples`.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{run_in, run_line};
use tempfile::tempdir;

#[test]
fn documentation_shows_real_output() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.trycmd")
        .case("../../README.md")
        .case("../../docs/*.md")
        .env("COLUMNS", "100");
}

/// The commands behind `$`, continuation lines joined, redirections cut off.
fn examples(help: &str) -> Vec<Vec<String>> {
    let joined = help.replace("\\\n", " ");
    let commands = joined.lines().filter_map(|line| line.trim_start().strip_prefix("$ shuffledp "));
    commands.map(|line| line.split_whitespace().take_while(|word| *word != ">").map(str::to_owned).collect()).collect()
}

#[test]
fn examples_in_help_run() {
    let folder = tempdir().unwrap();
    for page in ["--help", "epsilon --help", "delta --help", "demo --help", "completions --help"] {
        let examples = examples(&run_line(page).stdout);
        assert!(!examples.is_empty(), "{page} has no example");
        for example in examples {
            let result = run_in(folder.path(), &example);
            result.assert_decent(&example.join(" "));
            assert_eq!(result.code, Some(0), "{example:?}: {result:?}");
        }
    }
}
