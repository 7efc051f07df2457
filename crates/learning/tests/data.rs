//! Files that are right, files that are wrong, digits that are the same everywhere, principal
//! components.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::number;
use ndarray::{Array1, Array2, Array3};
use ndarray_npy::NpzWriter;
use sha2::{Digest, Sha256};
use shuffledp_learning::data::{Clients, Dataset, Examples, Pca, csv, digits, directory, idx, mnist, npz};
use shuffledp_learning::models::TensorShape;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

fn values(examples: &Examples, client: u64) -> (usize, Vec<f32>) {
    let mut values = vec![0.0; examples.shape().len()];
    (examples.example(client, &mut values), values)
}

#[test]
fn tables_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    fs::write(&path, "a, Label ,b\n1.5,2,-3\n0,0,1e-3\n").unwrap();
    let examples = csv::read(&path, csv::LABEL, None, None).unwrap().examples;
    assert_eq!((examples.shape(), examples.classes(), examples.count()), (TensorShape::vector(2), 3, 2));
    assert_eq!(values(&examples, 0), (2, vec![1.5, -3.0]));
    assert_eq!(values(&examples, 1), (0, vec![0.0, 1e-3]));
    assert_eq!(csv::read(&path, csv::LABEL, Some(TensorShape::new(2, 1, 1)), Some(5)).unwrap().examples.classes(), 5);
}

#[test]
fn tables_that_are_wrong_are_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let cases = [
        ("a,b\n1,2\n", "no column is called 'label'"),
        ("label,a\n1,NaN\n", "line 2, column 'a': 'NaN' is not a finite number"),
        ("label,a\n0,1\n1,inf\n", "line 3, column 'a': 'inf' is not a finite number"),
        ("label,a\n1,\n", "line 2, column 'a': '' is not a finite number"),
        ("label,a\n7,1\n", "line 2: label '7' is not a whole number in 0 to 2"),
        ("label,a\n1.5,1\n", "line 2: label '1.5' is not a whole number"),
        ("label,a\n1,2,3\n", "line: 2"),
        ("label,a\n", "there are no examples"),
        ("label\n1\n", "at least one number"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let error = csv::read(&path, csv::LABEL, None, Some(3)).unwrap_err().to_string();
        assert!(error.contains("table.csv") && error.contains(expected), "{error}");
    }
    fs::write(&path, "label,a\n1,2\n").unwrap();
    let error = csv::read(&path, csv::LABEL, Some(TensorShape::new(1, 28, 28)), None).unwrap_err().to_string();
    assert!(error.contains("1 columns of features, but 1×28×28 needs 784"), "{error}");
    let error = csv::read(&folder.path().join("absent.csv"), csv::LABEL, None, None).unwrap_err().to_string();
    assert!(error.contains("cannot read") && error.contains("absent.csv"), "{error}");
}

/// An archive of pictures as bytes for training and as floats for testing.
fn archive(path: &Path, train_labels: Array1<i64>, test: Array3<f64>) {
    let mut writer = NpzWriter::new_compressed(File::create(path).unwrap());
    let train = Array3::from_shape_fn((2, 2, 3), |(i, y, x)| (100 * i + 10 * y + x) as u8);
    writer.add_array("x_train", &train).unwrap();
    writer.add_array("y_train", &train_labels).unwrap();
    writer.add_array("x_test", &test).unwrap();
    writer.add_array("y_test", &Array1::from(vec![3u8])).unwrap();
    writer.finish().unwrap();
}

#[test]
fn archives_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.npz");
    archive(&path, Array1::from(vec![1, 0]), Array3::from_elem((1, 2, 3), 0.5));
    let Dataset { name, train, test, .. } = npz::read(&path, None).unwrap();
    assert_eq!((name.as_str(), train.shape(), train.classes()), ("small", TensorShape::new(1, 2, 3), 4));
    let (label, pixels) = values(&train, 1);
    assert_eq!(label, 0);
    for (pixel, byte) in pixels.iter().zip([100.0, 101.0, 102.0, 110.0, 111.0, 112.0]) {
        assert!((pixel - byte / 255.0).abs() < 1e-6);
    }
    assert_eq!(values(&test, 0), (3, vec![0.5; 6]));
}

