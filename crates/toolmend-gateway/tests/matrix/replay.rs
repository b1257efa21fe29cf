//! One output on one surface: what a client hears.

use serde_json::{Value, json};

use crate::rig::{Answer, Rig};

pub(crate) const SURFACES: [&str; 4] = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"];

/// A turn as a client reads it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) content: String,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) ends_in_calls: bool,
}

fn schema(name: &str) -> Value {
    let (first, second, kind, required) = match name {
        "get_weather" => ("city", "days", "integer", json!(["city"])),
        _ => ("path", "content", "string", json!(["path", "content"])),
    };
    json!({"type": "object", "properties": {first: {"type": "string"}, second: {"type": kind}}, "required": required, "additionalProperties": false})
}

fn tools(surface: &str) -> Value {
    let tool = |name: &str| match surface {
        "/v1/messages" => json!({"name": name, "input_schema": schema(name)}),
        "/v1/responses" => json!({"type": "function", "name": name, "parameters": schema(name)}),
        _ => json!({"type": "function", "function": {"name": name, "parameters": schema(name)}}),
    };
    json!([tool("get_weather"), tool("write_file")])
}

/// Sends the text through the gateway, whole or in pieces of this many characters.
pub(crate) async fn heard(rig: &Rig, surface: &str, model: &str, text: &str, size: Option<usize>) -> Turn {
    let said = json!([{"role": "user", "content": "hi"}]);
    let request = json!({"model": model, "stream": size.is_some(), "messages": said, "input": said, "max_tokens": 100, "tools": tools(surface)});
    rig.answer(match size {
        None => whole(surface, text),
        Some(size) => {
            let letters: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            stream(surface, &pieces, text)
        }
    });
    let reply = rig.post(surface, &[], &request.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.text();
    match (surface, size) {
        ("/v1/chat/completions", None) => chat(&[reply.json()], "message"),
        ("/v1/chat/completions", Some(_)) => chat(&reply.events(), "delta"),
        ("/v1/messages", None) => message(&reply.json()),
        ("/v1/messages", Some(_)) => message(&joined(&reply.events())),
        ("/v1/responses", None) => response(&reply.json()),
        ("/v1/responses", Some(_)) => response(&reply.events().last().unwrap()["response"]),
        _ => ollama(&body.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()),
    }
}

fn whole(surface: &str, text: &str) -> Answer {
    Answer::json(&match surface {
        "/v1/chat/completions" => {
            json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
        }
        "/v1/messages" => {
            json!({"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        "/v1/responses" => {
            json!({"id": "r", "object": "response", "status": "completed", "output": [{"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}]})
        }
        _ => {
            json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"})
        }
    })
}

fn stream(surface: &str, pieces: &[String], text: &str) -> Answer {
    let named = |events: Vec<Value>| {
        let frames = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
        Answer::sse(frames.collect::<String>())
    };
    match surface {
        "/v1/chat/completions" => {
            let mut deltas = vec![json!({"role": "assistant", "content": ""})];
            deltas.extend(pieces.iter().map(|piece| json!({"content": piece})));
            let frames = deltas
                .iter()
                .map(|delta| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]})));
            Answer::sse(
                frames.collect::<String>()
                    + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
            )
        }
        "/v1/messages" => {
            let mut events = vec![
                json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ];
            events.extend(pieces.iter().map(|piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})));
            events.push(json!({"type": "content_block_stop", "index": 0}));
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}));
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
            events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}}));
            named(events)
        }
        _ => {
            let lines = pieces.iter().map(|piece| {
                format!(
                    "{}\n",
                    json!({"model": "m", "message": {"role": "assistant", "content": piece}, "done": false})
                )
            });
            Answer::lines(
                &(lines.collect::<String>()
                    + "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"),
            )
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

/// The message that a stream makes.
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
    let mut turn = Turn { ends_in_calls: message["stop_reason"] == "tool_use", ..Turn::default() };
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
        for part in item["content"].as_array().into_iter().flatten() {
            turn.content += part["text"].as_str().unwrap_or_default();
        }
    }
    // This surface has no word for it: the calls themselves say so.
    turn.ends_in_calls = !turn.calls.is_empty() && response["status"] == "completed";
    turn
}

fn ollama(lines: &[Value]) -> Turn {
    let mut turn = Turn::default();
    for line in lines {
        turn.content += line["message"]["content"].as_str().unwrap_or_default();
        for told in line["message"]["tool_calls"].as_array().into_iter().flatten() {
            turn.calls.push(call(&told["function"]["name"], told["function"]["arguments"].clone()));
        }
    }
    turn.ends_in_calls = !turn.calls.is_empty() && lines.last().unwrap()["done"] == true;
    turn
}
