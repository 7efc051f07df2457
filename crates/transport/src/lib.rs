//! HTTP over TLS as the services use it: serving with limits, asking with given roots, stopping
//! without loss.
//!
//! This room knows nothing of reports. Shuffler, server and client share it so that one rule holds
//! on every link: TLS, unless both ends are on this machine or the operator said
//! `allow_plain_http = true` and was warned. Plain HTTP shows an onlooker who takes part, which the
//! privacy figures assume hidden.
//!
//! - [`serve`]: an axum router behind [`ListenConfig`], with limits and a graceful end
//! - [`serve_admin`]: health, readiness and metrics of an [`Operated`] service, on a listener of
//!   their own
//! - [`MetricsPage`]: what Prometheus reads
//! - [`HttpClient`]: requests to `https://`, or to `http://` under the rule above
//! - [`Shutdown`]: one signal that all tasks of a service can wait for; [`Hangups`]: the one to
//!   read files again
//! - [`Pauses`], [`retry_after`]: when to ask again
//! - [`with_timeout`], [`bytes_at_most`]: no request and no answer may take for ever or be endless

mod addresses;
mod admin;
mod admitted;
mod client;
mod connections;
mod descriptors;
mod error;
mod finding;
mod hangup;
mod link_metrics;
mod listen;
mod log_level;
mod metrics;
mod patience;
mod pauses;
mod plain;
mod serve;
mod shutdown;
mod tls;

pub use admin::{Operated, Readiness, Reason, admin_router, serve_admin};
pub use client::{ClientConfig, HttpClient, bytes_at_most, join};
pub use error::TransportError;
pub use finding::Finding;
pub use hangup::Hangups;
pub use listen::{ListenConfig, TlsFiles};
pub use log_level::LogLevel;
pub use metrics::{Counter, Durations, METRICS_CONTENT_TYPE, MetricsPage};
pub use pauses::{Pauses, retry_after};
pub use reqwest;
pub use serve::{Link, Serving, serve, with_timeout};
pub use shutdown::{Shutdown, ShutdownTrigger};
