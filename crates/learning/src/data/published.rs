//! Datasets that others publish as four IDX files: found, checked against their SHA-256, installed.

use super::{Dataset, Examples, gzip, idx, mirror};
use crate::models::TensorShape;
use crate::{LearningError, Result};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// No file is larger; a file that claims to be is not read to its end.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// The files of one edition and their SHA-256: training images and labels, test images and labels.
/// Files whose names end in `.gz` are kept as they are, and hashed as they are.
pub(super) type Files = [(&'static str, &'static str); 4];

/// A dataset of 28×28 pictures in ten classes.
pub(super) struct Published {
    /// For people.
    pub(super) name: &'static str,
    /// Its folder in the data directory, its `kind` in a configuration, and the command that gets
    /// it.
    pub(super) folder: &'static str,
    /// The editions that are accepted; they differ in order, split or compression.
    pub(super) editions: &'static [Files],
    /// Mean and standard deviation of the training pixels, which everybody normalises with.
    pub(super) mean: f32,
    pub(super) deviation: f32,
}

impl Published {
    pub(super) fn folder(&self, data_directory: &Path) -> PathBuf {
        data_directory.join(self.folder)
    }

    /// Reads both parts from the data directory, and checks every byte of them.
    pub(super) fn load(&self, data_directory: &Path) -> Result<Dataset> {
        let [train_images, train_labels, test_images, test_labels] = self.installed(data_directory)?;
        let folder = self.folder(data_directory);
        let train = self.examples(&folder, train_images, train_labels)?;
        Dataset::new(self.name, train, self.examples(&folder, test_images, test_labels)?)
    }

    /// Reads the training part alone.
    pub(super) fn load_train(&self, data_directory: &Path) -> Result<Examples> {
        let [images, labels, ..] = self.installed(data_directory)?;
        self.examples(&self.folder(data_directory), images, labels)
    }

    /// The edition whose files are all there.
    fn installed(&self, data_directory: &Path) -> Result<Files> {
        let folder = self.folder(data_directory);
        let is_there = |files: &&Files| files.iter().all(|(name, _)| folder.join(name).is_file());
        self.editions.iter().find(is_there).copied().ok_or_else(|| {
            let (name, place, command) = (self.name, folder.display(), self.folder);
            LearningError::Missing(format!("{name} is not in {place}; fetch it with `shuffledp data {command}`"))
        })
    }

    fn examples(&self, folder: &Path, images: (&str, &str), labels: (&str, &str)) -> Result<Examples> {
        let read = |(name, digest): (&str, &str)| {
            let path = folder.join(name);
            let mut bytes = std::fs::read(&path).map_err(LearningError::file("read", &path))?;
            self.verify(&path, &bytes, digest)?;
            if is_compressed(&path) {
                bytes =
                    gzip::decompress(&bytes, MOST_BYTES).map_err(|problem| LearningError::format(&path, problem))?;
            }
            idx::parse(bytes).map_err(|problem| LearningError::format(&path, problem))
        };
        let (images, labels) = (read(images)?, read(labels)?);
        let shape = TensorShape::new(1, 28, 28);
        Examples::from_bytes(shape, 10, images.bytes, labels.bytes, self.mean, self.deviation)
    }

    /// Whether all files of an edition are in place and whole.
    pub(super) fn is_installed(&self, data_directory: &Path) -> bool {
        self.load(data_directory).is_ok()
    }

    /// Takes the four files of an edition from a folder, checks them and puts them into the data
    /// directory. Nothing is written unless all four are right. Plain files may have `.gz` at the
    /// end.
    pub(super) fn install(&self, from: &Path, data_directory: &Path) -> Result<PathBuf> {
        let mut problems = Vec::new();
        for files in self.editions {
            match self.found(files, from) {
                Ok(found) => return self.write(&found, data_directory),
                Err(error) => problems.push(error),
            }
        }
        // What is wrong with files that are there is worth more than that others are missing.
        let place = problems.iter().position(|error| !matches!(error, LearningError::Missing(_))).unwrap_or(0);
        Err(problems.swap_remove(place))
    }

    /// Fetches the compressed files from a mirror and installs them. Nothing is written unless all
    /// four are right.
    pub(super) fn fetch_from(&self, mirror: &str, data_directory: &Path) -> Result<PathBuf> {
        // The last edition is the one that others publish.
        let files = self.editions.last().into_iter().flatten();
        let names: Vec<String> = files.map(|(name, _)| format!("{}.gz", name.trim_end_matches(".gz"))).collect();
        let scratch = mirror::fetch(mirror, &names)?;
        self.install(scratch.path(), data_directory)
    }

