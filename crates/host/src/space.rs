//! How much a disk still takes.

use std::io::Result;
use std::path::Path;

/// Bytes that this process may still write to the file system of `path`.
///
/// # Errors
///
/// If the path is not there, or the system does not say.
pub fn free_space(path: &Path) -> Result<u64> {
    fs4::available_space(path)
}
