//! The operator's listener: whether a service is alive, whether it can do its work, and its
//! figures. It has connections of its own, so that clients who occupy all others do not hide how
//! the service is.

use crate::TransportError;
use crate::connections::Limits;
use crate::listen::ListenConfig;
use crate::metrics::METRICS_CONTENT_TYPE;
use crate::serve::{Listener, Serving, with_timeout};
use crate::shutdown::Shutdown;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Connections of operators at once.
const CONNECTIONS: usize = 64;
/// Until an operator has an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The answers of a service to its operator. Both calls may wait for a lock or a disk; they run on
/// a thread where that delays nothing else.
pub trait Operated: Send + Sync + 'static {
    /// Whether the service can do its work.
    fn readiness(&self) -> Readiness;
    /// All figures, as a [`MetricsPage`](crate::MetricsPage) writes them.
    fn metrics(&self) -> String;
}

/// Whether a service can do its work, and why not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    reasons: Vec<Reason>,
}

/// Why a service cannot do its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// A name for programs; it does not change.
    pub reason: &'static str,
    /// A sentence for people, with what to mend.
    pub message: String,
}

/// The body of `/readyz`.
#[derive(Serialize)]
struct Answer<'a> {
    ready: bool,
    reasons: &'a [Reason],
}

impl Readiness {
    /// Adds a reason not to be ready.
    pub fn not_ready(&mut self, reason: &'static str, message: impl Into<String>) {
        self.reasons.push(Reason { reason, message: message.into() });
    }

    /// Whether there is no reason against it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Why it is not.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    fn answer(&self) -> Response {
        let status = if self.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        match serde_json::to_string(&Answer { ready: self.is_ready(), reasons: &self.reasons }) {
            Ok(body) => (status, [(CONTENT_TYPE, "application/json")], body + "\n").into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// `/healthz`, `/readyz` and `/metrics` of a service. Further routes may be merged with it.
pub fn admin_router(service: Arc<dyn Operated>) -> Router {
    let ready = {
        let service = Arc::clone(&service);
        move || apart(Arc::clone(&service), |service| service.readiness().answer())
    };
    let metrics = move || {
        apart(Arc::clone(&service), |service| {
            ([(CONTENT_TYPE, METRICS_CONTENT_TYPE)], service.metrics()).into_response()
        })
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics));
    with_timeout(router, PATIENCE)
}

/// Asks the service in a thread that may wait.
async fn apart(service: Arc<dyn Operated>, ask: fn(&dyn Operated) -> Response) -> Response {
    let answer = tokio::task::spawn_blocking(move || ask(&*service)).await;
    answer.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// Serves `router` on the configuration's `admin` address, in plain HTTP; nothing if there is none.
///
/// # Errors
///
/// If the address may not or cannot be listened on.
pub async fn serve_admin(
    config: &ListenConfig,
    router: Router,
    shutdown: Shutdown,
) -> Result<Option<Serving>, TransportError> {
    config.check()?;
    let Some(address) = config.admin else { return Ok(None) };
    if !address.ip().is_loopback() {
        tracing::warn!("allow_remote_admin: whoever reaches {address} reads this service's figures, without TLS");
    }
    let limits = Limits { connections: CONNECTIONS, ..Limits::of(config) };
    let listener = Listener { address, tls: None, limits, header_seconds: config.header_seconds, grace_seconds: 1 };
    let serving = listener.serve(router, shutdown).await?;
    tracing::info!(url = serving.url(), "health, readiness and metrics for the operator");
    Ok(Some(serving))
}
