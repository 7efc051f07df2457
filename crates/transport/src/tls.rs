//! Certificates and keys from PEM files, and what rustls makes of them. One provider: ring.

use crate::TransportError;
use crate::listen::TlsFiles;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_platform_verifier::BuilderVerifierExt;
use shuffledp_host::files::read_secret;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// HTTP/1.1 only, offered by name: one request at a time on a connection, so that the limit of
/// connections also bounds the requests under way.
const PROTOCOLS: &[&[u8]] = &[b"http/1.1"];

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn protocols() -> Vec<Vec<u8>> {
    PROTOCOLS.iter().map(|name| name.to_vec()).collect()
}

/// Returns the TLS configuration of a service.
pub(crate) fn server_config(files: &TlsFiles) -> Result<ServerConfig, TransportError> {
    let chain = certificates(&files.certificate, "certificate chain")?;
    let key = read_secret(&files.key).map_err(|error| bad_pem(&files.key, "private key", error))?;
    let key =
        PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| bad_pem(&files.key, "private key", error))?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = protocols();
    Ok(config)
}

/// Whom a client believes: the given roots and no others, or without any the machine's own.
pub(crate) fn client_config(roots: &[PathBuf]) -> Result<ClientConfig, TransportError> {
    let builder = || {
        ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(TransportError::from)
    };
    let mut config = if roots.is_empty() {
        match builder()?.with_platform_verifier() {
            Ok(config) => config.with_no_client_auth(),
            // A machine without roots can still talk to itself. With an empty store every https://
            // is refused, none let through.
            Err(error) => {
                tracing::warn!(%error, "this machine has no root certificates: https:// needs `roots`");
                builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
            }
        }
    } else {
        let mut store = RootCertStore::empty();
        for path in roots {
            for certificate in certificates(path, "root certificate")? {
                store.add(certificate).map_err(|error| bad_pem(path, "root certificate", error))?;
            }
        }
        builder()?.with_root_certificates(store).with_no_client_auth()
    };
    config.alpn_protocols = protocols();
    Ok(config)
}

fn certificates(path: &Path, role: &'static str) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let found: Vec<_> =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(|error| bad_pem(path, role, error))?;
    if found.is_empty() {
        return Err(bad_pem(path, role, "no certificate inside"));
    }
    Ok(found)
}

fn bad_pem(path: &Path, role: &'static str, reason: impl std::fmt::Display) -> TransportError {
    TransportError::BadPem { path: path.to_owned(), role, reason: reason.to_string() }
}
