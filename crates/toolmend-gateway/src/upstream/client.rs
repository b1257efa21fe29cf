//! Connections to servers: pooled, with TLS, tried again only where nothing was sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{HttpConnector, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::config::{Config, ConfigError};
use crate::observe::Observer;
use crate::proxy::headers;
use crate::server::worker;
use crate::wire::coding::BoxError;

type Pool = legacy::Client<HttpsConnector<HttpConnector>, Body>;

/// The body of a request to a server.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// How long a connection waits for the next request. Servers close theirs after five seconds, most of them, and a request
/// that meets the closing is lost: nobody knows whether it was read.
const IDLE: Duration = Duration::from_secs(3);

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// One pool for each thread of the server, so that an answer wakes nobody on another one.
    pools: Arc<[Pool]>,
    retries: u8,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Whether nothing was sent.
    pub(crate) unreachable: bool,
    /// Whether it took too long.
    pub(crate) late: bool,
    message: String,
}

impl Refused {
    /// The server let the time pass.
    pub(crate) fn silent(time: Duration) -> Self {
        let message = format!("it sent nothing for {} seconds", time.as_secs());
        Refused { unreachable: false, late: true, message }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Client {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(Duration::from_secs(config.limits.connect_seconds)));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(config)?)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let pool = || {
            legacy::Client::builder(TokioExecutor::new())
                .pool_idle_timeout(IDLE)
                .pool_timer(TokioTimer::new())
                .build(connector.clone())
        };
        let pools = (0..config.thread_count()).map(|_| pool()).collect();
        Ok(Client { pools, retries: config.limits.connect_retries })
    }

    /// Sends a request as it is, once.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, Refused> {
        self.send_once(request, true).await
    }

    /// `streams`: whether the answer may be a stream.
    async fn send_once(
        &self,
        mut request: Request<Body>,
        streams: bool,
    ) -> Result<Response<Incoming>, Refused> {
        // llama.cpp closes its connections after each stream, a moment later, and says that it keeps them. A request
        // that meets the closing is lost, so none of them is used again. Behind TLS a connection is worth more, and
        // such servers keep theirs.
        let plain = request.uri().scheme() == Some(&Scheme::HTTP);
        let connection = (streams && plain).then(|| capture_connection(&mut request));
        // Connections that servers have closed meanwhile are noticed first, so that none of them is used.
        tokio::task::yield_now().await;
        let answer = self.pools[worker::number() % self.pools.len()].request(request).await;
        let answer = answer.map_err(|error| refused(&error))?;
        if let Some(connection) = connection.filter(|_| headers::streams(answer.headers()))
            && let Some(connected) = connection.connection_metadata().as_ref()
        {
            connected.poison();
        }
        Ok(answer)
    }

    /// Sends a request whose body is at hand. A connection that cannot be made is tried again.
    pub(crate) async fn send_whole(
        &self,
        head: &http::request::Parts,
        body: &Bytes,
        streams: bool,
        observer: &Observer,
    ) -> Result<Response<Incoming>, Refused> {
        let mut pause = Duration::from_millis(50);
        let mut left = self.retries;
        loop {
            let full = Full::new(body.clone()).map_err(|never| match never {}).boxed_unsync();
            match self.send_once(Request::from_parts(head.clone(), full), streams).await {
                Err(refused) if refused.unreachable && left > 0 => {
                    left -= 1;
                    observer.metrics.connect_retry();
                    tokio::time::sleep(pause).await;
                    pause *= 4;
                }
                result => return result,
            }
        }
    }
}

fn refused(error: &legacy::Error) -> Refused {
    let unreachable = error.is_connect();
    // The cause says more than the wrapper.
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = inner.to_string();
        cause = inner.source();
    }
    Refused { unreachable, late: false, message }
}

/// Trusts the system's certificates, those that come with the program where there are none, and the configured ones.
fn tls(config: &Config) -> Result<rustls::ClientConfig, ConfigError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for file in config.upstreams.iter().filter_map(|upstream| upstream.ca_file.as_ref()) {
        let wrong =
            |error: String| ConfigError::new(format!("upstreams: ca_file {}: {error}", file.display()));
        let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
        for certificate in found {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::new(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
