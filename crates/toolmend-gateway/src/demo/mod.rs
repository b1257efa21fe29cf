//! A model server for people who have none at hand: it calls the tools of the request, and gets the calls nearly right.

mod damage;
mod surfaces;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::{get, post};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) use self::damage::Turn;
use self::surfaces::Answer;

/// The name of the model that the demo server has.
pub const DEMO_MODEL: &str = "demo";

/// Counts the turns, so that each is broken in another way.
#[derive(Debug, Default)]
struct Demo {
    turns: AtomicUsize,
}

/// Starts the demo server on a free port of this machine. It runs as long as the program.
///
/// # Errors
/// Where no port is free.
pub async fn start_demo() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let demo = Arc::new(Demo::default());
    let router = Router::new()
        .route(
            "/v1/models",
            get(async || {
                json_answer(&json!({"object": "list", "data": [{"id": DEMO_MODEL, "object": "model"}]}))
            }),
        )
        .route("/v1/chat/completions", post(chat))
        .route("/v1/messages", post(messages))
        .route("/v1/responses", post(responses))
        .route("/v1/completions", post(completions))
        .route("/api/chat", post(ollama))
        .route("/api/generate", post(generate))
        .with_state(demo);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

impl Demo {
    /// Answers a request. `unasked` says whether the surface streams where the request says nothing.
    async fn turn(
        &self,
        request: Request<Body>,
        speaker: fn(Turn, bool) -> Answer,
        unasked: bool,
    ) -> Response<Body> {
        let body =
            request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let number = self.turns.fetch_add(1, Ordering::Relaxed);
        let turn = Turn::answer(&asked, number);
        let answer = speaker(turn, asked["stream"].as_bool().unwrap_or(unasked));
        let mut response = Response::new(Body::from(answer.body));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(answer.kind));
        response
    }
}

async fn chat(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::chat, false).await
}

async fn messages(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::messages, false).await
}

async fn responses(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::responses, false).await
}

async fn ollama(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::ollama, true).await
}

async fn completions(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::completions, false).await
}

async fn generate(State(demo): State<Arc<Demo>>, request: Request<Body>) -> Response<Body> {
    demo.turn(request, surfaces::generate, true).await
}

fn json_answer(value: &Value) -> Response<Body> {
    crate::http::respond::json_response(http::StatusCode::OK, value.to_string())
}
