//! The first look at a new connection: is it an operator who asks whether the gateway is well?

use std::sync::{Arc, Weak};

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::connection::{Persistence, serve_connection};
use super::connections::OpenConnection;
use super::worker::Workers;
use super::{OPERATOR_PATHS, Service};
use crate::config::RequestLimits;

/// A connection that was accepted.
pub(super) struct NewConnection {
    pub(super) service: Arc<Service>,
    pub(super) stream: std::net::TcpStream,
    pub(super) open: OpenConnection,
    pub(super) limits: RequestLimits,
    pub(super) stopping: watch::Receiver<bool>,
}

/// Enough for the method and the longest of the paths.
const LONGEST_START: usize = 24;

/// Waits for the first bytes of a connection. Answers what operators ask, once, and gives everything else to a worker.
pub(super) async fn look_at(connection: NewConnection, workers: Weak<Workers>) {
    let NewConnection { service, stream, open, limits, mut stopping } = connection;
    let Ok(stream) = TcpStream::from_std(stream) else { return };
    let mut start = [0; LONGEST_START];
    let read = tokio::select! {
        read = stream.peek(&mut start) => read,
        () = open.must_close(&limits) => return,
        _ = stopping.changed() => Ok(0),
    };
    let (Ok(length), Ok(stream)) = (read, stream.into_std()) else { return };
    if is_for_operator(&start[..length]) {
        return serve_connection(service, stream, open, limits, stopping, Persistence::OneRequest).await;
    }
    if let Some(workers) = workers.upgrade() {
        let served = serve_connection(service, stream, open, limits, stopping, Persistence::KeepAlive);
        workers.run_connection(served);
    }
}

/// Whether a request begins like one of an operator.
fn is_for_operator(start: &[u8]) -> bool {
    let Some(rest) = start.strip_prefix(b"GET ").or_else(|| start.strip_prefix(b"HEAD ")) else {
        return false;
    };
    let ends = |rest: &[u8]| matches!(rest.first(), Some(b' ' | b'?'));
    OPERATOR_PATHS.iter().any(|path| rest.strip_prefix(path.as_bytes()).is_some_and(ends))
}

#[test]
fn only_operators_are_served_at_once() {
    for (start, expected) in [
        ("GET /healthz HTTP/1.1\r\n", true),
        ("HEAD /readyz HTTP/1.1\r\n", true),
        ("GET /metrics?x=1 HTTP/1.", true),
        ("GET /healthz", false),
        ("GET /healthz-not HTTP/1.", false),
        ("POST /healthz HTTP/1.1\r\n", false),
        ("PRI * HTTP/2.0\r\n\r\nSM", false),
        ("", false),
    ] {
        assert_eq!(is_for_operator(start.as_bytes()), expected, "{start}");
    }
}
