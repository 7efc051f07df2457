//! `shuffledp server`: publishes tasks, rounds and models, accepts batches, stops at the budget.

use crate::failure::Failure;
use crate::output;
use crate::service::{self, Configured, InitArgs, KeyArgs, LogArgs};
use anyhow::Context;
use serde::Serialize;
use shuffledp_number::shown::upper_bound;
use shuffledp_server::{
    Identity, KeyHistory, KeyRecord, KeyState, LedgerFile, Restored, ServerConfig, ServerError, ServerKeys, abandon,
    backup, export_ledger, identity, import_ledger, init, restore, resume,
};
use std::path::{Path, PathBuf};

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

    #[command(flatten)]
    log: LogArgs,
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

    /// List the keys that reports are sealed to: pending, active and expired
    ///
    /// A pending key is offered from the next round on. An expired one is deleted: only its dates
    /// are kept.
    Keys(KeyArgs),

    /// Check the configuration and the link to the shuffler, without starting the server
    ///
    /// Looks at [task], keys, store, certificate and the shuffler's answer, key and clock. Writes
    /// nothing, and does not disturb a server that runs. Exit code 1 if something is wrong.
    Check(KeyArgs),

    /// Tell a paused server to open rounds again
    ///
    /// A server pauses when no batch came for several rounds in a row, or when the clock may be
    /// wrong. It goes on by itself when the shuffler answers and its clock agrees; this command
    /// says that you know better.
    Resume(KeyArgs),

    /// Work with rounds
    #[command(subcommand)]
    Rounds(RoundsCommand),

    /// Copy the store to a new file, whether the server runs or not
    ///
    /// The copy is the store as it is at one moment. Rounds that open later are not in it: see
    /// `shuffledp server restore --help` before you use it.
    Backup(BackupArgs),

    /// Put a copy of the store in its place, without forgetting a charge
    ///
    /// A copy knows nothing of rounds that opened after it was made. Their charges are taken from
    /// the store that is still there, or from --rounds-seen; without either, nothing is restored.
    /// The open round of the copy is given up, and the next round has a number that no client has
    /// seen. No server may run.
    Restore(RestoreArgs),

    /// Export, check and import the ledger: what was charged, by task and round
    #[command(subcommand)]
    Ledger(LedgerCommand),
}

#[derive(Debug, clap::Subcommand)]
enum LedgerCommand {
    /// Write the ledger as JSON, whether the server runs or not
    Export(ExportArgs),

    /// Check a ledger file, and print how much ε it comes to
    ///
    /// Checks that the file is complete and unchanged. With the store that the configuration
    /// names, also checks that the store has charged every round that is in the file.
    Verify(VerifyArgs),

    /// Charge in the store what is in a ledger file and not in the store
    ///
    /// Charges are added and never taken away. The store is made if it is not there. No server may
    /// run.
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
struct RestoreArgs {
    /// The copy, as `shuffledp server backup` made it
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    copy: PathBuf,

    /// The last round that anybody saw: in the server's log, a saved /v1/status, or `shuffledp
    /// client --status`
    #[arg(long, value_name = "ROUND")]
    rounds_seen: Option<u64>,

    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// The new file; standard output if it is left out
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// The configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// The ledger file
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    ledger: PathBuf,

    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// The ledger file
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    ledger: PathBuf,

