//! At most so many connections, none of which may stop reading its answers.
//!
//! HTTP/1.1 answers the requests of one connection one after the other: however many a client sends
//! ahead, one is under way, and at most a buffer of answers waits. So the limit of connections is a
//! limit of requests, and a client that does not read loses its connection after `write_seconds`.

use crate::addresses::Addresses;
use crate::admitted::Admitted;
use crate::link_metrics::LinkMetrics;
use crate::listen::ListenConfig;
use crate::patience::Patience;
use axum_server::accept::Accept;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The settings that can change while a service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) write_seconds: u64,
    pub(crate) address_connections: Option<usize>,
    pub(crate) address_requests_per_minute: Option<u64>,
}

impl Limits {
    pub(crate) fn of(config: &ListenConfig) -> Self {
        Self {
            connections: config.connections,
            write_seconds: config.write_seconds,
            address_connections: config.address_connections,
            address_requests_per_minute: config.address_requests_per_minute,
        }
    }

    fn is_by_address(&self) -> bool {
        self.address_connections.is_some() || self.address_requests_per_minute.is_some()
    }

    /// Connections beyond the limit that are told to come again before further ones are closed
    /// without a word.
    pub(crate) fn told_to_come_again(connections: usize) -> usize {
        (connections / 8).max(1)
    }
}

/// The shared state of a listener's connections.
#[derive(Debug)]
pub(crate) struct Gate {
    limits: RwLock<Limits>,
    open: AtomicUsize,
    addresses: Addresses,
    metrics: Arc<LinkMetrics>,
}

/// The decision on a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Served,
    ToldToComeAgain,
    Closed,
}

impl Gate {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits: RwLock::new(limits),
            open: AtomicUsize::new(0),
            addresses: Addresses::default(),
            metrics: Arc::default(),
        }
    }

    // Replaced whole: a thread that panicked left the old or the new ones.
    pub(crate) fn limits(&self) -> Limits {
        *self.limits.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_limits(&self, limits: Limits) {
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    pub(crate) fn metrics(&self) -> &Arc<LinkMetrics> {
        &self.metrics
    }

    pub(crate) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Connections of this moment.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Nine of ten places are taken: whoever was answered makes room.
    pub(crate) fn is_crowded(&self) -> bool {
        let limit = self.limits().connections;
        self.open() > limit - limit / 10
    }

    fn admit(self: &Arc<Self>, stream: &TcpStream) -> (Verdict, Place) {
        let limits = self.limits();
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        // Without a limit for each address nobody asks for an address.
        let visitor = match (limits.is_by_address(), stream.peer_addr()) {
            (true, Ok(address)) => self.addresses.enter(address.ip(), limits.address_connections),
            _ => None,
        };
        let is_refused = limits.address_connections.is_some() && visitor.is_none();
        let place = Place { gate: Arc::clone(self), visitor };
        let told = Limits::told_to_come_again(limits.connections);
        let verdict = if is_refused || before >= limits.connections.saturating_add(told) {
            Verdict::Closed
        } else if before >= limits.connections {
            Verdict::ToldToComeAgain
        } else {
            Verdict::Served
        };
        (verdict, place)
    }
}

/// A connection's place, given back when it ends.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Arc<Gate>,
    /// The name under which [`Addresses`] counts it: a number that says nothing about the address.
    visitor: Option<u64>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.gate.open.fetch_sub(1, Ordering::Relaxed);
        if let Some(visitor) = self.visitor {
            self.gate.addresses.leave(visitor);
        }
    }
}

/// Accepts while there is room.
#[derive(Clone, Debug)]
pub(crate) struct LimitedAcceptor {
    gate: Arc<Gate>,
}

impl LimitedAcceptor {
    pub(crate) fn new(gate: Arc<Gate>) -> Self {
        Self { gate }
    }
}

impl<S> Accept<TcpStream, S> for LimitedAcceptor {
    type Stream = Limited;
    type Service = Admitted<S>;
    type Future = Ready<io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let (verdict, place) = self.gate.admit(&stream);
        ready(match verdict {
            Verdict::Closed => {
                self.gate.metrics.connections_refused.add_one();
                Err(io::ErrorKind::ConnectionRefused.into())
            }
            // Answers are small and awaited: Nagle's algorithm would only hold them back.
            Verdict::Served | Verdict::ToldToComeAgain => stream.set_nodelay(true).map(|()| {
                let come_again = verdict == Verdict::ToldToComeAgain;
                let service = Admitted::new(service, Arc::clone(&self.gate), place.visitor, come_again);
                let patience = Patience::new(Duration::from_secs(self.gate.limits().write_seconds));
                (Limited { stream, place, patience }, service)
            }),
        })
    }
}

/// A connection that ends when the other side does not read.
#[derive(Debug)]
pub(crate) struct Limited {
    stream: TcpStream,
    place: Place,
    patience: Patience,
}

impl Limited {
    /// Handles the outcome of an attempt to write.
    fn wrote(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(bytes)) => {
                self.patience.moved(bytes);
                wrote
            }
            Poll::Ready(Err(_)) => wrote,
            Poll::Pending if self.patience.is_over(context) => {
                self.place.gate.metrics.write_timeouts.add_one();
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Limited {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Limited {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.wrote(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
