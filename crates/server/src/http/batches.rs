//! A batch comes in: a stream of which no more than a block is held, taken once, whatever is sent
//! again.
//!
//! The shuffler keeps a batch until it hears 2xx, and gives up on 4xx other than 408, 425 and 429.
//! So whatever may be better the next time is answered with one of those or with 503, and only what
//! can never be taken with another 4xx.

use super::answers::{content, refusal, unavailable};
use crate::batch::Gathered;
use crate::conductor::Admission;
use crate::config::RoundConfig;
use crate::error::{Result, ServerError};
use crate::service::Service;
use crate::store::BatchRecord;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use shuffledp_wire::{BatchDecoder, BatchEvent, BatchHeader, BatchId, VerifyingKey, inner_len};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The answer to an accepted batch, each time it is sent.
#[derive(serde::Serialize)]
struct Receipt {
    batch: String,
    accepted: u64,
    rejected: u64,
}

/// Why a batch is not taken.
enum Refusal {
    /// For good, or not: the status says.
    Answer(StatusCode, String),
    /// Our own failure.
    Failure(ServerError),
}

impl From<ServerError> for Refusal {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::RoundClosed { round } => not_open(round),
            other => Self::Failure(other),
        }
    }
}

fn not_open(round: u64) -> Refusal {
    Refusal::Answer(StatusCode::CONFLICT, format!("round {round} is not open for this batch"))
}

/// Something is missing or was changed on the way; the same batch may come whole the next time.
fn broken(problem: impl std::fmt::Display) -> Refusal {
    Refusal::Answer(StatusCode::REQUEST_TIMEOUT, format!("the batch did not arrive whole: {problem}"))
}

/// `PUT /v1/batches/{id}`.
pub(super) async fn put(State(service): State<Arc<Service>>, Path(id): Path<String>, body: Body) -> Response {
    let Ok(id) = id.parse::<BatchId>() else {
        return refusal(StatusCode::NOT_FOUND, "not the id of a batch");
    };
    match receive(&service, id, body).await {
        Ok(record) => {
            let receipt = Receipt { batch: id.to_string(), accepted: record.accepted, rejected: record.rejected };
            content(serde_json::to_vec(&receipt).unwrap_or_default().into(), "application/json", "no-store")
        }
        Err(Refusal::Answer(status, sentence)) => refusal(status, sentence),
        Err(Refusal::Failure(error)) => unavailable(&error),
    }
}

async fn receive(service: &Arc<Service>, id: BatchId, body: Body) -> std::result::Result<BatchRecord, Refusal> {
    let stall = Duration::from_secs_f64(service.times().stall_seconds);
    let mut stream = Stream::new(body, service.plan().shuffler, service.times());
    // Nobody has a place here before their signature was verified, and nobody takes long over it.
    let header = tokio::time::timeout(stall, stream.header()).await.map_err(|_| broken("no header in time"))??;
    check(service, id, &header)?;
    // A header that was signed for a round of the past takes no place and postpones nothing.
    let admission = blocking(service, move |service| service.admit(&header)).await?;
    match admission {
        Admission::NotOpen => return Err(not_open(header.context.round)),
        // Read to the end all the same: a sender that is answered in the middle may not hear it.
        Admission::Known(record) => return stream.drain().await.map(|()| record),
        Admission::Welcome => {}
    }
    let Some(_place) = service.try_receive(&header) else {
        return Err(Refusal::Answer(StatusCode::TOO_MANY_REQUESTS, "too many batches are coming in; try again".into()));
    };
    blocking(service, move |service| service.hold(&header)).await?;
    let mut gathered = service.gathering(&header);
    let record_len = header.record_len as usize;
    loop {
        let (block, last) = stream.block(record_len, Gathered::block_len(record_len)).await?;
        gathered = blocking(service, move |_| {
            gathered.absorb(&block, record_len)?;
            Ok(gathered)
        })
        .await?;
        if last {
            break;
        }
    }
    let rejected = gathered.rejected();
    let record = blocking(service, move |service| service.close(id, &gathered)).await?;
    tracing::info!(
        round = header.context.round,
        accepted = record.accepted,
        unopened = rejected.unopened,
        repeated = rejected.repeated,
        impossible = rejected.impossible,
        "batch taken"
    );
    Ok(record)
}

/// Checks a batch by its header alone.
fn check(service: &Service, id: BatchId, header: &BatchHeader) -> std::result::Result<(), Refusal> {
    let plan = service.plan();
    let (status, problem) = if header.batch != id {
        (StatusCode::BAD_REQUEST, "the batch has another id than its address")
    } else if header.context.task != plan.hash() {
        (StatusCode::NOT_FOUND, "the batch is for another task")
    } else if header.record_len as usize != inner_len(plan.task().payload_len) {
        (StatusCode::UNPROCESSABLE_ENTITY, "the batch's records have another length than the task's reports")
    } else if header.count > service.times().max_reports {
        (StatusCode::PAYLOAD_TOO_LARGE, "the batch has more reports than max_reports")
    } else if header.count < service.times().min_batch {
        tracing::error!(
            round = header.context.round,
            reports = header.count,
            "a batch below round.min_batch was refused: the shuffler's min_batch is lower than the server's"
        );
        (StatusCode::UNPROCESSABLE_ENTITY, "the batch has fewer reports than the server's min_batch")
    } else {
        return Ok(());
    };
    Err(Refusal::Answer(status, problem.to_owned()))
}

