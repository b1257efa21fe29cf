//! Traces, as a collector receives them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use serde_json::json;
use tokio::net::TcpListener;
use toolmend_gateway::Config;

use crate::fixture::{Answer, Fixture, weather};

type ReceivedBodies = Arc<Mutex<Vec<u8>>>;
type ReceivedHeaders = Arc<Mutex<Vec<http::HeaderMap>>>;

/// Starts a collector. Returns its address and what it receives.
async fn collector() -> (String, ReceivedBodies) {
    let got = ReceivedBodies::default();
    let take =
        async |State(got): State<ReceivedBodies>, body: Bytes| got.lock().unwrap().extend_from_slice(&body);
    let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&got));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, got)
}

#[tokio::test]
async fn a_request_is_a_span_and_a_repair_is_an_event() {
    let (endpoint, got) = collector().await;
    let config = Config { otlp_endpoint: Some(endpoint), ..Config::default() };
    let answer = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\": \"Oslo\", }"}}]}}]});
    let mut fixture = Fixture::with(config, [Answer::json(&answer)]).await;
    let request = json!({"model": "qwen3", "messages": [], "tools": [
        {"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]});
    let (trace, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let header = format!("00-{trace}-{parent}-01");
    fixture.post("/v1/chat/completions", &[("traceparent", &header)], &request.to_string()).await;
    let passed = fixture.received()[0].headers["traceparent"].to_str().unwrap().to_owned();
    assert!(passed.starts_with(&format!("00-{trace}-")) && !passed.contains(parent), "{passed}");
    fixture.stop();
    fixture.served.take().unwrap().await.unwrap().unwrap();
    let sent = got.lock().unwrap().clone();
    let text = String::from_utf8_lossy(&sent);
    for word in [
        "chat qwen3",
        "toolmend.repair",
        "trailing_comma_removed",
        "toolmend.outcome",
        "mended",
        "get_weather",
    ] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    let id: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&trace[2 * at..2 * at + 2], 16).unwrap()).collect();
    assert!(sent.windows(16).any(|window| window == id), "the span goes on the client's trace");
    assert!(!text.contains("Oslo"), "values are not sent");
}

#[tokio::test]
async fn a_password_in_the_address_of_a_collector_is_sent_and_shown_nowhere() {
    let got = ReceivedHeaders::default();
    let take = async |State(got): State<ReceivedHeaders>, headers: http::HeaderMap| {
        got.lock().unwrap().push(headers);
    };
    let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&got));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let config = Config { otlp_endpoint: Some(format!("http://me:s3cret@{address}")), ..Config::default() };
    assert!(!config.to_toml().contains("s3cret"));
    let mut fixture = Fixture::with(config, [Answer::text("{}")]).await;
    fixture.post("/v1/chat/completions", &[], r#"{"model":"m","messages":[]}"#).await;
    for path in ["/toolmend/api/state", "/metrics"] {
        assert!(!fixture.get(path).await.text().contains("s3cret"), "{path}");
    }
    fixture.stop();
    fixture.served.take().unwrap().await.unwrap().unwrap();
    let received = got.lock().unwrap().clone();
    assert_eq!(received[0]["authorization"], "Basic bWU6czNjcmV0");
    assert!(
        received
            .iter()
            .flat_map(|headers| headers.values())
            .all(|value| !value.as_bytes().ends_with(b"s3cret"))
    );
    let wrong = Config { otlp_endpoint: Some("me:s3cret@h:x".to_owned()), ..Config::default() };
    let upstreams = vec![toolmend_gateway::Upstream::new("http://127.0.0.1:1")];
    if let Err(error) = toolmend_gateway::Gateway::new(Config { upstreams, ..wrong }) {
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn without_a_collector_trace_headers_pass_unchanged() {
    let fixture = Fixture::new([Answer::text("{}")]).await;
    let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    fixture.post("/v1/chat/completions", &[("traceparent", header)], "{}").await;
    assert_eq!(fixture.received()[0].headers["traceparent"], header);
}
