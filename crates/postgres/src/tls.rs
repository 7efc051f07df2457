//! TLS to the database: rustls with ring. The certificate and the host's name are always verified.

use crate::error::PostgresError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connects with the given roots and no others, or without any with the machine's own.
pub(crate) fn connector(roots: Option<&Path>) -> Result<MakeRustlsConnect, PostgresError> {
    let wrong = |error: &dyn std::fmt::Display| PostgresError::Tls(error.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    let config = match roots {
        Some(path) => builder.with_root_certificates(read(path)?).with_no_client_auth(),
        None => builder.with_platform_verifier().map_err(|error| wrong(&error))?.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn read(path: &Path) -> Result<RootCertStore, PostgresError> {
    let wrong = |error: &dyn std::fmt::Display| PostgresError::Tls(format!("sslrootcert {}: {error}", path.display()));
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
        store.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
    }
    if store.is_empty() {
        return Err(wrong(&"no certificate inside"));
    }
    Ok(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/nowhere/ca.pem")] {
            let refused = connector(Some(path)).err().unwrap().to_string();
            assert!(refused.contains(&path.display().to_string()), "{refused}");
        }
    }
}
