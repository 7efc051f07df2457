//! Puts the papers' experiments into the program: every item and every stored training run of
//! `experiments/`, as a table of texts that `src/reproduce/library.rs` includes.

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
    fs::write(out.join("experiments.rs"), table)
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
