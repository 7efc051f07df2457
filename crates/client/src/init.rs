//! A configuration to edit.

use crate::error::{ClientError, Result};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The configuration that a new client starts from.
const TEMPLATE: &str = include_str!("../../../examples/services/client.toml");

/// Makes `client.toml` in a folder; one that is there is not overwritten. There are no keys to
/// make: a client signs nothing.
pub fn init(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(ClientError::file("create", folder))?;
    let path = folder.join("client.toml");
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.and_then(|mut file| file.write_all(TEMPLATE.as_bytes())).map_err(ClientError::file("create", &path))
}
