//! The data of a configuration: files found from where it lies, split, normalised and projected;
//! what is wrong is said by name.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.
#![allow(clippy::float_cmp, reason = "these quotients are exact")]

use ndarray::{Array1, Array2};
use ndarray_npy::NpzWriter;
use shuffledp_learning::data::{Clients, Dataset, Examples};
use shuffledp_learning::models::TensorShape;
use shuffledp_learning::training::TrainingConfig;
use std::fs::{self, File};
use std::path::Path;

/// A configuration in `folder` whose data are these.
fn config(folder: &Path, data: &str, preparation: &str) -> Result<TrainingConfig, String> {
    let text = format!(
        "name = 'test'\nseed = 1\nrounds = 1\ndelta = 1e-5\nevaluate_every = 1\n[data]\n{data}\n[preparation]\n{preparation}\n\
         [model]\nkind = 'linear'\n[algorithm]\nkind = 'no-privacy'\nsampled = 1\n[step.schedule]\nkind = 'constant'\nrate = 1\n"
    );
    TrainingConfig::parse(&text, &folder.join("run.toml")).map_err(|error| error.to_string())
}

fn load(folder: &Path, data: &str, preparation: &str) -> Result<Dataset, String> {
    config(folder, data, preparation)?.load(None).map_err(|error| error.to_string())
}

fn rows(examples: &Examples) -> Vec<(usize, Vec<f32>)> {
    let row = |client| {
        let mut values = vec![0.0; examples.shape().len()];
        (examples.example(client, &mut values), values)
    };
    (0..examples.count()).map(row).collect()
}

/// Ten examples with two features, the second of which is always 3.
fn table(folder: &Path) {
    let lines: String = (0..10).map(|line| format!("{line},{},3\n", line % 2)).collect();
    fs::write(folder.join("table.csv"), format!("a,kind,b\n{lines}")).unwrap();
}

#[test]
fn a_table_is_split_once_and_for_all() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let text = "kind = 'csv'\ntrain = 'table.csv'\nlabel = 'kind'\ntest_share = 0.3";
    let data = load(folder.path(), text, "").unwrap();
    assert_eq!((data.name.as_str(), data.train.len(), data.test.len(), data.train.classes()), ("table", 7, 3, 2));
    let mut all: Vec<_> = rows(&data.train).into_iter().chain(rows(&data.test)).collect();
    all.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
    let expected: Vec<_> = (0..10).map(|line| (line % 2, vec![line as f32, 3.0])).collect();
    assert_eq!(all, expected);
    assert_eq!(load(folder.path(), text, "").unwrap(), data);
}

#[test]
fn a_table_has_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    fs::write(folder.path().join("test.csv"), "kind,a,b\n1,5,6\n").unwrap();
    let text = "kind = 'csv'\ntrain = 'table.csv'\ntest = 'test.csv'\nlabel = 'kind'\nshape = [2, 1, 1]\nclasses = 3";
    let data = load(folder.path(), text, "").unwrap();
    assert_eq!((data.train.classes(), data.test.classes(), data.train.shape()), (3, 3, TensorShape::new(2, 1, 1)));
    assert_eq!(rows(&data.test), [(1, vec![5.0, 6.0])]);
    // Columns in another order would be other features.
    fs::write(folder.path().join("test.csv"), "kind,b,a\n1,6,5\n").unwrap();
    let error = load(folder.path(), text, "").unwrap_err();
    assert!(error.contains("test.csv: its columns are b, a, but those of") && error.contains("are a, b:"), "{error}");
}

#[test]
fn pictures_and_archives() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    file("images", &[&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..], &[0, 51, 102, 255]].concat());
    file("labels", &[0, 0, 8, 1, 0, 0, 0, 2, 3, 0]);
    let idx = "kind = 'idx'\ntrain_images = 'images'\ntrain_labels = 'labels'\ntest_images = 'images'\ntest_labels = 'labels'";
    let data = load(folder.path(), idx, "").unwrap();
    assert_eq!((data.train.shape(), data.train.classes()), (TensorShape::new(1, 1, 2), 4));
    assert_eq!(rows(&data.train), [(3, vec![0.0, 0.2]), (0, vec![0.4, 1.0])]);
    let error =
        load(folder.path(), &idx.replace("train_labels = 'labels'", "train_labels = 'images'"), "").unwrap_err();
    assert!(error.contains("images: should have a label for each of 2 pictures"), "{error}");
    let error =
        load(folder.path(), &idx.replace("train_images = 'images'", "train_images = 'labels'"), "").unwrap_err();
    assert!(error.contains("labels: pictures have three dimensions"), "{error}");
    let mut archive = NpzWriter::new(File::create(folder.path().join("all.npz")).unwrap());
    for part in ["train", "test"] {
        archive.add_array(format!("x_{part}"), &Array2::<f32>::from_elem((3, 4), 2.5)).unwrap();
        archive.add_array(format!("y_{part}"), &Array1::<i64>::from_vec(vec![0, 1, 4])).unwrap();
    }
    archive.finish().unwrap();
    let data = load(
        folder.path(),
        "kind = 'npz'\nfile = 'all.npz'",
        "normalise = { kind = 'constant', mean = 2, deviation = 0.25 }",
    );
    assert_eq!(rows(&data.unwrap().test)[2], (4, vec![2.0; 4]));
}

