//! One connection of a client.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::answer;
use crate::proxy::App;

/// Answers what comes on a connection until the client has enough, or until the gateway stops: then the answer that
/// is on its way is finished, and no other begins.
pub(crate) async fn serve(app: Arc<App>, stream: std::net::TcpStream, mut stopping: watch::Receiver<bool>) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be served");
            return;
        }
    };
    let service = service_fn(move |request: Request<hyper::body::Incoming>| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(answer(app, request.map(Body::new)).await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut told = *stopping.borrow();
    if told {
        connection.as_mut().graceful_shutdown();
    }
    loop {
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(error, "a connection ended early");
                }
                return;
            }
            _ = stopping.changed(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
