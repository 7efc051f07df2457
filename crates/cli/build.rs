//! Puts the papers' experiments into the program: every item and every stored training run of
//! `experiments/`, as a table of texts that `src/reproduce/library.rs` includes; and the explorer's
//! page, if `make explorer` has built it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folder that holds training runs; every other folder of `experiments/` is a paper.
const TRAINING: &str = "training";

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let experiments = here.join("../../experiments");
    println!("cargo::rerun-if-changed={}", experiments.display());
    let mut table = String::from("/// (paper, name, text) of every item and of every paper.toml, sorted.\n");
    table += "pub(super) const FILES: &[(&str, &str, &str)] = &[\n";
    for paper in sorted(&experiments)?.iter().filter(|path| path.is_dir() && !path.ends_with(TRAINING)) {
        for file in sorted(paper)?.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")) {
            let _ = writeln!(table, "    ({:?}, {:?}, include_str!({:?})),", name(paper), name(file), absolute(file)?);
        }
    }
    table += "];\n\n/// (name, text) of the curve of every stored training run, sorted.\n";
    table += "pub(super) const CURVES: &[(&str, &str)] = &[\n";
    for file in sorted(&experiments.join(TRAINING).join("curves"))? {
        let _ = writeln!(table, "    ({:?}, include_str!({:?})),", name(&file), absolute(&file)?);
    }
    table += "];\n\n/// What the stored training runs came to, as JSON.\n";
    let results = absolute(&experiments.join(TRAINING).join("results.json"))?;
    let _ = writeln!(table, "pub(super) const RESULTS: &str = include_str!({results:?});");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("experiments.rs"), table)?;
    explorer(&here.join("../.."), &out)
}

/// The crates whose code is in the explorer's page.
const IN_THE_PAGE: [&str; 4] = ["accounting", "explorer", "number", "question"];

/// Puts the explorer's page into the program, unless it is missing or older than what it is made
/// of: a page must not give other numbers than the program that carries it.
fn explorer(root: &Path, out: &Path) -> io::Result<()> {
    let page = root.join("target/explorer/explorer.html");
    // Cargo would treat a missing path as changed at every build. `make explorer` touches this file
    // at its end, so that the page is found then.
    if page.is_file() {
        println!("cargo::rerun-if-changed={}", page.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let mut newest = std::time::SystemTime::UNIX_EPOCH;
    for part in IN_THE_PAGE {
        for folder in ["src", "page"] {
            newest = newest.max(newest_in(&root.join("crates").join(part).join(folder))?);
        }
    }
    let is_fresh = |page: &Path| fs::metadata(page).and_then(|data| data.modified()).is_ok_and(|time| time >= newest);
    let code = if is_fresh(&page) { format!("Some(include_str!({:?}))", absolute(&page)?) } else { "None".to_owned() };
    fs::write(out.join("explorer.rs"), format!("const PAGE: Option<&str> = {code};\n"))
}

/// When the newest file below a folder was changed.
fn newest_in(folder: &Path) -> io::Result<std::time::SystemTime> {
    let mut newest = std::time::SystemTime::UNIX_EPOCH;
    if !folder.is_dir() {
        return Ok(newest);
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        newest = newest.max(if path.is_dir() { newest_in(&path)? } else { fs::metadata(&path)?.modified()? });
    }
    Ok(newest)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::canonicalize(path)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
