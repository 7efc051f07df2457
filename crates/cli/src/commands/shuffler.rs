//! `shuffledp shuffler`: the service that takes reports in, permutes them and passes them on.

use crate::failure::Failure;
use crate::{output, service};
use serde::Serialize;
use shuffledp_shuffler::{Config, init, rotate_key};
use std::path::{Path, PathBuf};

/// Run the shuffler: takes reports, permutes them, passes them on; cannot read them
///
/// Runs until SIGTERM or Ctrl-C; then what waits is stored, and the next start goes on. `init` makes keys and a configuration file in
/// which every setting is explained.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct ShufflerArgs {
    #[command(subcommand)]
    command: Option<ShufflerCommand>,

    /// The configuration file (TOML)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, required = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum ShufflerCommand {
    Init(InitArgs),
    RotateKey(RotateKeyArgs),
}

/// Make keys and a configuration file, and print the public key that tasks name
#[derive(Debug, clap::Args)]
struct InitArgs {
    /// Where to put them; made if it is not there
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    folder: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Put a new key in front of those that reports are sealed to
///
/// A running shuffler notices within seconds. Reports sealed to older keys are taken until the rounds that could use them are over; then the
/// shuffler deletes those keys.
#[derive(Debug, clap::Args)]
struct RotateKeyArgs {
    /// The shuffler's configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp shuffler init my-shuffler
  $ shuffledp shuffler --config my-shuffler/shuffler.toml
  $ shuffledp shuffler rotate-key --config my-shuffler/shuffler.toml";

pub(crate) fn run(args: &ShufflerArgs) -> Result<(), Failure> {
    match (&args.command, &args.config) {
        (Some(ShufflerCommand::Init(args)), _) => make(args),
        (Some(ShufflerCommand::RotateKey(args)), _) => rotate(args),
        (None, Some(config)) => serve(config),
        // clap asks for one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

fn serve(config: &Path) -> Result<(), Failure> {
    let config = Config::load(config).map_err(anyhow::Error::from)?;
    service::run(async |shutdown| shuffledp_shuffler::run(config, shutdown).await)
}

/// New keys in their place.
#[derive(Serialize)]
struct Made<'a> {
    folder: &'a Path,
    verifying_key: String,
}

fn make(args: &InitArgs) -> Result<(), Failure> {
    let key = init(&args.folder).map_err(anyhow::Error::from)?.to_string();
    if args.json {
        let made = Made { folder: &args.folder, verifying_key: key };
        return output::print(&format!("{}\n", serde_json::to_string_pretty(&made).map_err(anyhow::Error::from)?));
    }
    output::say(&format!(
        "edit {}, above all min_batch and [[servers]]; the public key for tasks:",
        args.folder.join("shuffler.toml").display()
    ));
    output::print(&format!("{key}\n"))
}

/// A new key.
#[derive(Serialize)]
struct Rotated {
    key_id: u8,
}

fn rotate(args: &RotateKeyArgs) -> Result<(), Failure> {
    let config = Config::load(&args.config).map_err(anyhow::Error::from)?;
    let id = rotate_key(&config.hpke_keys).map_err(anyhow::Error::from)?;
    if args.json {
        let rotated = Rotated { key_id: id.0 };
        return output::print(&format!("{}\n", serde_json::to_string_pretty(&rotated).map_err(anyhow::Error::from)?));
    }
    output::print(&format!("key {id} is the newest now\n"))
}
