//! Streams of which every byte is checked.
//!
//! Every stream has a number, which is in its text and in the broken arguments of its call. So a stream that is lost, truncated or
//! mixed with another is noticed.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::stream_events;

/// The number of text pieces in a stream.
const PIECES: usize = 20;

/// Answers with text that contains the number of the request, and a broken call that does too.
pub fn answer_checked(request: &Value, pause: Duration) -> Response<Body> {
    let number = request["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    let mut frames = vec![frame(&json!({"role": "assistant", "content": ""}), None)];
    frames.extend((0..PIECES).map(|piece| frame(&json!({"content": format!("{number}.{piece}, ")}), None)));
    let call = |name: Option<&str>, text: &str| json!({"tool_calls": [{"index": 0, "id": name.map(|_| format!("call_{number}")), "type": "function", "function": {"name": name, "arguments": text}}]});
    frames.push(frame(&call(Some("save"), &format!("{{number: {number}, ")), None));
    frames.push(frame(&call(None, &format!("'text': 'it is \"{number}\"',}}")), None));
    frames.push(frame(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n");
    stream_events(frames, pause)
}

/// Returns a frame of a stream in Chat Completions.
pub fn frame(delta: &Value, reason: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    )
}

/// Reads one stream to its end and checks it.
///
/// # Errors
/// If it is not what the server sent, mended. The message says what is wrong.
pub async fn check_stream(
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

/// Returns the end of a text, where most errors are.
fn end_of(text: &str) -> String {
    let start = text.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
    text[start..].to_owned()
}
