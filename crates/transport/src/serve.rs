//! Serving an axum router until told to stop.

use crate::connections::{Gate, LimitedAcceptor, Limits};
use crate::listen::ListenConfig;
use crate::metrics::MetricsPage;
use crate::shutdown::Shutdown;
use crate::{TransportError, descriptors, tls};
use axum::Router;
use axum::http::StatusCode;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
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
    link: Link,
    task: JoinHandle<std::io::Result<()>>,
}

/// The part of a [`Serving`] that others may hold: its figures, and what can change while it runs.
#[derive(Debug, Clone)]
pub struct Link {
    gate: Arc<Gate>,
    tls: Option<RustlsConfig>,
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
        let scheme = if self.link.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Its figures and what can change.
    #[must_use]
    pub fn link(&self) -> Link {
        self.link.clone()
    }

    /// Waits until serving has ended: after the signal, when the requests under way are answered or
    /// their grace is over.
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

impl Link {
    /// Takes up what can change: the certificate and its key, which are read again, and the limits
    /// of connections, addresses and writes. Connections that are there keep their certificate. All
    /// or nothing.
    ///
    /// # Errors
    ///
    /// If the configuration or a file cannot be used, or TLS begins or ends. Then everything stays
    /// as it was.
    pub fn reload(&self, config: &ListenConfig) -> Result<(), TransportError> {
        config.check()?;
        if config.tls.is_some() != self.tls.is_some() {
            return Err(TransportError::NeedsRestart { parameter: "tls" });
        }
        let fresh = config.tls.as_ref().map(tls::server_config).transpose()?;
        descriptors::provide(config.connections)?;
        if let (Some(tls), Some(fresh)) = (&self.tls, fresh) {
            tls.reload_from_config(Arc::new(fresh));
        }
        self.gate.set_limits(Limits::of(config));
        Ok(())
    }

    /// Writes the listener's figures.
    pub fn metrics(&self, page: &mut MetricsPage) {
        self.gate.metrics().write(page, self.gate.open());
    }

    /// Connections of this moment, and how many there may be.
    #[must_use]
    pub fn connections(&self) -> (usize, usize) {
        (self.gate.open(), self.gate.limits().connections)
    }
}

/// Listens, and serves `router` until `shutdown`. Returns as soon as it listens.
///
/// At the signal no connection is accepted any more, idle ones are closed, and requests under way
/// get `grace_seconds`.
///
/// # Errors
///
/// If the configuration breaks the rule about plain HTTP, a PEM file cannot be used, the address
/// cannot be listened on, or the system does not give as many descriptors as there may be
/// connections.
pub async fn serve(config: &ListenConfig, router: Router, shutdown: Shutdown) -> Result<Serving, TransportError> {
    config.check()?;
    let tls = config.tls.as_ref().map(tls::server_config).transpose()?;
    if tls.is_none() && !config.address.ip().is_loopback() {
        tracing::warn!("allow_plain_http: everyone on the way sees who takes part; something in front must end TLS");
    }
    descriptors::provide(config.connections)?;
    let listener = Listener {
        address: config.address,
        tls,
        limits: Limits::of(config),
        header_seconds: config.header_seconds,
        grace_seconds: config.grace_seconds,
    };
    listener.serve(router, shutdown).await
}

/// An address that is about to be listened on.
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<ServerConfig>,
    pub(crate) limits: Limits,
    pub(crate) header_seconds: u64,
    pub(crate) grace_seconds: u64,
}

impl Listener {
    pub(crate) async fn serve(self, router: Router, shutdown: Shutdown) -> Result<Serving, TransportError> {
        let bind_error = |cause| TransportError::Bind { address: self.address, cause };
        let listener = TcpListener::bind(self.address).await.map_err(bind_error)?;
        let address = listener.local_addr().map_err(bind_error)?;
        let handle: Handle<SocketAddr> = Handle::new();
        let mut server = Server::from_listener(listener).handle(handle.clone());
        server
            .http_builder()
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(self.header_seconds))
            .max_buf_size(HEAD_BYTES);
        let gate = Arc::new(Gate::new(self.limits));
        let limited = LimitedAcceptor::new(Arc::clone(&gate));
        let tls = self.tls.map(|tls| RustlsConfig::from_config(Arc::new(tls)));
        // Without connection information: no handler could learn an address if it wanted to.
        let service = router.into_make_service();
        let task = match tls.clone() {
            Some(tls) => {
                let acceptor = RustlsAcceptor::new(tls).acceptor(limited);
                tokio::spawn(server.acceptor(acceptor).http1_only().serve(service))
            }
            None => tokio::spawn(server.acceptor(limited).http1_only().serve(service)),
        };
        let grace = Duration::from_secs(self.grace_seconds);
        tokio::spawn(async move {
            shutdown.stopped().await;
            handle.graceful_shutdown(Some(grace));
        });
        Ok(Serving { address, link: Link { gate, tls }, task })
    }
}

/// Answers 408 if a request, its body included, has not been dealt with in time.
///
/// Per router and not in [`serve`]: a batch of a million reports takes longer than a single report
/// may.
pub fn with_timeout(router: Router, time: Duration) -> Router {
    router.layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time))
}
