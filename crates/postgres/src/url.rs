//! `postgres://…`, as configuration files have it.

use crate::error::PostgresError;
use serde::Deserialize;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The address of a database. It may hold a password, so `Debug` and `Display` leave everything
/// before the host out.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DatabaseUrl {
    text: String,
    /// `sslrootcert`, which the driver does not know.
    roots: Option<PathBuf>,
    config: Config,
}

impl DatabaseUrl {
    /// Whether a configured store is a database rather than a path.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Makes the path in `sslrootcert` relative to this folder.
    pub fn relative_to(&mut self, folder: &Path) {
        if let Some(roots) = &mut self.roots {
            *roots = folder.join(&roots);
        }
    }

    /// The file with the certificates that the database's one must descend from; the machine's own
    /// without.
    pub(crate) fn roots(&self) -> Option<&Path> {
        self.roots.as_deref()
    }

    /// How to connect. A password that the address lacks is `PGPASSWORD` of the environment.
    pub(crate) fn config(&self) -> Config {
        let mut config = self.config.clone();
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        config
    }

    /// Another database of the same server; for tests.
    ///
    /// # Errors
    ///
    /// If the name makes no address.
    pub fn with_database(&self, name: &str) -> Result<Self, PostgresError> {
        let (address, query) = self.text.split_once('?').unwrap_or((&self.text, ""));
        let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
        let server = rest.split('/').next().unwrap_or(rest);
        format!("{scheme}://{server}/{name}?{query}").parse()
    }
}

impl FromStr for DatabaseUrl {
    type Err = PostgresError;

    fn from_str(text: &str) -> Result<Self, PostgresError> {
        if !Self::is_one(text) {
            return Err(PostgresError::Url("must begin with postgres://".to_owned()));
        }
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut roots, mut mode, mut known) = (None, None, Vec::new());
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("sslrootcert", path)) => roots = Some(PathBuf::from(path)),
                Some(("sslmode", value)) => mode = Some(value),
                _ => known.push(setting),
            }
        }
        let rest = if known.is_empty() { address.to_owned() } else { format!("{address}?{}", known.join("&")) };
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            // The driver's message names the setting, and never a password.
            PostgresError::Url(PostgresError::from(error).to_string())
        })?;
        if config.get_hosts().is_empty() {
            return Err(PostgresError::Url("names no host; a socket is ?host=/run/postgresql".to_owned()));
        }
        let is_local = config.get_hosts().iter().all(is_local);
        config.ssl_mode(match mode {
            Some("require" | "verify-full") => SslMode::Require,
            Some("disable") => SslMode::Disable,
            None if is_local && roots.is_none() => SslMode::Disable,
            None => SslMode::Require,
            Some(other) => {
                return Err(PostgresError::Url(format!(
                    "sslmode={other} is not known: `require` verifies the certificate and the host's name, \
                     `disable` is for networks that nobody else listens to"
                )));
            }
        });
        Ok(Self { text: text.to_owned(), roots, config })
    }
}

/// Whether nothing leaves the machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

impl TryFrom<String> for DatabaseUrl {
    type Error = PostgresError;

    fn try_from(text: String) -> Result<Self, PostgresError> {
        text.parse()
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.text.split('?').next().unwrap_or_default();
        let place = address.rsplit('@').next().unwrap_or_default();
        let place = place.split_once("://").map_or(place, |(_, place)| place);
        write!(f, "postgres://{place}")
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> SslMode {
        text.parse::<DatabaseUrl>().unwrap().config.get_ssl_mode()
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_told_otherwise() {
        for (text, expected) in [
            ("postgres://db.example/shuffledp", SslMode::Require),
            ("postgres://u:p@10.0.0.7:5432/shuffledp", SslMode::Require),
            ("postgres://db.example/x?sslmode=verify-full", SslMode::Require),
            ("postgres://db.example/x?sslmode=disable", SslMode::Disable),
            ("postgres://127.0.0.1/x", SslMode::Disable),
            ("postgres://localhost/x?sslmode=require", SslMode::Require),
            ("postgres://localhost/x?sslrootcert=ca.pem", SslMode::Require),
            ("postgres:///x?host=/run/postgresql", SslMode::Disable),
            ("postgresql://u@localhost,db.example/x", SslMode::Require),
        ] {
            assert_eq!(mode(text), expected, "{text}");
        }
        for (text, reason) in [
            ("mysql://x", "postgres://"),
            ("postgres:///x", "host"),
            ("postgres://db.example/x?sslmode=prefer", "sslmode=prefer"),
            ("postgres://db.example/x?colour=red", "colour"),
        ] {
            let refused = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let url: DatabaseUrl = "postgres://user:secret@db.example:5433/shuffledp?sslmode=require".parse().unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "postgres://db.example:5433/shuffledp postgres://db.example:5433/shuffledp"
        );
        assert!(url.config().get_password().is_some());
        let refused = "postgres://user:secret@db.example/x?colour=red".parse::<DatabaseUrl>().unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("secret"));
        let other = url.with_database("other").unwrap();
        assert_eq!(other.to_string(), "postgres://db.example:5433/other");
    }

    #[test]
    fn roots_are_relative_to_the_configuration() {
        let mut url: DatabaseUrl = "postgres://db.example/x?sslrootcert=tls/ca.pem".parse().unwrap();
        url.relative_to(Path::new("/etc/shuffledp"));
        assert_eq!(url.roots(), Some(Path::new("/etc/shuffledp/tls/ca.pem")));
    }
}