#[test]
fn archives_that_are_wrong_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.npz");
    let refused = |expected: &str| {
        let error = npz::read(&path, None).unwrap_err().to_string();
        assert!(error.contains("wrong.npz") && error.contains(expected), "{error}");
    };
    fs::write(&path, b"PK but no archive").unwrap();
    refused("not an NPZ file");
    // Numbers for which no machine has room.
    archive(&path, Array1::from(vec![1, 0]), Array3::zeros((1, 2, 3)));
    let good = fs::read(&path).unwrap();
    let mut writer = NpzWriter::new(File::create(&path).unwrap());
    writer.add_array("x_train", &Array2::<f64>::zeros((2, 3))).unwrap();
    writer.finish().unwrap();
    let mut huge = fs::read(&path).unwrap();
    let (shape, other) = (b"(2, 3)", b"(2, 99999999999), }");
    let place = huge.windows(shape.len()).position(|bytes| bytes == shape).unwrap();
    huge[place..place + other.len()].copy_from_slice(other);
    fs::write(&path, huge).unwrap();
    refused("array 'x_train' promises 1599999999984 bytes");
    fs::write(&path, good).unwrap();
    npz::read(&path, Some(4)).unwrap();
    let error = npz::read(&path, Some(3)).unwrap_err().to_string();
    assert!(error.contains("should be in 0 to 2"), "{error}");
    archive(&path, Array1::from(vec![1, -1]), Array3::zeros((1, 2, 3)));
    refused("array 'y_train': label 1 is -1, but must be in 0 to 255");
    archive(&path, Array1::from(vec![1, 1, 1]), Array3::zeros((1, 2, 3)));
    refused("array 'x_train': 3 labels need 3 × 6 numbers, but there are 12");
    archive(&path, Array1::from(vec![1, 0]), Array3::from_elem((1, 2, 3), f64::NAN));
    refused("array 'x_test': number 0 of example 0 is NaN");
    archive(&path, Array1::from(vec![1, 0]), Array3::zeros((1, 3, 2)));
    refused("training examples are 1×2×3 in 4 classes, test examples 1×3×2 in 4");
    let mut writer = NpzWriter::new(File::create(&path).unwrap());
    writer.add_array("y_train", &Array2::<f32>::zeros((1, 1))).unwrap();
    writer.finish().unwrap();
    refused("array 'y_train': labels must be uint8, int32, int64 or uint64");
    let mut writer = NpzWriter::new(File::create(&path).unwrap());
    writer.add_array("y_train", &Array1::<u8>::zeros(1)).unwrap();
    writer.finish().unwrap();
    refused("array 'y_test'");
    // Cut off in the middle.
    archive(&path, Array1::from(vec![1, 0]), Array3::zeros((1, 2, 3)));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    refused("not an NPZ file");
}

#[test]
fn compressed_idx_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&[0, 0, 8, 1, 0, 0, 0, 2, 5, 6]).unwrap();
    let bytes = encoder.finish().unwrap();
    fs::write(&path, &bytes).unwrap();
    assert_eq!(idx::read(&path).unwrap().bytes, [5, 6]);
    fs::write(&path, &bytes[..bytes.len() - 12]).unwrap();
    assert!(idx::read(&path).unwrap_err().to_string().contains("cannot be decompressed"));
}

