//! Replays one output in one protocol, and reads what a client receives.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

pub(crate) const SURFACES: [&str; 6] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/api/chat",
    "/v1/completions",
    "/api/generate",
];

/// Whether calls are text in this protocol.
pub(crate) fn is_text(surface: &str) -> bool {
    matches!(surface, "/v1/completions" | "/api/generate")
}

/// The output of a model, and the request that it answers.
pub(crate) struct Output<'a> {
    pub(crate) model: &'a str,
    pub(crate) text: &'a str,
    /// In the form of any protocol. `None`: the tools of the families.
    pub(crate) tools: Option<&'a Value>,
    /// Whether the token limit truncated it.
    pub(crate) cut: bool,
}

/// A turn as a client reads it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) content: String,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) ends_in_calls: bool,
    /// Whether the client learns that the turn was truncated.
    pub(crate) ends_cut: bool,
}

fn schema(name: &str) -> Value {
    let (first, second, kind, required) = match name {
        "get_weather" => ("city", "days", "integer", json!(["city"])),
        _ => ("path", "content", "string", json!(["path", "content"])),
    };
    json!({"type": "object", "properties": {first: {"type": "string"}, second: {"type": kind}}, "required": required, "additionalProperties": false})
}

pub(crate) fn tools(surface: &str) -> Value {
    let tool = |name: &str| match surface {
        "/v1/messages" => json!({"name": name, "input_schema": schema(name)}),
        "/v1/responses" => json!({"type": "function", "name": name, "parameters": schema(name)}),
        _ => json!({"type": "function", "function": {"name": name, "parameters": schema(name)}}),
    };
    json!([tool("get_weather"), tool("write_file")])
}

/// Sends the text through the gateway, whole or in pieces of this many characters.
pub(crate) async fn replay(
    fixture: &Fixture,
    surface: &str,
    output: &Output<'_>,
    size: Option<usize>,
) -> Turn {
    let said = json!([{"role": "user", "content": "hi"}]);
    let tools = output.tools.cloned().unwrap_or_else(|| tools(surface));
    let request = json!({"model": output.model, "stream": size.is_some(), "messages": said, "input": said, "prompt": "hi", "max_tokens": 100, "tools": tools});
    let Output { text, cut, .. } = *output;
    fixture.answer(match size {
        None => whole(surface, text, cut),
        Some(size) => {
            let letters: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            stream(surface, &pieces, text, cut)
        }
    });
    let reply = fixture.post(surface, &[], &request.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.text();
    match (surface, size) {
        ("/v1/chat/completions", None) => chat(&[reply.json()], "message"),
        ("/v1/chat/completions", Some(_)) => chat(&reply.events(), "delta"),
        ("/v1/messages", None) => message(&reply.json()),
        ("/v1/messages", Some(_)) => message(&joined(&reply.events())),
        ("/v1/responses", None) => response(&reply.json()),
        ("/v1/responses", Some(_)) => response(&reply.events().last().unwrap()["response"]),
        ("/v1/completions", None) => completion(&[reply.json()]),
        ("/v1/completions", Some(_)) => completion(&reply.events()),
        (_, None) => ollama(&[reply.json()]),
        _ => ollama(&body.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()),
    }
}

/// Returns the stop reason in the word of a protocol.
fn reason(surface: &str, cut: bool) -> &'static str {
    match (surface, cut) {
        ("/v1/messages", false) => "end_turn",
        ("/v1/messages", true) => "max_tokens",
        ("/v1/responses", false) => "completed",
        ("/v1/responses", true) => "incomplete",
        (_, false) => "stop",
        (_, true) => "length",
    }
}

fn whole(surface: &str, text: &str, cut: bool) -> Answer {
    let reason = reason(surface, cut);
    Answer::json(&match surface {
        "/v1/chat/completions" => {
            json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}]})
        }
        "/v1/messages" => {
            json!({"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        "/v1/responses" => {
            json!({"id": "r", "object": "response", "status": reason, "incomplete_details": cut.then(|| json!({"reason": "max_output_tokens"})), "output": [{"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}]})
        }
        "/v1/completions" => {
            json!({"choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": reason}]})
        }
        "/api/generate" => json!({"model": "m", "response": text, "done": true, "done_reason": reason}),
        _ => {
            json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": true, "done_reason": reason})
        }
    })
}

fn stream(surface: &str, pieces: &[String], text: &str, cut: bool) -> Answer {
    let reason = reason(surface, cut);
    let named = |events: Vec<Value>| {
        let frames = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
        Answer::sse(frames.collect::<String>())
    };
    let unnamed = |events: Vec<Value>| {
        let frames = events.iter().map(|event| format!("data: {event}\n\n"));
        Answer::sse(frames.collect::<String>() + "data: [DONE]\n\n")
    };
    match surface {
        "/v1/chat/completions" => {
            let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
            let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
            events.extend(pieces.iter().map(|piece| chunk(json!({"content": piece}), Value::Null)));
            events.push(chunk(json!({}), json!(reason)));
            unnamed(events)
        }
        "/v1/completions" => {
            let chunk = |text: &str, reason: Value| json!({"choices": [{"index": 0, "text": text, "finish_reason": reason}]});
            let mut events: Vec<Value> = pieces.iter().map(|piece| chunk(piece, Value::Null)).collect();
            events.push(chunk("", json!(reason)));
            unnamed(events)
        }
        "/v1/messages" => {
            let mut events = vec![
                json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ];
            events.extend(pieces.iter().map(|piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})));
            events.push(json!({"type": "content_block_stop", "index": 0}));
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}));
            events.push(json!({"type": "message_stop"}));
            named(events)
        }
        "/v1/responses" => {
            let item = json!({"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]});
            let at = |kind: &str, name: &str, value: &Value| json!({"type": kind, "item_id": "i", "output_index": 0, "content_index": 0, name: value});
            let mut events = vec![
                json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
                json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i", "content": []}}),
                at("response.content_part.added", "part", &json!({"type": "output_text", "text": ""})),
            ];
            events
                .extend(pieces.iter().map(|piece| at("response.output_text.delta", "delta", &json!(piece))));
            events.push(at("response.output_text.done", "text", &json!(text)));
            events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
            events.push(json!({"type": format!("response.{reason}"), "response": {"id": "r", "status": reason, "incomplete_details": cut.then(|| json!({"reason": "max_output_tokens"})), "output": [item]}}));
            named(events)
        }
        _ => {
            let line = |text: &str, done: bool| {
                let mut line = match surface {
                    "/api/generate" => json!({"model": "m", "response": text, "done": done}),
                    _ => {
                        json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": done})
                    }
                };
                if done {
                    line["done_reason"] = json!(reason);
                }
                format!("{line}\n")
            };
            let lines: String = pieces.iter().map(|piece| line(piece, false)).collect();
            Answer::lines(&(lines + &line("", true)))
        }
    }
}

