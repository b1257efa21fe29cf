//! Responses.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Reply, weather};

const PATH: &str = "/v1/responses";
const ARGS: &str = "{\"city\":\"Rome\"}";

fn request(stream: bool) -> String {
    json!({
        "model": "m", "stream": stream, "input": "hi",
        "tools": [{"type": "function", "name": "get_weather", "parameters": weather(), "strict": false}],
    })
    .to_string()
}

fn call(arguments: &Value) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": arguments, "status": "completed"})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn response(output: &Value, status: &str) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output,
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}})
}

/// Adds sequence numbers to events.
fn numbered(events: Vec<Value>) -> Vec<Value> {
    let number = |(at, mut event): (usize, Value)| {
        event["sequence_number"] = json!(at);
        event
    };
    events.into_iter().enumerate().map(number).collect()
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn call_events(arguments: &str) -> Vec<Value> {
    let (left, right) = arguments.split_at(5);
    let mut begun = call(&json!(""));
    begun["status"] = json!("in_progress");
    numbered(vec![
        json!({"type": "response.created", "response": response(&json!([]), "in_progress")}),
        json!({"type": "response.in_progress", "response": response(&json!([]), "in_progress")}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": left}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": right}),
        json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0, "arguments": arguments}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": call(&json!(arguments))}),
        json!({"type": "response.completed", "response": response(&json!([call(&json!(arguments))]), "completed")}),
    ])
}

fn text_events(text: &str) -> Vec<Value> {
    let (left, right) = text.split_at(3);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let at = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
    let event = |kind: &str, more: Value| {
        let mut event = at.clone();
        event["type"] = json!(kind);
        for (name, value) in more.as_object().unwrap() {
            event[name] = value.clone();
        }
        event
    };
    numbered(vec![
        json!({"type": "response.created", "response": response(&json!([]), "in_progress")}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}}),
        event("response.content_part.added", json!({"part": part("")})),
        event("response.output_text.delta", json!({"delta": left})),
        event("response.output_text.delta", json!({"delta": right})),
        event("response.output_text.done", json!({"text": text})),
        event("response.content_part.done", json!({"part": part(text)})),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message(text)}),
        json!({"type": "response.completed", "response": response(&json!([message(text)]), "completed")}),
    ])
}

/// Reads the output of a stream as the strictest client does.
#[track_caller]
fn output(reply: &Reply) -> Vec<Value> {
    let names: Vec<&str> = reply.text().lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let events = reply.events();
    assert_eq!(names.len(), events.len(), "every event has its name");
    let mut items: Vec<Option<Value>> = Vec::new();
    let mut parts: Vec<usize> = Vec::new();
    let mut id = None;
    let mut last = None;
    for (at, (event, name)) in events.iter().zip(names).enumerate() {
        assert_eq!(event["type"], name);
        assert_eq!(event["sequence_number"], at, "{}", reply.text());
        assert!(at > 0 || name == "response.created", "created first: {name}");
        assert!(last.is_none(), "nothing after the end");
        if let Some(response) = event.get("response") {
            assert_eq!(id.get_or_insert_with(|| response["id"].clone()), &response["id"], "one id");
            assert!(response["output"].is_array());
        }
        let index = event["output_index"].as_u64().map(|index| usize::try_from(index).unwrap());
        match name {
            "response.output_item.added" => {
                assert_eq!(index, Some(items.len()), "{}", reply.text());
                assert!(event["item"]["id"].is_string());
                items.push(None);
                parts.push(0);
            }
            "response.content_part.added" => {
                assert_eq!(event["content_index"], parts[index.unwrap()]);
                parts[index.unwrap()] += 1;
            }
            "response.output_text.delta" => {
                assert!(parts[index.unwrap()] > 0 && event["content_index"].is_u64());
            }
            "response.output_item.done" => {
                assert!(items[index.unwrap()].is_none());
                items[index.unwrap()] = Some(event["item"].clone());
            }
            "response.completed" | "response.incomplete" => last = Some(event["response"].clone()),
            _ => assert!(index.is_none_or(|index| index < items.len()), "{name} without its item"),
        }
    }
    let last = last.expect("an end");
    assert!(last["usage"].is_object());
    let items: Vec<Value> = items.into_iter().map(|item| item.expect("every item is done")).collect();
    assert_eq!(last["output"], json!(items), "{}", reply.text());
    items
}

#[tokio::test]
async fn clean_answers_pass_byte_for_byte() {
    let body = response(&json!([message("ok"), call(&json!(ARGS))]), "completed").to_string();
    let streams = [sse(&call_events(ARGS)), sse(&text_events("Hi there"))];
    let fixture =
        Fixture::new([Answer::text(&body), Answer::sse(&streams[0]), Answer::sse(&streams[1])]).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!((reply.text(), reply.summary()), (body.as_str(), "clean"));
    for stream in streams {
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(reply.text(), stream);
        output(&reply);
    }
}

