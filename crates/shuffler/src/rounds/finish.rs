//! A round's end.

use super::forward::forward;
use super::table::Live;
use super::{Shared, blocking};
use crate::error::{Result, ShufflerError};
use crate::store::{Claim, Outcome};
use shuffledp_transport::Pauses;
use std::sync::Arc;
use std::time::Duration;

/// Seals, sends, forgets. Storage that fails is asked again until it works or the service stops:
/// the reports are on disk, and so is the batch once there is one.
pub(crate) async fn finish(shared: Arc<Shared>, live: Arc<Live>) {
    let mut pauses = Pauses::new(Duration::from_millis(500), Duration::from_secs(60));
    while let Err(error) = try_to_finish(&shared, &live).await {
        if matches!(error, ShufflerError::Stopped) {
            return;
        }
        if matches!(error, ShufflerError::Over | ShufflerError::Overtaken) {
            // Another replica is at it.
            continue;
        }
        shared.health.storage_failed(&error);
        tracing::error!(%error, round = live.round.round, "a round could not be ended; it is tried again");
        if pause(&shared, pauses.next(None)).await.is_err() {
            return;
        }
    }
}

async fn try_to_finish(shared: &Shared, live: &Live) -> Result<()> {
    let (task, round) = (live.round.task, live.round.round);
    if !wait_for_turn(shared, live).await? {
        tracing::debug!(%task, round, "ended by another replica");
        shared.table.remove(&live.context());
        return Ok(());
    }
    match live.writer.seal(shared.config().min_batch, (shared.new_permute)()?).await? {
        Outcome::Sealed(batch) => {
            shared.metrics.sealed.add_one();
            tracing::info!(%task, round, batch = %batch.batch, "sealed");
            if !forward(shared, live, batch).await? {
                return Err(ShufflerError::Overtaken);
            }
        }
        Outcome::Short => {
            shared.metrics.short.add_one();
            tracing::info!(%task, round, "ended below min_batch; deleted");
        }
    }
    live.writer.finish().await?;
    shared.table.remove(&live.context());
    Ok(())
}

/// Waits until this process is to end the round; `false` if another one has.
async fn wait_for_turn(shared: &Shared, live: &Live) -> Result<bool> {
    loop {
        match claim(shared, live).await? {
            Claim::Ours => return Ok(true),
            Claim::Over => return Ok(false),
            Claim::Leased => pause(shared, Duration::from_secs_f64(shared.config().poll_seconds)).await?,
        }
    }
}

/// [`Stores::claim`](crate::store::Stores::claim).
pub(super) async fn claim(shared: &Shared, live: &Live) -> Result<Claim> {
    let (stores, context) = (Arc::clone(&shared.stores), live.context());
    blocking(move || stores.claim(&context)).await
}

/// Waits; an error if the service stops.
pub(super) async fn pause(shared: &Shared, time: Duration) -> Result<()> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = shared.shutdown.stopped() => Err(ShufflerError::Stopped),
    }
}
