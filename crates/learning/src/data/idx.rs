//! The IDX format of MNIST: a magic number, dimensions, bytes. <http://yann.lecun.com/exdb/mnist/>
//! describes it.

use super::gzip;
use crate::{LearningError, Result};
use std::path::Path;

/// An array of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx {
    /// Lengths, outermost first.
    pub dimensions: Vec<usize>,
    /// As many as the product of the dimensions.
    pub bytes: Vec<u8>,
}

/// The third byte of the magic number that means unsigned bytes.
const UNSIGNED_BYTES: u8 = 8;

/// Of a compressed file.
const MOST_BYTES: u64 = 4 << 30;

/// Reads a file; one that is compressed with gzip too.
pub fn read(path: &Path) -> Result<Idx> {
    let mut bytes = std::fs::read(path).map_err(LearningError::file("read", path))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bytes = gzip::decompress(&bytes, MOST_BYTES).map_err(|problem| LearningError::format(path, problem))?;
    }
    parse(bytes).map_err(|problem| LearningError::format(path, problem))
}

/// Reads the format's bytes, or says what is wrong with them.
pub fn parse(mut file: Vec<u8>) -> std::result::Result<Idx, String> {
    let &[a, b, kind, count] =
        file.first_chunk().ok_or(format!("ends after {} bytes, before the magic number does", file.len()))?;
    if (a, b) != (0, 0) {
        return Err(format!(
            "not an IDX file: its magic number is {a:02x}{b:02x}{kind:02x}{count:02x}, but should begin with 0000"
        ));
    }
    if kind != UNSIGNED_BYTES {
        return Err(format!("holds numbers of kind 0x{kind:02x}, but only unsigned bytes (0x08) are read"));
    }
    let header = 4 + 4 * usize::from(count);
    let dimensions = file.get(4..header).ok_or("ends within the dimensions")?;
    let dimensions: Vec<usize> =
        dimensions.as_chunks::<4>().0.iter().map(|bytes| u32::from_be_bytes(*bytes) as usize).collect();
    let promised = dimensions.iter().try_fold(1usize, |product, length| product.checked_mul(*length));
    let promised = promised.ok_or(format!("its dimensions {dimensions:?} are beyond counting"))?;
    let there = file.len() - header;
    match there.cmp(&promised) {
        std::cmp::Ordering::Less => {
            Err(format!("truncated: {dimensions:?} need {promised} bytes, but {there} are there"))
        }
        std::cmp::Ordering::Greater => Err(format!("{} bytes too many for {dimensions:?}", there - promised)),
        std::cmp::Ordering::Equal => {
            file.drain(..header);
            Ok(Idx { dimensions, bytes: file })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(magic: [u8; 4], dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
        let dimensions = dimensions.iter().flat_map(|length| length.to_be_bytes());
        magic.into_iter().chain(dimensions).chain(bytes.iter().copied()).collect()
    }

    #[test]
    fn what_it_says_is_what_there_is() {
        let idx = parse(file([0, 0, 8, 2], &[2, 3], &[1, 2, 3, 4, 5, 6])).unwrap();
        assert_eq!(idx, Idx { dimensions: vec![2, 3], bytes: vec![1, 2, 3, 4, 5, 6] });
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            (vec![0, 0, 8], "ends after 3 bytes, before the magic number does"),
            (file([0x89, b'P', b'N', b'G'], &[], &[]), "its magic number is 89504e47, but should begin with 0000"),
            (file([0, 0, 0x0d, 1], &[1], &[0; 4]), "kind 0x0d, but only unsigned bytes"),
            (file([0, 0, 8, 3], &[1, 1], &[]), "ends within the dimensions"),
            (file([0, 0, 8, 2], &[2, 3], &[1, 2, 3, 4, 5]), "truncated: [2, 3] need 6 bytes, but 5 are there"),
            (file([0, 0, 8, 1], &[2], &[1, 2, 3]), "1 bytes too many"),
            (file([0, 0, 8, 3], &[u32::MAX; 3], &[]), "beyond counting"),
        ];
        for (bytes, expected) in cases {
            let problem = parse(bytes).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
