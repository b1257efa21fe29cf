//! The promise of the README that only the gateway can keep: it never makes things worse.

use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toolmend::Schema;

use crate::fixture::{Answer, Fixture, Reply, weather};

const PATH: &str = "/v1/chat/completions";

/// Pieces of arguments, right and wrong.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    " ",
    "\n",
    "\\",
    "\\u",
    "\\ud83d",
    "\"city\"",
    "\"days\"",
    "\"Rome\"",
    "Rome",
    "3",
    "-",
    "true",
    "null",
    "{\"city\":\"Rome\"}",
    "{\"city\": \"Os",
    "\"town\"",
    "<tool_call>",
    "```json\n",
    "\u{1f600}",
    "\u{0}",
];
const NAMES: &[&str] = &["get_weather", "get_weather", "GetWeather", "launch", ""];
const REASONS: &[&str] = &["tool_calls", "tool_calls", "stop", "length"];

type Written = (&'static str, String, &'static str);

/// What a model may write: the name of a call, its arguments, and the reason for the end.
fn written() -> impl Strategy<Value = Written> {
    let arguments = vec(select(PIECES), 0..12).prop_map(|pieces| pieces.concat());
    (select(NAMES), arguments, select(REASONS))
}

/// How far a client gets with a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// The turn is over, without a call.
    Over,
    /// The client rejects the call, and the model tries again.
    Rejected,
    /// The call runs with these arguments.
    Runs(String),
}

/// Judges a call as a client does: by JSON, the declared name, and the schema.
fn judge(name: &str, arguments: &str) -> Progress {
    let value: Option<Value> = serde_json::from_str(arguments).ok();
    let schema = Schema::new(&weather()).unwrap();
    match value.filter(|value| name == "get_weather" && schema.accepts(value)) {
        Some(value) => Progress::Runs(value.to_string()),
        None => Progress::Rejected,
    }
}

fn read(reply: &Reply) -> (Progress, String) {
    let (mut name, mut arguments, mut reason) = (None, String::new(), String::new());
    let events = if reply.text().starts_with('{') { vec![reply.json()] } else { reply.events() };
    for event in events {
        let choice = &event["choices"][0];
        reason += choice["finish_reason"].as_str().unwrap_or_default();
        for part in ["message", "delta"] {
            let call = &choice[part]["tool_calls"][0]["function"];
            if call.is_object() {
                name.get_or_insert_with(String::new).push_str(call["name"].as_str().unwrap_or_default());
                arguments += call["arguments"].as_str().unwrap_or_default();
            }
        }
    }
    (name.map_or(Progress::Over, |name| judge(&name, &arguments)), reason)
}

fn answers((name, arguments, reason): &Written) -> [Answer; 3] {
    let call = json!({"index": 0, "id": "a", "type": "function", "function": {"name": name, "arguments": arguments}});
    let whole = json!({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]});
    let chunk = |delta: Value, reason: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    let mut start = call.clone();
    start["function"]["arguments"] = json!("");
    let mut stream = chunk(json!({"role": "assistant", "tool_calls": [start]}), Value::Null);
    for char in arguments.chars() {
        let piece = json!({"index": 0, "function": {"arguments": char.to_string()}});
        stream += &chunk(json!({"tool_calls": [piece]}), Value::Null);
    }
    stream += &chunk(json!({}), json!(reason));
    stream += "data: [DONE]\n\n";
    [Answer::json(&whole), Answer::sse(&stream), Answer::sse(&stream)]
}

#[tokio::test]
async fn promise_12_never_worse() {
    let fixture = Fixture::new([]).await;
    let mut runner = TestRunner::deterministic();
    let tools = json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
    let (mut rejected, mut mended) = (0, 0);
    for _ in 0..200 {
        let written = written().new_tree(&mut runner).unwrap().current();
        let direct = judge(written.0, &written.1);
        for (answer, mode) in answers(&written).into_iter().zip(["whole", "held", "live"]) {
            fixture.answer(answer);
            let request = json!({"model": "m", "messages": [], "tools": tools, "stream": mode != "whole"});
            let headers = [("x-toolmend-stream", if mode == "live" { "live" } else { "held" })];
            let reply = fixture.post(PATH, &headers, &request.to_string()).await;
            let (behind, reason) = read(&reply);
            assert!(behind >= direct, "{mode}: {written:?} gave {behind:?}: {}", reply.text());
            if let Progress::Runs(_) = direct {
                assert_eq!(behind, direct, "{mode}: {written:?}");
            }
            // A reason that the client acts on is never lost.
            assert_eq!(reason == "length", written.2 == "length", "{mode}: {written:?}: {}", reply.text());
            rejected += usize::from(behind == Progress::Rejected);
            mended += usize::from(behind > direct);
        }
    }
    assert!(rejected > 100 && mended > 5, "the inputs no longer test anything: {rejected} {mended}");
}
