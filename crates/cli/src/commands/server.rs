//! `shuffledp server`: tasks, rounds, models, batches; stops at the budget.

use crate::failure::Failure;
use crate::{output, service};
use serde::Serialize;
use shuffledp_server::{ServerConfig, ServerError, ServerKeys};
use std::path::{Path, PathBuf};

/// Run the server: publishes tasks and rounds, takes shuffled batches, stops at the budget
///
/// The ledger is charged before a round is published, never refunded, and survives restarts; the round that would exceed the budget is
/// not opened. A page with accuracy and ε over rounds is at /, the figures are at /v1/privacy. Runs until SIGTERM or Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct ServerArgs {
    #[command(subcommand)]
    command: Option<ServerCommand>,

    /// The configuration file (TOML)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, required = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum ServerCommand {
    Init(InitArgs),
    RotateKey(RotateKeyArgs),
}

/// Make keys and a configuration file, and print the public key that clients and shuffler pin
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
/// The server takes it up when it is started again. Two keys are kept, so rotate again only when the rounds that offered the older one are
/// over.
#[derive(Debug, clap::Args)]
struct RotateKeyArgs {
    /// The server's configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp server init my-server
  $ shuffledp server --config my-server/server.toml
  $ shuffledp server rotate-key --config my-server/server.toml";

pub(crate) fn run(args: &ServerArgs) -> Result<(), Failure> {
    match (&args.command, &args.config) {
        (Some(ServerCommand::Init(args)), _) => make(args),
        (Some(ServerCommand::RotateKey(args)), _) => rotate(args),
        (None, Some(config)) => {
            let config = ServerConfig::read(config).map_err(refused)?;
            service::run(async |shutdown| shuffledp_server::run(config, shutdown).await)
        }
        // clap asks for one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

/// New keys in their place.
#[derive(Serialize)]
struct Made<'a> {
    folder: &'a Path,
    verifying_key: String,
}

fn make(args: &InitArgs) -> Result<(), Failure> {
    let key = shuffledp_server::init(&args.folder).map_err(refused)?.to_string();
    if args.json {
        return json(&Made { folder: &args.folder, verifying_key: key });
    }
    let file = args.folder.join("server.toml");
    output::say(&format!("edit {}, above all [task]; the public key for clients and shuffler:", file.display()));
    output::print(&format!("{key}\n"))
}

/// A new key.
#[derive(Serialize)]
struct Rotated {
    key_id: u8,
}

fn rotate(args: &RotateKeyArgs) -> Result<(), Failure> {
    let config = ServerConfig::read(&args.config).map_err(refused)?;
    let keys = ServerKeys::rotate(&config.keys).map_err(refused)?;
    let [(id, _), ..] = keys.sealing.public_keys()[..] else { return Ok(()) };
    if args.json {
        return json(&Rotated { key_id: id.0 });
    }
    output::print(&format!("key {id} is the newest now; start the server again\n"))
}

fn json(value: &impl Serialize) -> Result<(), Failure> {
    output::print(&format!("{}\n", serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?))
}

/// What the user can change is bad usage, the rest a failure.
fn refused(error: ServerError) -> Failure {
    match error {
        ServerError::Config(sentence) => Failure::Usage(sentence),
        other => Failure::Failed(other.into()),
    }
}
