//! Chat completions.

use serde_json::{Value, json};
use toolmend_gateway::{Config, RefusalMode};

use crate::fixture::{Answer, Fixture, Reply, weather};

const PATH: &str = "/v1/chat/completions";

fn request(stream: bool) -> String {
    json!({
        "model": "m",
        "stream": stream,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}],
    })
    .to_string()
}

fn whole(message: &Value, reason: &str) -> Answer {
    Answer::json(&json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "x_unknown": 1.50,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }))
}

fn call(arguments: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]})
}

/// Returns the frames of a stream; a string is a finish reason, anything else a delta.
fn stream(deltas: &[Value]) -> String {
    let mut out = String::new();
    for delta in deltas {
        let choice = match delta {
            Value::String(reason) => json!({"index": 0, "delta": {}, "finish_reason": reason}),
            delta => json!({"index": 0, "delta": delta, "finish_reason": null}),
        };
        let chunk = json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        out.push_str(&format!("data: {chunk}\n\n"));
    }
    out + "data: [DONE]\n\n"
}

fn first(name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "a", "type": "function",
        "function": {"name": name, "arguments": arguments}}]})
}

fn more(arguments: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
}

/// Reads the calls of a stream as the strictest client does.
#[track_caller]
fn calls(reply: &Reply) -> Vec<(String, Value)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut reason = None;
    let mut role = false;
    for event in reply.events() {
        for choice in event["choices"].as_array().unwrap() {
            role |= choice["delta"]["role"] == "assistant";
            for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                let index = usize::try_from(call["index"].as_u64().expect("an index")).unwrap();
                if index == calls.len() {
                    assert!(call["id"].as_str().is_some_and(|id| !id.is_empty()), "an id: {call}");
                    assert_eq!(call["type"], "function");
                    calls.push((call["function"]["name"].as_str().unwrap().to_owned(), String::new()));
                } else {
                    assert!(
                        call["function"]["name"].as_str().unwrap_or_default().is_empty(),
                        "a name once: {call}"
                    );
                }
                calls[index].1.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
            }
            if let Some(told) = choice["finish_reason"].as_str() {
                assert_eq!(reason.replace(told.to_owned()), None, "one reason");
            }
        }
    }
    assert!(role, "a role: {}", reply.text());
    assert_eq!(reason.as_deref(), Some("tool_calls"), "{}", reply.text());
    assert!(reply.text().ends_with("data: [DONE]\n\n"));
    calls.into_iter().map(|(name, text)| (name, serde_json::from_str(&text).unwrap())).collect()
}

#[tokio::test]
async fn clean_answers_pass_byte_for_byte() {
    let whole = r#"{ "id":"c1", "choices":[ {"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{ \"city\": \"Rome\" }"}}]},"finish_reason":"tool_calls", "n": 1.50} ]}"#;
    let text = stream(&[
        json!({"role": "assistant", "content": ""}),
        json!({"content": "Hi <b>"}),
        json!({"content": " there"}),
        json!("stop"),
    ]);
    let native =
        stream(&[first("get_weather", ""), more("{\"city\":"), more("\"Rome\"}"), json!("tool_calls")]);
    let odd = format!(": hello\r\n\r\nretry: 5\n\n{text}");
    let answers = [Answer::text(whole), Answer::sse(&text), Answer::sse(&native), Answer::sse(&odd)];
    let fixture = Fixture::new(answers).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!((reply.text(), reply.summary()), (whole, "clean"));
    for expected in [&text, &native] {
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!((reply.text(), reply.summary()), (expected.as_str(), "stream"));
    }
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(reply.text().starts_with(": hello\r\n\r\n") && reply.text().ends_with(&text), "{}", reply.text());
    assert_eq!(fixture.received()[0].body, request(false));
}

