//! Arguments that are sent while the model still writes them.

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Reply};

const LIVE: &[(&str, &str)] = &[("x-toolmend-stream", "live")];

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["path", "content"]})
}

fn chat() -> String {
    json!({"model": "m", "stream": true, "messages": [], "tools": [{"type": "function", "function": {"name": "write", "parameters": schema()}}]}).to_string()
}

fn frame(delta: &Value, reason: Option<&str>) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
}

fn call(arguments: &str, first: bool) -> String {
    let entry = if first {
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "write", "arguments": arguments}})
    } else {
        json!({"index": 0, "function": {"arguments": arguments}})
    };
    frame(&json!({"role": "assistant", "tool_calls": [entry]}), None)
}

fn stream(pieces: &[&str], reason: &str) -> String {
    let calls: String = pieces.iter().enumerate().map(|(at, piece)| call(piece, at == 0)).collect();
    calls + &frame(&json!({}), Some(reason)) + "data: [DONE]\n\n"
}

/// Writes events with their names.
fn named(events: &[Value]) -> String {
    let frames =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    frames.collect()
}

fn arguments(reply: &Reply) -> String {
    let events = reply.events();
    let calls = events
        .iter()
        .flat_map(|event| event["choices"][0]["delta"]["tool_calls"].as_array().cloned().unwrap_or_default());
    calls
        .map(|call| {
            assert_eq!(call["index"], 0, "{}", reply.text());
            call["function"]["arguments"].as_str().unwrap_or_default().to_owned()
        })
        .collect()
}

/// Checks what the arguments in an answer mean.
fn assert_means(reply: &Reply, arguments: &str, expected: &Value) {
    let value = serde_json::from_str::<Value>(arguments).ok();
    assert_eq!(value.as_ref(), Some(expected), "{}", reply.text());
}

/// Asks for a message of one block. Returns the answer, and the pieces of arguments in it.
async fn ask_for_message(
    fixture: &Fixture,
    block: &Value,
    deltas: &[Value],
    stop: &str,
) -> (Reply, Vec<String>) {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    events.extend(
        deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}}),
    );
    events.push(json!({"type": "message_stop"}));
    fixture.answer(Answer::sse(named(&events)));
    let request = json!({"model": "m", "stream": true, "max_tokens": 9, "messages": [], "tools": [{"name": "write", "input_schema": schema()}]});
    let reply = fixture.post("/v1/messages", LIVE, &request.to_string()).await;
    let sent = reply.events();
    let pieces = sent.iter().filter_map(|event| event["delta"]["partial_json"].as_str());
    let pieces = pieces.map(str::to_owned).collect();
    (reply, pieces)
}

/// Asks for a response of one item, which these events fill. Returns the answer, and the pieces of arguments in it.
async fn ask_for_response(
    fixture: &Fixture,
    begun: &Value,
    inside: Vec<Value>,
    done: &Value,
) -> (Reply, Vec<String>) {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
    ];
    events.extend(inside);
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
    events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [done]}}));
    fixture.answer(Answer::sse(named(&events)));
    let request = json!({"model": "m", "stream": true, "input": "x", "tools": [{"type": "function", "name": "write", "parameters": schema()}]});
    let reply = fixture.post("/v1/responses", LIVE, &request.to_string()).await;
    let sent = reply.events();
    let pieces = sent.iter().filter(|event| event["type"] == "response.function_call_arguments.delta");
    let pieces = pieces.filter_map(|event| event["delta"].as_str().map(str::to_owned)).collect();
    (reply, pieces)
}

