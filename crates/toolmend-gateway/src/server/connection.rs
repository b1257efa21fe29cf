//! One connection of a client.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::Service;
use super::connections::OpenConnection;
use super::watched_io::WatchedIo;
use crate::config::RequestLimits;
use crate::http::connection_claim::ConnectionClaim;
use crate::http::guarded_body::guard_body;
use crate::http::origin::OverTls;
use crate::observe::Limit;

/// The smallest buffer that the server accepts for heads.
const MIN_HEADER_BYTES: usize = 8 << 10;
/// How many requests one connection may have at the same time.
const MAX_STREAMS: u32 = 100;
/// How many bytes of a request may arrive before they are read.
const WINDOW: u32 = 64 << 10;
/// How long a connection may take to close.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// How a connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Persistence {
    /// It is closed after one request.
    OneRequest,
    /// Requests follow one another.
    KeepAlive,
    /// Requests follow one another, encrypted.
    KeepAliveOverTls,
}

/// Answers the requests of a connection until the client closes it or the gateway stops. When it stops, the current answer is
/// finished, and no other begins.
pub(super) async fn serve_connection(
    service: Arc<Service>,
    stream: std::net::TcpStream,
    connection: OpenConnection,
    limits: RequestLimits,
    stopping: watch::Receiver<bool>,
    persistence: Persistence,
) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be served");
            return;
        }
    };
    let Some(tls) = service.proxy.setup.load().tls.clone() else {
        return serve_stream(service, stream, connection, limits, stopping, persistence).await;
    };
    let patience = Duration::from_secs(limits.header_seconds);
    let handshake = tokio::select! {
        handshake = tokio::time::timeout(patience, TlsAcceptor::from(tls).accept(stream)) => handshake,
        // Somebody else needs its place.
        () = connection.must_close(&limits) => return,
    };
    match handshake {
        Ok(Ok(stream)) => {
            let persistence = Persistence::KeepAliveOverTls;
            serve_stream(service, stream, connection, limits, stopping, persistence).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a client cannot connect"),
        Err(_) => service.proxy.observer.metrics.count_limit(Limit::HeaderTime),
    }
}

async fn serve_stream(
    service: Arc<Service>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: OpenConnection,
    limits: RequestLimits,
    mut stopping: watch::Receiver<bool>,
    persistence: Persistence,
) {
    let observer = Arc::clone(&service.proxy.observer);
    let max_stall = Duration::from_secs(limits.write_seconds);
    let stream = WatchedIo::new(stream, Arc::clone(&connection.activity), Arc::clone(&observer), max_stall);
    let activity = Arc::clone(&connection.activity);
    let answer = service_fn(move |mut request: Request<hyper::body::Incoming>| {
        if persistence == Persistence::KeepAliveOverTls {
            request.extensions_mut().insert(OverTls);
        }
        let service = Arc::clone(&service);
        request.extensions_mut().insert(ConnectionClaim(activity.clone()));
        let open = activity.begin_request();
        async move {
            let response = service.answer(request.map(Body::new)).await;
            Ok::<_, Infallible>(response.map(|body| guard_body(body, open)))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let header_bytes = limits.header_bytes.max(MIN_HEADER_BYTES);
    // The time for heads is watched here, together with the time before their first byte.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(header_bytes);
    builder.http1().keep_alive(persistence != Persistence::OneRequest);
    let list_bytes = u32::try_from(header_bytes).unwrap_or(u32::MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(list_bytes)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(2 * WINDOW)
        .max_send_buf_size(MIN_HEADER_BYTES * 8);
    let mut served = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let mut is_stopping = *stopping.borrow();
    if is_stopping {
        served.as_mut().graceful_shutdown();
    }
    loop {
        tokio::select! {
            result = served.as_mut() => {
                if let Err(error) = result {
                    let is_too_long = |error: &hyper::Error| error.is_parse_too_large();
                    if error.downcast_ref::<hyper::Error>().is_some_and(is_too_long) {
                        observer.metrics.count_limit(Limit::HeaderBytes);
                    }
                    tracing::debug!(error, "a connection ended early");
                }
                return;
            }
            _ = stopping.changed(), if !is_stopping => {
                is_stopping = true;
                served.as_mut().graceful_shutdown();
            }
            () = connection.must_close(&limits) => {
                served.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(CLOSING_TIME, served).await;
                return;
            }
        }
    }
}