#[tokio::test]
async fn broken_calls_are_mended() {
    let fixture = Fixture::new([]).await;
    for broken in [json!("{'city': 'Rome'}"), json!("{\"city\": \"Rome\",}"), json!({"city": "Rome"})] {
        fixture.answer(Answer::json(&response(&json!([message("Hm."), call(&broken)]), "completed")));
        let answer = fixture.post(PATH, &[], &request(false)).await.json();
        assert_eq!(answer["output"][0], message("Hm."));
        let item = &answer["output"][1];
        assert_eq!(
            serde_json::from_str::<Value>(item["arguments"].as_str().unwrap()).unwrap(),
            json!({"city": "Rome"})
        );
        assert_eq!(item["call_id"], "call_1");
        let Some(broken) = broken.as_str() else { continue };
        fixture.answer(Answer::sse(sse(&call_events(broken))));
        let items = output(&fixture.post(PATH, &[], &request(true)).await);
        assert_eq!((items.len(), items[0]["call_id"].as_str()), (1, Some("call_1")));
        assert_eq!(
            serde_json::from_str::<Value>(items[0]["arguments"].as_str().unwrap()).unwrap(),
            json!({"city": "Rome"}),
            "{broken}"
        );
    }
}

#[tokio::test]
async fn stream_quirks_are_corrected() {
    type Change = fn(&mut Vec<Value>);
    let without = |events: &mut Vec<Value>, kind: &str| events.retain(|event| event["type"] != kind);
    let _ = without;
    let cases: Vec<(&str, Change)> = vec![
        ("no call_id", |events| {
            for at in [2, 6] {
                events[at]["item"].as_object_mut().unwrap().remove("call_id");
            }
            events[7]["response"]["output"][0].as_object_mut().unwrap().remove("call_id");
        }),
        ("no numbers", |events| {
            for event in events {
                let event = event.as_object_mut().unwrap();
                event.remove("sequence_number");
                event.remove("output_index");
            }
        }),
        ("no created", |events| drop(events.drain(..2))),
        ("no added", |events| drop(events.remove(2))),
        ("no deltas", |events| drop(events.drain(3..5))),
        ("no arguments.done", |events| drop(events.remove(5))),
        ("no item.done", |events| drop(events.remove(6))),
        ("only the end", |events| drop(events.drain(..7))),
        ("only item and end", |events| drop(events.drain(..6))),
        ("empty output at the end", |events| events[7]["response"]["output"] = json!([])),
        ("no output in events", |events| {
            for at in [0, 1] {
                events[at]["response"].as_object_mut().unwrap().remove("output");
            }
        }),
        ("no usage", |events| drop(events[7]["response"].as_object_mut().unwrap().remove("usage"))),
        ("other ids", |events| events[7]["response"]["id"] = json!("resp_2")),
        ("object", |events| {
            for at in [5, 6] {
                let holder = if at == 5 { &mut events[5] } else { &mut events[6]["item"] };
                holder["arguments"] = json!({"city": "Rome"});
            }
        }),
        ("keepalive", |events| events.insert(3, json!({"type": "keepalive", "sequence_number": 3}))),
    ];
    let fixture = Fixture::new([]).await;
    for (what, change) in cases {
        let mut events = call_events(ARGS);
        change(&mut events);
        for named in [true, false] {
            let stream = if named {
                sse(&events)
            } else {
                events.iter().map(|event| format!("data: {event}\n\n")).collect()
            };
            fixture.answer(Answer::sse(stream + "data: [DONE]\n\n"));
            let reply = fixture.post(PATH, &[], &request(true)).await;
            println!("{what}: {}", reply.text());
            if what == "keepalive" {
                assert!(reply.text().contains("keepalive"));
                continue;
            }
            let items = output(&reply);
            assert_eq!(items.len(), 1, "{what}");
            assert_eq!(items[0]["arguments"], ARGS, "{what}");
            assert!(items[0]["call_id"].as_str().is_some_and(|id| !id.is_empty()), "{what}");
        }
    }
}

#[tokio::test]
async fn missing_events_around_text_are_added() {
    // llama.cpp sends no numbers, no parts and no output.
    let mut events = text_events("Hi there");
    for event in &mut events {
        let event = event.as_object_mut().unwrap();
        for name in ["sequence_number", "output_index", "content_index"] {
            event.remove(name);
        }
    }
    let fixture = Fixture::new([Answer::sse(sse(&events))]).await;
    let items = output(&fixture.post(PATH, &[], &request(true)).await);
    assert_eq!(items[0]["content"][0]["text"], "Hi there");
    events.retain(|event| {
        !event["type"].as_str().unwrap().contains("added") && event["type"] != "response.created"
    });
    fixture.answer(Answer::sse(sse(&events)));
    let items = output(&fixture.post(PATH, &[], &request(true)).await);
    assert_eq!((items.len(), &items[0]["content"][0]["text"]), (1, &json!("Hi there")));
}

#[tokio::test]
async fn a_call_that_ends_early_is_not_completed() {
    let fixture =
        Fixture::new([Answer::json(&response(&json!([call(&json!("{\"city\": \"Ro"))]), "completed"))]).await;
    let answer = fixture.post(PATH, &[], &request(false)).await.json();
    assert_eq!(answer["status"], "completed");
    assert!(answer["output"][0]["arguments"].as_str().unwrap().contains("__unparsedToolInput"), "{answer}");
    fixture.answer(Answer::sse(sse(&call_events("{\"city\": \"Ro"))));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(output(&reply)[0]["arguments"].as_str().unwrap().contains("__unparsedToolInput"));
    assert!(reply.text().contains("event: response.completed\n"), "{}", reply.text());
    fixture.answer(Answer::sse(sse(&call_events("{\"city\": \"Ro")[..5])));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(output(&reply)[0]["arguments"].as_str().unwrap().contains("__unparsedToolInput"));
}
