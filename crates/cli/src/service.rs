//! Common parts of the service commands: a runtime, a log, shutdown on a signal, and the printing
//! of keys.

use crate::args::JsonArgs;
use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use serde::Serialize;
use shuffledp_transport::Shutdown;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Runs a service until SIGTERM or Ctrl-C, and lets it end in order.
///
/// The log goes to stderr. Its level is fixed: one level below, libraries name the addresses that
/// connect, which a shuffler must not write down.
pub(crate) fn run<E>(service: impl AsyncFnOnce(Shutdown) -> Result<(), E>) -> Result<(), Failure>
where
    E: Into<Failure>,
{
    // Another subscriber is there only if a service runs inside another command, which then has its
    // own log.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    runtime.block_on(async {
        let shutdown = Shutdown::on_signals().context("cannot listen for signals")?;
        service(shutdown).await.map_err(Into::into)
    })
}

/// Waits for one piece of work that is no service.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    Ok(runtime.block_on(work))
}

// No documentation on these two: what they are for is said where a command uses them, and becomes
// its help.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Where to put them; made if it is not there
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    form: JsonArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) config: PathBuf,

    #[command(flatten)]
    pub(crate) form: JsonArgs,
}

/// A new folder.
#[derive(Serialize)]
struct Made<'a> {
    folder: &'a Path,
    config: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    verifying_key: Option<String>,
}

/// Says what a new folder holds: the name of its configuration file, what is to be done with it,
/// and the public key, if there is one.
pub(crate) fn made(args: &InitArgs, name: &str, advice: &str, key: Option<&dyn Display>) -> Result<(), Failure> {
    let config = args.folder.join(name);
    let key = key.map(ToString::to_string);
    if args.form.json {
        return output::print_json(&Made { folder: &args.folder, config: &config, verifying_key: key });
    }
    output::say(&format!("edit {}: {advice}", config.display()));
    match key {
        Some(key) => output::print(&format!("{key}\n")),
        None => output::print(&format!("{}\n", config.display())),
    }
}

/// A new key.
#[derive(Serialize)]
struct Rotated {
    key_id: u8,
}

/// Says which key is the newest now.
pub(crate) fn rotated(args: &KeyArgs, key_id: u8) -> Result<(), Failure> {
    if args.form.json {
        return output::print_json(&Rotated { key_id });
    }
    output::print(&format!("key {key_id} is the newest now\n"))
}
