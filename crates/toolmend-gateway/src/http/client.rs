//! Connections to servers: pooled, with TLS, and retried only if the server cannot have seen the request.
//!
//! Each worker thread of the server has its own pool, so that an answer never wakes another thread.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{HttpConnector, HttpInfo, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::coding::BoxError;
use super::headers;
use crate::config::{Config, ConfigError};

type Pool = legacy::Client<HttpsConnector<HttpConnector>, RequestBody>;

/// The body of a request to a server.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, BoxError>;

/// How long an idle connection is kept. Most servers close theirs after five seconds, and a request that is sent at that
/// moment is lost: it is unknown whether the server read it.
const MAX_IDLE: Duration = Duration::from_secs(3);

/// The most bytes that a connection buffers on each side.
const MAX_BUFFER: usize = 128 << 10;
/// The most bytes that a server may send ahead, in one answer and in all answers of a connection.
const MAX_STREAM_WINDOW: u32 = 256 << 10;
const MAX_CONNECTION_WINDOW: u32 = 4 << 20;

thread_local! {
    static POOL_NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Makes requests from this thread use the pool with this number.
pub(crate) fn use_pool(number: usize) {
    POOL_NUMBER.set(number);
}

/// Sends requests to servers.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// One pool for each worker thread.
    pools: Arc<[Pool]>,
    kept: Arc<KeptConnections>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct SendError {
    /// Whether no connection could be made, so that nothing was sent.
    pub(crate) unreachable: bool,
    /// Whether the server closed a connection that it had kept open after another answer, without a byte of this one. It closed
    /// the connection before it saw the request.
    closed_while_kept: bool,
    /// Whether the server took too long.
    pub(crate) timed_out: bool,
    /// Why the request itself broke off, if it did.
    pub(crate) broken_request: Option<String>,
    message: String,
}

/// Why a request that is sent on while it arrives broke off. The server is not to blame.
#[derive(Debug)]
pub(crate) struct BrokenRequest(pub(crate) String);

impl fmt::Display for BrokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BrokenRequest {}

impl SendError {
    /// The error for an answer that is none.
    fn wrong_answer(message: &str) -> Self {
        let message = message.to_owned();
        let broken_request = None;
        SendError { unreachable: false, closed_while_kept: false, timed_out: false, broken_request, message }
    }

    /// The error for a server that sent nothing in time.
    pub(crate) fn timeout(time: Duration) -> Self {
        let message = format!("it sent nothing for {} seconds", time.as_secs());
        SendError { timed_out: true, ..SendError::wrong_answer(&message) }
    }
}

impl fmt::Display for SendError {
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
            .with_tls_config(tls_config(config)?)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let pool = || {
            legacy::Client::builder(TokioExecutor::new())
                .pool_idle_timeout(MAX_IDLE)
                .pool_timer(TokioTimer::new())
                .http1_max_buf_size(MAX_BUFFER)
                .http2_initial_stream_window_size(MAX_STREAM_WINDOW)
                .http2_initial_connection_window_size(MAX_CONNECTION_WINDOW)
                .http2_max_send_buf_size(MAX_BUFFER)
                .build(connector.clone())
        };
        let pools = (0..config.thread_count()).map(|_| pool()).collect();
        Ok(Client { pools, kept: Arc::default() })
    }

    /// Sends a request once.
    pub(crate) async fn send(&self, request: Request<RequestBody>) -> Result<Response<Incoming>, SendError> {
        self.send_once(request, true).await
    }

    /// `streams`: whether the answer may be a stream.
    async fn send_once(
        &self,
        mut request: Request<RequestBody>,
        streams: bool,
    ) -> Result<Response<Incoming>, SendError> {
        // llama.cpp closes a connection shortly after each stream although it promises to keep it. A request that is sent
        // at that moment is lost, so these connections are not reused. With TLS a connection is worth more, and such
        // servers do keep theirs.
        let plain = request.uri().scheme() == Some(&Scheme::HTTP);
        let connection = capture_connection(&mut request);
        let local_address = || {
            let mut extras = http::Extensions::new();
            connection.connection_metadata().as_ref()?.get_extras(&mut extras);
            extras.get::<HttpInfo>().map(HttpInfo::local_addr)
        };
        // Lets the pool notice connections that servers have closed in the meantime.
        tokio::task::yield_now().await;
        let answer = self.pools[POOL_NUMBER.get() % self.pools.len()].request(request).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let was_kept = local_address().is_some_and(|address| self.kept.remove(address));
                let closed_while_kept = was_kept && was_closed(&error);
                return Err(SendError { closed_while_kept, ..send_error(&error) });
            }
        };
        // Nobody asked for another protocol, and what follows would be none of HTTP.
        if answer.status().is_informational() {
            return Err(SendError::wrong_answer("it switched to another protocol"));
        }
        if streams && plain && headers::is_stream(answer.headers()) {
            if let Some(connected) = connection.connection_metadata().as_ref() {
                connected.poison();
            }
        } else if let Some(address) = local_address() {
            self.kept.add(address);
        }
        Ok(answer)
    }

    /// Sends a request with a complete body. If no connection can be made, it tries again, up to `retries` times, and calls
    /// `on_retry`. It also does so if a kept connection closes before the server saw the request.
    pub(crate) async fn send_with_retries(
        &self,
        head: &http::request::Parts,
        body: &Bytes,
        streams: bool,
        retries: u8,
        on_retry: impl Fn(),
    ) -> Result<Response<Incoming>, SendError> {
        let mut pause = Duration::from_millis(50);
        let mut left = retries;
        let mut kept_left = MAX_KEPT_RETRIES;
        loop {
            let full = Full::new(body.clone()).map_err(|never| match never {}).boxed_unsync();
            match self.send_once(Request::from_parts(head.clone(), full), streams).await {
                Err(error) if error.closed_while_kept && kept_left > 0 => {
                    kept_left -= 1;
                    on_retry();
                }
                Err(error) if error.unreachable && left > 0 => {
                    left -= 1;
                    on_retry();
                    tokio::time::sleep(pause).await;
                    pause *= 4;
                }
                result => return result,
            }
        }
    }
}

