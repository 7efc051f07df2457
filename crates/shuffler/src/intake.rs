//! `POST /v1/reports`, and what else is served.
//!
//! What an answer can tell: 202 that the report is on disk (now or since before, there is no
//! difference to see), 400 and 413 that it is none, 410 that its round takes no reports, 425 that
//! it does not yet, 503 to come again. All have an empty body.

use crate::error::{Result, ShufflerError};
use crate::rounds::{Learner, Lookup, Shared, blocking};
use crate::store::{OpaqueReport, context_hash};
use crate::writer::Receipt;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use shuffledp_transport::with_timeout;
use shuffledp_wire::{open_outer, paths};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_stream::StreamExt as _;

/// The budget of waiting bytes is counted in units of so many.
const UNIT: usize = 64;
/// Reports of rounds that are not known are looked up in the store so many at a time; the others
/// wait.
const LOOKUPS: usize = 16;

/// Why a report was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its length was not announced.
    NoLength,
    /// It is longer than any that is taken.
    TooLong,
    /// It has a length that no report of a round has, or it broke off.
    WrongLength,
    /// It cannot be opened with this shuffler's keys.
    Unreadable,
    /// Its round opens later.
    Early,
    /// Its round is over, or unknown.
    Over,
    /// Its round has `max_reports`.
    Full,
    /// Too many reports wait.
    Busy,
    /// The disk does not take it.
    Storage,
}

impl Refusal {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 9] = [
        Self::NoLength,
        Self::TooLong,
        Self::WrongLength,
        Self::Unreadable,
        Self::Early,
        Self::Over,
        Self::Full,
        Self::Busy,
        Self::Storage,
    ];

    /// Its name in the metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NoLength => "no-length",
            Self::TooLong => "too-long",
            Self::WrongLength => "wrong-length",
            Self::Unreadable => "unreadable",
            Self::Early => "early",
            Self::Over => "over",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Storage => "storage",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::NoLength => StatusCode::LENGTH_REQUIRED,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::WrongLength | Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::Early => StatusCode::TOO_EARLY,
            Self::Over => StatusCode::GONE,
            Self::Full | Self::Busy | Self::Storage => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The state that the handlers share.
#[derive(Clone)]
pub(crate) struct Intake {
    shared: Arc<Shared>,
    learner: Arc<Learner>,
    room: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
}

/// Everything that the shuffler serves.
pub(crate) fn router(shared: Arc<Shared>, learner: Arc<Learner>) -> Router {
    let room = Arc::new(Semaphore::new((shared.config().waiting_bytes / UNIT).min(Semaphore::MAX_PERMITS)));
    let lookups = Arc::new(Semaphore::new(LOOKUPS));
    let time = Duration::from_secs(shared.config().request_seconds);
    let router = Router::new()
        .route(paths::REPORTS, post(report))
        .route(paths::KEYS, get(keys))
        .route(paths::HEALTH, get(|| async { "ok\n" }))
        .route("/metrics", get(metrics))
        .with_state(Intake { shared, learner, room, lookups });
    with_timeout(router, time)
}

async fn keys(State(intake): State<Intake>) -> Response {
    ([(CONTENT_TYPE, paths::CONTENT_TYPE)], intake.shared.keys.published()).into_response()
}

async fn metrics(State(intake): State<Intake>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], intake.shared.metrics.text()).into_response()
}

async fn report(State(intake): State<Intake>, request: Request) -> Response {
    let Err(refusal) = intake.take(request).await else { return StatusCode::ACCEPTED.into_response() };
    intake.shared.metrics.refuse(refusal);
    let mut response = refusal.status().into_response();
    // A disk has no room as soon as a queue has.
    let seconds = if refusal == Refusal::Storage { "5" } else { "1" };
    if refusal.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    response
}

impl Intake {
    /// From the cheap to the dear: length, room, body, decryption, round, disk.
    async fn take(&self, request: Request<Body>) -> std::result::Result<(), Refusal> {
        if self.shared.health.is_full() {
            return Err(Refusal::Storage);
        }
        let len = announced(request.headers()).ok_or(Refusal::NoLength)?;
        self.check_len(len)?;
        // Held until the answer, so that it bounds bodies that arrive, wait to be opened and wait
        // for the disk.
        let (body, _room) = self.read(request.into_body(), len).await?;
        let (context, inner) = open_outer(&body, &self.shared.keys.secret()).map_err(|_| Refusal::Unreadable)?;
        drop(body);

        let mut found = self.shared.table.find(&context, self.shared.clock.now());
        if matches!(found, Lookup::Unknown) {
            // A late report of a round that is over is nothing to ask a server about.
            match self.is_finished(context_hash(&context)).await {
                Ok(true) => return Err(Refusal::Over),
                Ok(false) => {}
                Err(_) => return Err(Refusal::Storage),
            }
            if !self.learner.ask_about(&self.shared, context.task).await {
                return Err(Refusal::Busy);
            }
            found = self.shared.table.find(&context, self.shared.clock.now());
        }
        let live = match found {
            Lookup::Open(live) => live,
            Lookup::Early => return Err(Refusal::Early),
            // Its store could not be made: it may be known later.
            Lookup::Unknown if self.shared.health.storage_problem().is_some() => return Err(Refusal::Storage),
            Lookup::Over | Lookup::Unknown => return Err(Refusal::Over),
        };
        if inner.as_bytes().len() != live.record_len() {
            return Err(Refusal::WrongLength);
        }
        let entry = OpaqueReport { digest: inner.digest(), body: inner.into_bytes() };
        let answer = live.writer.add(entry).ok_or(Refusal::Busy)?;
        match answer.await {
            Ok(Receipt::Taken) => Ok(()),
            Ok(Receipt::Closed) => Err(Refusal::Over),
            Ok(Receipt::Full) => Err(Refusal::Full),
            Ok(Receipt::Failed) | Err(_) => Err(Refusal::Storage),
        }
    }

    /// A body of this length. Room is taken for what has come, not for what was announced: who
    /// sends slowly holds little.
    async fn read(&self, body: Body, len: usize) -> std::result::Result<(Vec<u8>, SemaphorePermit<'_>), Refusal> {
        let full = |_| Refusal::Busy;
        let units = |bytes: usize| u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| Refusal::TooLong);
        let (mut pieces, mut bytes) = (body.into_data_stream(), Vec::new());
        let mut room = self.room.try_acquire_many(0).map_err(full)?;
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|_| Refusal::WrongLength)?;
            if piece.len() > len - bytes.len() {
                return Err(Refusal::WrongLength);
            }
            let more = units(bytes.len() + piece.len())? - units(bytes.len())?;
            room.merge(self.room.try_acquire_many(more).map_err(full)?);
            bytes.extend_from_slice(&piece);
        }
        if bytes.len() == len { Ok((bytes, room)) } else { Err(Refusal::WrongLength) }
    }

    async fn is_finished(&self, context: [u8; 32]) -> Result<bool> {
        let _place = self.lookups.acquire().await.map_err(|_| ShufflerError::Stopped)?;
        let memory = Arc::clone(&self.shared.memory);
        blocking(move || memory.is_finished(&context)).await
    }

    /// Before a byte of the body is read: a length that no report has is refused.
    fn check_len(&self, len: usize) -> std::result::Result<(), Refusal> {
        if len > self.shared.config().max_report_bytes {
            Err(Refusal::TooLong)
        } else if self.learner.expects(len) {
            Ok(())
        } else {
            Err(Refusal::WrongLength)
        }
    }
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
