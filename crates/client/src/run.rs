//! A client as a program: round after round, until the task is over, its budget is spent or it is
//! told to stop.

use crate::config::ClientConfig;
use crate::error::{ClientError, Result};
use crate::participate::{Client, Decider, Step};
use crate::send::{Waiting, about};
use crate::vectors::Vectors;
use shuffledp_host::SystemClock;
use shuffledp_randomizers::ReleaseRng;
use shuffledp_transport::Shutdown;
use std::sync::Arc;

/// Why a client ended without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// No further round is opened: the task's last one is over, or its budget is spent.
    Finished,
    /// Another round would exceed the lifetime budget.
    BudgetSpent,
    /// It was told to stop.
    Stopped,
}

/// Takes part in the task of a configuration.
///
/// What may pass (no answer, a garbled one) is tried again later; what will not (floors,
/// equivocation, a damaged state folder) is an error.
pub async fn run(config: &ClientConfig, shutdown: Shutdown) -> Result<Ended> {
    run_with(config, None, shutdown).await
}

/// The same, with `vectors` in place of the gradient of the task's model on its own example.
pub async fn run_with(config: &ClientConfig, vectors: Option<Arc<dyn Vectors>>, shutdown: Shutdown) -> Result<Ended> {
    let waiting = Waiting { clock: &SystemClock, times: &config.times, shutdown: &shutdown };
    let mut rng = ReleaseRng::from_operating_system()?;
    let client = loop {
        match Client::open_with(config, vectors.clone()).await {
            Ok(client) => break client,
            Err(error) if error.is_temporary() => tracing::warn!(%error, "the task cannot be had yet"),
            Err(error) => return Err(error),
        }
        if !waiting.nap(config.times.poll_seconds, &mut rng).await {
            return Ok(Ended::Stopped);
        }
    };
    let Client { decider, outbox } = client;
    // Beside each other, so that what the server sees of a client does not depend on what the
    // shuffler does.
    let mut sending = std::pin::pin!(outbox.run(&shutdown));
    let ended = tokio::select! {
        ended = poll(decider, &waiting, &mut rng) => ended?,
        // Only when nobody decides any more.
        () = &mut sending => Ended::Stopped,
    };
    // The last report still has its window.
    if ended != Ended::Stopped {
        sending.await;
    }
    Ok(ended)
}

/// Asks and decides, at times that are drawn before the coin is flipped and counted from the
/// question.
async fn poll(mut decider: Decider, waiting: &Waiting<'_>, rng: &mut ReleaseRng) -> Result<Ended> {
    loop {
        let next = about(waiting.times.poll_seconds, rng);
        match decider.step().await {
            Ok(Step::Finished) => return Ok(Ended::Finished),
            Ok(Step::Stopped) => return Ok(Ended::Stopped),
            Ok(Step::Nothing) => {}
            Ok(Step::Decided { round }) => tracing::info!(round, "done"),
            Err(error @ ClientError::BudgetSpent { .. }) => {
                tracing::info!(%error, "this client has given what it had to give");
                return Ok(Ended::BudgetSpent);
            }
            Err(error) if error.is_temporary() => tracing::warn!(%error, "tried again later"),
            Err(error) => return Err(error),
        }
        if !waiting.until(next).await {
            return Ok(Ended::Stopped);
        }
    }
}