/// Connections that have carried an answer, by their local address. Without them, a request that a server closes a kept connection
/// under could not be told from one that makes a server fail, which must not be repeated.
#[derive(Debug, Default)]
struct KeptConnections(Mutex<HashSet<SocketAddr>>);

/// How many kept connections may close under one request. The last try is on a new one, unless a server closes all of them.
const MAX_KEPT_RETRIES: u8 = 3;
/// How many connections are remembered. Forgetting one means that its last request is not sent again.
const MAX_KEPT: usize = 16 << 10;

impl KeptConnections {
    fn add(&self, address: SocketAddr) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(address);
    }

    /// Forgets a connection. Returns whether it was known.
    fn remove(&self, address: SocketAddr) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&address)
    }
}

/// Whether the server closed the connection before it sent anything.
fn was_closed(error: &legacy::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(error) = inner.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message() || error.is_canceled() || error.is_closed())
        {
            return true;
        }
        if let Some(error) = inner.downcast_ref::<std::io::Error>() {
            return matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset);
        }
        cause = inner.source();
    }
    false
}

fn send_error(error: &legacy::Error) -> SendError {
    let unreachable = error.is_connect();
    // The innermost cause says the most.
    let mut message = error.to_string();
    let mut broken_request = None;
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = inner.to_string();
        broken_request = broken_request.or_else(|| Some(inner.downcast_ref::<BrokenRequest>()?.0.clone()));
        cause = inner.source();
    }
    SendError { unreachable, closed_while_kept: false, timed_out: false, broken_request, message }
}

/// Trusts the system's certificates (built-in ones if there are none) and the configured ones.
fn tls_config(config: &Config) -> Result<rustls::ClientConfig, ConfigError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for file in config.upstreams.iter().filter_map(|upstream| upstream.ca_file.as_ref()) {
        let error_in_file =
            |error: String| ConfigError::new(format!("upstreams: ca_file {}: {error}", file.display()));
        let found = CertificateDer::pem_file_iter(file).map_err(|error| error_in_file(error.to_string()))?;
        for certificate in found {
            let certificate = certificate.map_err(|error| error_in_file(error.to_string()))?;
            roots.add(certificate).map_err(|error| error_in_file(error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::new(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
