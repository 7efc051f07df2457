//! Every example in the documentation and in `--help` runs, and what is printed beside it is what
//! comes out.
//!
//! After a change that is meant: `TRYCMD=overwrite cargo test --release --test examples`. (In these
//! files trycmd writes `/` for `\`.)

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{run, run_in, run_line};
use std::path::Path;
use tempfile::tempdir;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Sessions run at the root of the repository, so that a page may name its files as a reader does.
#[test]
fn documentation_shows_real_output() {
    std::env::set_current_dir(ROOT).unwrap();
    trycmd::TestCases::new()
        .case("crates/cli/tests/cmd/*.trycmd")
        .case("README.md")
        .case("docs/*.md")
        .case("docs/guides/*.md")
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

/// The picture in the README is what the command below it draws. Renewed like the rest:
/// `TRYCMD=overwrite`.
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

/// The tightest published bound on the question of the README is what the README says.
#[test]
fn the_published_bound_of_the_readme_is_computed() {
    let question = "epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 1e-8 --all --json";
    let answer = run_line(question).json();
    let is_published = |id: &str| !id.contains("displacement") && !id.starts_with("any-ldp");
    let smallest = answer["bounds"].as_array().unwrap().iter().filter(|bound| {
        bound["kind"] == "upper" && bound["standing"] == "rigorous" && is_published(bound["id"].as_str().unwrap())
    });
    let smallest = smallest.map(|bound| bound["epsilon"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(rounds_up_to("1.0403", smallest), "{smallest}");
    assert!(include_str!("../../../README.md").contains("published bound gives ε ≤ 1.0403"));
}

/// True if `value`, rounded up to as many digits as are printed, is what is printed.
fn rounds_up_to(printed: &str, value: f64) -> bool {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 10_f64.powi(-i32::try_from(decimals).unwrap());
    let number: f64 = printed.parse().unwrap();
    // A millionth of a unit is for the decimals' own rounding.
    number >= value - 1e-6 * unit && number - value < (1.0 + 1e-6) * unit
}

#[test]
fn printed_numbers_are_rounded_up() {
    assert!(rounds_up_to("0.138", 0.13755) && rounds_up_to("0.13755", 0.13754722748547055));
    assert!(!rounds_up_to("0.137", 0.13755) && !rounds_up_to("0.139", 0.13755));
}

/// The pages for readers, with their names.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(ROOT);
    let mut places =
        vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned(), "examples/services/README.md".to_owned()];
    for folder in ["docs", "docs/guides"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        places.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    places.sort();
    let read = |place: String| {
        let text = std::fs::read_to_string(root.join(&place)).unwrap();
        (place, text)
    };
    places.into_iter().map(read).collect()
}

/// In a table, a command that ends a row gives the ε of the cell before it.
#[test]
fn tables_show_the_epsilon_of_their_command() {
    let mut checked = 0;
    for (place, text) in pages() {
        for line in text.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [.., printed, command] = cells[..] else { continue };
            let Some(command) = command.strip_prefix("`shuffledp ").and_then(|rest| rest.strip_suffix('`')) else {
                continue;
            };
            if !command.starts_with("epsilon ") || printed.parse::<f64>().is_err() {
                continue;
            }
            let words: Vec<&str> = command.split_whitespace().chain(["--json"]).collect();
            let answer = run(&words).json();
            let epsilon = answer["epsilon"].as_f64().unwrap();
            assert!(rounds_up_to(printed, epsilon), "{place} says {printed}, '{command}' {epsilon}");
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} rows");
}

/// Commands in `sh` blocks: continuation lines joined, comments and what follows `|`, `>` or `&&`
/// cut off.
fn shell_commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", " ");
        for part in block.lines().flat_map(|line| line.split("&&")) {
            let line = part.split(" #").next().unwrap().trim();
            let Some(rest) = line.strip_prefix("shuffledp ").or_else(|| line.strip_prefix("cargo run --release -- "))
            else {
                continue;
            };
            let words = rest.split_whitespace().take_while(|word| !matches!(*word, ">" | "|" | "#"));
            found.push(words.map(str::to_owned).collect());
        }
    }
    found
}

/// A page cannot show a command or a flag that is not there.
#[test]
fn commands_in_the_documentation_exist() {
    let mut checked = 0;
    for (place, text) in pages() {
        for words in shell_commands(&text) {
            let shown = words.join(" ");
            let mut help = run(&[words[0].as_str(), "--help"]);
            assert_eq!(help.code, Some(0), "{place}: there is no command '{shown}'");
            // `server init` and `server ledger export`, say, have a help of their own.
            for depth in 2..=words.len() {
                if !help.stdout.contains(&format!("\n  {} ", words[depth - 1])) {
                    break;
                }
                let page: Vec<&str> = words[..depth].iter().map(String::as_str).chain(["--help"]).collect();
                help = run(&page);
            }
            for flag in words.iter().filter(|word| word.starts_with('-')) {
                let known = help.stdout.split(|c: char| c.is_whitespace() || "[]=,<>".contains(c));
                assert!(known.into_iter().any(|word| word == flag), "{place}: '{shown}' has no {flag}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 20, "only {checked} commands");
}

/// The accuracies of the README are those of the stored runs of the preset beside them.
#[test]
fn the_accuracies_of_the_readme_are_those_of_the_stored_runs() {
    let runs = std::fs::read_to_string(Path::new(ROOT).join("experiments/training/results.json")).unwrap();
    let runs: serde_json::Value = serde_json::from_str(&runs).unwrap();
    let mut checked = 0;
    for line in include_str!("../../../README.md").lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [epsilon, accuracy, command] = cells[..] else { continue };
        let Some(preset) = command.strip_prefix("`shuffledp train --preset ").and_then(|rest| rest.strip_suffix('`'))
        else {
            continue;
        };
        let of_preset: Vec<_> = runs.as_array().unwrap().iter().filter(|run| run["preset"] == preset).collect();
        let seeds: Vec<u64> = of_preset.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
        assert_eq!(seeds, [1, 2, 3], "{preset}");
        let shown =
            |run: &&serde_json::Value| run["accuracy_averaged"].as_f64().or(run["accuracy_last"].as_f64()).unwrap();
        let mean = 100.0 * of_preset.iter().map(shown).sum::<f64>() / 3.0;
        assert_eq!(accuracy, format!("{mean:.1} %"), "{preset}");
        for run in &of_preset {
            assert!(run["epsilon"].as_f64().unwrap() <= epsilon.parse::<f64>().unwrap(), "{preset}");
            assert_eq!(run["delta"], 1e-5, "{preset}");
        }
        checked += 1;
    }
    assert_eq!(checked, 3);
}

/// The Rust example of ARCHITECTURE.md, line by line: the test below compares them.
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
fn the_rust_example_of_the_architecture_runs() {
    rust_example().unwrap();
    let page = include_str!("../../../ARCHITECTURE.md");
    let shown = page.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```")).map(|(code, _)| code);
    for line in shown.unwrap().lines().map(str::trim) {
        assert!(include_str!("examples.rs").lines().any(|ours| ours.trim() == line), "not tested: {line}");
    }
}
