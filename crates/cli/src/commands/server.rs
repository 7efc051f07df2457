//! `shuffledp server`: publishes tasks, rounds and models, accepts batches, stops at the budget.

use crate::failure::Failure;
use crate::output;
use crate::service::{self, InitArgs, KeyArgs};
use serde::Serialize;
use shuffledp_server::{Identity, ServerConfig, ServerError, ServerKeys, identity, init};
use std::path::PathBuf;

/// Run the server: publishes tasks and rounds, accepts shuffled batches, stops at the budget
///
/// The ledger is charged before a round is published, never refunded, and survives restarts; the
/// round that would exceed the budget is not opened. A page with accuracy and ε over rounds is at
/// /, the figures are at /v1/privacy. Runs until SIGTERM or Ctrl-C.
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
    /// Write keys and a configuration file, and print the public key that clients and shuffler pin
    Init(InitArgs),

    /// Print the values that clients pin: the server's public key and the task's hash
    ///
    /// The output is lines for client.toml. Any change in [task] changes the hash, so run this when
    /// the configuration is final.
    Show(KeyArgs),

    /// Add a new encryption key for reports
    ///
    /// A running server uses it from its next round on. Until then, older keys open the reports
    /// sealed to them; when that round opens, the server deletes the older keys.
    RotateKey(KeyArgs),
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp server init my-server
  $ shuffledp server show --config my-server/server.toml
  $ shuffledp server --config my-server/server.toml
  $ shuffledp server rotate-key --config my-server/server.toml";

/// The server's verifying key and the task's hash, which clients pin, as printed.
#[derive(Serialize)]
struct Shown {
    verifying_key: String,
    task: String,
}

pub(crate) fn run(args: &ServerArgs) -> Result<(), Failure> {
    match (&args.command, &args.config) {
        (Some(ServerCommand::Init(args)), _) => {
            let key = init(&args.folder)?;
            let advice = "edit [task] first, with the key of your shuffler; the public key for clients and shuffler:";
            service::made(args, "server.toml", advice, Some(&key))
        }
        (Some(ServerCommand::Show(args)), _) => {
            let Identity { verifying_key, task } = identity(&ServerConfig::read(&args.config)?)?;
            let (verifying_key, task) = (verifying_key.to_string(), task.to_string());
            if args.form.json {
                return output::print_json(&Shown { verifying_key, task });
            }
            output::print(&format!("server_key = \"{verifying_key}\"\ntask = \"{task}\"\n"))
        }
        (Some(ServerCommand::RotateKey(args)), _) => {
            let id = ServerKeys::rotate(&ServerConfig::read(&args.config)?.keys)?;
            service::rotated(args, id.0)
        }
        (None, Some(config)) => {
            let config = ServerConfig::read(config)?;
            service::run(async |shutdown| shuffledp_server::run(config, shutdown).await)
        }
        // clap requires one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

impl From<ServerError> for Failure {
    /// Errors that the user can fix are usage errors; all others are failures.
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Config(sentence) => Self::Usage(sentence),
            other => Self::Failed(other.into()),
        }
    }
}
