//! `shuffledp explore`: the accounting as a page, in a browser.

use crate::failure::Failure;
use crate::output::{self, NewFile};
use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

/// Open a page with sliders: ε, δ, curves and the error of an estimate
///
/// The page is one file. It computes in the browser, needs no network and sends nothing. It gives
/// the numbers of this program, and every setting as a command line, Python or a link.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExploreArgs {
    /// Write the page to this file, and do not open it
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp explore
  $ shuffledp explore -o explorer.html";

const NOT_BUILT: &str = "this program was built without the explorer's page, or after a change to the accounting; \
                         in a clone of shuffledp, type: make explorer";

pub(crate) fn run(args: &ExploreArgs) -> Result<(), Failure> {
    let page = PAGE.ok_or_else(|| anyhow!(NOT_BUILT))?;
    if let Some(path) = &args.output {
        NewFile::create("--output", path)?.finish(page.as_bytes())?;
        output::say(&format!("wrote {}: open it in a browser", path.display()));
        return Ok(());
    }
    // The browser reads the file after this program has ended, so it stays: a folder of its own,
    // which nobody else can have prepared.
    let folder = tempfile::Builder::new().prefix("shuffledp-explorer-").tempdir().context("cannot make a folder")?;
    let path = folder.keep().join("explorer.html");
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    output::print(&format!("{}\n", path.display()))?;
    if !open(&path) {
        output::say("no browser could be started: open this file in one");
    }
    Ok(())
}

/// Hands a file to the system's browser; `false` if that did not work.
fn open(path: &Path) -> bool {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(opener);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Windows' own answers with 1 when all is well.
    command.status().is_ok_and(|status| status.success() || cfg!(windows))
}
