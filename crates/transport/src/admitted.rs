//! The requests of one connection: refused early if there are too many, measured, and the last ones
//! where it is crowded.

use crate::connections::Gate;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tower_service::Service;

/// A service as one connection sees it.
#[derive(Debug, Clone)]
pub(crate) struct Admitted<S> {
    service: S,
    gate: Arc<Gate>,
    visitor: Option<u64>,
    come_again: bool,
}

impl<S> Admitted<S> {
    pub(crate) fn new(service: S, gate: Arc<Gate>, visitor: Option<u64>, come_again: bool) -> Self {
        Self { service, gate, visitor, come_again }
    }

    /// Why a request is not even looked at.
    fn refusal(&self) -> Option<Response> {
        let metrics = self.gate.metrics();
        if self.come_again {
            metrics.told_to_come_again.add_one();
            return Some(later(StatusCode::SERVICE_UNAVAILABLE, 1));
        }
        let wait = self.gate.addresses().ask(self.visitor?, self.gate.limits().address_requests_per_minute?).err()?;
        metrics.over_address_limit.add_one();
        Some(later(StatusCode::TOO_MANY_REQUESTS, wait))
    }
}

/// An empty answer that ends the connection: a body that was not read is not waited for.
fn later(status: StatusCode, seconds: u64) -> Response {
    let mut response = status.into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

impl<S, B> Service<Request<B>> for Admitted<S>
where
    S: Service<Request<B>, Response = Response>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if let Some(refusal) = self.refusal() {
            return Box::pin(async move { Ok(refusal) });
        }
        let (began, gate) = (Instant::now(), Arc::clone(&self.gate));
        let answer = self.service.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            gate.metrics().answered(answer.status(), began.elapsed());
            if gate.is_crowded() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        })
    }
}
