//! A demo model server, for people who have none at hand: it calls the tools of the request and gets the calls nearly right.
//!
//! It shares no code with the gateway's readers and writers, so that it cannot hide their mistakes.

mod answers;
mod turn;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolmend_protocol::Protocol;

use self::turn::DemoTurn;
use crate::http::Body;
use crate::http::respond::{bad_request, json_response};

/// The name of the demo server's model.
pub const DEMO_MODEL: &str = "demo";

/// Counts the turns, so that each is broken in another way.
#[derive(Debug, Default)]
struct DemoServer {
    turns: AtomicUsize,
}

/// Starts the demo server on a free port of this machine. It runs as long as the program.
///
/// # Errors
/// If no port is free.
pub async fn start_demo() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let paths = Protocol::ALL.iter().filter_map(|protocol| protocol.paths().first());
    let router = paths
        .fold(Router::new(), |router, path| router.route(path, post(answer_request)))
        .route("/v1/models", get(async || list_models()))
        .with_state(Arc::new(DemoServer::default()));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

fn list_models() -> Response<Body> {
    let list = json!({"object": "list", "data": [{"id": DEMO_MODEL, "object": "model"}]});
    json_response(StatusCode::OK, list.to_string())
}

/// Answers a request in the protocol of its path.
async fn answer_request(State(demo): State<Arc<DemoServer>>, request: Request<Body>) -> Response<Body> {
    let protocol = Protocol::from_path(request.uri().path()).unwrap_or(Protocol::Chat);
    let write_answer = match protocol {
        Protocol::Chat => answers::chat,
        Protocol::Messages => answers::messages,
        Protocol::Responses => answers::responses,
        Protocol::Completions => answers::completions,
        Protocol::OllamaChat => answers::ollama_chat,
        Protocol::OllamaGenerate => answers::ollama_generate,
        _ => return bad_request(protocol, "the demo server does not speak this protocol"),
    };
    let body = request.into_body().collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = demo.turns.fetch_add(1, Ordering::Relaxed);
    let stream = request["stream"].as_bool().unwrap_or(protocol.features().streams_by_default);
    let answer = write_answer(DemoTurn::for_request(&request, number), stream);
    let mut response = Response::new(Body::from(answer.body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    response
}
