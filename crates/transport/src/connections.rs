//! At most so many connections: one over the limit is closed before it costs a handshake.

use axum_server::accept::Accept;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Accepts while there is room.
#[derive(Clone, Debug)]
pub(crate) struct LimitedAcceptor {
    room: Arc<Semaphore>,
}

impl LimitedAcceptor {
    pub(crate) fn new(connections: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))) }
    }
}

impl<S> Accept<TcpStream, S> for LimitedAcceptor {
    type Stream = Limited;
    type Service = S;
    type Future = Ready<io::Result<(Self::Stream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        ready(match self.room.clone().try_acquire_owned() {
            // Answers are small and awaited: Nagle's algorithm would only hold them back.
            Ok(place) => stream.set_nodelay(true).map(|()| (Limited { stream, _place: place }, service)),
            Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
        })
    }
}

/// A connection that gives its place back when it ends.
#[derive(Debug)]
pub(crate) struct Limited {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
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
