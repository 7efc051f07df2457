//! The contract of stores, kept by SQLite files.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod stores;

use shuffledp_shuffler::NoWitness;
use shuffledp_shuffler::store::SqliteFolder;
use std::sync::Arc;

#[test]
fn sqlite_files_keep_the_contract_of_stores() {
    let folder = tempfile::TempDir::new().unwrap();
    stores::all(&|| Arc::new(SqliteFolder::open(&folder.path().join("data"), Arc::new(NoWitness)).unwrap()));
}
