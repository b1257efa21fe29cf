//! The protocols from both sides: requests, answers, and what a client reads.

use serde_json::{Value, json};
use toolmend_gateway::Protocol;

use crate::fixture::{Reply, weather};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestProtocol {
    Chat,
    Messages,
    Responses,
    Ollama,
}

pub(crate) const SIDES: [TestProtocol; 4] =
    [TestProtocol::Chat, TestProtocol::Messages, TestProtocol::Responses, TestProtocol::Ollama];

impl TestProtocol {
    pub(crate) fn path(self) -> &'static str {
        match self {
            TestProtocol::Chat => "/v1/chat/completions",
            TestProtocol::Messages => "/v1/messages",
            TestProtocol::Responses => "/v1/responses",
            TestProtocol::Ollama => "/api/chat",
        }
    }

    pub(crate) fn protocol(self) -> Protocol {
        match self {
            TestProtocol::Chat => Protocol::Chat,
            TestProtocol::Messages => Protocol::Messages,
            TestProtocol::Responses => Protocol::Responses,
            TestProtocol::Ollama => Protocol::OllamaChat,
        }
    }

    /// Returns a request with a tool and earlier turns.
    pub(crate) fn request(self, stream: bool) -> Value {
        let function = json!({"name": "get_weather", "description": "Tells.", "parameters": weather()});
        match self {
            TestProtocol::Chat => {
                json!({"model": "m", "stream": stream, "stream_options": {"include_usage": true}, "max_tokens": 100, "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "call_9", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Rom\"}"}}]},
                {"role": "tool", "tool_call_id": "call_9", "content": "warm"},
                {"role": "user", "content": "and Oslo?"}],
                "tools": [{"type": "function", "function": function}]})
            }
            TestProtocol::Ollama => {
                json!({"model": "m", "stream": stream, "options": {"num_predict": 100}, "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "call_9", "function": {"name": "get_weather", "arguments": {"city": "Rom"}}}]},
                {"role": "tool", "tool_name": "get_weather", "content": "warm"},
                {"role": "user", "content": "and Oslo?"}],
                "tools": [{"type": "function", "function": function}]})
            }
            TestProtocol::Messages => {
                json!({"model": "m", "stream": stream, "max_tokens": 100, "system": "Be kind.", "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "call_9", "name": "get_weather", "input": {"city": "Rom"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_9", "content": "warm"}, {"type": "text", "text": "and Oslo?"}]}],
                "tools": [{"name": "get_weather", "description": "Tells.", "input_schema": weather()}]})
            }
            TestProtocol::Responses => {
                json!({"model": "m", "stream": stream, "max_output_tokens": 100, "instructions": "Be kind.", "input": [
                {"role": "user", "content": "hi"},
                {"type": "function_call", "call_id": "call_9", "name": "get_weather", "arguments": "{\"city\": \"Rom\"}"},
                {"type": "function_call_output", "call_id": "call_9", "output": "warm"},
                {"role": "user", "content": [{"type": "input_text", "text": "and Oslo?"}]}],
                "tools": [{"type": "function", "name": "get_weather", "description": "Tells.", "parameters": weather()}]})
            }
        }
    }

    /// Returns an answer of the server: reasoning, text, and a call with these arguments.
    #[expect(clippy::too_many_lines, reason = "one answer per protocol and stream mode")]
    pub(crate) fn answer(self, stream: bool, arguments: &str, reason: Reason) -> Vec<u8> {
        let word = reason.word(self);
        match (self, stream) {
            (TestProtocol::Chat, false) => json!({"id": "c", "object": "chat.completion", "created": 5, "model": "big", "choices": [{"index": 0, "finish_reason": word,
                "message": {"role": "assistant", "reasoning_content": "Hm.", "content": "Let me see.", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}}],
                "usage": {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57, "prompt_tokens_details": {"cached_tokens": 20}}}).to_string().into_bytes(),
            (TestProtocol::Chat, true) => {
                let chunk = |delta: Value, reason: Value| json!({"id": "c", "object": "chat.completion.chunk", "created": 5, "model": "big", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
                let half = arguments.len() / 2;
                let mut out = sse(&[
                    chunk(json!({"role": "assistant", "content": ""}), Value::Null),
                    chunk(json!({"reasoning_content": "Hm."}), Value::Null),
                    chunk(json!({"content": "Let me "}), Value::Null),
                    chunk(json!({"content": "see."}), Value::Null),
                    chunk(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": &arguments[..half]}}]}), Value::Null),
                    chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": &arguments[half..]}}]}), Value::Null),
                    chunk(json!({}), json!(word)),
                    json!({"id": "c", "object": "chat.completion.chunk", "created": 5, "model": "big", "choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57, "prompt_tokens_details": {"cached_tokens": 20}}}),
                ], false);
                out.push_str("data: [DONE]\n\n");
                out.into_bytes()
            }
            (TestProtocol::Messages, false) => json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "big", "stop_reason": word, "stop_sequence": null, "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": arguments}],
                "usage": {"input_tokens": 30, "cache_read_input_tokens": 20, "output_tokens": 7}}).to_string().into_bytes(),
            (TestProtocol::Messages, true) => {
                let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
                let open = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
                let close = |index: u64| json!({"type": "content_block_stop", "index": index});
                let half = arguments.len() / 2;
                sse(&[
                    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "big", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 30, "cache_read_input_tokens": 20, "output_tokens": 1}}}),
                    open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
                    delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
                    delta(0, json!({"type": "signature_delta", "signature": "s"})),
                    close(0),
                    open(1, json!({"type": "text", "text": ""})),
                    delta(1, json!({"type": "text_delta", "text": "Let me "})),
                    delta(1, json!({"type": "text_delta", "text": "see."})),
                    close(1),
                    open(2, json!({"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {}})),
                    delta(2, json!({"type": "input_json_delta", "partial_json": &arguments[..half]})),
                    delta(2, json!({"type": "input_json_delta", "partial_json": &arguments[half..]})),
                    close(2),
                    json!({"type": "message_delta", "delta": {"stop_reason": word, "stop_sequence": null}, "usage": {"output_tokens": 7}}),
                    json!({"type": "message_stop"}),
                ], true).into_bytes()
            }
            (TestProtocol::Responses, _) => {
                let cut = reason == Reason::Length;
                let status = if cut { "incomplete" } else { "completed" };
                let items = [
                    json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}),
                    json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]}),
                    json!({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "get_weather", "arguments": arguments}),
                ];
                let response = |status: &str, output: &[Value]| json!({"id": "resp_1", "object": "response", "created_at": 5, "status": status, "model": "big", "output": output,
                    "incomplete_details": if cut { json!({"reason": "max_output_tokens"}) } else { Value::Null },
                    "usage": {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 57}});
                if !stream {
                    return response(status, &items).to_string().into_bytes();
                }
                let mut events = vec![json!({"type": "response.created", "response": response("in_progress", &[])})];
                for (at, item) in items.iter().enumerate() {
                    events.push(json!({"type": "response.output_item.added", "output_index": at, "item": without_text(item)}));
                    let head = json!({"item_id": item["id"], "output_index": at, "content_index": 0});
                    let event = |kind: &str, more: Value| {
                        let mut all = head.clone();
                        all["type"] = json!(kind);
                        for (key, value) in more.as_object().unwrap() {
                            all[key] = value.clone();
                        }
                        all
                    };
                    match at {
                        0 => events.push(event("response.reasoning_text.delta", json!({"delta": "Hm."}))),
                        1 => {
                            events.push(event("response.content_part.added", json!({"part": {"type": "output_text", "text": "", "annotations": []}})));
                            events.push(event("response.output_text.delta", json!({"delta": "Let me "})));
                            events.push(event("response.output_text.delta", json!({"delta": "see."})));
                            events.push(event("response.output_text.done", json!({"text": "Let me see."})));
                            events.push(event("response.content_part.done", json!({"part": item["content"][0]})));
                        }
                        _ => {
                            events.push(event("response.function_call_arguments.delta", json!({"delta": arguments})));
                            events.push(event("response.function_call_arguments.done", json!({"arguments": arguments})));
                        }
                    }
                    events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
                }
                events.push(json!({"type": format!("response.{status}"), "response": response(status, &items)}));
                for (at, event) in events.iter_mut().enumerate() {
                    event["sequence_number"] = json!(at);
                }
                sse(&events, true).into_bytes()
            }
            (TestProtocol::Ollama, stream) => {
                let line = |message: Value, done: bool| {
                    let mut line = json!({"model": "big", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done});
                    if done {
                        line["done_reason"] = json!(word);
                        line["prompt_eval_count"] = json!(50);
                        line["eval_count"] = json!(7);
                    }
                    line.to_string() + "\n"
                };
                let calls = json!([{"function": {"name": "get_weather", "arguments": arguments}}]);
                if stream {
                    [
                        line(json!({"role": "assistant", "content": "", "thinking": "Hm."}), false),
                        line(json!({"role": "assistant", "content": "Let me "}), false),
                        line(json!({"role": "assistant", "content": "see."}), false),
                        line(json!({"role": "assistant", "content": "", "tool_calls": calls}), false),
                        line(json!({"role": "assistant", "content": ""}), true),
                    ]
                    .concat()
                    .into_bytes()
                } else {
                    line(json!({"role": "assistant", "content": "Let me see.", "thinking": "Hm.", "tool_calls": calls}), true).into_bytes()
                }
            }
        }
    }

    pub(crate) fn kind(self, stream: bool) -> &'static str {
        match (self, stream) {
            (_, false) => "application/json",
            (TestProtocol::Ollama, true) => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Calls,
    Length,
}

