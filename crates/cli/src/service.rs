//! Common parts of the service commands: a runtime, a log, shutdown on a signal, and the printing
//! of keys.

use crate::args::JsonArgs;
use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use serde::Serialize;
use shuffledp_transport::{Finding, Hangups, LogLevel, Shutdown};
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Registry, reload};

/// How a service logs.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// The least important lines that are logged
    ///
    /// Instead of `log_level` of the configuration file, until SIGHUP: then the file is read again
    /// and decides.
    #[arg(long, value_name = "LEVEL", value_enum)]
    log_level: Option<Level>,

    /// How log lines look
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
        }
    }
}

/// The lines that are logged. Libraries stay at `info` or above: one level below, they name the
/// addresses that connect, which nobody must write down.
fn lines(level: LogLevel) -> Targets {
    let (ours, theirs) = match level {
        LogLevel::Error => (LevelFilter::ERROR, LevelFilter::ERROR),
        LogLevel::Warn => (LevelFilter::WARN, LevelFilter::WARN),
        LogLevel::Info => (LevelFilter::INFO, LevelFilter::INFO),
        LogLevel::Debug => (LevelFilter::DEBUG, LevelFilter::INFO),
    };
    Targets::new().with_target("shuffledp", ours).with_default(theirs)
}

/// Runs a client until SIGTERM or Ctrl-C, and lets it end in order. The log goes to stderr.
pub(crate) fn run<E>(service: impl AsyncFnOnce(Shutdown) -> Result<(), E>) -> Result<(), Failure>
where
    E: Into<Failure>,
{
    start_log(LogLevel::Info, LogFormat::Text);
    on_runtime(async {
        let shutdown = Shutdown::on_signals().context("cannot listen for signals")?;
        service(shutdown).await.map_err(Into::into)
    })
}

/// A service's configuration: read once to start, and again at every SIGHUP.
pub(crate) struct Configured<C, R> {
    /// Reads it.
    pub(crate) read: R,
    /// Its `log_level`.
    pub(crate) log_level: fn(&C) -> Option<LogLevel>,
}

/// Runs a service until SIGTERM or Ctrl-C, and lets it end in order. At SIGHUP its configuration is
/// read again and sent to it. The log goes to stderr.
pub(crate) fn run_configured<C, R, E>(
    configured: Configured<C, R>,
    log: &LogArgs,
    service: impl AsyncFnOnce(C, mpsc::Receiver<C>, Shutdown) -> Result<(), E>,
) -> Result<(), Failure>
where
    C: Send + 'static,
    R: Fn() -> Result<C, E> + Send + 'static,
    E: Into<Failure> + Display,
{
    let config = (configured.read)().map_err(Into::into)?;
    let first = log.log_level.map(LogLevel::from).or_else(|| (configured.log_level)(&config));
    let level = start_log(first.unwrap_or(LogLevel::Info), log.log_format);
    on_runtime(async {
        let shutdown = Shutdown::on_signals().context("cannot listen for signals")?;
        let mut hangups = Hangups::on_signals().context("cannot listen for signals")?;
        let (reloads, reloaded) = mpsc::channel(1);
        let reading = tokio::spawn(async move {
            loop {
                hangups.next().await;
                let fresh = (configured.read)().map_err(|error| error.to_string());
                match fresh {
                    Ok(fresh) => {
                        if let (Some(set), Some(to)) = (&level, (configured.log_level)(&fresh)) {
                            // It fails only if the log is gone, and with it whoever would read
                            // this.
                            let _ = set.reload(lines(to));
                        }
                        if reloads.send(fresh).await.is_err() {
                            return;
                        }
                    }
                    Err(error) => {
                        tracing::error!(%error, "the configuration cannot be read again; nothing has changed")
                    }
                }
            }
        });
        let ended = service(config, reloaded, shutdown).await.map_err(Into::into);
        reading.abort();
        ended
    })
}

/// Another subscriber is there only if a service runs inside another command, which then has its
/// own log; nothing is returned then.
fn start_log(level: LogLevel, format: LogFormat) -> Option<reload::Handle<Targets, Registry>> {
    let (filter, handle) = reload::Layer::new(lines(level));
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Text => layer.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines).try_init().ok().map(|()| handle)
}

/// Runs it on a runtime of its own.
pub(crate) fn on_runtime<T>(service: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    runtime.block_on(service)
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

/// The findings of a check.
#[derive(Serialize)]
struct Checked<'a> {
    ok: bool,
    findings: &'a [Finding],
}

/// Says what a check found, and fails if something has to be mended.
pub(crate) fn checked(args: &KeyArgs, findings: &[Finding]) -> Result<(), Failure> {
    let ok = findings.iter().all(|finding| finding.problem.is_none());
    if args.form.json {
        output::print_json(&Checked { ok, findings })?;
    } else {
        let line = |finding: &Finding| match &finding.problem {
            None => format!("ok      {}\n", finding.what),
            Some(problem) => format!("mend    {}: {problem}\n", finding.what),
        };
        output::print(&findings.iter().map(line).collect::<String>())?;
    }
    if ok { Ok(()) } else { Err(Failure::Failed(anyhow::anyhow!("the check found something to mend"))) }
}