#[tokio::test]
async fn strings_are_sent_before_the_call_is_complete() {
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::new([answer]).await;
    let begun = call("", true) + &call(r#"{"path": "a.txt", "content": "Once upon"#, false);
    feed.send(Ok(Bytes::from(begun.clone()))).unwrap();
    let mut response = fixture.open("/v1/chat/completions", LIVE, &chat()).await;
    let mut got = Vec::new();
    while got.len() < begun.len() {
        got.extend_from_slice(&response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert_eq!(got, begun.as_bytes(), "the call is not over, and its beginning is there");
    let end = call(r#" a time"}"#, false) + &frame(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
    feed.send(Ok(Bytes::from(end.clone()))).unwrap();
    drop(feed);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), end, "byte for byte to the end");
}

#[tokio::test]
async fn a_mended_call_continues_where_it_was_sent() {
    let fixture = Fixture::new([]).await;
    for (pieces, expected) in [
        (
            &["", "{\"path\": \"a\", \"content\": \"x", "\ny\", ", "}"][..],
            json!({"path": "a", "content": "x\ny"}),
        ),
        (
            &["{\"path\": \"a\", \"content\": \"say \"", "hi\" now\"}"][..],
            json!({"path": "a", "content": "say \"hi\" now"}),
        ),
        (
            &["", "{\"path\": \"a\", \"content\": \"b\", \"lines\": \"2\"}"][..],
            json!({"path": "a", "content": "b", "lines": 2}),
        ),
        (&["", "{'path': 'a', ", "'content': 'b'}"][..], json!({"path": "a", "content": "b"})),
        (&["", "{\"path\": \"a\", \"content\": \"b\""][..], json!({"path": "a", "content": "b"})),
    ] {
        fixture.answer(Answer::sse(stream(pieces, "tool_calls")));
        let reply = fixture.post("/v1/chat/completions", LIVE, &chat()).await;
        let text = arguments(&reply);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(expected), "{text} in {}", reply.text());
        assert!(
            reply.text().contains("\"finish_reason\":\"tool_calls\"") && reply.comments().len() == 1,
            "{}",
            reply.text()
        );
    }
}

#[tokio::test]
async fn a_refused_call_whose_beginning_was_sent_ends_as_a_stub() {
    for (end, reason) in [("half", "length"), ("half", "tool_calls"), ("half\" ][ \"", "stop")] {
        let pieces = ["", "{\"path\": \"a\", \"content\": \"", end];
        let fixture = Fixture::new([Answer::sse(stream(&pieces, reason))]).await;
        let reply = fixture.post("/v1/chat/completions", LIVE, &chat()).await;
        assert_stub(&reply, &arguments(&reply));
        let expected = if reason == "length" { "length" } else { "tool_calls" };
        assert!(reply.text().contains(&format!("\"finish_reason\":\"{expected}\"")), "{}", reply.text());
    }
}

/// Checks that arguments are JSON that the tool's schema rejects.
#[track_caller]
fn assert_stub(reply: &Reply, arguments: &str) {
    let value: Value = serde_json::from_str(arguments).unwrap_or_else(|_| panic!("{}", reply.text()));
    assert!(arguments.contains("__unparsedToolInput"), "{arguments}");
    let chat: Value = serde_json::from_str(&chat()).unwrap();
    let schema = toolmend::Schema::new(&chat["tools"][0]["function"]["parameters"]).unwrap();
    assert!(!schema.accepts(&value), "{arguments}");
    assert!(!reply.text().contains("\"error\":"), "{}", reply.text());
}

#[tokio::test]
async fn messages_and_responses_send_early_too() {
    let fixture = Fixture::new([]).await;
    let expected = json!({"path": "a", "content": "x\ny"});
    let pieces = ["{\"path\": \"a\", ", "\"content\": \"x", "\ny\",}"];
    let block = json!({"type": "tool_use", "id": "a", "name": "write", "input": {}});
    let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
    let (reply, text) = ask_for_message(&fixture, &block, &deltas, "tool_use").await;
    assert_means(&reply, &text.concat(), &expected);
    assert_eq!(reply.text().matches("event: content_block_stop").count(), 1, "{}", reply.text());

    let item = |text: &str| json!({"type": "function_call", "id": "fc", "call_id": "a", "name": "write", "arguments": text});
    let all = pieces.concat();
    let mut events: Vec<Value> = pieces.iter().map(|piece| json!({"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": piece})).collect();
    events.push(json!({"type": "response.function_call_arguments.done", "item_id": "fc", "output_index": 0, "arguments": all}));
    let (reply, deltas) = ask_for_response(&fixture, &item(""), events, &item(&all)).await;
    assert_means(&reply, &deltas.concat(), &expected);
    let last = &reply.events().pop().unwrap()["response"]["output"];
    assert_eq!(
        serde_json::from_str::<Value>(last[0]["arguments"].as_str().unwrap()).ok(),
        Some(expected),
        "{}",
        reply.text()
    );
    assert_eq!(last.as_array().unwrap().len(), 1, "{}", reply.text());
}

/// A call in text, as the pieces of a stream.
const LEAKED: [&str; 5] = [
    "I save it.\n<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nOnce",
    " upon",
    " a <b>time</b>",
    "\n</parameter>\n",
    "</function>\n</tool_call>",
];

#[tokio::test]
async fn calls_in_text_are_sent_early_too() {
    let expected = json!({"path": "a.txt", "content": "Once upon a <b>time</b>"});
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::new([answer]).await;
    let text = |piece: &str| frame(&json!({"content": piece}), None);
    for piece in &LEAKED[..2] {
        feed.send(Ok(Bytes::from(text(piece)))).unwrap();
    }
    let mut response = fixture.open("/v1/chat/completions", LIVE, &chat()).await;
    let mut got = Vec::new();
    while !String::from_utf8_lossy(&got).contains(" upon") {
        got.extend_from_slice(&response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap());
    }
    for piece in &LEAKED[2..] {
        feed.send(Ok(Bytes::from(text(piece)))).unwrap();
    }
    feed.send(Ok(Bytes::from(frame(&json!({}), Some("stop")) + "data: [DONE]\n\n"))).unwrap();
    drop(feed);
    got.extend_from_slice(&response.into_body().collect().await.unwrap().to_bytes());
    let reply = Reply { status: http::StatusCode::OK, headers: http::HeaderMap::new(), body: got.into() };
    assert_means(&reply, &arguments(&reply), &expected);
    assert_eq!(reply.text().matches("\"name\":\"write\"").count(), 1, "{}", reply.text());
    assert!(reply.text().contains("\"finish_reason\":\"tool_calls\""), "{}", reply.text());

    let block = json!({"type": "text", "text": ""});
    let pieces = LEAKED.map(|piece| json!({"type": "text_delta", "text": piece}));
    let (reply, deltas) = ask_for_message(&fixture, &block, &pieces, "end_turn").await;
    assert!(deltas.len() > 2, "in pieces: {}", reply.text());
    assert_means(&reply, &deltas.concat(), &expected);
    assert_eq!(reply.text().matches("event: content_block_start").count(), 2, "{}", reply.text());
    assert_eq!(reply.text().matches("event: content_block_stop").count(), 2, "{}", reply.text());

    let all = LEAKED.concat();
    let item = json!({"type": "message", "id": "i", "role": "assistant", "content": [{"type": "output_text", "text": all}]});
    let begun = json!({"type": "message", "id": "i", "content": []});
    let events = LEAKED.iter().map(|piece| json!({"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": piece})).collect();
    let (reply, deltas) = ask_for_response(&fixture, &begun, events, &item).await;
    assert!(deltas.len() > 2, "in pieces: {}", reply.text());
    assert_means(&reply, &deltas.concat(), &expected);
    let last = &reply.events().pop().unwrap()["response"]["output"];
    let kinds: Vec<&str> = last.as_array().unwrap().iter().filter_map(|item| item["type"].as_str()).collect();
    assert_eq!(kinds, ["message", "function_call"], "{}", reply.text());
    assert_eq!(serde_json::from_str::<Value>(last[1]["arguments"].as_str().unwrap()).ok(), Some(expected));
}

#[tokio::test]
async fn a_truncated_call_in_text_whose_beginning_was_sent_ends_as_a_stub() {
    let frames: String = LEAKED[..2].iter().map(|piece| frame(&json!({"content": piece}), None)).collect();
    let fixture =
        Fixture::new([Answer::sse(frames + &frame(&json!({}), Some("length")) + "data: [DONE]\n\n")]).await;
    let reply = fixture.post("/v1/chat/completions", LIVE, &chat()).await;
    assert_stub(&reply, &arguments(&reply));
    assert!(reply.text().contains("\"finish_reason\":\"length\""), "{}", reply.text());
}

/// Writes a piece of the call at this index; the first has an id and a name.
fn piece(index: u64, start: Option<(&str, &str)>, arguments: &str) -> String {
    let mut entry = json!({"index": index, "function": {"arguments": arguments}});
    if let Some((id, name)) = start {
        entry["id"] = json!(id);
        entry["type"] = json!("function");
        entry["function"]["name"] = json!(name);
    }
    frame(&json!({"tool_calls": [entry]}), None)
}

/// Returns the name and the arguments of each call, as a client assembles them by index.
fn calls_by_index(reply: &Reply) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for event in reply.events() {
        for entry in event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(entry["index"].as_u64().unwrap()).unwrap();
            if calls.len() <= at {
                calls.resize(at + 1, Default::default());
            }
            calls[at].0.push_str(entry["function"]["name"].as_str().unwrap_or_default());
            calls[at].1.push_str(entry["function"]["arguments"].as_str().unwrap_or_default());
        }
    }
    calls
}

