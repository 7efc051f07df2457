//! Errors of a link, before and while it is used.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a service cannot listen or a request cannot be made.
///
/// Messages are whole: what caused an error is part of them, not chained behind. No variant carries
/// a key, a body or the address of whoever asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Serving without TLS on an address that other machines reach.
    #[error(
        "{address} is not loopback: set `tls` in [listen], listen on 127.0.0.1, or set `allow_plain_http = true` if something in \
         front of this service ends TLS"
    )]
    PlainListen {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The operator's listener on an address that other machines reach.
    #[error(
        "admin = \"{address}\" is not loopback: use 127.0.0.1, or set `allow_remote_admin = true` if nobody but operators \
         reaches that address"
    )]
    RemoteAdmin {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// More connections than the system gives descriptors for.
    #[error(
        "`connections = {connections}` needs {needed} file descriptors, and this process may have {limit}: lower \
         `connections`, or raise the limit (`ulimit -Hn`, or LimitNOFILE= in a systemd unit)"
    )]
    TooFewDescriptors {
        /// The configured number.
        connections: usize,
        /// Connections and a reserve for files.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The system does not say or raise its limit.
    #[error("cannot raise the limit of file descriptors: {0}")]
    Descriptors(std::io::Error),
    /// A change that needs a new start.
    #[error("`{parameter}` cannot change while the service runs: restart it")]
    NeedsRestart {
        /// Its name in the configuration.
        parameter: &'static str,
    },
    /// Asking without TLS across machines.
    #[error(
        "{url} is neither https:// nor on this machine: use https://, or set `allow_plain_http = true` to let the network see \
         who takes part"
    )]
    PlainUrl {
        /// The URL that was asked for.
        url: String,
    },
    /// Not an absolute HTTP address.
    #[error("`{url}` is no address of the form https://host[:port]")]
    BadUrl {
        /// The text that was found.
        url: String,
    },
    /// A limit that would refuse everything.
    #[error("`{parameter}` must be at least 1")]
    ZeroLimit {
        /// Its name in the configuration.
        parameter: &'static str,
    },
    /// A file of certificates or a key that cannot be used.
    #[error("cannot use {} as {role}: {reason}", path.display())]
    BadPem {
        /// Which file.
        path: PathBuf,
        /// The expected role.
        role: &'static str,
        /// The problem, without any of the content.
        reason: String,
    },
    /// TLS refused its configuration.
    #[error("TLS: {0}")]
    Tls(rustls::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// Serving ended with an error of the system.
    #[error("serving ended: {0}")]
    Serve(std::io::Error),
    /// A request that got no answer.
    #[error("no answer: {}", innermost(.0))]
    Request(reqwest::Error),
    /// An answer longer than it may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The most that was allowed.
        limit: usize,
    },
}

impl From<rustls::Error> for TransportError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error)
    }
}

/// The error with its causes: reqwest alone says "error sending request", which helps nobody.
fn innermost(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
