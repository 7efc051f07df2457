//! Features on disk, so that they are computed once for a set of pictures.
//!
//! A file is a line of text, the key, the features (32-bit floats, little-endian), and the SHA-256
//! of everything before. A file that is not exactly that is treated as absent.

use super::Scattering;
use crate::data::{Clients, Examples};
use crate::{LearningError, Result};
use base16ct::lower::encode_string;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Changes with every change of the transform that changes a feature.
const FIRST_LINE: &[u8] = b"shuffledp scattering features 1\n";
const DIGEST: usize = 32;
/// Floats that are read, written and hashed at a time.
const CHUNK: usize = 1 << 14;

/// The SHA-256 of everything that features depend on: the transform's version, its parameters, the
/// pictures' shape and their pixels.
pub(super) struct Key([u8; DIGEST]);

impl Key {
    pub(super) fn new(settings: &Scattering, pictures: &Examples) -> Self {
        let Scattering { scales, angles, order, groups } = *settings;
        let shape = pictures.shape();
        let mut hash = Sha256::new_with_prefix(FIRST_LINE);
        for number in
            [scales, angles, order, groups.unwrap_or(0), shape.channels, shape.height, shape.width, pictures.len()]
        {
            hash.update((number as u64).to_le_bytes());
        }
        let mut picture = vec![0.0f32; shape.len()];
        let mut bytes = Vec::with_capacity(4 * picture.len());
        for index in 0..pictures.count() {
            pictures.example(index, &mut picture);
            bytes.clear();
            bytes.extend(picture.iter().flat_map(|value| value.to_le_bytes()));
            hash.update(&bytes);
        }
        Self(hash.finalize().into())
    }
}

/// The folder of features in a data directory.
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn in_directory(data_directory: &Path) -> Self {
        Self { folder: data_directory.join("features") }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("scattering-{}", encode_string(&key.0)))
    }

    /// Returns the features under this key, if a file has exactly `count` of them and is whole.
    pub(super) fn load(&self, key: &Key, count: usize) -> Option<Vec<f32>> {
        let file = File::open(self.path(key)).ok()?;
        let length = FIRST_LINE.len() + DIGEST + 4 * count + DIGEST;
        if file.metadata().ok()?.len() != length as u64 {
            return None;
        }
        let mut file = BufReader::new(file);
        let mut head = vec![0; FIRST_LINE.len() + DIGEST];
        file.read_exact(&mut head).ok()?;
        if head[..FIRST_LINE.len()] != *FIRST_LINE || head[FIRST_LINE.len()..] != key.0 {
            return None;
        }
        let mut hash = Sha256::new_with_prefix(&head);
        let mut floats = vec![0.0; count];
        let mut bytes = vec![0; 4 * CHUNK];
        for chunk in floats.chunks_mut(CHUNK) {
            let bytes = &mut bytes[..4 * chunk.len()];
            file.read_exact(bytes).ok()?;
            hash.update(&*bytes);
            for (value, bytes) in chunk.iter_mut().zip(bytes.as_chunks().0) {
                *value = f32::from_le_bytes(*bytes);
            }
        }
        let mut digest = [0; DIGEST];
        file.read_exact(&mut digest).ok()?;
        (hash.finalize()[..] == digest).then_some(floats)
    }

    /// Writes the features under this key. Readers see a whole file or none.
    pub(super) fn store(&self, key: &Key, floats: &[f32]) -> Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(LearningError::file("create", &self.folder))?;
        let path = self.path(key);
        let complain = || LearningError::file("write", &path);
        let part = tempfile::NamedTempFile::new_in(&self.folder).map_err(complain())?;
        let mut file = BufWriter::new(part);
        let mut hash = Sha256::new();
        let mut write = |bytes: &[u8], hash: &mut Sha256| {
            hash.update(bytes);
            file.write_all(bytes).map_err(complain())
        };
        write(FIRST_LINE, &mut hash)?;
        write(&key.0, &mut hash)?;
        let mut bytes = Vec::with_capacity(4 * CHUNK);
        for chunk in floats.chunks(CHUNK) {
            bytes.clear();
            bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            write(&bytes, &mut hash)?;
        }
        file.write_all(&hash.finalize()).map_err(complain())?;
        let part = file.into_inner().map_err(|error| complain()(error.into_error()))?;
        part.persist(&path).map_err(|error| complain()(error.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::TensorShape;

    const SETTINGS: Scattering = Scattering { scales: 1, angles: 2, order: 2, groups: None };

    fn pictures(first: f32) -> Examples {
        Examples::from_floats(TensorShape::new(1, 1, 2), 2, vec![first, 2.0], vec![1]).unwrap()
    }

    #[test]
    fn what_was_stored_is_loaded_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_directory(folder.path());
        let key = Key::new(&SETTINGS, &pictures(1.0));
        let floats: Vec<f32> = (0..CHUNK + 5).map(|index| index as f32 / 3.0).collect();
        assert_eq!(cache.load(&key, floats.len()), None);
        cache.store(&key, &floats).unwrap();
        assert_eq!(cache.load(&key, floats.len()), Some(floats.clone()));
        assert_eq!(cache.load(&key, floats.len() - 1), None);
        // Only the file itself is left in the folder.
        assert_eq!(std::fs::read_dir(&cache.folder).unwrap().count(), 1);
        // Another file under this name is not believed, wherever it differs.
        let path = cache.path(&key);
        let whole = std::fs::read(&path).unwrap();
        for place in [0, FIRST_LINE.len(), FIRST_LINE.len() + DIGEST, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(cache.load(&key, floats.len()), None, "byte {place}");
        }
        // Neither is a whole file of another key.
        std::fs::write(&path, &whole).unwrap();
        let other = Key::new(&SETTINGS, &pictures(1.5));
        std::fs::rename(&path, cache.path(&other)).unwrap();
        assert_eq!(cache.load(&other, floats.len()), None);
    }

    #[test]
    fn everything_that_features_depend_on_is_in_the_key() {
        let key = |settings: Scattering, pictures: &Examples| Key::new(&settings, pictures).0;
        let one = pictures(1.0);
        let tall = Examples::from_floats(TensorShape::new(1, 2, 1), 2, vec![1.0, 2.0], vec![1]).unwrap();
        let relabelled = Examples::from_floats(TensorShape::new(1, 1, 2), 2, vec![1.0, 2.0], vec![0]).unwrap();
        let keys = [
            key(SETTINGS, &one),
            key(SETTINGS, &pictures(1.5)),
            key(SETTINGS, &tall),
            key(Scattering { scales: 2, ..SETTINGS }, &one),
            key(Scattering { angles: 1, ..SETTINGS }, &one),
            key(Scattering { order: 1, ..SETTINGS }, &one),
            key(Scattering { groups: Some(3), ..SETTINGS }, &one),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "key {index}");
        }
        // Labels are not part of it: they have nothing to do with features.
        assert_eq!(key(SETTINGS, &relabelled), keys[0]);
    }
}