impl Reason {
    fn word(self, side: TestProtocol) -> &'static str {
        match (self, side) {
            (Reason::Calls, TestProtocol::Chat) => "tool_calls",
            (Reason::Calls, TestProtocol::Messages) => "tool_use",
            (Reason::Calls, _) => "stop",
            (Reason::Length, TestProtocol::Messages) => "max_tokens",
            (Reason::Length, _) => "length",
        }
    }
}

pub(crate) fn sse(events: &[Value], named: bool) -> String {
    events
        .iter()
        .map(|event| {
            if named {
                format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
            } else {
                format!("data: {event}\n\n")
            }
        })
        .collect()
}

pub(crate) fn without_text(item: &Value) -> Value {
    let mut item = item.clone();
    item["status"] = json!("in_progress");
    if item.get("content").is_some() {
        item["content"] = json!([]);
    }
    if item.get("arguments").is_some() {
        item["arguments"] = json!("");
    }
    item
}

/// A turn as a client reads it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Turn {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) stop: String,
    /// Input tokens, cached input tokens, output tokens.
    pub(crate) usage: (u64, u64, u64),
}

impl Turn {
    fn add_text(&mut self, kind: &str, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        if kind == "reasoning" { self.reasoning.push_str(text) } else { self.text.push_str(text) }
    }
}

