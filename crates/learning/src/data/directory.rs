//! Where data lies. One convention, shared by everything that reads or fetches data.

use crate::{LearningError, Result};
use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};

/// Names the data directory when no flag does.
pub const VARIABLE: &str = "SHUFFLEDP_DATA";

/// The data directory: `given`, else the environment's `SHUFFLEDP_DATA`, else `shuffledp` in the
/// user's data directory (`$XDG_DATA_HOME` or `~/.local/share`; on Windows `%APPDATA%`). A dataset
/// has a folder of its own in it, such as `mnist`.
pub fn data_directory(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let strategy = etcetera::choose_base_strategy().map_err(|error| {
        LearningError::Missing(format!("no data directory: {error}; name one with --data or {VARIABLE}"))
    })?;
    Ok(strategy.data_dir().join("shuffledp"))
}
