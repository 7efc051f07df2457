//! Requests to other services.

use crate::plain::check_url;
use crate::{TransportError, tls};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whom to believe and how long to wait.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientConfig {
    /// PEM files with root certificates; if any are given, no others are believed. Without any, the
    /// machine's own.
    pub roots: Vec<PathBuf>,
    /// `http://` to other machines.
    pub allow_plain_http: bool,
    /// Seconds until a connection must stand.
    pub connect_seconds: u64,
    /// Seconds until an answer must be whole. A request that streams sets its own.
    pub timeout_seconds: u64,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self { roots: Vec::new(), allow_plain_http: false, connect_seconds: 10, timeout_seconds: 30 }
    }
}

impl ClientConfig {
    /// Reads relative paths as relative to `folder`, the configuration file's.
    pub fn relative_to(&mut self, folder: &Path) {
        for root in &mut self.roots {
            *root = folder.join(&root);
        }
    }
}

/// A pool of connections that follows the rule about plain HTTP. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HttpClient {
    client: reqwest::Client,
    allow_plain_http: bool,
}

impl HttpClient {
    /// Reads the roots.
    ///
    /// # Errors
    ///
    /// If a root cannot be used or a time is zero.
    pub fn new(config: &ClientConfig) -> Result<Self, TransportError> {
        for (parameter, seconds) in
            [("connect_seconds", config.connect_seconds), ("timeout_seconds", config.timeout_seconds)]
        {
            if seconds == 0 {
                return Err(TransportError::ZeroLimit { parameter });
            }
        }
        if config.allow_plain_http {
            tracing::warn!("allow_plain_http: requests may cross the network without TLS, for all on the way to see");
        }
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::client_config(&config.roots)?)
            .connect_timeout(Duration::from_secs(config.connect_seconds))
            .timeout(Duration::from_secs(config.timeout_seconds))
            // A redirect could lead from https:// to anywhere. Our services do not redirect.
            .redirect(Policy::none())
            // What the environment says about proxies must not decide through whose hands reports
            // go.
            .no_proxy()
            .referer(false)
            .build()?;
        Ok(Self { client, allow_plain_http: config.allow_plain_http })
    }

    /// A request, not yet sent.
    ///
    /// # Errors
    ///
    /// If the URL is none, or plain HTTP to another machine without permission.
    pub fn request(&self, method: Method, url: &str) -> Result<RequestBuilder, TransportError> {
        Ok(self.client.request(method, check_url(url, self.allow_plain_http)?))
    }

    /// A GET request, not yet sent.
    ///
    /// # Errors
    ///
    /// As [`Self::request`].
    pub fn get(&self, url: &str) -> Result<RequestBuilder, TransportError> {
        self.request(Method::GET, url)
    }

    /// A POST request, not yet sent.
    ///
    /// # Errors
    ///
    /// As [`Self::request`].
    pub fn post(&self, url: &str) -> Result<RequestBuilder, TransportError> {
        self.request(Method::POST, url)
    }

    /// A PUT request, not yet sent.
    ///
    /// # Errors
    ///
    /// As [`Self::request`].
    pub fn put(&self, url: &str) -> Result<RequestBuilder, TransportError> {
        self.request(Method::PUT, url)
    }

    /// Checks a URL of a configuration before it is needed.
    ///
    /// # Errors
    ///
    /// As [`Self::request`].
    pub fn check_url(&self, url: &str) -> Result<(), TransportError> {
        check_url(url, self.allow_plain_http).map(drop)
    }
}

/// A service's address and a path that begins with `/`.
#[must_use]
pub fn join(base: &str, path: &str) -> String {
    format!("{}{path}", base.trim_end_matches('/'))
}

/// The body of an answer, if it has no more than `limit` bytes. Whoever answers may be hostile.
///
/// # Errors
///
/// If the body is longer or breaks off.
pub async fn bytes_at_most(mut response: Response, limit: usize) -> Result<Vec<u8>, TransportError> {
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).map_or(true, |announced| announced > limit) {
        return Err(TransportError::TooLong { limit });
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > limit {
            return Err(TransportError::TooLong { limit });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
