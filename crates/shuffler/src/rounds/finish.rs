//! A round's end.

use super::Shared;
use super::forward::forward;
use super::table::Live;
use crate::error::{Result, ShufflerError};
use crate::store::Outcome;
use shuffledp_transport::Pauses;
use std::sync::Arc;
use std::time::Duration;

/// Seals, sends, forgets. Storage that fails is asked again until it works or the service stops: the reports are on disk, and so is the batch once
/// there is one.
pub(crate) async fn finish(shared: Arc<Shared>, live: Arc<Live>) {
    let mut pauses = Pauses::new(Duration::from_millis(500), Duration::from_secs(60));
    while let Err(error) = try_to_finish(&shared, &live).await {
        if matches!(error, ShufflerError::Stopped) {
            return;
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
    match live.writer.seal(shared.config().min_batch, (shared.new_permute)()?).await? {
        Outcome::Sealed(batch) => {
            shared.metrics.sealed.add_one();
            tracing::info!(%task, round, batch = %batch.batch, "sealed");
            forward(shared, live, batch).await?;
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

/// Waits; an error if the service stops.
pub(super) async fn pause(shared: &Shared, time: Duration) -> Result<()> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = shared.shutdown.stopped() => Err(ShufflerError::Stopped),
    }
}
