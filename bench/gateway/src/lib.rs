//! What the programs around the gateway share.

#![forbid(unsafe_code)]

pub mod checked_stream;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http_body_util::BodyExt;

/// Returns an address of this machine.
pub fn local_address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Reads a whole body. A body that breaks off counts as empty.
pub async fn read_body(body: impl BodyExt<Data = Bytes>) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// Answers with a stream of events, with a pause before each of them but the first.
pub fn stream_events(frames: Vec<String>, pause: Duration) -> Response<Body> {
    let frames = stream::unfold((frames.into_iter(), true), move |(mut frames, is_first)| async move {
        let next = frames.next()?;
        if !is_first {
            tokio::time::sleep(pause).await;
        }
        Some((Ok::<_, Infallible>(Bytes::from(next)), (frames, false)))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(frames)).unwrap_or_default()
}
