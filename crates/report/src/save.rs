//! The one place that touches the disk.

use std::path::Path;

use crate::ReportError;

/// Returns the extension of a file name, in lower case; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    std::fs::write(path, bytes).map_err(|source| ReportError::Write { path: path.into(), source })
}
