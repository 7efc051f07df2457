//! A batch on its way to the server: the same bytes again until it is acknowledged.

use super::Shared;
use super::finish::{claim, pause};
use super::table::Live;
use crate::error::{Result, ShufflerError};
use crate::store::{Claim, LEASE, SealedBatch};
use crate::witness::CommitPoint;
use shuffledp_transport::reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use shuffledp_transport::reqwest::{Body, StatusCode};
use shuffledp_transport::{Pauses, TransportError, join, retry_after};
use shuffledp_wire::{BatchHeader, paths};
use std::time::Duration;
use tokio_stream::wrappers::ReceiverStream;

/// The consequence of an answer for the batch.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// The server has it, durably.
    Acknowledged,
    /// The server will never take it.
    Refused,
    /// To be sent again.
    Again,
}

fn verdict(status: StatusCode) -> Verdict {
    match status {
        status if status.is_success() => Verdict::Acknowledged,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => Verdict::Again,
        status if status.is_client_error() => Verdict::Refused,
        _ => Verdict::Again,
    }
}

/// Returns `true` when the batch needs to be sent no more, `false` if another process sends it now;
/// [`Stopped`](ShufflerError::Stopped) if the service stops before.
pub(super) async fn forward(shared: &Shared, live: &Live, batch: SealedBatch) -> Result<bool> {
    tokio::select! {
        delivered = deliver(shared, live, batch) => delivered.map(|()| true),
        () = lose_claim(shared, live) => Ok(false),
    }
}

async fn deliver(shared: &Shared, live: &Live, batch: SealedBatch) -> Result<()> {
    let (task, round) = (live.round.task, live.round.round);
    let until = live.round.closes.saturating_add(shared.config().forward_for_seconds.saturating_mul(1000));
    let mut pauses = Pauses::new(Duration::from_millis(500), Duration::from_secs(60));
    loop {
        let sent = tokio::select! {
            sent = send(shared, live, batch) => sent,
            () = shared.shutdown.stopped() => return Err(ShufflerError::Stopped),
        };
        let mut asked = None;
        match sent {
            Ok((status, after)) => match verdict(status) {
                Verdict::Acknowledged => {
                    shared.witness.reached(CommitPoint::Acknowledged);
                    shared.metrics.acknowledged.add_one();
                    tracing::info!(%task, round, batch = %batch.batch, "acknowledged");
                    return Ok(());
                }
                Verdict::Refused => {
                    shared.metrics.refused.add_one();
                    tracing::warn!(%task, round, batch = %batch.batch, %status, "refused by the server for good; deleted");
                    return Ok(());
                }
                Verdict::Again => {
                    tracing::info!(%task, round, %status, "not taken yet; sent again");
                    asked = after;
                }
            },
            Err(ShufflerError::Transport(error)) => tracing::info!(%task, round, %error, "not sent; tried again"),
            Err(error) => return Err(error),
        }
        shared.metrics.failures.add_one();
        if shared.clock.now() >= until {
            shared.metrics.expired.add_one();
            tracing::warn!(%task, round, "not taken within forward_for_seconds; deleted");
            return Ok(());
        }
        pause(shared, pauses.next(asked)).await?;
    }
}

/// Returns if another process has taken over. While storage does not answer, the batch is still
/// sent: whoever else sends it sends the same, and the server takes it once.
async fn lose_claim(shared: &Shared, live: &Live) {
    if !shared.stores.is_shared() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(LEASE / 3).await;
        match claim(shared, live).await {
            Ok(Claim::Ours) => {}
            Ok(Claim::Leased | Claim::Over) => return,
            Err(error) => tracing::debug!(%error, "a claim could not be renewed"),
        }
    }
}

/// Sends it once.
async fn send(shared: &Shared, live: &Live, batch: SealedBatch) -> Result<(StatusCode, Option<Duration>)> {
    let context = live.context();
    let header = BatchHeader { batch: batch.batch, context, count: batch.count, record_len: batch.record_len };
    let chunks = live.writer.stream(header, shared.keys.signing().clone()).await?;
    let response = shared
        .http
        .put(&join(&live.server.url, &paths::batch(&batch.batch)))?
        .timeout(Duration::from_secs(shared.config().forward_timeout_seconds))
        .header(CONTENT_TYPE, paths::CONTENT_TYPE)
        .header(CONTENT_LENGTH, header.stream_len())
        .body(Body::wrap_stream(ReceiverStream::new(chunks)))
        .send()
        .await
        .map_err(TransportError::from)?;
    Ok((response.status(), retry_after(&response)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_mean() {
        for (status, meaning) in [
            (200, Verdict::Acknowledged),
            (201, Verdict::Acknowledged),
            (204, Verdict::Acknowledged),
            (307, Verdict::Again),
            (400, Verdict::Refused),
            (404, Verdict::Refused),
            (408, Verdict::Again),
            (409, Verdict::Refused),
            (425, Verdict::Again),
            (429, Verdict::Again),
            (500, Verdict::Again),
            (503, Verdict::Again),
        ] {
            assert_eq!(verdict(StatusCode::from_u16(status).unwrap()), meaning, "{status}");
        }
    }
}
