//! A model server that breaks some of its calls, and a client that sends many requests.
//!
//! ```text
//! call_load serve PORT              the model `every-N` breaks each Nth call, other models break none
//! call_load load PORT MODEL COUNT   sends requests over 16 connections
//! ```

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use toolmend_gateway_bench::{local_address, read_body};

const CONNECTIONS: u64 = 16;
const CLEAN: &str = r#"{\"city\": \"Oslo\", \"days\": 3, \"tags\": [\"a\", \"b\"]}"#;
const BROKEN: &str = r#"{\"city\": \"Oslo\", 'days': \"3\", \"tags\": [\"a\", \"b\",]}"#;

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let address = |port: &str| local_address(port.parse().unwrap_or(0));
    match args[..] {
        ["serve", port] => serve(address(port)).await,
        ["load", port, model, count] => send_requests(address(port), model, count.parse().unwrap_or(0)).await,
        _ => ExitCode::from(2),
    }
}

async fn serve(address: SocketAddr) -> ExitCode {
    let Ok(listener) = TcpListener::bind(address).await else { return ExitCode::from(2) };
    let count = Arc::new(AtomicU64::new(0));
    let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(count);
    if axum::serve(listener, router).await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn answer(State(count): State<Arc<AtomicU64>>, request: Request<Body>) -> Response<Body> {
    let body = read_body(request.into_body()).await;
    let text = std::str::from_utf8(&body).unwrap_or_default();
    let every = text.split("\"every-").nth(1).and_then(|rest| rest.split('"').next()?.parse::<u64>().ok());
    let number = count.fetch_add(1, Relaxed);
    let arguments = if every.is_some_and(|every| number.is_multiple_of(every)) { BROKEN } else { CLEAN };
    let answer = format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_1","type":"function","function":{{"name":"tool_0","arguments":"{arguments}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let response = Response::builder().header("content-type", "application/json");
    response.body(Body::from(answer)).unwrap_or_default()
}

async fn send_requests(address: SocketAddr, model: &str, count: u64) -> ExitCode {
    let body = format!(
        r#"{{"model":"{model}","messages":[{{"role":"user","content":"hi"}}],"tools":[{{"type":"function","function":{{"name":"tool_0","description":"Describes a city.","parameters":{{"type":"object","properties":{{"city":{{"type":"string"}},"days":{{"type":"integer","minimum":1}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"required":["city"],"additionalProperties":false}}}}}}]}}"#
    );
    let body = Bytes::from(body);
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let workers: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (client, body) = (client.clone(), body.clone());
            tokio::spawn(async move {
                for _ in 0..count / CONNECTIONS {
                    let request = Request::post(format!("http://{address}/v1/chat/completions"))
                        .header("content-type", "application/json")
                        .body(Full::new(body.clone()))
                        .ok()?;
                    let response =
                        client.request(request).await.ok().filter(|answer| answer.status().is_success())?;
                    response.into_body().collect().await.ok()?;
                }
                Some(())
            })
        })
        .collect();
    for worker in workers {
        if !matches!(worker.await, Ok(Some(()))) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
