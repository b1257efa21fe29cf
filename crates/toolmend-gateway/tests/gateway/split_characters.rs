//! Characters whose halves arrive apart, or alone.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Reply};

fn request(stream: bool) -> String {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    json!({"model": "m", "stream": stream, "messages": [], "tools": [{"type": "function", "function": {"name": "say", "parameters": schema}}]}).to_string()
}

/// Writes a chunk. The delta is text, because a value cannot hold half a character.
fn chunk(delta: &str, reason: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
}

fn call(arguments: &str) -> String {
    chunk(
        &format!(
            r#"{{"role":"assistant","tool_calls":[{{"index":0,"id":"a","type":"function","function":{{"name":"say","arguments":"{arguments}"}}}}]}}"#
        ),
        "null",
    )
}

fn more(arguments: &str) -> String {
    chunk(&format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{arguments}"}}}}]}}"#), "null")
}

fn text(content: &str) -> String {
    chunk(&format!(r#"{{"role":"assistant","content":"{content}"}}"#), "null")
}

fn end(reason: &str) -> String {
    chunk("{}", &format!("\"{reason}\"")) + "data: [DONE]\n\n"
}

fn arguments(reply: &Reply) -> String {
    let deltas = reply.events().into_iter().map(|event| event["choices"][0]["delta"].clone());
    let calls = deltas.flat_map(|delta| delta["tool_calls"].as_array().cloned().unwrap_or_default());
    calls.map(|call| call["function"]["arguments"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_split_character_of_a_call_is_joined() {
    for mode in ["held", "live"] {
        let stream = call(r#"{\"text\":\"a"#) + &more(r"\ud83d") + &more(r"\ude00") + &more(r#" b\"}"#);
        let fixture = Fixture::new([Answer::sse(stream + &end("tool_calls"))]).await;
        let reply =
            fixture.post("/v1/chat/completions", &[("x-toolmend-stream", mode)], &request(true)).await;
        let value = serde_json::from_str::<Value>(&arguments(&reply)).ok();
        assert_eq!(value, Some(json!({"text": "a😀 b"})), "{mode}: {}", reply.text());
    }
}

#[tokio::test]
async fn half_a_character_never_empties_a_call() {
    let lone = r#"{\"text\":\"a\ud83d b\"}"#;
    let fixture = Fixture::new([Answer::sse(call(lone) + &end("tool_calls"))]).await;
    let reply = fixture.post("/v1/chat/completions", &[], &request(true)).await;
    assert_ne!(arguments(&reply), "{}", "{}", reply.text());
    assert!(reply.comments().iter().any(|comment| comment.starts_with("rejected")), "{}", reply.text());
    let whole = format!(
        r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"say","arguments":"{lone}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    fixture.answer(Answer::text(&whole));
    let reply = fixture.post("/v1/chat/completions", &[], &request(false)).await;
    assert!(reply.summary().starts_with("rejected"), "{} {}", reply.summary(), reply.text());
}

#[tokio::test]
async fn text_with_half_a_character_survives_translation() {
    let request = json!({"model": "m", "stream": true, "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]});
    let config = toolmend_gateway::Config {
        upstreams: vec![toolmend_gateway::Upstream {
            surface: Some(toolmend_protocol::Protocol::Chat),
            ..toolmend_gateway::Upstream::new("http://unused")
        }],
        ..toolmend_gateway::Config::default()
    };
    let stream = text(r"one \ud83d") + &text(r"\ude00 two \ud83d") + &text(" three") + &end("stop");
    let fixture = Fixture::at(config, [Answer::sse(stream)]).await;
    let reply = fixture.post("/v1/messages", &[], &request.to_string()).await;
    let events = reply.events();
    let said: String = events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert_eq!(said, "one 😀 two \u{fffd} three", "{}", reply.text());
}
