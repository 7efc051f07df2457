//! Files of plain HTTP mirrors, fetched by curl or, where there is none, by wget.
//!
//! A mirror is not trusted: what it sends is checked against SHA-256 sums before anything is
//! written.

use super::published::MOST_BYTES;
use crate::{LearningError, Result};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A machine without a network learns so after this many seconds a mirror.
const CONNECT_SECONDS: &str = "5";
/// A transfer is given up after this many seconds without data.
const STALL_SECONDS: &str = "15";

/// Fetches these files of a mirror, and returns the folder that they are in. Only `http://` and
/// `https://` are accepted, so that a mirror cannot name a file of this machine or an option.
pub(super) fn fetch(mirror: &str, names: &[String]) -> Result<TempDir> {
    if !(mirror.starts_with("http://") || mirror.starts_with("https://")) {
        let problem = format!("a mirror begins with http:// or https://, but this one is {mirror:?}");
        return Err(LearningError::Missing(problem));
    }
    let scratch = tempfile::tempdir().map_err(LearningError::file("create", &std::env::temp_dir()))?;
    for name in names {
        download(&format!("{}/{name}", mirror.trim_end_matches('/')), &scratch.path().join(name))?;
    }
    Ok(scratch)
}

/// Downloads one file with the first client that this machine has.
fn download(url: &str, target: &Path) -> Result<()> {
    for (client, options) in [("curl", curl(target)), ("wget", wget(target))] {
        let output = match Command::new(client).args(options).arg(url).output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(LearningError::Missing(format!("{client} cannot be run: {error}"))),
        };
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it did not say why").trim();
        return Err(LearningError::Missing(format!("{client} could not fetch {url} ({said})")));
    }
    Err(LearningError::Missing(format!("there is neither curl nor wget to fetch {url}")))
}

fn curl(target: &Path) -> Vec<OsString> {
    let most = MOST_BYTES.to_string();
    let words = ["--fail", "--location", "--silent", "--show-error", "--globoff", "--proto", "=http,https"];
    let limits = ["--max-filesize", &most, "--connect-timeout", CONNECT_SECONDS, "--speed-time", STALL_SECONDS];
    let mut options: Vec<OsString> = words.iter().chain(&limits).map(Into::into).collect();
    options.extend(["--output".into(), target.into()]);
    options
}

fn wget(target: &Path) -> Vec<OsString> {
    let words = ["--no-verbose", "--tries=1", "--connect-timeout", CONNECT_SECONDS, "--dns-timeout", CONNECT_SECONDS];
    let mut options: Vec<OsString> = words.iter().chain(&["--read-timeout", STALL_SECONDS]).map(Into::into).collect();
    options.extend(["--output-document".into(), target.into()]);
    options
}
