//! What the three services share on the command line: a runtime, a log, and an end when they are told to.

use crate::failure::Failure;
use anyhow::Context;
use shuffledp_transport::Shutdown;
use std::io::IsTerminal;

/// Runs a service until SIGTERM or Ctrl-C, and lets it end in order.
///
/// The log goes to stderr. Its level is fixed: one level below, libraries name the addresses that connect, which a shuffler must not write down.
pub(crate) fn run<E>(service: impl AsyncFnOnce(Shutdown) -> Result<(), E>) -> Result<(), Failure>
where
    E: Into<anyhow::Error>,
{
    // Another subscriber is there only if a service runs inside another command, which then has its own log.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    runtime.block_on(async {
        let shutdown = Shutdown::on_signals().context("cannot listen for signals")?;
        service(shutdown).await.map_err(|error| Failure::Failed(error.into()))
    })
}
