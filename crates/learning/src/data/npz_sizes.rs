//! Whether the arrays of an NPZ file can be as large as they say. Who reads them makes room for
//! what they say, before the first number.

use crate::{LearningError, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use zip::ZipArchive;

/// Deflate never shrinks anything to less than a 1,032nd.
const MOST_SHRUNK: u64 = 1032;
/// For headers and empty blocks.
const ROOM: u64 = 1 << 16;
/// Of an array's header: more is nonsense.
const MOST_HEADER: usize = 1 << 16;

/// Refuses an archive with an array that promises more than its bytes can hold.
pub(super) fn check(path: &Path) -> Result<()> {
    let wrong = |problem: String| LearningError::format(path, problem);
    let file = File::open(path).map_err(LearningError::file("read", path))?;
    let mut archive = ZipArchive::new(file).map_err(|error| wrong(format!("not an NPZ file: {error}")))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| wrong(format!("not an NPZ file: {error}")))?;
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let there = entry.size();
        let possible = entry.compressed_size().saturating_mul(MOST_SHRUNK).saturating_add(ROOM);
        let promised = promised(&mut entry).unwrap_or(0);
        if there > possible || promised > there {
            let most = there.min(possible);
            return Err(wrong(format!("array '{name}' promises {promised} bytes, but at most {most} are there")));
        }
    }
    Ok(())
}

/// Bytes of the numbers that an array's header speaks of; saturates. `None` if it is no header of
/// plain numbers: whoever reads the array will say so.
fn promised(array: &mut impl Read) -> Option<u64> {
    let mut start = [0; 8];
    array.read_exact(&mut start).ok()?;
    let length = match (start.strip_prefix(b"\x93NUMPY")?, &mut [0; 4]) {
        ([1, _], bytes) => array.read_exact(&mut bytes[..2]).map(|()| u32::from_le_bytes(*bytes)),
        (_, bytes) => array.read_exact(&mut bytes[..]).map(|()| u32::from_le_bytes(*bytes)),
    };
    let mut header = vec![0; usize::try_from(length.ok()?).ok().filter(|length| *length <= MOST_HEADER)?];
    array.read_exact(&mut header).ok()?;
    let header = String::from_utf8(header).ok()?;
    // {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }
    let after = |key: &str, open: char| Some(header.split_once(key)?.1.split_once(open)?.1);
    let (kind, _) = after("'descr':", '\'')?.split_once('\'')?;
    let (shape, _) = after("'shape':", '(')?.split_once(')')?;
    let size: u64 = kind.get(2..)?.parse().ok()?;
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    // What does not fit into a number is beyond any file.
    Some(lengths.map(|length| length.parse().unwrap_or(u64::MAX)).fold(size, u64::saturating_mul))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: u8, text: &str) -> Vec<u8> {
        let length = (text.len() as u32).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [b"\x93NUMPY".as_slice(), &[version, 0], length, text.as_bytes()].concat()
    }

    #[test]
    fn a_header_is_understood() {
        for (text, bytes) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", Some(48)),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }", Some(7)),
            ("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", Some(4)),
            ("{'descr': '<f8', 'shape': (600, 1000000000000000000000), }", Some(u64::MAX)),
            ("{'descr': '<f8', 'shape': (0, 5), }", Some(0)),
            ("{'descr': [('a', '<f8')], 'shape': (1,), }", None),
            ("{}", None),
        ] {
            for version in [1, 2] {
                assert_eq!(promised(&mut header(version, text).as_slice()), bytes, "{text}");
            }
        }
        assert_eq!(promised(&mut b"PK".as_slice()), None);
    }
}
