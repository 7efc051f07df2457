//! Wrong files, many of them: good ones, changed in the ways that break parsers. Whatever a file
//! says, the answer is data or an error, never a panic, an abort or a hang.
//!
//! `FUZZ_CASES` sets how many of each kind, `FUZZ_SEED` where to begin (`make fuzz`).

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use ndarray::{Array1, Array3};
use ndarray_npy::NpzWriter;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{Mechanism, Output, RandomizerSpec, Release, Round, Scheme};
use shuffledp_learning::data::{csv, idx, npz};
use shuffledp_learning::models::{Architecture, Layer, TensorShape, load_weights, save_weights};
use shuffledp_learning::training::{TrainingConfig, presets};
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The replacements for numbers in files.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "0.5",
    "1e-320",
    "1e400",
    "-0.0",
    "nan",
    "inf",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1_000_000_000_000",
];

/// Changes that know nothing of the format: bytes set, parts cut out, doubled or moved.
fn change_bytes(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    if bytes.is_empty() {
        return bytes.push(rng.random());
    }
    let at = rng.random_range(0..bytes.len());
    let length = rng.random_range(0..=(bytes.len() - at).min(64));
    match rng.random_range(0..7) {
        0 => bytes[at] = rng.random(),
        1 => bytes[at] ^= 1 << rng.random_range(0..8),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + length)),
        4 => {
            let part = bytes[at..at + length].to_vec();
            let to = rng.random_range(0..=bytes.len());
            bytes.splice(to..to, part);
        }
        5 => bytes[at..at + length].fill(if rng.random() { 0 } else { 0xff }),
        _ => {
            // A length or a count, in either order of its bytes.
            let value: u32 = [0, 1, 0x7fff_ffff, 0xffff_ffff, 1 << 16][rng.random_range(0..5)];
            let value = if rng.random() { value.to_le_bytes() } else { value.to_be_bytes() };
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&value[..end - at]);
        }
    }
}

/// Changes of text: a number becomes another one, a word trades places with another, a line is
/// dropped or doubled.
fn change_text(text: &str, rng: &mut ChaCha8Rng) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.-+".contains(c);
    let mut parts: Vec<String> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => parts.push(c.into()),
        }
    }
    let chosen = |parts: &[String], rng: &mut ChaCha8Rng, of: fn(&String) -> bool| -> Option<usize> {
        let places: Vec<usize> = (0..parts.len()).filter(|i| of(&parts[*i])).collect();
        (!places.is_empty()).then(|| places[rng.random_range(0..places.len())])
    };
    let number = |part: &String| part.starts_with(|c: char| c.is_ascii_digit());
    let word = |part: &String| part.starts_with(|c: char| c.is_ascii_alphanumeric());
    match rng.random_range(0..4) {
        0 | 1 => {
            if let Some(at) = chosen(&parts, rng, number) {
                parts[at] = NUMBERS[rng.random_range(0..NUMBERS.len())].into();
            }
        }
        2 => {
            if let (Some(a), Some(b)) = (chosen(&parts, rng, word), chosen(&parts, rng, word)) {
                parts.swap(a, b);
            }
        }
        _ => {
            let mut lines: Vec<String> = text.split_inclusive('\n').map(Into::into).collect();
            let at = rng.random_range(0..lines.len());
            let line = lines.remove(at);
            if rng.random() {
                let to = rng.random_range(0..=lines.len());
                lines.insert(to, line.clone());
                lines.insert(to, line);
            }
            return lines.concat();
        }
    }
    parts.concat()
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}: a whole number")))
}

