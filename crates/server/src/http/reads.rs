//! Endpoints that anyone may read.

use super::answers::{A_SECOND, FOREVER, content, refusal, unavailable};
use crate::error::ServerError;
use crate::service::Service;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use shuffledp_transport::METRICS_CONTENT_TYPE;
use shuffledp_wire::{ModelHash, TaskHash, paths};
use std::sync::Arc;

fn not_here() -> Response {
    refusal(StatusCode::NOT_FOUND, "not here")
}

fn is_ours(service: &Service, task: &str) -> bool {
    task.parse::<TaskHash>().is_ok_and(|task| task == service.plan().hash())
}

/// The signed task.
pub(super) async fn task(State(service): State<Arc<Service>>, Path(task): Path<String>) -> Response {
    if !is_ours(&service, &task) {
        return not_here();
    }
    content(service.signed_task(), paths::CONTENT_TYPE, FOREVER)
}

/// The signed round that is open, or the last one that was.
pub(super) async fn round(State(service): State<Arc<Service>>, Path(task): Path<String>) -> Response {
    if !is_ours(&service, &task) {
        return not_here();
    }
    match &service.published().round {
        Some(round) => content(round.clone(), paths::CONTENT_TYPE, A_SECOND),
        None => not_here(),
    }
}

/// A model's file.
pub(super) async fn model(State(service): State<Arc<Service>>, Path(model): Path<String>) -> Response {
    let Ok(hash) = model.parse::<ModelHash>() else { return not_here() };
    let published = service.published();
    if let Some(bytes) = published.model(&hash) {
        return content(bytes, paths::CONTENT_TYPE, FOREVER);
    }
    // Neither a thread nor the store for what is not there.
    if !published.stored.contains(&hash) {
        return not_here();
    }
    let stored = tokio::task::spawn_blocking(move || service.stored_model(&hash)).await;
    match stored.map_err(|error| ServerError::Interrupted(error.to_string())) {
        Ok(Ok(Some(bytes))) => content(bytes.into(), paths::CONTENT_TYPE, FOREVER),
        Ok(Ok(None)) => not_here(),
        Ok(Err(error)) | Err(error) => unavailable(&error),
    }
}

/// Answers with the spent ε, the rounds left, and the assumptions.
pub(super) async fn privacy(State(service): State<Arc<Service>>) -> Response {
    content(service.published().privacy.clone(), "application/json", A_SECOND)
}

/// Answers with the data of the dashboard.
pub(super) async fn status(State(service): State<Arc<Service>>) -> Response {
    content(service.published().status.clone(), "application/json", A_SECOND)
}

/// Alive.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// For Prometheus.
pub(super) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    content(service.metrics().into(), METRICS_CONTENT_TYPE, "no-store")
}