/// Returns the common word for a stop reason.
pub(crate) fn common_stop_word(stop: &Value) -> String {
    match stop.as_str().unwrap_or_default() {
        "tool_calls" | "tool_use" => "calls",
        "length" | "max_tokens" | "incomplete" => "length",
        _ => "end",
    }
    .to_owned()
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

pub(crate) fn parsed(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

/// Reads an answer as a client of this protocol does.
#[track_caller]
#[expect(clippy::too_many_lines, reason = "one reader per protocol and stream mode")]
pub(crate) fn read(side: TestProtocol, stream: bool, reply: &Reply) -> Turn {
    let mut turn = Turn::default();
    let chat_usage = |usage: &Value| {
        (
            number(&usage["prompt_tokens"]),
            number(&usage["prompt_tokens_details"]["cached_tokens"]),
            number(&usage["completion_tokens"]),
        )
    };
    let messages_usage = |usage: &Value| {
        let cached = number(&usage["cache_read_input_tokens"]);
        (number(&usage["input_tokens"]) + cached, cached, number(&usage["output_tokens"]))
    };
    match (side, stream) {
        (TestProtocol::Chat, false) => {
            let body = reply.json();
            let choice = &body["choices"][0];
            turn.add_text("reasoning", &choice["message"]["reasoning_content"]);
            turn.add_text("text", &choice["message"]["content"]);
            for call in choice["message"]["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                assert!(call["id"].as_str().is_some_and(|id| !id.is_empty()) && call["type"] == "function");
                turn.calls.push((
                    call["function"]["name"].as_str().unwrap().into(),
                    parsed(&call["function"]["arguments"]),
                ));
            }
            turn.stop = common_stop_word(&choice["finish_reason"]);
            turn.usage = chat_usage(&body["usage"]);
        }
        (TestProtocol::Chat, true) => {
            let mut texts: Vec<(String, String)> = Vec::new();
            for event in reply.events() {
                assert_eq!(event["object"], "chat.completion.chunk");
                if event["usage"].is_object() {
                    turn.usage = chat_usage(&event["usage"]);
                }
                let Some(choice) = event["choices"].get(0) else { continue };
                turn.add_text("reasoning", &choice["delta"]["reasoning_content"]);
                turn.add_text("text", &choice["delta"]["content"]);
                for call in choice["delta"]["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                    let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
                    if texts.len() == index {
                        assert!(call["id"].is_string() && call["type"] == "function");
                        texts.push((call["function"]["name"].as_str().unwrap().into(), String::new()));
                    }
                    texts[index].1 += call["function"]["arguments"].as_str().unwrap_or_default();
                }
                if !choice["finish_reason"].is_null() {
                    turn.stop = common_stop_word(&choice["finish_reason"]);
                }
            }
            assert!(reply.text().ends_with("data: [DONE]\n\n"), "{}", reply.text());
            turn.calls =
                texts.into_iter().map(|(name, text)| (name, serde_json::from_str(&text).unwrap())).collect();
        }
        (TestProtocol::Messages, false) => {
            let body = reply.json();
            for block in body["content"].as_array().unwrap() {
                match block["type"].as_str().unwrap() {
                    "text" => turn.add_text("text", &block["text"]),
                    "thinking" => turn.add_text("reasoning", &block["thinking"]),
                    _ => turn.calls.push((block["name"].as_str().unwrap().into(), block["input"].clone())),
                }
            }
            turn.stop = common_stop_word(&body["stop_reason"]);
            turn.usage = messages_usage(&body["usage"]);
        }
        (TestProtocol::Messages, true) => {
            let mut blocks: Vec<(Value, String)> = Vec::new();
            let events = reply.events();
            assert_eq!(events[0]["type"], "message_start", "{}", reply.text());
            assert_eq!(events.last().unwrap()["type"], "message_stop");
            for event in &events {
                match event["type"].as_str().unwrap() {
                    "message_start" => turn.usage = messages_usage(&event["message"]["usage"]),
                    "content_block_start" => {
                        assert_eq!(number(&event["index"]), blocks.len() as u64);
                        blocks.push((event["content_block"].clone(), String::new()));
                    }
                    "content_block_delta" => {
                        let delta = &event["delta"];
                        let text = ["text", "thinking", "partial_json"]
                            .iter()
                            .find_map(|name| delta[*name].as_str());
                        blocks.last_mut().unwrap().1 += text.unwrap_or_default();
                    }
                    "message_delta" => {
                        turn.stop = common_stop_word(&event["delta"]["stop_reason"]);
                        if event["usage"].get("input_tokens").is_some() {
                            turn.usage = messages_usage(&event["usage"]);
                        } else {
                            turn.usage.2 = number(&event["usage"]["output_tokens"]);
                        }
                    }
                    _ => {}
                }
            }
            for (block, text) in blocks {
                match block["type"].as_str().unwrap() {
                    "text" => turn.text += &text,
                    "thinking" => turn.reasoning += &text,
                    _ => turn
                        .calls
                        .push((block["name"].as_str().unwrap().into(), serde_json::from_str(&text).unwrap())),
                }
            }
        }
        (TestProtocol::Responses, _) => {
            let body = if stream {
                let events = reply.events();
                assert_eq!(events[0]["type"], "response.created", "{}", reply.text());
                for (at, event) in events.iter().enumerate() {
                    assert_eq!(number(&event["sequence_number"]), at as u64, "{}", reply.text());
                }
                let done: Vec<Value> = events
                    .iter()
                    .filter(|event| event["type"] == "response.output_item.done")
                    .map(|event| event["item"].clone())
                    .collect();
                let last = events.last().unwrap()["response"].clone();
                assert_eq!(last["output"], json!(done), "the end repeats what was sent in pieces");
                last
            } else {
                reply.json()
            };
            for item in body["output"].as_array().unwrap() {
                match item["type"].as_str().unwrap() {
                    "message" => item["content"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .for_each(|part| turn.add_text("text", &part["text"])),
                    "reasoning" => item["content"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .for_each(|part| turn.add_text("reasoning", &part["text"])),
                    _ => turn.calls.push((item["name"].as_str().unwrap().into(), parsed(&item["arguments"]))),
                }
            }
            let word = match body["status"].as_str() {
                Some("incomplete") => "length",
                _ if turn.calls.is_empty() => "end",
                _ => "calls",
            };
            word.clone_into(&mut turn.stop);
            let usage = &body["usage"];
            turn.usage = (
                number(&usage["input_tokens"]),
                number(&usage["input_tokens_details"]["cached_tokens"]),
                number(&usage["output_tokens"]),
            );
        }
        (TestProtocol::Ollama, _) => {
            for line in reply.text().lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                turn.add_text("reasoning", &line["message"]["thinking"]);
                turn.add_text("text", &line["message"]["content"]);
                for call in line["message"]["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                    turn.calls.push((
                        call["function"]["name"].as_str().unwrap().into(),
                        call["function"]["arguments"].clone(),
                    ));
                }
                if line["done"] == true {
                    turn.usage = (number(&line["prompt_eval_count"]), 0, number(&line["eval_count"]));
                    turn.stop = match common_stop_word(&line["done_reason"]).as_str() {
                        "end" if !turn.calls.is_empty() => "calls".to_owned(),
                        word => word.to_owned(),
                    };
                }
            }
        }
    }
    turn
}
