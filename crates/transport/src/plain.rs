//! Where plain HTTP is harmless: between programs on one machine.

use crate::TransportError;
use reqwest::Url;
use std::net::IpAddr;

/// Whether a URL's host is this machine. `localhost` is by RFC 6761, section 6.3; other names are
/// not looked up, since whoever answers a look-up could then choose the rule.
fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Parses a URL and applies the rule: TLS, or this machine, or an explicit permission.
pub(crate) fn check_url(url: &str, allow_plain_http: bool) -> Result<Url, TransportError> {
    let parsed = Url::parse(url).map_err(|_| TransportError::BadUrl { url: url.to_owned() })?;
    match parsed.scheme() {
        "https" => Ok(parsed),
        "http" if allow_plain_http || is_loopback(&parsed) => Ok(parsed),
        "http" => Err(TransportError::PlainUrl { url: url.to_owned() }),
        _ => Err(TransportError::BadUrl { url: url.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        for url in [
            "http://127.0.0.1:80/",
            "http://127.9.9.9",
            "http://[::1]:8080/v1",
            "http://localhost:1",
            "https://example.org",
        ] {
            assert!(check_url(url, false).is_ok(), "{url}");
        }
        for url in [
            "http://example.org",
            "http://10.0.0.1",
            "http://[2001:db8::1]",
            "http://localhost.example.org",
            "http://0.0.0.0",
        ] {
            assert!(matches!(check_url(url, false), Err(TransportError::PlainUrl { .. })), "{url}");
            assert!(check_url(url, true).is_ok(), "{url}");
        }
        for url in ["ftp://127.0.0.1", "127.0.0.1:80", "", "file:///etc/passwd", "unix:/x"] {
            assert!(matches!(check_url(url, true), Err(TransportError::BadUrl { .. })), "{url}");
        }
    }
}
