//! Scattering features: vectors of an independent implementation, what they do to moved and bent
//! pictures, and the cache on disk.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde::Deserialize;
use shuffledp_learning::data::scattering::{Preparing, ScatteringTransform, quiet};
use shuffledp_learning::data::{Clients, Examples, Scattering, digits};
use shuffledp_learning::models::TensorShape;
use shuffledp_learning::training::{Preparation, TrainingConfig};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A case of `data/make_scattering_vectors.py`, which convolves in space and in double precision.
#[derive(Deserialize)]
struct Case {
    channels: usize,
    height: usize,
    width: usize,
    scales: usize,
    angles: usize,
    order: usize,
    groups: usize,
    pixels: Vec<f32>,
    features: Vec<f64>,
}

fn features(settings: Scattering, shape: TensorShape, picture: &[f32]) -> Vec<f32> {
    let transform = ScatteringTransform::new(settings, shape).unwrap();
    let mut features = vec![f32::NAN; transform.features()];
    transform.apply(&mut transform.workspace(), picture, &mut features);
    features
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

fn length(values: &[f32]) -> f32 {
    distance(values, &vec![0.0; values.len()])
}

#[test]
fn an_independent_implementation_has_the_same_features() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/scattering_vectors.json")).unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let Case { channels, height, width, scales, angles, order, groups, .. } = case;
        let shape = TensorShape::new(channels, height, width);
        let found = features(Scattering { scales, angles, order, groups: Some(groups) }, shape, &case.pixels);
        assert_eq!(found.len(), case.features.len());
        // A group whose variance is far below 1e-5 passes single precision's noise on undamped:
        // each feature is off by some ulps of the whole vector, whose length is one.
        let furthest = found.iter().zip(&case.features).map(|(found, expected)| (f64::from(*found) - expected).abs());
        let furthest = furthest.fold(0.0, f64::max);
        assert!(furthest < 2e-6, "{shape}, {scales} scales, {angles} angles: off by {furthest:e}");
    }
}

const SIDE: usize = 32;
const SHAPE: TensorShape = TensorShape { channels: 1, height: SIDE, width: SIDE };
const SETTINGS: Scattering = Scattering { scales: 3, angles: 4, order: 2, groups: None };

/// A ring and a bar in the middle third, under a map of the coordinates.
fn drawing(map: impl Fn(f32, f32) -> (f32, f32)) -> Vec<f32> {
    let ink = |distance: f32| (1.2 - distance.abs()).clamp(0.0, 1.0);
    let pixel = |index: usize| {
        let (x, y) = map((index / SIDE) as f32 - 15.5, (index % SIDE) as f32 - 15.5);
        let ring = ink(x.hypot(y) - 5.0);
        let bar = ink(y - 1.0) * if x.abs() < 6.0 { 1.0 } else { 0.0 };
        ring.max(bar)
    };
    (0..SIDE * SIDE).map(pixel).collect()
}

#[test]
fn a_translation_by_a_position_moves_positions() {
    let still = features(SETTINGS, SHAPE, &drawing(|x, y| (x, y)));
    let moved = features(SETTINGS, SHAPE, &drawing(|x, y| (x - 8.0, y + 8.0)));
    let mut expected = vec![0.0; still.len()];
    for (channel, expected) in still.chunks(16).zip(expected.chunks_mut(16)) {
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            expected[(row + 1) % 4 * 4 + (column + 3) % 4] = channel[row * 4 + column];
        }
    }
    // Some ulps of a vector of length one; without the move they are far apart.
    assert!(distance(&moved, &expected) < 1e-5);
    assert!(distance(&moved, &still) > 0.5);
}

#[test]
fn small_translations_and_deformations_change_features_little() {
    let picture = drawing(|x, y| (x, y));
    let still = features(SETTINGS, SHAPE, &picture);
    let bends: [(&str, Vec<f32>); 3] = [
        ("moved by a pixel", drawing(|x, y| (x - 1.0, y))),
        ("moved by half a pixel, across", drawing(|x, y| (x - 0.5, y + 0.5))),
        ("bent", drawing(|x, y| (x + 0.8 * (y / 3.0).sin(), y + 0.8 * (x / 3.0).cos()))),
    ];
    for (what, bent) in bends {
        let pixels = distance(&picture, &bent) / length(&picture);
        let features = distance(&still, &features(SETTINGS, SHAPE, &bent));
        println!("{what}: pixels change by {pixels:.3}, features by {features:.3}");
        assert!(pixels > 0.4 && features < 0.5 * pixels, "{what}: {pixels} and {features}");
    }
    // Something else is far away.
    let other = features(SETTINGS, SHAPE, &drawing(|x, y| (x, 3.0 * y)));
    assert!(distance(&still, &other) > 0.3);
}