fn call(name: &Value, arguments: Value) -> (String, Value) {
    (name.as_str().expect("a name").to_owned(), arguments)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("arguments that are no JSON: {text}"))
}

fn chat(events: &[Value], field: &str) -> Turn {
    let mut turn = Turn::default();
    let mut calls: Vec<(Value, String)> = Vec::new();
    for choice in events.iter().filter_map(|event| event["choices"].get(0)) {
        let said = &choice[field];
        turn.content += said["content"].as_str().unwrap_or_default();
        turn.ends_in_calls |= choice["finish_reason"] == "tool_calls";
        turn.ends_cut |= choice["finish_reason"] == "length";
        for (at, told) in said["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let index = told["index"].as_u64().map_or(at, |index| usize::try_from(index).unwrap());
            if index == calls.len() {
                calls.push((told["function"]["name"].clone(), String::new()));
            }
            calls[index].1 += told["function"]["arguments"].as_str().unwrap_or_default();
        }
    }
    turn.calls = calls.iter().map(|(name, text)| call(name, parsed(text))).collect();
    turn
}

/// Assembles the message of a stream.
fn joined(events: &[Value]) -> Value {
    let mut content: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut reason = Value::Null;
    for event in events {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                content.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let (block, delta) = (content.last_mut().unwrap(), &event["delta"]);
                if let Some(text) = delta["text"].as_str() {
                    block["text"] = json!(block["text"].as_str().unwrap_or_default().to_owned() + text);
                }
                *inputs.last_mut().unwrap() += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" if content.last().unwrap()["type"] == "tool_use" => {
                content.last_mut().unwrap()["input"] = parsed(inputs.last().unwrap());
            }
            "message_delta" => reason = event["delta"]["stop_reason"].clone(),
            _ => {}
        }
    }
    json!({"content": content, "stop_reason": reason})
}

fn message(message: &Value) -> Turn {
    let mut turn = Turn {
        ends_in_calls: message["stop_reason"] == "tool_use",
        ends_cut: message["stop_reason"] == "max_tokens",
        ..Turn::default()
    };
    for block in message["content"].as_array().unwrap() {
        turn.content += block["text"].as_str().unwrap_or_default();
        if block["type"] == "tool_use" {
            turn.calls.push(call(&block["name"], block["input"].clone()));
        }
    }
    turn
}

fn response(response: &Value) -> Turn {
    let mut turn = Turn::default();
    for item in response["output"].as_array().unwrap() {
        if item["type"] == "function_call" {
            turn.calls.push(call(&item["name"], parsed(item["arguments"].as_str().unwrap())));
        }
        for part in item["content"].as_array().into_iter().flatten().filter(|_| item["type"] == "message") {
            turn.content += part["text"].as_str().unwrap_or_default();
        }
    }
    // The protocol has no stop reason for it: the calls themselves say so.
    turn.ends_in_calls = !turn.calls.is_empty() && response["status"] == "completed";
    turn.ends_cut = response["status"] == "incomplete";
    turn
}

/// Reads the text of a completion. It holds the calls; mended ones are also listed beside it.
fn completion(events: &[Value]) -> Turn {
    let mut turn = Turn::default();
    for choice in events.iter().filter_map(|event| event["choices"].get(0)) {
        turn.content += choice["text"].as_str().unwrap();
        turn.ends_cut |= choice["finish_reason"] == "length";
        for told in choice["tool_calls"].as_array().into_iter().flatten() {
            let arguments = parsed(told["function"]["arguments"].as_str().unwrap());
            turn.calls.push(call(&told["function"]["name"], arguments));
        }
    }
    turn
}

fn ollama(lines: &[Value]) -> Turn {
    let mut turn = Turn::default();
    for line in lines {
        let said = line.get("message").unwrap_or(line);
        turn.content += said["content"].as_str().or(said["response"].as_str()).unwrap_or_default();
        for told in said["tool_calls"].as_array().into_iter().flatten() {
            turn.calls.push(call(&told["function"]["name"], told["function"]["arguments"].clone()));
        }
    }
    let last = lines.last().unwrap();
    turn.ends_cut = last["done_reason"] == "length";
    turn.ends_in_calls = !turn.calls.is_empty() && last["done"] == true && !turn.ends_cut;
    turn
}
