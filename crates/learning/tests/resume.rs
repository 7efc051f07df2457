//! Runs that are stopped, at any moment, and taken up again end as if they had never stopped.
#![allow(clippy::unwrap_used)]

use shuffledp_learning::data::{Dataset, Examples, digits};
use shuffledp_learning::training::{Metrics, Progress, Run, RunFolder, Simulation, TrainingConfig};
use std::fs;
use std::path::Path;
use std::time::Duration;

const ALGORITHMS: [&str; 4] = [
    "kind = 'cldp-sgd'\nsampled = 40\nclip = 0.01\nrandomizer = { name = 'r-inf', local_epsilon = 2 }",
    "kind = 'check-in'\nrate = 0.2\ndrop_out = 0.1\nclip = 1\nrandomizer = { name = 'gaussian', sigma = 20 }",
    "kind = 'shuffled-noisy-sgd'\nblocks = 3\nclip = 1\nlocal_epsilon = 1",
    "kind = 'no-privacy'\nsampled = 40",
];
const ROUNDS: u64 = 7;
const FILES: [&str; 3] = ["weights.safetensors", "ledger.json", "config.toml"];

fn config(algorithm: &str) -> TrainingConfig {
    config_of("kind = 'linear'", algorithm)
}

fn config_of(model: &str, algorithm: &str) -> TrainingConfig {
    let text = format!(
        "name = 'test'\nseed = 5\nrounds = {ROUNDS}\ndelta = 1e-5\nevaluate_every = 3\n\
         [data]\nkind = 'digits'\ntrain = 200\ntest = 50\n[model]\n{model}\n[algorithm]\n{algorithm}\n\
         [step]\nmomentum = 0.5\nweight_decay = [0.25]\naverage_from = 3\n[step.schedule]\nkind = 'constant'\nrate = 0.1\n"
    );
    TrainingConfig::parse(&text, Path::new("test.toml")).unwrap()
}

fn data() -> Dataset {
    digits::dataset(200, 50, 1).unwrap()
}

fn start<'a>(path: &Path, config: &TrainingConfig, data: &'a Dataset) -> Run<&'a Examples, &'a Examples> {
    let folder = RunFolder::create(path, config).unwrap();
    Run::start(Simulation::new(config, &data.train).unwrap(), &data.test, Some(folder)).unwrap()
}

fn resume<'a>(
    path: &Path,
    config: &TrainingConfig,
    data: &'a Dataset,
) -> Result<Run<&'a Examples, &'a Examples>, String> {
    let folder = RunFolder::open(path).map_err(|error| error.to_string())?;
    Run::resume(Simulation::new(config, &data.train).unwrap(), &data.test, folder).map_err(|error| error.to_string())
}

fn advance(run: &mut Run<&Examples, &Examples>, rounds: u64) {
    for _ in 0..rounds {
        run.advance().unwrap();
    }
}

fn to_the_end(mut run: Run<&Examples, &Examples>) -> Metrics {
    loop {
        if let Progress::Finished { result, .. } = run.advance().unwrap() {
            return result;
        }
    }
}

/// Everything in the folder but the times.
fn contents(path: &Path) -> (Vec<Vec<u8>>, Vec<Metrics>) {
    let files = FILES.map(|name| fs::read(path.join(name)).unwrap()).to_vec();
    let text = fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    let metrics = text.lines().map(|line| Metrics { seconds: 0.0, ..serde_json::from_str(line).unwrap() }).collect();
    assert!(!path.join("checkpoint").exists() && path.join("run.json").exists());
    (files, metrics)
}