#[tokio::test]
async fn broken_arguments_are_mended() {
    let fixture = Fixture::new([]).await;
    for (broken, kind) in [
        (r#"{"city": "Rome", }"#, "trailing_comma_removed"),
        ("{'city': 'Rome'}", "quotes_normalised"),
        (r#"{city: "Rome"}"#, "key_quoted"),
        (r#"{"city": "Rome""#, "bracket_closed"),
    ] {
        fixture.answer(whole(&call(&json!(broken)), "tool_calls"));
        let reply = fixture.post(PATH, &[], &request(false)).await;
        let answer = reply.json();
        let arguments =
            answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), json!({"city": "Rome"}), "{broken}");
        assert!(reply.summary().starts_with("mended; kinds="), "{kind}: {}", reply.summary());
        assert!(reply.text().contains("\"x_unknown\":1.5"), "unknown fields stay");
        fixture.answer(Answer::sse(stream(&[
            first("get_weather", ""),
            more(&broken[..5]),
            more(&broken[5..]),
            json!("tool_calls"),
        ])));
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(calls(&reply), [("get_weather".to_owned(), json!({"city": "Rome"}))], "{broken}");
        assert_eq!(reply.comments().len(), 1, "{}", reply.text());
    }
}

#[tokio::test]
async fn object_arguments_and_wrong_reasons_are_corrected() {
    let fixture = Fixture::new([]).await;
    for reason in ["stop", "function_call", "tool_calls"] {
        fixture.answer(whole(&call(&json!({"city": "Rome"})), reason));
        let answer = fixture.post(PATH, &[], &request(false)).await.json();
        assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(
            answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
            r#"{"city":"Rome"}"#
        );
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table with one row per quirk")]
async fn stream_quirks_are_corrected() {
    let entry = |entry: Value| json!({"tool_calls": [entry]});
    let f = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let (rome, args) = (json!({"city": "Rome"}), r#"{"city":"Rome"}"#);
    let role = json!({"role": "assistant", "content": null});
    let one = vec![("get_weather".to_owned(), rome.clone())];
    let two = vec![one[0].clone(), ("get_weather".to_owned(), json!({"city": "Oslo"}))];
    let oslo = r#"{"city":"Oslo"}"#;
    let cases: Vec<(&str, Vec<Value>, &Vec<(String, Value)>)> = vec![
        (
            "no id",
            vec![
                role.clone(),
                entry(json!({"index": 0, "type": "function", "function": f("get_weather", json!(args))})),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "no type",
            vec![
                role.clone(),
                entry(json!({"index": 0, "id": "a", "function": f("get_weather", json!(args))})),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "no index",
            vec![
                role.clone(),
                entry(json!({"id": "a", "type": "function", "function": f("get_weather", json!(""))})),
                entry(json!({"function": {"arguments": args}})),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "no role",
            vec![
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "index from 1",
            vec![
                role.clone(),
                entry(
                    json!({"index": 1, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "same index",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                entry(
                    json!({"index": 0, "id": "b", "type": "function", "function": f("get_weather", json!(oslo))}),
                ),
                json!("tool_calls"),
            ],
            &two,
        ),
        (
            "interleaved",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(""))}),
                ),
                entry(
                    json!({"index": 1, "id": "b", "type": "function", "function": f("get_weather", json!(""))}),
                ),
                entry(json!({"index": 0, "function": {"arguments": args}})),
                entry(json!({"index": 1, "function": {"arguments": oslo}})),
                json!("tool_calls"),
            ],
            &two,
        ),
        (
            "name repeated",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!("{\"city\":"))}),
                ),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!("\"Rome\"}"))}),
                ),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "name split",
            vec![
                role.clone(),
                entry(json!({"index": 0, "id": "a", "type": "function", "function": f("get_", json!(""))})),
                entry(json!({"index": 0, "function": f("weather", json!(args))})),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "name late",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": {"arguments": "{\"city\":"}}),
                ),
                entry(json!({"index": 0, "function": f("get_weather", json!("\"Rome\"}"))})),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "object",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", rome.clone())}),
                ),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "stop",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!("stop"),
            ],
            &one,
        ),
        (
            "function_call",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!("function_call"),
            ],
            &one,
        ),
        (
            "no reason",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
            ],
            &one,
        ),
        (
            "text around",
            vec![
                json!({"role": "assistant", "content": "Let me see."}),
                entry(
                    json!({"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!({"content": "Done."}),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "older form",
            vec![
                role.clone(),
                json!({"function_call": {"name": "get_weather", "arguments": "{\"city\":"}}),
                json!({"function_call": {"arguments": "\"Rome\"}"}}),
                json!("function_call"),
            ],
            &one,
        ),
        (
            "both forms",
            vec![
                json!({"role": "assistant", "function_call": {"name": "get_weather", "arguments": args}, "tool_calls": [{"index": 0, "id": "a", "type": "function", "function": f("get_weather", json!(args))}]}),
                json!("tool_calls"),
            ],
            &one,
        ),
        (
            "number as id",
            vec![
                role.clone(),
                entry(
                    json!({"index": 0, "id": 17, "type": "function", "function": f("get_weather", json!(args))}),
                ),
                json!("tool_calls"),
            ],
            &one,
        ),
    ];
    let fixture = Fixture::new([]).await;
    for (what, deltas, expected) in cases {
        fixture.answer(Answer::sse(stream(&deltas)));
        let reply = fixture.post(PATH, &[], &request(true)).await;
        println!("{what}: {}", reply.text());
        assert_eq!(&calls(&reply), expected, "{what}");
        assert!(!reply.text().contains("\"function_call\""), "{what}");
    }
    // Without the end marker, and with events that clients do not know.
    let text = stream(&[first("get_weather", args), json!("tool_calls")]).replace(
        "data: [DONE]\n\n",
        "event: usage.info\ndata: {\"a\":1}\n\ndata: {\"choices\":[],\"x\":1}\n\n",
    );
    fixture.answer(Answer::sse(&text));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert_eq!(calls(&reply), one);
    assert!(!reply.text().contains("\nevent:"), "{}", reply.text());
}

#[tokio::test]
async fn a_truncated_call_is_never_completed() {
    let cut = r#"{"city": "Ro"#;
    let config = Config { refusal: RefusalMode::Feedback, ..Config::default() };
    let answers = [whole(&call(&json!(cut)), "length"), whole(&call(&json!(cut)), "tool_calls")];
    let fixture = Fixture::with(config, answers).await;
    // Only the server's reason says whether the limit cut a call off.
    for (reason, outcome) in [("length", "truncated"), ("stop", "rejected")] {
        let reply = fixture.post(PATH, &[], &request(false)).await;
        let choice = &reply.json()["choices"][0];
        assert_eq!(choice["finish_reason"], reason);
        assert!(choice["message"].get("tool_calls").is_none());
        assert!(choice["message"]["content"].as_str().unwrap().contains("get_weather"));
        assert!(reply.summary().starts_with(outcome), "{}", reply.summary());
    }
    fixture.answer(Answer::sse(stream(&[first("get_weather", cut), json!("length")])));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(!reply.text().contains("tool_calls\":["), "{}", reply.text());
    assert!(reply.text().contains("\"finish_reason\":\"length\""), "{}", reply.text());
}

#[tokio::test]
async fn text_without_an_end_is_an_error() {
    let text = stream(&[json!({"content": "Well, "})]).replace("data: [DONE]\n\n", "");
    let fixture = Fixture::new([Answer::sse(&text)]).await;
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(reply.text().contains("Well, "), "{}", reply.text());
    assert!(
        reply.events().last().unwrap()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("before the turn was complete")
    );
}
