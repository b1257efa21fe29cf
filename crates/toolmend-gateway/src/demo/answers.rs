//! The answers of the demo server in each protocol. Streams have mistakes that clients cannot handle themselves.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{DEMO_MODEL, DemoTurn};

/// The body of an answer.
pub(super) struct DemoAnswer {
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

const JSON: &str = "application/json";
const SSE: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";
const DONE: &str = "data: [DONE]\n\n";

/// Splits text into pieces as a model writes them.
fn split_pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(6).map(|piece| piece.iter().collect()).collect()
}

fn write_events(events: &[Value], named: bool) -> DemoAnswer {
    let mut body = String::new();
    for event in events {
        if named {
            let _ = writeln!(body, "event: {}", event["type"].as_str().unwrap_or_default());
        }
        let _ = write!(body, "data: {event}\n\n");
    }
    DemoAnswer { content_type: SSE, body }
}

pub(super) fn chat(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let envelope = |kind: &str, choice: Value| json!({"id": "chatcmpl-demo", "object": kind, "created": 0, "model": DEMO_MODEL, "choices": [choice]});
    if !stream {
        let message = match turn {
            DemoTurn::Text(text) => json!({"role": "assistant", "content": text}),
            DemoTurn::Call(name, arguments) => json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_demo", "type": "function", "function": {"name": name, "arguments": arguments}}]}),
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        return DemoAnswer { content_type: JSON, body: envelope("chat.completion", choice).to_string() };
    }
    let deltas: Vec<Value> = match turn {
        DemoTurn::Text(text) => split_pieces(&text).into_iter().map(|piece| json!({"content": piece})).collect(),
        // The name in every piece and no index, as some servers send it.
        DemoTurn::Call(name, arguments) => split_pieces(&arguments)
            .into_iter()
            .map(|piece| json!({"tool_calls": [{"id": "call_demo", "function": {"name": name, "arguments": piece}}]}))
            .collect(),
    };
    let choices = deltas.into_iter().map(|delta| json!({"index": 0, "delta": delta, "finish_reason": null}));
    let last = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    let chunks: Vec<Value> =
        choices.chain([last]).map(|choice| envelope("chat.completion.chunk", choice)).collect();
    let mut answer = write_events(&chunks, false);
    answer.body.push_str(DONE);
    answer
}

pub(super) fn messages(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let usage = json!({"input_tokens": 0, "output_tokens": 0});
    let message = |content: Value| {
        json!({"id": "msg_demo", "type": "message", "role": "assistant", "model": DEMO_MODEL,
        "content": content, "stop_reason": "end_turn", "stop_sequence": null, "usage": usage})
    };
    if !stream {
        let block = match turn {
            DemoTurn::Text(text) => json!({"type": "text", "text": text}),
            DemoTurn::Call(name, arguments) => {
                json!({"type": "tool_use", "id": "toolu_demo", "name": name, "input": arguments})
            }
        };
        return DemoAnswer { content_type: JSON, body: message(json!([block])).to_string() };
    }
    let (block, deltas): (Value, Vec<Value>) = match turn {
        DemoTurn::Text(text) => (
            json!({"type": "text", "text": ""}),
            split_pieces(&text)
                .into_iter()
                .map(|piece| json!({"type": "text_delta", "text": piece}))
                .collect(),
        ),
        DemoTurn::Call(name, arguments) => (
            json!({"type": "tool_use", "id": "toolu_demo", "name": name, "input": {}}),
            split_pieces(&arguments)
                .into_iter()
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect(),
        ),
    };
    let mut all = vec![
        json!({"type": "message_start", "message": message(json!([]))}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    all.extend(
        deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
    );
    all.push(json!({"type": "content_block_stop", "index": 0}));
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 0}}));
    all.push(json!({"type": "message_stop"}));
    write_events(&all, true)
}

pub(super) fn responses(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let item = match turn {
        DemoTurn::Text(text) => {
            json!({"type": "message", "id": "msg_demo", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        DemoTurn::Call(name, arguments) => {
            json!({"type": "function_call", "id": "fc_demo", "call_id": "call_demo",
            "name": name, "arguments": arguments, "status": "completed"})
        }
    };
    let response = json!({"id": "resp_demo", "object": "response", "created_at": 0, "model": DEMO_MODEL, "status": "completed",
        "output": [item], "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}});
    if !stream {
        return DemoAnswer { content_type: JSON, body: response.to_string() };
    }
    // The fewest events that a server can send; the gateway adds the rest.
    write_events(
        &[
            json!({"type": "response.output_item.done", "item": item}),
            json!({"type": "response.completed", "response": response}),
        ],
        true,
    )
}

pub(super) fn completions(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let envelope = |text: &str, reason: Value| {
        json!({"id": "cmpl-demo", "object": "text_completion", "created": 0, "model": DEMO_MODEL,
        "choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": reason}]})
    };
    let text = turn.into_text();
    if !stream {
        return DemoAnswer { content_type: JSON, body: envelope(&text, json!("stop")).to_string() };
    }
    let mut chunks: Vec<Value> =
        split_pieces(&text).iter().map(|piece| envelope(piece, Value::Null)).collect();
    chunks.push(envelope("", json!("stop")));
    let mut answer = write_events(&chunks, false);
    answer.body.push_str(DONE);
    answer
}

/// Writes a line of Ollama, with one more member.
fn write_line(member: (&str, Value), done: bool) -> String {
    let mut line = json!({"model": DEMO_MODEL, "created_at": "1970-01-01T00:00:00Z", "done": done, "done_reason": "stop"});
    line[member.0] = member.1;
    format!("{line}\n")
}

pub(super) fn ollama_chat(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let message = match turn {
        DemoTurn::Text(text) => json!({"role": "assistant", "content": text}),
        DemoTurn::Call(name, arguments) => {
            json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]})
        }
    };
    if !stream {
        return DemoAnswer { content_type: JSON, body: write_line(("message", message), true) };
    }
    let empty = json!({"role": "assistant", "content": ""});
    DemoAnswer {
        content_type: LINES,
        body: write_line(("message", message), false) + &write_line(("message", empty), true),
    }
}

pub(super) fn ollama_generate(turn: DemoTurn, stream: bool) -> DemoAnswer {
    let text = turn.into_text();
    if !stream {
        return DemoAnswer { content_type: JSON, body: write_line(("response", text.into()), true) };
    }
    let lines: String =
        split_pieces(&text).into_iter().map(|piece| write_line(("response", piece.into()), false)).collect();
    DemoAnswer { content_type: LINES, body: lines + &write_line(("response", "".into()), true) }
}
