//! Serving an axum router until told to stop.

use crate::connections::LimitedAcceptor;
use crate::listen::ListenConfig;
use crate::shutdown::Shutdown;
use crate::{TransportError, tls};
use axum::Router;
use axum::http::StatusCode;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower_http::timeout::TimeoutLayer;

/// The head of a request, at most. Ours take a few hundred bytes.
const HEAD_BYTES: usize = 32 * 1024;

/// A router that is being served.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    scheme: &'static str,
    task: JoinHandle<std::io::Result<()>>,
}

impl Serving {
    /// The address it listens on, with the port that was chosen if 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://address` or `http://address`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Waits until serving has ended: after the signal, when the requests under way are answered or their grace is over.
    ///
    /// # Errors
    ///
    /// If serving ended for another reason than the signal.
    pub async fn ended(self) -> Result<(), TransportError> {
        match self.task.await {
            Ok(result) => result.map_err(TransportError::Serve),
            Err(error) => Err(TransportError::Serve(std::io::Error::other(error))),
        }
    }
}

/// Listens, and serves `router` until `shutdown`. Returns as soon as it listens.
///
/// At the signal no connection is accepted any more, idle ones are closed, and requests under way get `grace_seconds`.
///
/// # Errors
///
/// If the configuration breaks the rule about plain HTTP, a PEM file cannot be used or the address cannot be listened on.
pub async fn serve(config: &ListenConfig, router: Router, shutdown: Shutdown) -> Result<Serving, TransportError> {
    config.check()?;
    let tls = config.tls.as_ref().map(tls::server_config).transpose()?;
    if tls.is_none() && !config.address.ip().is_loopback() {
        tracing::warn!("allow_plain_http: everyone on the way sees who takes part; something in front must end TLS");
    }
    let bind_error = |cause| TransportError::Bind { address: config.address, cause };
    let listener = TcpListener::bind(config.address).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    let handle: Handle<SocketAddr> = Handle::new();
    let mut server = Server::from_listener(listener).handle(handle.clone());
    server
        .http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(config.header_seconds))
        .max_buf_size(HEAD_BYTES);
    let limited = LimitedAcceptor::new(config.connections);
    // Without connection information: no handler could learn an address if it wanted to.
    let service = router.into_make_service();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let task = match tls {
        Some(tls) => {
            let acceptor = RustlsAcceptor::new(RustlsConfig::from_config(Arc::new(tls))).acceptor(limited);
            tokio::spawn(server.acceptor(acceptor).http1_only().serve(service))
        }
        None => tokio::spawn(server.acceptor(limited).http1_only().serve(service)),
    };
    let grace = Duration::from_secs(config.grace_seconds);
    tokio::spawn(async move {
        shutdown.stopped().await;
        handle.graceful_shutdown(Some(grace));
    });
    Ok(Serving { address, scheme, task })
}

/// Answers 408 if a request, its body included, has not been dealt with in time.
///
/// Per router and not in [`serve`]: a batch of a million reports takes longer than a single report may.
pub fn with_timeout(router: Router, time: Duration) -> Router {
    router.layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time))
}