#[test]
fn features_are_normalised_and_projected_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let csv = "kind = 'csv'\ntrain = 'table.csv'\nlabel = 'kind'\ntest_share = 0.3";
    let features = "normalise = { kind = 'features' }";
    let data = load(folder.path(), csv, features).unwrap();
    let first: Vec<f64> = rows(&data.train).iter().map(|(_, values)| f64::from(values[0])).collect();
    assert!(first.iter().sum::<f64>().abs() < 1e-6, "{first:?}");
    assert!((first.iter().map(|value| value * value).sum::<f64>() - 7.0).abs() < 1e-5, "{first:?}");
    // What never changes is 0, in the test too.
    assert!(rows(&data.train).iter().chain(&rows(&data.test)).all(|(_, values)| values[1] == 0.0));
    let projected = load(folder.path(), csv, &format!("{features}\npca = 1")).unwrap();
    assert_eq!((projected.train.shape(), projected.test.shape()), (TensorShape::vector(1), TensorShape::vector(1)));
    for ((_, before), (_, after)) in rows(&data.test).iter().zip(rows(&projected.test)) {
        assert!((before[0] - after[0]).abs() < 1e-5, "{before:?} {after:?}");
    }
    let warning = |preparation: &str| config(folder.path(), csv, preparation).unwrap().preparation.warning();
    assert!(warning("pca = 1").unwrap().contains("no ε here covers that"));
    assert!(warning(features).unwrap().starts_with("means and deviations"));
    assert_eq!(warning("normalise = { kind = 'constant', mean = 0, deviation = 1 }"), None);
}

#[test]
fn what_is_wrong_is_said_by_name() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let csv = "kind = 'csv'\ntrain = 'table.csv'\nlabel = 'kind'";
    let cases = [
        (csv.to_owned(), "", "test data must be one of test, a file, and test_share, a share of train, but is neither"),
        (format!("{csv}\ntest_share = 0.5\ntest = 'x.csv'"), "", "but is both"),
        (format!("{csv}\ntest_share = 1.0"), "", "test_share must be between 0 and 1"),
        (format!("{csv}\ntest_share = 0.01"), "", "test_share must be between 0 and 1"),
        (format!("{csv}\ntest = 'absent.csv'"), "", "absent.csv"),
        (format!("{csv}\ntest_share = 0.5").replace("'kind'", "'sort'"), "", "no column is called 'sort'"),
        (format!("{csv}\ntests = 0.5"), "", "unknown field `tests`"),
        (format!("{csv}\ntest_share = 0.5"), "pca = 3", "components must be 1 to 2, but is 3"),
        (
            format!("{csv}\ntest_share = 0.5"),
            "normalise = { kind = 'constant', mean = 0, deviation = 0 }",
            "positive deviation",
        ),
        ("kind = 'excel'".to_owned(), "", "unknown variant `excel`, expected one of"),
        ("kind = 'npz'\nfile = 'table.csv'".to_owned(), "", "not an NPZ file"),
    ];
    for (data, preparation, expected) in cases {
        let error = load(folder.path(), &data, preparation).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// A run's folder holds its configuration, which has to find the same files from there.
#[test]
fn a_configuration_survives_being_written_down_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let config =
        config(folder.path(), "kind = 'csv'\ntrain = 'table.csv'\nlabel = 'kind'\ntest_share = 0.3", "pca = 1")
            .unwrap();
    let written = toml::to_string(&config).unwrap();
    let again = TrainingConfig::parse(&written, Path::new("/elsewhere/config.toml")).unwrap();
    assert_eq!(again, config);
    assert_eq!(again.load(None).unwrap(), config.load(None).unwrap());
}

/// Held-out examples are training examples, the same ones in every run, and the test set is not
/// even opened.
#[test]
fn training_examples_are_held_out() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let text = "kind = 'csv'\ntrain = 'table.csv'\ntest = 'absent.csv'\nlabel = 'kind'";
    let load = |count: usize| {
        let config = TrainingConfig { hold_out: Some(count), ..config(folder.path(), text, "").unwrap() };
        assert_eq!(TrainingConfig::parse(&config.to_text().unwrap(), Path::new("run.toml")).unwrap(), config);
        config.load(None).map_err(|error| error.to_string())
    };
    let data = load(3).unwrap();
    assert_eq!((data.train.len(), data.test.len()), (7, 3));
    assert_eq!(data.name, "table, tested on 3 training examples held out");
    assert_eq!(load(3).unwrap(), data);
    let mut all: Vec<_> = rows(&data.train).into_iter().chain(rows(&data.test)).collect();
    all.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
    let expected: Vec<_> = (0..10).map(|line| (line % 2, vec![line as f32, 3.0])).collect();
    assert_eq!(all, expected);
    // The last ones of one shuffle: whoever holds out fewer holds out some of these.
    assert_eq!(rows(&load(2).unwrap().test), rows(&data.test)[1..]);
    for count in [0, 10, usize::MAX] {
        let error = load(count).unwrap_err();
        assert!(error.contains("hold_out must be at least 1 and below the number of training examples, 10"), "{error}");
    }
    // Parts of one table: the share for the test is set aside first.
    let text = text.replace("test = 'absent.csv'", "test_share = 0.5");
    let whole = self::load(folder.path(), &text, "").unwrap();
    let config = TrainingConfig { hold_out: Some(1), ..config(folder.path(), &text, "").unwrap() };
    let held_out = config.load(None).unwrap();
    assert_eq!(held_out.train.len(), 4);
    assert!(rows(&whole.train).contains(&rows(&held_out.test)[0]));
}
