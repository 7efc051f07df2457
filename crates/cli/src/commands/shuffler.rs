//! `shuffledp shuffler`: the service that accepts reports, permutes them and forwards them.

use crate::failure::Failure;
use crate::output;
use crate::service::{self, Configured, InitArgs, KeyArgs, LogArgs};
use serde::Serialize;
use shuffledp_shuffler::{Config, ShufflerError, check, init, rotate_key, verifying_key};
use std::path::PathBuf;

/// Run the shuffler: accepts reports, permutes them, forwards them; cannot read them
///
/// Runs until SIGTERM or Ctrl-C; waiting reports are stored, and the next start continues with
/// them. SIGHUP makes it read its configuration, TLS certificate and TLS key again. `init` writes
/// keys and a configuration file that explains every setting.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct ShufflerArgs {
    #[command(subcommand)]
    command: Option<ShufflerCommand>,

    /// The configuration file (TOML)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, required = true)]
    config: Option<PathBuf>,

    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, clap::Subcommand)]
enum ShufflerCommand {
    /// Write keys and a configuration file, and print the public key that tasks name
    Init(InitArgs),

    /// Print the public key that tasks name
    Show(KeyArgs),

    /// Check a configuration, its files and the way to its servers, and start nothing
    ///
    /// Exits with 1 if something has to be mended first.
    Check(KeyArgs),

    /// Add a new encryption key for reports
    ///
    /// A running shuffler uses it within seconds. Reports sealed to older keys are accepted until
    /// the rounds that could use them are over; then the shuffler deletes those keys.
    RotateKey(KeyArgs),
}

const AFTER_HELP: &str = "\
Examples:
  $ shuffledp shuffler init my-shuffler
  $ shuffledp shuffler check --config my-shuffler/shuffler.toml
  $ shuffledp shuffler --config my-shuffler/shuffler.toml
  $ shuffledp shuffler rotate-key --config my-shuffler/shuffler.toml";

/// The shuffler's verifying key, which tasks name, as printed.
#[derive(Serialize)]
struct Shown {
    verifying_key: String,
}

pub(crate) fn run(args: &ShufflerArgs) -> Result<(), Failure> {
    match (&args.command, &args.config) {
        (Some(ShufflerCommand::Init(args)), _) => {
            let key = init(&args.folder)?;
            let advice = "edit min_batch and [[servers]] first; the public key for the server's [task.shuffler]:";
            service::made(args, "shuffler.toml", advice, Some(&key))
        }
        (Some(ShufflerCommand::Show(args)), _) => {
            let verifying_key = verifying_key(&Config::load(&args.config)?)?.to_string();
            if args.form.json {
                return output::print_json(&Shown { verifying_key });
            }
            output::print(&format!("verifying_key = \"{verifying_key}\"\n"))
        }
        (Some(ShufflerCommand::RotateKey(args)), _) => {
            let id = rotate_key(&Config::load(&args.config)?.hpke_keys)?;
            service::rotated(args, id.0)
        }
        (Some(ShufflerCommand::Check(args)), _) => {
            service::checked(args, &service::on_runtime(async { Ok(check(&Config::load(&args.config)?).await) })?)
        }
        (None, Some(config)) => {
            let config = config.clone();
            let configured =
                Configured { read: move || Config::load(&config), log_level: |config: &Config| config.log_level };
            service::run_configured(configured, &args.log, shuffledp_shuffler::run)
        }
        // clap requires one of the two.
        (None, None) => Err(Failure::Usage("give --config FILE, or `init`".to_owned())),
    }
}

impl From<ShufflerError> for Failure {
    /// Errors that the user can fix are usage errors; all others are failures.
    fn from(error: ShufflerError) -> Self {
        match error {
            ShufflerError::Config { .. } | ShufflerError::Toml { .. } => Self::Usage(error.to_string()),
            other => Self::Failed(other.into()),
        }
    }
}