#[test]
fn stopped_after_any_round_and_resumed_the_run_ends_the_same() {
    let data = data();
    let scratch = tempfile::tempdir().unwrap();
    let without_bias = [0, 1].map(|index| config_of("kind = 'linear'\nbias = false", ALGORITHMS[index]));
    for (name, config) in ALGORITHMS.map(config).into_iter().chain(without_bias).enumerate() {
        let whole = scratch.path().join(format!("whole-{name}"));
        to_the_end(start(&whole, &config, &data));
        let whole = contents(&whole);
        assert_eq!(whole.1.iter().map(|line| line.round).collect::<Vec<_>>(), [3, 6, 7]);
        // Of one algorithm after every round and with checkpoints in between, of the others here
        // and there.
        let (intervals, stops) = match name {
            0 => ([Duration::ZERO, Duration::MAX].as_slice(), (0..=ROUNDS + 1).collect()),
            _ => ([Duration::ZERO].as_slice(), vec![2, 4, ROUNDS]),
        };
        for every in intervals {
            for &rounds in &stops {
                let path = scratch.path().join(format!("{name}-{rounds}-{}", every.is_zero()));
                let mut run = start(&path, &config, &data).checkpoint_every(*every);
                advance(&mut run, rounds);
                drop(run);
                // Once more in the middle of what is left.
                let mut run = resume(&path, &config, &data).unwrap();
                advance(&mut run, 2);
                drop(run);
                to_the_end(resume(&path, &config, &data).unwrap());
                assert_eq!(contents(&path), whole, "{config:?} {rounds} {every:?}");
            }
        }
    }
}

/// A killed process can leave metrics after the checkpoint (whole lines or half of one), files not
/// yet renamed, and a finished run whose checkpoint is still there.
#[test]
fn what_a_killed_process_leaves_is_taken_up() {
    let data = data();
    let config = config(ALGORITHMS[0]);
    let scratch = tempfile::tempdir().unwrap();
    let whole = scratch.path().join("whole");
    to_the_end(start(&whole, &config, &data));
    let expected = contents(&whole);
    let stopped_after = |name: &str, rounds: u64| {
        let path = scratch.path().join(name);
        let mut run = start(&path, &config, &data);
        advance(&mut run, rounds);
        path
    };
    // The checkpoint of round 3 beside the metrics of a run that got to round 6, cut at every byte.
    let path = stopped_after("early", 3);
    let (early, first) =
        (fs::read(path.join("checkpoint")).unwrap(), fs::read_to_string(path.join("metrics.jsonl")).unwrap());
    let late = fs::read_to_string(stopped_after("late", 6).join("metrics.jsonl")).unwrap();
    // Times differ from run to run, and the lengths of their digits: the first line is the
    // checkpoint's own.
    let metrics = format!("{first}{}\n", late.lines().last().unwrap()).into_bytes();
    let first_line = first.len();
    for length in [first_line, first_line + 1, first_line + 40, metrics.len() - 1, metrics.len()] {
        let path = scratch.path().join(format!("cut-{length}"));
        fs::create_dir(&path).unwrap();
        fs::copy(scratch.path().join("late/config.toml"), path.join("config.toml")).unwrap();
        fs::write(path.join("checkpoint"), &early).unwrap();
        fs::write(path.join("checkpoint.part"), &early[..100]).unwrap();
        fs::write(path.join("metrics.jsonl"), &metrics[..length]).unwrap();
        to_the_end(resume(&path, &config, &data).unwrap());
        assert_eq!(contents(&path), expected, "{length}");
    }
    // Before the first checkpoint; after the record, before the checkpoint was removed.
    let path = stopped_after("nothing", 0);
    fs::remove_file(path.join("checkpoint")).unwrap();
    to_the_end(resume(&path, &config, &data).unwrap());
    assert_eq!(contents(&path), expected);
    fs::write(path.join("checkpoint"), &early).unwrap();
    let result = to_the_end(resume(&path, &config, &data).unwrap());
    assert_eq!(contents(&path), expected);
    assert_eq!(Metrics { seconds: 0.0, ..result }, expected.1[2]);
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let data = data();
    let config = config(ALGORITHMS[0]);
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let mut run = start(&path, &config, &data);
    advance(&mut run, 4);
    drop(run);
    let checkpoint = path.join("checkpoint");
    let good = fs::read(&checkpoint).unwrap();
    let refused = |bytes: &[u8], config: &TrainingConfig, data: &Dataset| {
        fs::write(&checkpoint, bytes).unwrap();
        resume(&path, config, data).err().unwrap_or_else(|| "accepted".to_owned())
    };
    for length in [25, 60, good.len() / 2, good.len() - 1] {
        assert!(refused(&good[..length], &config, &data).contains("is damaged"), "{length}");
    }
    for place in [30, 60, good.len() / 2, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        assert!(refused(&bytes, &config, &data).contains("is damaged"), "{place}");
    }
    assert!(refused(b"", &config, &data).contains("is not a checkpoint"));
    assert!(refused(b"PK\x03\x04 something else", &config, &data).contains("is not a checkpoint"));
    let other = TrainingConfig { seed: 6, ..config.clone() };
    assert!(refused(&good, &other, &data).contains("another configuration"));
    let strangers = digits::dataset(200, 50, 2).unwrap();
    assert!(refused(&good, &config, &strangers).contains("other data"));
    let judges = Dataset { test: strangers.test, ..data.clone() };
    assert!(refused(&good, &config, &judges).contains("other data"));
    let metrics = fs::read(path.join("metrics.jsonl")).unwrap();
    fs::write(path.join("metrics.jsonl"), &metrics[..metrics.len() - 1]).unwrap();
    assert!(refused(&good, &config, &data).contains("is shorter than"));
    fs::write(path.join("metrics.jsonl"), &metrics).unwrap();
    // Nothing above changed the folder: it can still be taken up.
    fs::write(&checkpoint, &good).unwrap();
    to_the_end(resume(&path, &config, &data).unwrap());
    // No folder, or one without a run.
    assert!(RunFolder::config(scratch.path()).unwrap_err().to_string().contains("config.toml"));
    assert!(RunFolder::open(&scratch.path().join("nowhere")).is_err());
}

