//! The one place that touches the disk.

use std::path::Path;

use crate::ReportError;

/// What the name of a file ends in, in lower case; empty if nothing.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    std::fs::write(path, bytes).map_err(|source| ReportError::Write { path: path.into(), source })
}