    fn found(&self, files: &Files, from: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let find = |(name, digest): &(&'static str, &str)| {
            let (plain, compressed) = (from.join(name), from.join(format!("{name}.gz")));
            let path = if plain.exists() { plain } else { compressed };
            if !path.exists() {
                let problem = format!("{} has neither {name} nor {name}.gz", from.display());
                return Err(LearningError::Missing(problem));
            }
            let mut bytes = std::fs::read(&path).map_err(LearningError::file("read", &path))?;
            if is_compressed(&path) && !name.ends_with(".gz") {
                bytes =
                    gzip::decompress(&bytes, MOST_BYTES).map_err(|problem| LearningError::format(&path, problem))?;
            }
            self.verify(&path, &bytes, digest)?;
            Ok((*name, bytes))
        };
        files.iter().map(find).collect()
    }

    /// Writes files that were checked.
    fn write(&self, files: &[(&str, Vec<u8>)], data_directory: &Path) -> Result<PathBuf> {
        let folder = self.folder(data_directory);
        std::fs::create_dir_all(&folder).map_err(LearningError::file("create", &folder))?;
        for (name, bytes) in files {
            // Whoever looks while this runs sees a whole file or none.
            let path = folder.join(name);
            let complain = || LearningError::file("write", &path);
            let mut part = tempfile::NamedTempFile::new_in(&folder).map_err(complain())?;
            std::io::Write::write_all(&mut part, bytes).map_err(complain())?;
            part.persist(&path).map_err(|error| complain()(error.error))?;
        }
        Ok(folder)
    }

    fn verify(&self, path: &Path, bytes: &[u8], digest: &str) -> Result<()> {
        let found = sha256(bytes);
        if found == digest {
            return Ok(());
        }
        let problem = format!("is not {}'s file, or was damaged: its SHA-256 is {found}, not {digest}", self.name);
        Err(LearningError::format(path, problem))
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// The SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Four files that hold one letter each.
    const TINY: Published = Published {
        name: "Tiny",
        folder: "tiny",
        editions: &[[
            ("a", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
            ("b", "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"),
            ("c", "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"),
            ("d", "18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4"),
        ]],
        mean: 0.0,
        deviation: 1.0,
    };

    fn compressed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// A mirror on loopback that answers every request from these files, as long as the test runs.
    fn mirror(files: HashMap<&'static str, Vec<u8>>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines: Vec<String> = BufReader::new(&stream)
                    .lines()
                    .map_while(std::result::Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let path = lines[0].split(' ').nth(1).unwrap();
                let (status, body) = match files.get(path) {
                    Some(body) => ("200 OK", body.as_slice()),
                    None => ("404 Not Found", &b"none"[..]),
                };
                write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len()).unwrap();
                stream.write_all(b"Connection: close\r\n\r\n").unwrap();
                stream.write_all(body).unwrap();
            }
        });
        address
    }

    /// All four files, of which the last has this text.
    fn files(last: &str) -> HashMap<&'static str, Vec<u8>> {
        let texts = [("/a.gz", "a"), ("/b.gz", "b"), ("/c.gz", "c"), ("/d.gz", last)];
        texts.into_iter().map(|(path, text)| (path, compressed(text))).collect()
    }

    #[test]
    fn a_mirror_with_the_right_files_is_installed_from() {
        let data = tempfile::tempdir().unwrap();
        let folder = TINY.fetch_from(&mirror(files("d")), data.path()).unwrap();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), name);
        }
    }

    #[test]
    fn a_wrong_or_missing_file_of_a_mirror_leaves_nothing_behind() {
        let data = tempfile::tempdir().unwrap();
        let error = |files| TINY.fetch_from(&mirror(files), data.path()).unwrap_err().to_string();
        let message = error(files("something else"));
        assert!(message.contains("is not Tiny's file, or was damaged: its SHA-256 is"), "{message}");
        let mut three = files("d");
        three.remove("/d.gz");
        let message = error(three);
        assert!(message.contains("/d.gz") && message.contains("404"), "{message}");
        let mut page = files("d");
        page.insert("/a.gz", b"<html>sign in to this network</html>".to_vec());
        let message = error(page);
        assert!(message.contains("a.gz"), "{message}");
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_mirror_that_does_not_answer_or_is_none_is_named() {
        let data = tempfile::tempdir().unwrap();
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let message = TINY.fetch_from(&format!("http://{address}/"), data.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("could not fetch http://{address}/a.gz")), "{message}");
        for wrong in ["file:///etc", "--output", "ftp://example.org", ""] {
            let message = TINY.fetch_from(wrong, data.path()).unwrap_err().to_string();
            assert!(message.contains("begins with http:// or https://"), "{message}");
        }
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    }
}