#[test]
fn features_have_length_one_and_an_empty_picture_has_none() {
    for shape in [SHAPE, TensorShape::new(3, 5, 7), TensorShape::new(1, 4, 100), TensorShape::new(2, 6, 2)] {
        let settings = Scattering { scales: 2, ..SETTINGS };
        let picture: Vec<f32> = (0..shape.len()).map(|index| ((index * 37) % 11) as f32).collect();
        let found = features(settings, shape, &picture);
        // Thousands of squares, each rounded.
        assert!((length(&found) - 1.0).abs() < 1e-4, "{shape}");
        let empty = features(settings, shape, &vec![0.0; shape.len()]);
        assert!(empty.iter().all(|value| *value == 0.0));
    }
}

#[test]
fn channels_come_one_after_the_other() {
    let settings = Scattering { scales: 1, angles: 2, order: 2, groups: None };
    let (first, second) = (drawing(|x, y| (x, y)), drawing(|x, y| (y, 2.0 * x)));
    let both: Vec<f32> = first.iter().chain(&second).copied().collect();
    // Three channels each. In groups of one channel, normalisation is the same; only length
    // differs.
    let with = |groups| Scattering { groups: Some(groups), ..settings };
    let both = features(with(6), TensorShape::new(2, SIDE, SIDE), &both);
    let halves = both.split_at(both.len() / 2);
    for (half, picture) in [(halves.0, first), (halves.1, second)] {
        let alone = features(with(3), SHAPE, &picture);
        let scale = length(half);
        let scaled: Vec<f32> = half.iter().map(|value| value / scale).collect();
        assert!(distance(&scaled, &alone) < 1e-5);
    }
}

/// A file of features in the data directory, if there is one and no other.
fn kept(directory: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(directory.join("features")).ok()?.map(|entry| entry.unwrap().path());
    let file = files.next();
    assert_eq!(files.next(), None);
    file
}

#[test]
fn features_are_computed_once() {
    let directory = tempfile::tempdir().unwrap();
    let pictures = digits::dataset(1000, 1, 1).unwrap().train;
    let settings = Scattering { scales: 2, angles: 2, order: 1, groups: None };
    let computed = AtomicUsize::new(0);
    let apply = |settings: Scattering, pictures: &Examples| {
        computed.store(0, Ordering::Relaxed);
        let tell = |event: Preparing| match event {
            Preparing::Computed { done, of } => {
                assert_eq!(of, pictures.len());
                computed.fetch_max(done, Ordering::Relaxed);
            }
            other => panic!("{other:?}"),
        };
        let features = settings.apply(pictures, Some(directory.path()), &tell).unwrap();
        (features, computed.load(Ordering::Relaxed))
    };
    let (features, count) = apply(settings, &pictures);
    assert_eq!((count, features.shape()), (1000, TensorShape::vector(5 * 64)));
    assert_eq!(features.labels(), pictures.labels());
    assert_eq!(apply(settings, &pictures), (features.clone(), 0));
    // A damaged file is computed anew, and whole again.
    let file = kept(directory.path()).unwrap();
    let whole = std::fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    std::fs::write(&file, damaged).unwrap();
    assert_eq!(apply(settings, &pictures), (features.clone(), 1000));
    assert_eq!(std::fs::read(&file).unwrap(), whole);
    // Other parameters have files of their own.
    assert_eq!(apply(Scattering { angles: 1, ..settings }, &pictures).1, 1000);
    assert_eq!(apply(settings, &pictures).1, 0);
    // One picture's features are not kept.
    let few = tempfile::tempdir().unwrap();
    let own = pictures.clone().truncated(1);
    settings.apply(&own, Some(few.path()), &quiet).unwrap();
    assert_eq!(kept(few.path()), None);
    // Whoever computes alone has the same features.
    let preparation = Preparation { scattering: Some(settings), ..Preparation::default() };
    let alone = preparation.apply_alone(own, Some(few.path()), &quiet).unwrap();
    let together = preparation.apply_alone(pictures, Some(few.path()), &quiet).unwrap();
    assert_eq!(alone, together.truncated(1));
}