#[test]
fn mnist_that_is_missing_or_damaged_is_refused_and_nothing_is_written() {
    let (from, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let error = mnist::load(data.path()).unwrap_err().to_string();
    assert!(error.contains("MNIST is not in") && error.contains("shuffledp data mnist"), "{error}");
    assert!(!mnist::is_installed(data.path()));
    let error = mnist::install(from.path(), data.path()).unwrap_err().to_string();
    assert!(error.contains("has neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz"), "{error}");
    for (name, _) in mnist::FILES {
        fs::write(from.path().join(name), b"something else").unwrap();
    }
    let error = mnist::install(from.path(), data.path()).unwrap_err().to_string();
    assert!(error.contains("train-images-idx3-ubyte: is not MNIST's file, or was damaged"), "{error}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    // Damaged after it was installed.
    fs::create_dir(mnist::folder(data.path())).unwrap();
    for (name, _) in mnist::FILES {
        fs::write(mnist::folder(data.path()).join(name), b"something else").unwrap();
    }
    let error = mnist::load(data.path()).unwrap_err().to_string();
    assert!(error.contains("is not MNIST's file, or was damaged"), "{error}");
    assert!(!mnist::is_installed(data.path()));
}

#[test]
fn a_named_data_directory_is_taken() {
    assert_eq!(directory::data_directory(Some(Path::new("here"))).unwrap(), Path::new("here"));
}

#[test]
fn digits_are_the_same_everywhere() {
    let data = digits::dataset(300, 100, 1).unwrap();
    let mut hash = Sha256::new();
    for examples in [&data.train, &data.test] {
        hash.update(examples.labels());
        for client in 0..examples.count() {
            values(examples, client).1.iter().for_each(|value| hash.update(value.to_le_bytes()));
        }
    }
    let digest = base16ct::lower::encode_string(&hash.finalize());
    assert_eq!(digest, "bef488a15c623abf2d3c6166b346130c72455c3af209b3cdf416cbd38c4b6b9b");
    // The beginning of a larger set is the smaller one; another seed, another set.
    let smaller = digits::dataset(20, 1, 1).unwrap();
    assert!((0..20).all(|client| values(&smaller.train, client) == values(&data.train, client)));
    assert_ne!(values(&digits::dataset(1, 1, 2).unwrap().train, 0), values(&data.train, 0));
    assert!(digits::dataset(0, 1, 1).is_err());
}

#[test]
fn digits_are_normalised_and_of_all_classes() {
    let train = digits::dataset(3_000, 1, 1).unwrap().train;
    let all: Vec<f32> = (0..train.count()).flat_map(|client| values(&train, client).1).collect();
    let mean = all.iter().map(|value| f64::from(*value)).sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / all.len() as f64;
    assert!(mean.abs() < 0.05 && (variance.sqrt() - 1.0).abs() < 0.05, "mean {mean}, deviation {}", variance.sqrt());
    for class in 0..10 {
        // 300 are expected, give or take 16.4.
        let count = train.labels().iter().filter(|label| **label == class).count();
        assert!((230..370).contains(&count), "{count} of class {class}");
    }
}

#[test]
fn examples_that_are_wrong_are_refused() {
    let shape = TensorShape::vector(2);
    let refused = |made: shuffledp_learning::Result<Examples>, expected: &str| {
        let error = made.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(
        Examples::from_floats(shape, 3, vec![0.0; 4], vec![0, 3]),
        "label of example 1 is 3, but should be in 0 to 2",
    );
    refused(Examples::from_floats(shape, 3, vec![0.0; 3], vec![0, 1]), "2 labels need 2 × 2 numbers, but there are 3");
    refused(Examples::from_floats(shape, 3, vec![0.0, 0.0, f32::NAN, 0.0], vec![0, 1]), "number 0 of example 1 is NaN");
    refused(Examples::from_floats(shape, 1, vec![0.0; 2], vec![0]), "classes must be 2 to 256, but is 1");
    refused(Examples::from_bytes(shape, 2, vec![0; 2], vec![0], 0.1, 0.0), "a positive deviation");
}

/// Points near a plane in five dimensions, whose axes and variances are known.
#[test]
fn principal_components_are_the_axes_of_the_data() {
    let (first, second) = ([0.6f32, 0.8, 0.0, 0.0, 0.0], [0.0f32, 0.0, 0.0, -1.0, 0.0]);
    let count = 2_000;
    let centre = [1.0f32, -2.0, 3.0, 0.0, 5.0];
    let mut floats = Vec::new();
    for example in 0..count {
        let along = [10.0 * number(example, 1), 4.0 * number(example, 2), 0.1 * number(example, 3)];
        for axis in 0..5 {
            let third = if axis == 4 { along[2] } else { 0.0 };
            floats.push(centre[axis] + along[0] * first[axis] + along[1] * second[axis] + third);
        }
    }
    let examples = Examples::from_floats(TensorShape::vector(5), 2, floats, vec![0; count]).unwrap();
    let pca = Pca::fit(&examples, 3).unwrap();
    // A uniform number on ±a has variance a²/3; the sample's is within a few per cent.
    for (variance, expected) in pca.variances().iter().zip([100.0 / 3.0, 16.0 / 3.0, 0.01 / 3.0]) {
        assert!((variance / expected - 1.0).abs() < 0.08, "{variance}, not {expected}");
    }
    for (component, axis) in [(0, first), (1, [0.0, 0.0, 0.0, 1.0, 0.0])] {
        let product: f32 = pca.component(component).iter().zip(axis).map(|(a, b)| a * b).sum();
        assert!(product > 0.999, "component {component}: {:?}", pca.component(component));
    }
    // In the new coordinates: mean 0, no correlation, the same variances.
    let turned = pca.apply(&examples).unwrap();
    assert_eq!(turned.shape(), TensorShape::vector(3));
    let points: Vec<Vec<f32>> = (0..turned.count()).map(|client| values(&turned, client).1).collect();
    for a in 0..3 {
        let mean = points.iter().map(|point| f64::from(point[a])).sum::<f64>() / count as f64;
        assert!(mean.abs() < 1e-4, "{mean}");
        for b in 0..3 {
            let product = points.iter().map(|point| f64::from(point[a] * point[b])).sum::<f64>() / count as f64;
            let expected = if a == b { pca.variances()[a] } else { 0.0 };
            assert!((product - expected).abs() < 1e-3, "{a} {b}: {product}, not {expected}");
        }
    }
    assert!(Pca::fit(&examples, 6).is_err() && Pca::fit(&examples, 0).is_err());
    assert!(pca.apply(&turned).is_err());
}
