//! The certificate that the gateway shows to clients.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Where the certificate for clients and its key are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// A PEM file with the certificate, followed by those that signed it.
    pub cert: PathBuf,
    /// A PEM file with the private key.
    pub key: PathBuf,
}

impl TlsConfig {
    /// Reads the files.
    pub(crate) fn load(&self) -> Result<Arc<ServerConfig>, ConfigError> {
        let error_in = |path: &Path| {
            let path = path.to_owned();
            move |error: rustls::pki_types::pem::Error| ConfigError::at(&path, format!("tls: {error}"))
        };
        let certificates = CertificateDer::pem_file_iter(&self.cert).map_err(error_in(&self.cert))?;
        let certificates = certificates.collect::<Result<Vec<_>, _>>().map_err(error_in(&self.cert))?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(error_in(&self.key))?;
        let invalid = |error: rustls::Error| ConfigError::at(&self.cert, format!("tls: {error}"));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(invalid)?;
        let mut config =
            builder.with_no_client_auth().with_single_cert(certificates, key).map_err(invalid)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
