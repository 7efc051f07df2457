//! The shapes of answers.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// It never changes: its address is its hash.
pub(super) const FOREVER: &str = "public, max-age=31536000, immutable";
/// It changes from round to round. A second of somebody else's memory takes the load of thousands
/// who poll.
pub(super) const A_SECOND: &str = "public, max-age=1";

/// 200.
pub(super) fn content(bytes: Bytes, kind: &'static str, caching: &'static str) -> Response {
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A status and a sentence.
pub(super) fn refusal(status: StatusCode, sentence: impl Into<String>) -> Response {
    let mut response = (status, sentence.into() + "\n").into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// 503: what failed is ours, and may work later. What it was is for the log, not for strangers.
pub(super) fn unavailable(error: &crate::ServerError) -> Response {
    tracing::error!(error = error as &(dyn std::error::Error + 'static), "a request could not be served");
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, "not now; try again later");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
