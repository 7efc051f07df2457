//! `shuffledp reproduce`: the papers' figures and tables by name.

use super::train;
use crate::args::{JsonArgs, count};
use crate::failure::Failure;
use crate::output::reproduction::{self, Figure};
use crate::output::{self, NewFile};
use crate::reproduce::compute::compute;
use crate::reproduce::item::Item;
use crate::reproduce::judge::{Judged, judge};
use crate::reproduce::library::Library;
use crate::reproduce::runs::Runs;
use anyhow::Context;
use shuffledp_report::{Format, Panels};
use std::path::{Path, PathBuf};

/// Compute the papers' figures and tables again, by name, with their own parameters
///
/// Every item has a verdict: reproduced, reproduced with a correction, or not reproducible. It
/// compares the paper's claims with the values of its formulas, and with this project's upper and
/// lower bounds. Training items use stored runs unless --train runs them again.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "shuffledp reproduce [OPTIONS] <ITEM…|--paper <P>|--all|--list>")]
pub(crate) struct ReproduceArgs {
    #[command(flatten)]
    what: WhatArgs,

    /// Fewer points on every curve; claims and verdicts are the same
    #[arg(long)]
    quick: bool,

    /// Write pictures (SVG, PNG), numbers (CSV, JSON), README.md and the page index.html into this
    /// folder
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    training: TrainingArgs,

    #[command(flatten)]
    form: JsonArgs,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WhatArgs {
    /// Items or figures, such as girgis-fig2a or girgis-fig2
    #[arg(value_name = "ITEM")]
    items: Vec<String>,

    /// Every item of a paper: check-in, enhanced, gaussian or girgis
    #[arg(long, value_name = "P")]
    paper: Option<String>,

    /// Every item
    #[arg(long)]
    all: bool,

    /// Show the names of all items
    #[arg(long)]
    list: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Training")]
struct TrainingArgs {
    /// Run the training of the items, which takes hours. Runs are kept in DIR/runs; finished runs
    /// are skipped, and stopped runs continue
    #[arg(long, requires = "output", conflicts_with = "list")]
    train: bool,

    /// Seeds of the runs
    #[arg(long, value_name = "S,…", value_delimiter = ',', value_parser = count, default_values_t = [1, 2, 3],
        requires = "train")]
    seeds: Vec<u64>,

    /// The data directory, where 'shuffledp data' puts datasets
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "train")]
    data: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  What there is:
  $ shuffledp reproduce --list

  The \"14 times\" of an abstract:
  $ shuffledp reproduce girgis-14x

  A paper, with pictures, numbers and a page to look at:
  $ shuffledp reproduce --paper gaussian -o gallery

Everything, in less than a minute: shuffledp reproduce --all --quick -o gallery
Train again what a figure shows, in hours; stop it at any moment, the same command goes on:
shuffledp reproduce girgis-fig5a --train -o gallery";

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let library = Library::load()?;
    let mut runs = Runs::stored()?;
    let WhatArgs { items, paper, all, list } = &args.what;
    if *list {
        let text = if args.form.json {
            reproduction::list_document(&library, &runs)?
        } else {
            reproduction::list(&library, &runs)?
        };
        return output::print(&text);
    }
    let items = match paper {
        Some(paper) => library.of_paper(paper)?,
        None if *all => library.items.iter().collect(),
        None => library.named(items)?,
    };
    if let Some(folder) = &args.output {
        require_folder(folder)?;
        if args.training.train {
            train_all(&items, &args.training, folder, &mut runs)?;
        }
    }
    let reproduced = compute(&items, &runs, args.quick)?;
    let judged: Vec<Judged<'_>> = reproduced.into_iter().map(|reproduced| judge(reproduced, &runs)).collect();
    let text = if args.form.json { reproduction::document(&judged)? } else { reproduction::answer(&judged)? };
    let printed = output::print(&text);
    if let Some(folder) = &args.output {
        write(&library, &judged, folder)?;
        output::say(&format!("wrote {}", folder.display()));
    }
    printed
}

/// Makes the folder before the computation, so that nothing is computed that cannot be saved.
fn require_folder(folder: &Path) -> Result<(), Failure> {
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Usage(format!("--output: {} is a file; name a folder", folder.display())));
    }
    std::fs::create_dir_all(folder).with_context(|| format!("--output: cannot make {}", folder.display()))?;
    Ok(())
}

/// Runs the presets of the items, one seed after the other, and takes the results in the place of
/// stored ones.
fn train_all(items: &[&Item], args: &TrainingArgs, folder: &Path, runs: &mut Runs) -> Result<(), Failure> {
    let mut presets: Vec<&str> = Vec::new();
    for preset in items.iter().flat_map(|item| item.presets()) {
        if !presets.contains(&preset) {
            presets.push(preset);
        }
    }
    if presets.is_empty() {
        output::say("nothing to train: these items are about bounds");
    }
    for &seed in &args.seeds {
        for preset in &presets {
            let place = folder.join("runs").join(format!("{preset}-{seed}"));
            train::preset_in(preset, seed, &place, args.data.as_deref())?;
            runs.add(&place)?;
        }
    }
    Ok(())
}

/// Every file of the gallery.
fn write(library: &Library, judged: &[Judged<'_>], folder: &Path) -> Result<(), Failure> {
    let figures = reproduction::figures(library, judged);
    for judged in judged {
        let item = judged.reproduced.item;
        pictures(&reproduction::panels(&item.title, &[judged]), folder, &item.id)?;
        save(folder, &format!("{}.json", item.id), reproduction::item_document(judged)?.as_bytes())?;
    }
    for Figure { id, items, panels } in &figures {
        if items.len() > 1 {
            pictures(panels, folder, id)?;
        }
    }
    save(folder, "README.md", reproduction::markdown(library, &figures).as_bytes())?;
    save(folder, "index.html", reproduction::gallery(library, &figures)?.as_bytes())
}

fn pictures(panels: &Panels, folder: &Path, name: &str) -> Result<(), Failure> {
    for (format, end) in [(Format::Svg, "svg"), (Format::Png, "png"), (Format::Csv, "csv")] {
        let bytes = panels.to_bytes(format).map_err(anyhow::Error::from)?;
        save(folder, &format!("{name}.{end}"), &bytes)?;
    }
    Ok(())
}

fn save(folder: &Path, name: &str, contents: &[u8]) -> Result<(), Failure> {
    NewFile::create("--output", &folder.join(name))?.finish(contents)?;
    Ok(())
}