/// Whoever changes a finished run by hand is told, and nothing is printed under another name.
#[test]
fn a_finished_run_that_was_changed_is_refused() {
    let (folder, config, data) = (tempfile::tempdir().unwrap(), config(ALGORITHMS[0]), data());
    let path = folder.path().join("run");
    to_the_end(start(&path, &config, &data));
    let refused = |config: &TrainingConfig| resume(&path, config, &data).err().unwrap_or_default();
    let other = TrainingConfig { delta: 1e-12, ..config.clone() };
    assert!(refused(&other).contains("another configuration"));
    for (name, from, to) in
        [("run.json", "{", "}"), ("metrics.jsonl", "\"round\":7", "\"round\":8"), ("ledger.json", "7", "6")]
    {
        let name = path.join(name);
        let good = fs::read_to_string(&name).unwrap();
        assert!(good.contains(from), "{good}");
        fs::write(&name, good.replace(from, to)).unwrap();
        let refused = refused(&config);
        assert!(refused.contains(&*name.to_string_lossy()) || refused.contains("ledger"), "{refused}");
        fs::write(&name, good).unwrap();
    }
    let weights = fs::read(path.join("weights.safetensors")).unwrap();
    fs::write(path.join("weights.safetensors"), &weights[1..]).unwrap();
    assert!(refused(&config).contains("weights.safetensors"));
    fs::write(path.join("weights.safetensors"), weights).unwrap();
    assert_eq!(to_the_end(resume(&path, &config, &data).unwrap()).round, ROUNDS);
}

#[test]
fn a_folder_has_one_writer() {
    let (folder, config, data) = (tempfile::tempdir().unwrap(), config(ALGORITHMS[0]), data());
    let path = folder.path().join("run");
    let run = start(&path, &config, &data);
    let refused = resume(&path, &config, &data).err().unwrap();
    assert!(refused.contains("another process"), "{refused}");
    drop(run);
    to_the_end(resume(&path, &config, &data).unwrap());
}
