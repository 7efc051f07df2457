//! Where a service listens, and how much it takes at once.

use crate::TransportError;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The `[listen]` part of a service's configuration.
///
/// ```
/// # use shuffledp_transport::ListenConfig;
/// let listen: ListenConfig = toml::from_str(r#"
///     address = "0.0.0.0:8443"
///     tls = { certificate = "fullchain.pem", key = "privkey.pem" }
/// "#)?;
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenConfig {
    /// Address and port; port 0 takes any free one.
    pub address: SocketAddr,
    /// PEM files. Without them plain HTTP is spoken, and only on loopback.
    pub tls: Option<TlsFiles>,
    /// Plain HTTP on an address that others reach: only where something in front ends TLS.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// Connections at once; more are closed before TLS costs anything.
    #[serde(default = "default_connections")]
    pub connections: usize,
    /// Seconds until the head of a request must have come, and until an idle connection is closed.
    #[serde(default = "default_header_seconds")]
    pub header_seconds: u64,
    /// Seconds that requests under way get when the service is told to stop.
    #[serde(default = "default_grace_seconds")]
    pub grace_seconds: u64,
}

fn default_connections() -> usize {
    4096
}

fn default_header_seconds() -> u64 {
    30
}

fn default_grace_seconds() -> u64 {
    10
}

/// A certificate chain and its private key, both PEM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The service's certificate and those between it and the root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl ListenConfig {
    /// Plain HTTP on loopback at a free port, for tests and demonstrations.
    #[must_use]
    pub fn loopback() -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            tls: None,
            allow_plain_http: false,
            connections: default_connections(),
            header_seconds: default_header_seconds(),
            grace_seconds: default_grace_seconds(),
        }
    }

    /// Reads relative paths as relative to `folder`, the configuration file's: a service may be started from anywhere.
    pub fn relative_to(&mut self, folder: &Path) {
        if let Some(tls) = &mut self.tls {
            tls.certificate = folder.join(&tls.certificate);
            tls.key = folder.join(&tls.key);
        }
    }

    /// Checks the rule about plain HTTP and the limits, without touching files or network.
    ///
    /// # Errors
    ///
    /// Plain HTTP where others could listen in, or a limit of zero.
    pub fn check(&self) -> Result<(), TransportError> {
        if self.tls.is_none() && !self.allow_plain_http && !self.address.ip().is_loopback() {
            return Err(TransportError::PlainListen { address: self.address });
        }
        if self.connections == 0 {
            return Err(TransportError::ZeroLimit { parameter: "connections" });
        }
        if self.header_seconds == 0 {
            return Err(TransportError::ZeroLimit { parameter: "header_seconds" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_beyond_this_machine_needs_a_word() {
        let mut listen = ListenConfig::loopback();
        assert!(listen.check().is_ok());
        listen.address = SocketAddr::from(([0, 0, 0, 0], 8080));
        let refused = listen.check().unwrap_err().to_string();
        assert!(refused.contains("allow_plain_http"), "{refused}");
        listen.allow_plain_http = true;
        assert!(listen.check().is_ok());
        listen.connections = 0;
        assert!(matches!(listen.check(), Err(TransportError::ZeroLimit { parameter: "connections" })));
    }

    #[test]
    fn a_misspelt_limit_is_not_a_default() {
        let refused =
            toml::from_str::<ListenConfig>("address = \"127.0.0.1:1\"\nconections = 3").unwrap_err().to_string();
        assert!(refused.contains("conections"), "{refused}");
    }

    #[test]
    fn paths_are_the_configuration_files() {
        let mut listen: ListenConfig =
            toml::from_str("address = \"127.0.0.1:1\"\ntls = { certificate = \"a.pem\", key = \"/etc/b.pem\" }")
                .unwrap();
        listen.relative_to(Path::new("/srv/shuffler"));
        let tls = listen.tls.unwrap();
        assert_eq!(tls.certificate, Path::new("/srv/shuffler/a.pem"));
        assert_eq!(tls.key, Path::new("/etc/b.pem"));
    }
}
