//! A model server that needs almost no processor time, and a client that measures the first byte of its streams.
//!
//! ```text
//! paced_server serve PORT              answers immediately, and streams in 12 pieces with 20 ms between them
//! paced_server first-byte PORT COUNT   prints the median time to the first byte of a stream, in microseconds
//! ```

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use toolmend_gateway_bench::{local_address, read_body, stream_events};

const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"tool_0","arguments":"{\"city\": \"Oslo\", \"days\": 3, \"tags\": [\"a\", \"b\"]}"}}]},"finish_reason":"tool_calls","logprobs":null}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}"#;

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let port = args.get(1).and_then(|port| port.parse::<u16>().ok()).unwrap_or_default();
    let address = local_address(port);
    match args.first().map(String::as_str) {
        Some("serve") => serve(address).await,
        Some("first-byte") => {
            measure_first_byte(address, args.get(2).and_then(|count| count.parse().ok()).unwrap_or(10)).await
        }
        _ => ExitCode::from(2),
    }
}

async fn serve(address: SocketAddr) -> ExitCode {
    let Ok(listener) = TcpListener::bind(address).await else { return ExitCode::from(2) };
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let router = Router::new().route("/v1/chat/completions", post(answer));
    match axum::serve(listener, router).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn answer(request: Request<Body>) -> Response<Body> {
    let body = read_body(request.into_body()).await;
    // Parsing the request would cost time; this is enough to see whether it asks for a stream.
    let is_stream = body
        .windows(13)
        .rev()
        .take(200)
        .any(|window| window == b"\"stream\":true" || window == b"stream\": true");
    if !is_stream {
        return Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(ANSWER))
            .unwrap_or_default();
    }
    let frame = |delta: &str, reason: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let mut frames = vec![frame("{\"role\":\"assistant\",\"content\":\"\"}", "null")];
    frames.extend((0..10).map(|number| frame(&format!("{{\"content\":\"word {number}, \"}}"), "null")));
    frames.push(frame("{}", "\"stop\"") + "data: [DONE]\n\n");
    stream_events(frames, Duration::from_millis(20))
}

async fn measure_first_byte(address: SocketAddr, count: usize) -> ExitCode {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let mut times = Vec::new();
    for _ in 0..count {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"tool_0","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],"stream":true}"#;
        let request = Request::post(format!("http://{address}/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer x")
            .body(Full::from(body));
        let Ok(request) = request else { return ExitCode::FAILURE };
        let started = Instant::now();
        let Ok(mut response) = client.request(request).await else { return ExitCode::FAILURE };
        if response.body_mut().frame().await.is_none() {
            return ExitCode::FAILURE;
        }
        times.push(started.elapsed());
        let _ = response.into_body().collect().await;
    }
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{}", median.as_micros());
    ExitCode::SUCCESS
}
