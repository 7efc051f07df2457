//! `shuffledp server`: publishes tasks, rounds and models, accepts batches, stops at the budget.

use crate::failure::Failure;
use crate::output;
use crate::service::{self, InitArgs, KeyArgs};
use serde::Serialize;
use shuffledp_server::{Identity, ServerConfig, ServerError, ServerKeys, abandon, backup, identity, init, resume};
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

    /// Give up the open round of another task, if the configuration has a new one
    ///
    /// A changed [task] is another task, which clients do not know. Without this flag the server
    /// refuses to start while a round of the old task is open.
    #[arg(long, requires = "config")]
    new_task: bool,
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

    /// Tell a paused server to open rounds again
    ///
    /// A server pauses when no batch came for several rounds in a row, or when the clock may be
    /// wrong. It goes on by itself when the shuffler answers and its clock agrees; this command says
    /// that you know better.
    Resume(KeyArgs),

    /// Work with rounds
    #[command(subcommand)]
    Rounds(RoundsCommand),

    /// Copy the store to a new file, whether the server runs or not
    ///
    /// The copy is the store as it is at one moment. Rounds that open later are not in it: see
    /// `shuffledp server restore --help` before you use it.
    Backup(BackupArgs),
}

#[derive(Debug, clap::Subcommand)]
enum RoundsCommand {
    /// Give up the open round; it stays charged
    ///
    /// For a round that would stay open too long, for example because the clock was wrong when it
    /// opened. Asks the running server.
    Abandon(AbandonArgs),
}

#[derive(Debug, clap::Args)]
struct AbandonArgs {
    /// The round's number, as the server's page and log show it
    #[arg(value_name = "ROUND")]
    round: u64,

    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, clap::Args)]
struct BackupArgs {
    /// The new file
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,

    #[command(flatten)]
    key: KeyArgs,
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp server init my-server
  $ shuffledp server show --config my-server/server.toml
  $ shuffledp server --config my-server/server.toml
  $ shuffledp server rotate-key --config my-server/server.toml
  $ shuffledp server rounds abandon 12 --config my-server/server.toml
  $ shuffledp server backup --config my-server/server.toml --output ledger-copy.sqlite";

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
        (Some(ServerCommand::Resume(args)), _) => done(args, &resume(&ServerConfig::read(&args.config)?)?),
        (Some(ServerCommand::Rounds(RoundsCommand::Abandon(args))), _) => {
            done(&args.key, &abandon(&ServerConfig::read(&args.key.config)?, args.round)?)
        }
        (Some(ServerCommand::Backup(args)), _) => {
            done(&args.key, &backup(&ServerConfig::read(&args.key.config)?, &args.output)?)
        }
        (None, Some(config)) => {
            let config = ServerConfig { new_task: args.new_task, ..ServerConfig::read(config)? };
            service::run(async |shutdown| shuffledp_server::run(config, shutdown).await)
        }
        // clap requires one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

/// What a command did, as printed.
#[derive(Serialize)]
struct Done<'a> {
    done: &'a str,
}

fn done(args: &KeyArgs, sentence: &str) -> Result<(), Failure> {
    if args.form.json {
        return output::print_json(&Done { done: sentence });
    }
    output::print(&format!("{sentence}\n"))
}

impl From<ServerError> for Failure {
    /// Errors that the user can fix are usage errors; all others are failures.
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Config(sentence) => Self::Usage(sentence),
            error @ (ServerError::TaskChanged | ServerError::InUse(_) | ServerError::NotRunning) => {
                Self::Usage(error.to_string())
            }
            other => Self::Failed(other.into()),
        }
    }
}
