//! The model server of a siege. The model in a request decides how it misbehaves.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolmend_gateway_bench::checked_stream::{answer_checked, frame};
use toolmend_gateway_bench::read_body;

use super::noise::Noise;

/// The pause between two pieces of a checked stream.
const PAUSE: Duration = Duration::from_millis(60);
/// How much of a call arrives that never ends, and in which pieces.
const ENDLESS_PIECES: usize = 1000;
const PIECE: usize = 8 << 10;
/// How many pieces of text a client gets that reads nothing.
const FLOOD_PIECES: usize = 4000;

pub(crate) async fn serve(listener: TcpListener) {
    let _ = axum::serve(listener, Router::new().fallback(answer)).await;
}

async fn answer(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let body = read_body(request.into_body()).await;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    match request["model"].as_str().unwrap_or_default() {
        "load" => answer_checked(&request, PAUSE),
        "endless-call" => stream_pieces(ENDLESS_PIECES, Duration::from_millis(10), |piece| {
            let text = if piece == 0 { "{text: '".to_owned() } else { "x".repeat(PIECE) };
            let name = (piece == 0).then_some("save");
            let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": text}});
            frame(&json!({"tool_calls": [call]}), None)
        }),
        "flood" => stream_pieces(FLOOD_PIECES, Duration::ZERO, |_| {
            frame(&json!({"content": "x".repeat(PIECE)}), None)
        }),
        "noise" => answer_noise(),
        "call" => answer_call(&request),
        _ if path == "/v1/models" => json_answer(json!({"object": "list", "data": []}).to_string()),
        // Like real servers: a path that they do not know is missing, and a request that they cannot read is bad.
        _ => {
            let status = if path == "/v1/chat/completions" { 400 } else { 404 };
            Response::builder().status(status).body(Body::from("{}")).unwrap_or_default()
        }
    }
}

fn stream_pieces(
    count: usize,
    pause: Duration,
    write: impl Fn(usize) -> String + Send + 'static,
) -> Response<Body> {
    let pieces = stream::unfold((0, write), move |(piece, write)| async move {
        if piece == count {
            return None;
        }
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let text = write(piece);
        Some((Ok::<_, Infallible>(Bytes::from(text)), (piece + 1, write)))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(pieces)).unwrap_or_default()
}

fn json_answer(body: String) -> Response<Body> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(Body::from(body)).unwrap_or_default()
}

/// Answers with a call of the first tool whose arguments the request chose.
fn answer_call(request: &Value) -> Response<Body> {
    let call = json!({"id": "c", "type": "function", "function": {
        "name": request["tools"][0]["function"]["name"], "arguments": request["messages"][0]["content"]}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    json_answer(
        json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}).to_string(),
    )
}

/// Answers with random bytes, said to be something that the gateway reads.
fn answer_noise() -> Response<Body> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut noise = Noise::new(NUMBER.fetch_add(1, Ordering::Relaxed));
    let kind = noise.pick(&["application/json", "text/event-stream", "application/x-ndjson", "text/plain"]);
    let coding = noise.pick(&["identity", "identity", "gzip", "br", "zstd", "unknown"]);
    let length = noise.below(64 << 10);
    let response = Response::builder().header("content-type", kind).header("content-encoding", coding);
    response.body(Body::from(noise.bytes(length))).unwrap_or_default()
}