/// Features are of a picture's brightness, not of how its dataset was normalised.
#[test]
fn a_normalisation_makes_no_difference() {
    let bytes: Vec<u8> = (0..28 * 28).map(|i| if i % 28 > 9 && i % 28 < 14 { 200 } else { 0 }).collect();
    let picture = |mean, deviation| {
        Examples::from_bytes(TensorShape::new(1, 28, 28), 10, bytes.clone(), vec![3], mean, deviation).unwrap()
    };
    let settings = Scattering { scales: 2, angles: 2, order: 1, groups: None };
    let preparation = Preparation { scattering: Some(settings), ..Preparation::default() };
    let features = |picture| preparation.apply_alone(picture, None, &quiet).unwrap();
    assert_eq!(features(picture(0.1307, 0.3081)), features(picture(0.0, 1.0)));
    // The transform itself takes numbers as they are.
    let as_they_are = settings.apply(&picture(0.1307, 0.3081), None, &quiet).unwrap();
    assert_ne!(as_they_are, features(picture(0.0, 1.0)));
}

#[test]
fn a_cache_that_cannot_be_written_is_told_and_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("features"), "a file, not a folder").unwrap();
    let pictures = digits::dataset(1000, 1, 1).unwrap().train;
    let settings = Scattering { scales: 3, angles: 1, order: 1, groups: None };
    let failures = AtomicUsize::new(0);
    let tell = |event: Preparing| {
        if let Preparing::NotCached(error) = event {
            assert!(error.to_string().contains("features"), "{error}");
            failures.fetch_add(1, Ordering::Relaxed);
        }
    };
    assert_eq!(settings.apply(&pictures, Some(directory.path()), &tell).unwrap().len(), 1000);
    assert_eq!(failures.load(Ordering::Relaxed), 1);
}

#[test]
fn more_memory_than_the_limit_is_refused_with_what_is_needed() {
    let pictures = digits::dataset(1000, 1, 1).unwrap().train;
    let settings = Scattering { scales: 2, angles: 64, order: 2, groups: None };
    let most = Examples::from_bytes(TensorShape::new(1, 4, 4), 2, vec![0; 16 * 600_000], vec![0; 600_000], 0.0, 1.0);
    // 4,225 channels at one position.
    let settings = Scattering { groups: Some(1), ..settings };
    let error = settings.apply(&most.unwrap(), None, &quiet).unwrap_err().to_string();
    assert!(error.contains("of 600000 pictures, 4225 each, need 10 GiB of memory, and the limit is 8 GiB"), "{error}");
    assert!(settings.output(pictures.shape()).is_ok());
}

#[test]
fn a_configuration_asks_for_features() {
    let text = |preparation: &str| {
        format!(
            "name = 'test'\nseed = 1\nrounds = 1\ndelta = 1e-5\nevaluate_every = 1\n\
             [data]\nkind = 'digits'\ntrain = 20\ntest = 5\n[preparation]\n{preparation}\n\
             [model]\nkind = 'linear'\n[algorithm]\nkind = 'no-privacy'\nsampled = 1\n\
             [step.schedule]\nkind = 'constant'\nrate = 1\n"
        )
    };
    let parse = |preparation: &str| TrainingConfig::parse(&text(preparation), Path::new("run.toml"));
    let config = parse("scattering = { scales = 3, angles = 4 }\npca = 7").unwrap();
    assert_eq!(config.preparation.scattering, Some(SETTINGS));
    assert_eq!(TrainingConfig::parse(&config.to_text().unwrap(), Path::new("run.toml")).unwrap(), config);
    let data = config.load(None).unwrap();
    assert_eq!((data.train.shape(), data.test.shape()), (TensorShape::vector(7), TensorShape::vector(7)));
    // Features are public: no warning is due.
    let public = parse("scattering = { scales = 3, angles = 4, order = 1, groups = 13 }").unwrap();
    assert_eq!(public.preparation.warning(), None);
    public.preparation.check_public().unwrap();
    assert_eq!(public.load(None).unwrap().train.shape(), TensorShape::vector(13 * 16));
    assert!(config.preparation.check_public().unwrap_err().to_string().contains("preparation.pca must be left out"));
    for (wrong, expected) in [
        ("scattering = { scales = 0, angles = 4 }", "scattering.scales must be 1 to 20, but is 0"),
        ("scattering = { scales = 3, angles = 4, groups = 60 }", "a divisor of the number of channels, 61"),
        ("scattering = { scales = 6, angles = 4 }", "shorter side, 28, but is 6"),
    ] {
        let error = parse(wrong).unwrap().load(None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(parse("scattering = { scales = 3 }").is_err());
    assert!(parse("scattering = { scales = 3, angles = -1 }").is_err());
}
