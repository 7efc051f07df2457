//! The server's endpoints.
//!
//! Everything that clients download is the same for all of them, public and cacheable, so that it
//! can be served by others and everybody can take it whether they participate or not: who asks says
//! nothing about who takes part.

mod answers;
mod batches;
mod dashboard;
mod operations;
mod reads;

pub(crate) use operations::Operations;

use crate::service::Service;
use axum::Router;
use axum::routing::{get, put};
use shuffledp_wire::paths;
use std::sync::Arc;
use std::time::Duration;

/// Seconds that anything but a batch may take.
const READ_SECONDS: u64 = 30;

/// All routes.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let reads = Router::new()
        .route(paths::TASK_ROUTE, get(reads::task))
        .route(paths::ROUND_ROUTE, get(reads::round))
        .route(paths::MODEL_ROUTE, get(reads::model))
        .route(paths::PRIVACY, get(reads::privacy))
        .route("/v1/status", get(reads::status))
        .route(paths::HEALTH, get(reads::health))
        .route("/metrics", get(reads::metrics))
        .route("/", get(dashboard::page))
        .with_state(Arc::clone(&service));
    let batches = Router::new().route(paths::BATCH_ROUTE, put(batches::put)).with_state(service);
    shuffledp_transport::with_timeout(reads, Duration::from_secs(READ_SECONDS)).merge(batches)
}