/// Hands changed files to a reader, which says whether it took them; a failure names the seed of
/// the case and keeps its bytes. `is_text` allows changes of text.
fn try_all(name: &str, cases: u64, good: &[Vec<u8>], is_text: bool, mut read: impl FnMut(&[u8]) -> bool) {
    for file in good {
        assert!(read(file), "{name}: the good file is refused");
    }
    let cases = setting("FUZZ_CASES", cases);
    let mut refused = 0;
    for seed in setting("FUZZ_SEED", 1)..setting("FUZZ_SEED", 1) + cases {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut file = good[rng.random_range(0..good.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            match std::str::from_utf8(&file) {
                Ok(text) if is_text && !text.is_empty() && rng.random_range(0..3) > 0 => {
                    file = change_text(text, rng).into_bytes();
                }
                _ => change_bytes(&mut file, rng),
            }
        }
        match catch_unwind(AssertUnwindSafe(|| read(&file))) {
            Ok(is_taken) => refused += u64::from(!is_taken),
            Err(_) => {
                let kept = std::env::temp_dir().join(format!("wrong-{name}-{seed}"));
                fs::write(&kept, &file).unwrap();
                panic!("{name}: the reader panics at FUZZ_SEED={seed}; the file is {}", kept.display());
            }
        }
    }
    // Most changes break a file: a reader that takes nearly all of them does not look.
    assert!(10 * refused > cases, "{name}: only {refused} of {cases} refused");
}

#[test]
fn tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let good = b"a,label,b\n1.5,2,-3\n0,0,1e-3\n\"7\",1,0.25\n".to_vec();
    try_all("csv", 3000, &[good], true, |bytes| {
        fs::write(&path, bytes).unwrap();
        csv::read(&path, csv::LABEL, None, None).is_ok()
    });
}

#[test]
fn idx_files() {
    let pictures = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3][..], &[9; 12]].concat();
    let labels = [&[0, 0, 8, 1, 0, 0, 0, 5][..], &[1, 2, 3, 4, 0]].concat();
    try_all("idx", 20_000, &[pictures, labels], false, |bytes| idx::parse(bytes.to_vec()).is_ok());
}

#[test]
fn npz_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let good = [true, false].map(|is_compressed| {
        let file = File::create(&path).unwrap();
        let mut writer = if is_compressed { NpzWriter::new_compressed(file) } else { NpzWriter::new(file) };
        writer.add_array("x_train", &Array3::<u8>::ones((3, 2, 3))).unwrap();
        writer.add_array("y_train", &Array1::from(vec![0u8, 1, 2])).unwrap();
        writer.add_array("x_test", &Array3::<u8>::zeros((1, 2, 3))).unwrap();
        writer.add_array("y_test", &Array1::from(vec![1u8])).unwrap();
        writer.finish().unwrap();
        fs::read(&path).unwrap()
    });
    try_all("npz", 2000, &good, false, |bytes| {
        fs::write(&path, bytes).unwrap();
        npz::read(&path, None).is_ok()
    });
}

#[test]
fn weights() {
    let architecture = Architecture::new(TensorShape::vector(4), vec![Layer::Dense { units: 3, bias: true }]).unwrap();
    let good = save_weights(&architecture, &vec![0.25; architecture.parameters()]).unwrap();
    try_all("weights", 5000, &[good], false, |bytes| load_weights(&architecture, bytes, Path::new("weights")).is_ok());
}

#[test]
fn configurations() {
    let good: Vec<Vec<u8>> =
        presets::names().map(|name| presets::preset(name).unwrap().to_text().unwrap().into_bytes()).collect();
    try_all("config", 3000, &good, true, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return false };
        TrainingConfig::parse(text, Path::new("run.toml")).is_ok_and(|config| config.check().is_ok())
    });
}

/// A ledger that is read and written again says the same.
#[test]
fn ledgers() {
    let mut accountant = Accountant::new();
    let round = |scheme, mechanism| Round { scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() };
    let any = Mechanism::Any { local_epsilon: 1.0 };
    accountant.compose(round(Scheme::shuffle(1000).unwrap(), any), 100).unwrap();
    accountant.compose(round(Scheme::subsampled(5000, 70).unwrap(), Mechanism::Gaussian { sigma: 3.0 }), 7).unwrap();
    accountant.compose_release(Release::new(Output::Laplace { epsilon: 0.5 }).unwrap(), 2).unwrap();
    let good = accountant.save().unwrap().into_bytes();
    try_all("ledger", 20_000, &[good], true, |bytes| {
        let Some(read) = std::str::from_utf8(bytes).ok().and_then(|text| Accountant::load(text).ok()) else {
            return false;
        };
        let again = Accountant::load(&read.save().unwrap()).unwrap();
        assert_eq!((again.ledger(), again.releases()), (read.ledger(), read.releases()));
        true
    });
}
