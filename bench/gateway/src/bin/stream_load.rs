//! Sends many concurrent streams through a gateway and checks every byte.
//!
//! ```text
//! stream_load UPSTREAM_PORT GATEWAY_PORT STREAMS SECONDS
//! ```
//!
//! This program is the model server too. Every stream has a number, which is in its text and in the broken arguments of its call.
//! So a stream that is lost, truncated or mixed with another is noticed.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolmend_gateway_bench::{local_address, read_body, stream_events};

/// The number of text pieces in a stream, and the time between two of them.
const PIECES: usize = 20;
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Default)]
struct Counts {
    started: AtomicU64,
    correct: AtomicU64,
    wrong: AtomicU64,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [upstream, gateway, streams, seconds] = args[..] else {
        print_line("usage: stream_load UPSTREAM_PORT GATEWAY_PORT STREAMS SECONDS");
        return ExitCode::from(2);
    };
    let address = |port: u64| local_address(u16::try_from(port).unwrap_or(0));
    let Ok(listener) = TcpListener::bind(address(upstream)).await else {
        print_line("the port of the server is in use");
        return ExitCode::from(2);
    };
    let router = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let counts = Arc::new(Counts::default());
    let client: Client<HttpConnector, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut workers = Vec::new();
    for worker in 0..streams {
        let (counts, client) = (Arc::clone(&counts), client.clone());
        let gateway = address(gateway);
        workers.push(tokio::spawn(async move {
            // Real clients do not all start at the same moment either.
            tokio::time::sleep(Duration::from_millis(worker * 2 % 4000)).await;
            while Instant::now() < until {
                let number = counts.started.fetch_add(1, Ordering::Relaxed);
                match check_stream(&client, gateway, number).await {
                    Ok(()) => counts.correct.fetch_add(1, Ordering::Relaxed),
                    Err(problem) => {
                        if counts.wrong.fetch_add(1, Ordering::Relaxed) < 10 {
                            print_line(&format!("stream {number}: {problem}"));
                        }
                        0
                    }
                };
            }
        }));
    }
    for worker in workers {
        let _ = worker.await;
    }
    let (started, correct, wrong) = (
        counts.started.load(Ordering::Relaxed),
        counts.correct.load(Ordering::Relaxed),
        counts.wrong.load(Ordering::Relaxed),
    );
    let open = count_open_streams(&client, address(gateway)).await;
    print_line(&format!(
        "{streams} concurrent streams for {seconds} s: {started} started, {correct} correct, {wrong} wrong, {open} still open"
    ));
    if correct == started && wrong == 0 && open == 0 && started >= streams {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the end of a text, where most errors are.
fn end_of(text: &str) -> String {
    let start = text.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
    text[start..].to_owned()
}

fn print_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Answers with text that contains the number of the request, and a broken call that does too.
async fn answer(request: Request<Body>) -> Response<Body> {
    let body = read_body(request.into_body()).await;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = request["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    let mut frames = vec![frame(&json!({"role": "assistant", "content": ""}), None)];
    frames.extend((0..PIECES).map(|piece| frame(&json!({"content": format!("{number}.{piece}, ")}), None)));
    let call = |name: Option<&str>, text: &str| json!({"tool_calls": [{"index": 0, "id": name.map(|_| format!("call_{number}")), "type": "function", "function": {"name": name, "arguments": text}}]});
    frames.push(frame(&call(Some("save"), &format!("{{number: {number}, ")), None));
    frames.push(frame(&call(None, &format!("'text': 'it is \"{number}\"',}}")), None));
    frames.push(frame(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n");
    stream_events(frames, PAUSE)
}

fn frame(delta: &Value, reason: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    )
}

/// Reads one stream to its end and checks it.
async fn check_stream(
    client: &Client<HttpConnector, Full<Bytes>>,
    gateway: SocketAddr,
    number: u64,
) -> Result<(), String> {
    let body = json!({"model": "load", "stream": true, "messages": [{"role": "user", "content": number.to_string()}],
        "tools": [{"type": "function", "function": {"name": "save", "parameters": {"type": "object",
            "properties": {"number": {"type": "integer"}, "text": {"type": "string"}}, "required": ["number", "text"]}}}]});
    let request =
        Request::post(format!("http://{gateway}/v1/chat/completions")).body(Full::from(body.to_string()));
    let request = request.map_err(|error| error.to_string())?;
    let response = client.request(request).await.map_err(|error| format!("no answer: {error:?}"))?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| format!("the stream broke off: {error}"))?
        .to_bytes();
    let text = std::str::from_utf8(&body).map_err(|_| "not UTF-8".to_owned())?;
    let (mut content, mut arguments, mut reason) = (String::new(), String::new(), None);
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]") {
        let event: Value = serde_json::from_str(data).map_err(|_| format!("not JSON: {data}"))?;
        let choice = &event["choices"][0];
        content.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        arguments
            .push_str(choice["delta"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default());
        reason = choice["finish_reason"].as_str().map(str::to_owned).or(reason);
    }
    let expected: Vec<String> = (0..PIECES).map(|piece| format!("{number}.{piece},")).collect();
    let call: Value = serde_json::from_str(&arguments)
        .map_err(|_| format!("arguments {arguments:?} in {}", end_of(text)))?;
    let is_correct = content.trim_end() == expected.join(" ")
        && call == json!({"number": number, "text": format!("it is \"{number}\"")})
        && reason.as_deref() == Some("tool_calls")
        && text.ends_with("data: [DONE]\n\n");
    if is_correct { Ok(()) } else { Err(format!("something is lost or mixed up: {}", end_of(text))) }
}

/// Asks the gateway how many streams are still open. They may take a moment to close.
async fn count_open_streams(client: &Client<HttpConnector, Full<Bytes>>, gateway: SocketAddr) -> i64 {
    let mut open = -1;
    for _ in 0..50 {
        let Ok(request) = Request::get(format!("http://{gateway}/metrics")).body(Full::default()) else {
            return open;
        };
        let Ok(response) = client.request(request).await else { return open };
        let body = read_body(response.into_body()).await;
        let text = String::from_utf8_lossy(&body).into_owned();
        open =
            text.lines().find_map(|line| line.strip_prefix("toolmend_streams ")?.parse().ok()).unwrap_or(-1);
        if open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    open
}