#[tokio::test]
async fn several_calls_stay_apart_however_their_pieces_arrive() {
    let (a, b) = (r#"{"path": "a", "content": "#, r#"{"path": "b", "content": "#);
    let (start_a, start_b) = (Some(("1", "write")), Some(("2", "write")));
    let one_after_the_other =
        vec![piece(0, start_a, ""), piece(0, None, a), piece(0, None, r#""x"}"#), piece(1, start_b, b)];
    let one_after_the_other = [one_after_the_other, vec![piece(1, None, r#""y"}"#)]].concat();
    let interleaved = vec![
        piece(0, start_a, ""),
        piece(1, start_b, ""),
        piece(0, None, a),
        piece(1, None, b),
        piece(0, None, r#""x"}"#),
        piece(1, None, r#""y"}"#),
    ];
    let begun_first = vec![
        piece(0, start_a, a),
        piece(0, None, r#""x"#),
        piece(1, start_b, b),
        piece(0, None, r#""}"#),
        piece(1, None, r#""y"}"#),
    ];
    let late_id = vec![
        piece(0, None, a),
        piece(0, start_a, r#""x"}"#),
        piece(1, start_b, b),
        piece(1, None, r#""y"}"#),
    ];
    let mended = vec![
        piece(0, start_a, a),
        piece(0, None, r#""x",}"#),
        piece(1, start_b, b),
        piece(1, None, r#""y"}"#),
    ];
    // Two calls in the arguments of one.
    let together = vec![
        piece(0, start_a, a),
        piece(0, None, r#""x"}{"path": "b", "#),
        piece(0, None, r#""content": "y"}"#),
    ];
    for pieces in [one_after_the_other, interleaved, begun_first, late_id, mended, together] {
        let stream = pieces.concat() + &frame(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
        let fixture = Fixture::new([Answer::sse(&stream)]).await;
        let reply = fixture.post("/v1/chat/completions", LIVE, &chat()).await;
        let calls = calls_by_index(&reply);
        let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["write", "write"], "{stream}\n→\n{}", reply.text());
        assert_means(&reply, &calls[0].1, &json!({"path": "a", "content": "x"}));
        assert_means(&reply, &calls[1].1, &json!({"path": "b", "content": "y"}));
    }
}

#[tokio::test]
async fn a_call_that_is_renamed_after_its_start_never_runs() {
    let tools: Vec<Value> = ["write", "write_all"]
        .iter()
        .map(|name| json!({"type": "function", "function": {"name": name, "parameters": schema()}}))
        .collect();
    let request = json!({"model": "m", "stream": true, "messages": [], "tools": tools}).to_string();
    let renamed = json!({"index": 0, "function": {"name": "_all", "arguments": r#""x"}"#}});
    let stream = piece(0, Some(("1", "write")), r#"{"path": "a", "content": "#)
        + &frame(&json!({"tool_calls": [renamed]}), None)
        + &frame(&json!({}), Some("tool_calls"));
    let fixture = Fixture::new([Answer::sse(stream + "data: [DONE]\n\n")]).await;
    let reply = fixture.post("/v1/chat/completions", LIVE, &request).await;
    let calls = calls_by_index(&reply);
    let is_whole = serde_json::from_str::<Value>(&calls[0].1).is_ok();
    assert!(!is_whole || calls[0].0 == "write_all", "{}", reply.text());
}
