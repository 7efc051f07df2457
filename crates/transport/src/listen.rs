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
    /// PEM files. Without them plain HTTP is used, and only on loopback.
    pub tls: Option<TlsFiles>,
    /// Plain HTTP on an address that others reach: only where something in front ends TLS.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// Where the operator reads `/healthz`, `/readyz` and `/metrics`, in plain HTTP. Without it
    /// nobody can.
    #[serde(default)]
    pub admin: Option<SocketAddr>,
    /// `admin` on an address that other machines reach: only where nobody but operators can.
    #[serde(default)]
    pub allow_remote_admin: bool,
    /// Connections at once. An eighth more are told to come again (503); further ones are closed
    /// before TLS costs anything.
    #[serde(default = "default_connections")]
    pub connections: usize,
    /// Connections of one address (IPv6: of one network of 64 bits) at once. Addresses are counted
    /// in memory, by a keyed hash, and never stored.
    #[serde(default)]
    pub address_connections: Option<usize>,
    /// Requests of one address in a minute; further ones are told to come again (429). Counted as
    /// above.
    #[serde(default)]
    pub address_requests_per_minute: Option<u64>,
    /// Seconds until the head of a request must have come, and until an idle connection is closed.
    #[serde(default = "default_header_seconds")]
    pub header_seconds: u64,
    /// Seconds for which an answer may wait for a client that does not read it; then the connection
    /// ends. Who reads 4 KiB a second may take as long as it takes.
    #[serde(default = "default_write_seconds")]
    pub write_seconds: u64,
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

fn default_write_seconds() -> u64 {
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
            admin: None,
            allow_remote_admin: false,
            connections: default_connections(),
            address_connections: None,
            address_requests_per_minute: None,
            write_seconds: default_write_seconds(),
            header_seconds: default_header_seconds(),
            grace_seconds: default_grace_seconds(),
        }
    }

    /// Reads relative paths as relative to `folder`, the configuration file's: a service may be
    /// started from anywhere.
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
        if let Some(address) = self.admin.filter(|admin| !admin.ip().is_loopback() && !self.allow_remote_admin) {
            return Err(TransportError::RemoteAdmin { address });
        }
        let is_zero = [
            ("connections", self.connections == 0),
            ("address_connections", self.address_connections == Some(0)),
            ("address_requests_per_minute", self.address_requests_per_minute == Some(0)),
            ("header_seconds", self.header_seconds == 0),
            ("write_seconds", self.write_seconds == 0),
        ];
        match is_zero.into_iter().find(|(_, is_zero)| *is_zero) {
            Some((parameter, _)) => Err(TransportError::ZeroLimit { parameter }),
            None => Ok(()),
        }
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
        listen.connections = 1;
        listen.admin = Some(SocketAddr::from(([0, 0, 0, 0], 8451)));
        let refused = listen.check().unwrap_err().to_string();
        assert!(refused.contains("allow_remote_admin"), "{refused}");
        listen.allow_remote_admin = true;
        assert!(listen.check().is_ok());
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