/// A body, decoded as it comes.
struct Stream {
    body: Body,
    piece: Bytes,
    decoder: BatchDecoder,
    times: RoundConfig,
    /// Bytes that came.
    received: u64,
    /// How long we waited for them. The time that our own work takes is not the sender's fault.
    waited: Duration,
}

impl Stream {
    fn new(body: Body, shuffler: VerifyingKey, times: &RoundConfig) -> Self {
        let decoder = BatchDecoder::new(shuffler);
        Self { body, piece: Bytes::new(), decoder, times: *times, received: 0, waited: Duration::ZERO }
    }

    /// The header, once its signature was verified.
    async fn header(&mut self) -> std::result::Result<BatchHeader, Refusal> {
        loop {
            let mut input = &self.piece[..];
            let event = self.decoder.next_event(&mut input).map_err(|error| {
                // Before anything is verified, nothing that was sent deserves a second try.
                Refusal::Answer(StatusCode::UNAUTHORIZED, format!("not a batch of this task's shuffler: {error}"))
            })?;
            let header = match event {
                Some(BatchEvent::Header(header)) => Some(header),
                _ => None,
            };
            let left = input.len();
            self.piece = self.piece.slice(self.piece.len() - left..);
            match header {
                Some(header) => return Ok(header),
                None => self.more().await?,
            }
        }
    }

    /// The next `count` records, or those that were left and true.
    async fn block(&mut self, record_len: usize, count: usize) -> std::result::Result<(Vec<u8>, bool), Refusal> {
        let mut block = Vec::new();
        loop {
            let mut input = &self.piece[..];
            let mut ended = false;
            while !ended && block.len() < record_len * count {
                match self.decoder.next_event(&mut input).map_err(broken)? {
                    Some(BatchEvent::Record(record)) => block.extend_from_slice(record),
                    Some(BatchEvent::End) => ended = true,
                    Some(BatchEvent::Header(_)) => {}
                    None => break,
                }
            }
            let left = input.len();
            self.piece = self.piece.slice(self.piece.len() - left..);
            if ended {
                self.finish().await?;
                return Ok((block, true));
            }
            if block.len() >= record_len * count {
                return Ok((block, false));
            }
            self.more().await?;
        }
    }

    /// Reads to the end without keeping anything.
    async fn drain(&mut self) -> std::result::Result<(), Refusal> {
        loop {
            let mut input = &self.piece[..];
            while let Some(event) = self.decoder.next_event(&mut input).map_err(broken)? {
                if event == BatchEvent::End {
                    self.piece = self.piece.slice(self.piece.len() - input.len()..);
                    return self.finish().await;
                }
            }
            self.more().await?;
        }
    }

    /// Nothing may follow the end.
    async fn finish(&mut self) -> std::result::Result<(), Refusal> {
        if !self.piece.is_empty() || self.next_piece().await?.is_some() {
            return Err(broken("bytes after its end"));
        }
        Ok(())
    }

    async fn more(&mut self) -> std::result::Result<(), Refusal> {
        match self.next_piece().await? {
            Some(piece) => {
                self.piece = piece;
                Ok(())
            }
            None => Err(broken("it ends too early")),
        }
    }

    async fn next_piece(&mut self) -> std::result::Result<Option<Bytes>, Refusal> {
        loop {
            let stall = Duration::from_secs_f64(self.times.stall_seconds);
            // A byte now and then is no progress: what came so far must have come at the minimum
            // rate.
            let patience = Duration::from_millis(self.times.patience(self.received));
            let left = patience.saturating_sub(self.waited).min(stall);
            let began = Instant::now();
            let frame = tokio::time::timeout(left, self.body.frame()).await;
            self.waited += began.elapsed();
            match frame.map_err(|_| broken("too little came for too long"))? {
                None => return Ok(None),
                Some(Err(_)) => return Err(broken("the connection failed")),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) if piece.is_empty() => {}
                    Ok(piece) => {
                        self.received = self.received.saturating_add(piece.len() as u64);
                        return Ok(Some(piece));
                    }
                    // Trailers say nothing.
                    Err(_) => {}
                },
            }
        }
    }
}

/// Work that would hold up others, on a thread of its own.
async fn blocking<T: Send + 'static>(
    service: &Arc<Service>,
    work: impl FnOnce(&Service) -> Result<T> + Send + 'static,
) -> std::result::Result<T, Refusal> {
    let service = Arc::clone(service);
    let done = tokio::task::spawn_blocking(move || work(&service)).await;
    Ok(done.map_err(|error| ServerError::Interrupted(error.to_string()))??)
}