    #[command(flatten)]
    key: KeyArgs,
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
  $ shuffledp server check --config my-server/server.toml
  $ shuffledp server --config my-server/server.toml
  $ shuffledp server rotate-key --config my-server/server.toml
  $ shuffledp server rounds abandon 12 --config my-server/server.toml
  $ shuffledp server backup --config my-server/server.toml --output copy.sqlite
  $ shuffledp server restore copy.sqlite --config my-server/server.toml --rounds-seen 40
  $ shuffledp server ledger export --config my-server/server.toml --output ledger.json
  $ shuffledp server ledger verify ledger.json --config my-server/server.toml";

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
        (Some(ServerCommand::Keys(args)), _) => list_keys(args),
        (Some(ServerCommand::Check(args)), _) => check_all(args),
        (Some(ServerCommand::Resume(args)), _) => done(args, &resume(&ServerConfig::read(&args.config)?)?),
        (Some(ServerCommand::Rounds(RoundsCommand::Abandon(args))), _) => {
            done(&args.key, &abandon(&ServerConfig::read(&args.key.config)?, args.round)?)
        }
        (Some(ServerCommand::Backup(args)), _) => {
            done(&args.key, &backup(&ServerConfig::read(&args.key.config)?, &args.output)?)
        }
        (Some(ServerCommand::Restore(args)), _) => put_back(args),
        (Some(ServerCommand::Ledger(LedgerCommand::Export(args))), _) => export(args),
        (Some(ServerCommand::Ledger(LedgerCommand::Verify(args))), _) => verify(args),
        (Some(ServerCommand::Ledger(LedgerCommand::Import(args))), _) => {
            let added = import_ledger(&ServerConfig::read(&args.key.config)?, &read_ledger(&args.ledger)?)?;
            done(&args.key, &format!("{added} rounds were charged that the store did not know"))
        }
        (None, Some(config)) => {
            let (path, new_task) = (config.clone(), args.new_task);
            let configured = Configured {
                read: move || Ok(ServerConfig { new_task, ..ServerConfig::read(&path)? }),
                log_level: |config: &ServerConfig| config.log_level,
            };
            service::run_configured(configured, &args.log, shuffledp_server::run)
        }
        // clap requires one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

fn list_keys(args: &KeyArgs) -> Result<(), Failure> {
    let history = KeyHistory::read(&ServerConfig::read(&args.config)?.keys)?;
    if args.form.json {
        return output::print_json(&history);
    }
    for KeyRecord { id, public_key, state, made, .. } in history.keys() {
        let state = match state {
            KeyState::Pending => "pending",
            KeyState::Active => "active",
            KeyState::Expired => "expired",
        };
        output::print(&format!("key {id:3}  {state:7}  made {}  {public_key}\n", shuffledp_server::date(*made)))?;
    }
    Ok(())
}

fn check_all(args: &KeyArgs) -> Result<(), Failure> {
    let config = ServerConfig::read(&args.config)?;
    let findings = service::on_runtime(async { Ok(shuffledp_server::check(&config).await) })?;
    service::checked(args, &findings)
}

fn put_back(args: &RestoreArgs) -> Result<(), Failure> {
    let config = ServerConfig::read(&args.key.config)?;
    let Restored { added, rounds, next, replaced } = restore(&config, &args.copy, args.rounds_seen)?;
    let before =
        replaced.map_or_else(String::new, |path| format!("; the store that was there is now {}", path.display()));
    done(
        &args.key,
        &format!(
            "restored: {rounds} rounds are charged, {added} of which the copy did not know; the next round is {next}{before}"
        ),
    )
}

fn export(args: &ExportArgs) -> Result<(), Failure> {
    let ledger = export_ledger(&ServerConfig::read(&args.config)?)?;
    match &args.output {
        Some(path) => {
            ledger.write(path)?;
            output::say(&format!("the ledger is in {}", path.display()));
            Ok(())
        }
        None => output::print(&ledger.to_text()?),
    }
}

fn read_ledger(path: &Path) -> Result<LedgerFile, Failure> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(LedgerFile::parse(&text)?)
}

/// A ledger file that is in order, as printed.
#[derive(Serialize)]
struct Verified {
    rounds: u64,
    delta: f64,
    #[serde(with = "shuffledp_learning::unbounded")]
    epsilon: f64,
    /// Rounds that the store has and the file has not; they were opened after the file was written.
    newer: Option<String>,
}

fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let ledger = read_ledger(&args.ledger)?;
    let config = ServerConfig::read(&args.key.config)?;
    let store = export_ledger(&config)?;
    if let Some(missing) = ledger.missing_in(&store) {
        return Err(Failure::Failed(anyhow::anyhow!(
            "the store has forgotten charges, or charges them otherwise: {missing}. Stop the server, and import the file"
        )));
    }
    let delta = config.task.delta;
    let verified =
        Verified { rounds: ledger.rounds(), delta, epsilon: ledger.epsilon(delta)?, newer: store.missing_in(&ledger) };
    if args.key.form.json {
        return output::print_json(&verified);
    }
    let Verified { rounds, epsilon, newer, .. } = verified;
    let newer = newer.map_or_else(String::new, |newer| format!("only in the store: {newer}\n"));
    let epsilon = upper_bound(epsilon);
    output::print(&format!("{rounds} rounds, all of them in the store: ε ≤ {epsilon} at δ = {delta:e}\n{newer}"))
}

/// The printed result of a command.
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
