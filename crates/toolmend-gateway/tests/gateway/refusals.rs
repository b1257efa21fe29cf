//! Calls that cannot be mended, with the default settings: the client gets something that it refuses by itself.

use serde_json::{Value, json};
use toolmend_gateway::{Config, Protocol, RefusalMode, TruncationMode, Upstream};

use crate::fixture::{Answer, Fixture, Reply, weather};
use crate::test_protocols::{Reason, SIDES, TestProtocol, parsed, read as read_turn};

const PATH: &str = "/v1/chat/completions";
/// Arguments that no reading makes a call of.
const UNREADABLE: &str = r#"{"city": ]["#;

fn tools(schema: &Value) -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": schema}}])
}

fn request(stream: bool, schema: &Value, messages: &Value) -> String {
    json!({"model": "m", "stream": stream, "messages": messages, "tools": tools(schema)}).to_string()
}

fn call(name: &str, arguments: &str) -> Value {
    json!({"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn whole(call: &Value, reason: &str) -> String {
    json!({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]}).to_string()
}

fn stream(call: &Value, reason: &str) -> String {
    let mut call = call.clone();
    call["index"] = json!(0);
    let chunk = |delta: &Value, reason: Option<&str>| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    chunk(&json!({"role": "assistant", "tool_calls": [call]}), None)
        + &chunk(&json!({}), Some(reason))
        + "data: [DONE]\n\n"
}

/// Returns the reply without the comments of the gateway.
fn without_comments(reply: &Reply) -> String {
    reply.text().split_inclusive("\n\n").filter(|frame| !frame.starts_with(':')).collect()
}

/// Returns the only call of an answer, its arguments and the reason.
fn read(reply: &Reply) -> (Value, Value, String) {
    let choice = &reply.json()["choices"][0];
    let call = choice["message"]["tool_calls"][0].clone();
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    (call, arguments, choice["finish_reason"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn json_that_only_breaks_the_schema_or_names_no_tool_stays_as_it_is() {
    for call in [
        call("get_weather", r#"{"town":  5}"#),
        call("get_weather", "{}"),
        call("launch_rocket", r#"{"city":"Rome"}"#),
    ] {
        let (body, events) = (whole(&call, "tool_calls"), stream(&call, "tool_calls"));
        let fixture = Fixture::new([Answer::text(&body), Answer::sse(&events), Answer::sse(&events)]).await;
        let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
        assert_eq!(reply.text(), body);
        assert!(reply.summary().starts_with("rejected"), "{}", reply.summary());
        for mode in ["held", "live"] {
            let request = request(true, &weather(), &json!([]));
            let reply = fixture.post(PATH, &[("x-toolmend-stream", mode)], &request).await;
            assert_eq!(without_comments(&reply), events, "{mode}");
            assert!(reply.comments().iter().any(|comment| comment.starts_with("rejected")));
        }
    }
}

#[tokio::test]
async fn arguments_that_nobody_can_read_become_a_stub() {
    let written = call("get_weather", UNREADABLE);
    let fixture =
        Fixture::new([Answer::text(&whole(&written, "stop")), Answer::sse(stream(&written, "stop"))]).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    let (call, arguments, reason) = read(&reply);
    assert_eq!((&call["id"], &call["function"]["name"]), (&json!("a"), &json!("get_weather")));
    assert_eq!(arguments["__unparsedToolInput"]["raw"], UNREADABLE);
    assert_eq!(reason, "tool_calls", "the client runs calls only for this reason");
    assert!(!toolmend::Schema::new(&weather()).unwrap().accepts(&arguments));
    let reply = fixture.post(PATH, &[], &request(true, &weather(), &json!([]))).await;
    assert!(reply.text().contains("__unparsedToolInput"), "{}", reply.text());
}

#[tokio::test]
async fn a_tool_that_accepts_everything_never_gets_a_stub() {
    let answer = || Answer::text(&whole(&call("get_weather", UNREADABLE), "tool_calls"));
    let schema = json!({"type": "object", "properties": {"filter": {"type": "object"}}});
    let fixture = Fixture::new([answer(), answer(), answer()]).await;
    let reply = fixture.post(PATH, &[], &request(false, &schema, &json!([]))).await;
    let (call, arguments, reason) = read(&reply);
    // No client has a tool of this name, so all of them report the call to the model.
    assert_eq!(
        (&call["function"]["name"], reason.as_str()),
        (&json!("get_weather_unreadable"), "tool_calls")
    );
    assert_eq!(arguments["__unparsedToolInput"]["raw"], UNREADABLE);
    // The model sees what it wrote.
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "no such tool"});
    let history = json!([{"role": "assistant", "content": null, "tool_calls": [call]}, result]);
    fixture.post(PATH, &[], &request(false, &schema, &history)).await;
    let sent = fixture.received()[1].json();
    let shown = &sent["messages"][0]["tool_calls"][0]["function"];
    assert_eq!(shown["name"], "get_weather");
    assert_eq!(parsed(&shown["arguments"]), json!({"unreadable_arguments": UNREADABLE}));
    let result = sent["messages"][1]["content"].as_str().unwrap();
    assert!(result.contains("`get_weather` was not run") && result.ends_with("no such tool"), "{result}");
    // One client gives up at unknown tools.
    let agent = [("user-agent", "Agents/Python 0.24.0")];
    let reply = fixture.post(PATH, &agent, &request(false, &schema, &json!([]))).await;
    let (call, _, reason) = read(&reply);
    assert_eq!((call, reason.as_str()), (Value::Null, "stop"), "{}", reply.text());
    assert!(reply.text().contains("Next: "), "{}", reply.text());
}

#[tokio::test]
async fn the_name_that_no_tool_has_is_restored_on_every_surface() {
    let open = json!({"type": "object", "properties": {}});
    for side in SIDES {
        let fixture = Fixture::new([Answer::text("{}").status(400)]).await;
        let mut text = side.request(false).to_string();
        text = text.replace(&weather().to_string(), &open.to_string());
        let tool = "\"name\":\"get_weather\"";
        let unknown = "\"name\":\"get_weather_unreadable\"";
        // The call of the history, not the declaration.
        let at = text.find("Rom").unwrap();
        let place = text[..at].rfind(tool).into_iter().chain(text[at..].find(tool).map(|found| at + found));
        let place = place.min_by_key(|place| place.abs_diff(at)).unwrap();
        text.replace_range(place..place + tool.len(), unknown);
        fixture.post(side.path(), &[], &text).await;
        let sent = String::from_utf8(fixture.received()[0].body.to_vec()).unwrap();
        assert!(!sent.contains("_unreadable"), "{side:?}: {sent}");
    }
}

#[tokio::test]
async fn a_truncated_call_becomes_a_stub_with_its_reason() {
    let cut = call("get_weather", r#"{"city": "Ro"#);
    // Unfinished arguments of a model that was finished were not cut off.
    for (server, reason, outcome) in [
        ("length", "length", "truncated"),
        ("stop", "tool_calls", "rejected"),
        ("tool_calls", "tool_calls", "rejected"),
    ] {
        let fixture =
            Fixture::new([Answer::text(&whole(&cut, server)), Answer::sse(stream(&cut, server))]).await;
        let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
        let (_, arguments, seen) = read(&reply);
        assert_eq!(arguments["__unparsedToolInput"]["raw"], r#"{"city": "Ro"#, "{}", reply.text());
        assert_eq!(seen, reason);
        assert!(reply.summary().starts_with(outcome), "{}", reply.summary());
        let reply = fixture.post(PATH, &[], &request(true, &weather(), &json!([]))).await;
        assert!(reply.text().contains(&format!("\"finish_reason\":\"{reason}\"")), "{}", reply.text());
        assert!(reply.comments().iter().any(|comment| comment.starts_with(outcome)), "{}", reply.text());
    }
}

#[tokio::test]
async fn a_stream_that_ends_in_the_middle_of_a_call_becomes_a_stub() {
    // The second is complete but for its brace: nobody knows what would have followed.
    for arguments in [r#"{"city": "Ro"#, r#"{"city": "Rome""#] {
        let cut = call("get_weather", arguments);
        let events = stream(&cut, "tool_calls");
        let (start, _) = events.split_once("\n\n").unwrap();
        let fixture = Fixture::new([Answer::sse(format!("{start}\n\n"))]).await;
        let reply = fixture.post(PATH, &[], &request(true, &weather(), &json!([]))).await;
        let text = reply.text();
        assert!(
            text.contains("__unparsedToolInput") && text.contains("\"finish_reason\":\"tool_calls\""),
            "{text}"
        );
        assert!(!text.contains("\"error\""), "{text}");
        assert!(reply.comments().iter().any(|comment| comment.starts_with("truncated")), "{text}");
    }
}

/// Returns the stream of an answer with a call, without its last frames.
fn without_end(side: TestProtocol, arguments: &str, missing: usize) -> Answer {
    let text = String::from_utf8(side.answer(true, arguments, Reason::Calls)).unwrap();
    let gap = if side == TestProtocol::Ollama { "\n" } else { "\n\n" };
    let frames: Vec<&str> = text.split_inclusive(gap).collect();
    let text = frames[..frames.len() - missing].concat();
    if side == TestProtocol::Ollama { Answer::lines(&text) } else { Answer::sse(text) }
}

/// How many frames can be missing after a call that is complete.
fn missing_frames(side: TestProtocol) -> &'static [usize] {
    match side {
        TestProtocol::Chat => &[2, 3],
        TestProtocol::Messages | TestProtocol::Responses => &[1, 2, 3],
        TestProtocol::Ollama => &[1],
    }
}

#[tokio::test]
async fn a_complete_call_is_delivered_although_the_turn_has_no_end() {
    for side in SIDES {
        for (missing, mode) in missing_frames(side).iter().flat_map(|at| [(at, "held"), (at, "live")]) {
            let fixture = Fixture::new([without_end(side, r#"{"city":"Rome"}"#, *missing)]).await;
            let request = side.request(true).to_string();
            let reply = fixture.post(side.path(), &[("x-toolmend-stream", mode)], &request).await;
            let turn = read_turn(side, true, &reply);
            let expected = [("get_weather".to_owned(), json!({"city": "Rome"}))];
            assert_eq!(turn.calls, expected, "{side:?} {missing} {mode}: {}", reply.text());
            assert_ne!(turn.stop, "length", "{side:?} {missing} {mode}: {}", reply.text());
            assert!(!reply.text().contains("\"error\":{"), "{side:?} {missing} {mode}: {}", reply.text());
            assert_eq!(fixture.gateway.call_counts().refused(), 0);
        }
    }
}

#[tokio::test]
async fn a_complete_call_without_an_end_is_translated() {
    for side in SIDES {
        let upstream = Upstream { surface: Some(Protocol::Chat), ..Upstream::new("http://127.0.0.1:1") };
        let config = Config { upstreams: vec![upstream], ..Config::default() };
        for stream in [true, false] {
            // A server that answers a plain request with a stream may forget its end as well.
            let answer = without_end(TestProtocol::Chat, r#"{"city":"Rome"}"#, 3);
            let fixture = Fixture::at(config.clone(), [answer]).await;
            let reply = fixture.post(side.path(), &[], &side.request(stream).to_string()).await;
            let turn = read_turn(side, stream, &reply);
            let expected = [("get_weather".to_owned(), json!({"city": "Rome"}))];
            assert_eq!(turn.calls, expected, "{side:?} {stream}: {}", reply.text());
        }
    }
}

#[tokio::test]
async fn an_unfinished_call_without_an_end_never_runs() {
    for side in [TestProtocol::Chat, TestProtocol::Messages, TestProtocol::Responses] {
        for arguments in [r#"{"city":"Ro"#, r#"{"city":"Rome""#, r#"{"city":"Rome","days":1"#, "{", ""] {
            let missing = *missing_frames(side).last().unwrap();
            let fixture = Fixture::new([without_end(side, arguments, missing)]).await;
            let reply = fixture.post(side.path(), &[], &side.request(true).to_string()).await;
            let is_stub = reply.text().contains("__unparsedToolInput");
            assert!(is_stub || reply.text().contains("error"), "{side:?} {arguments:?}: {}", reply.text());
            if is_stub {
                let turn = read_turn(side, true, &reply);
                let schema = toolmend::Schema::new(&weather()).unwrap();
                assert!(turn.calls.iter().all(|(_, arguments)| !schema.accepts(arguments)), "{side:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_turn_without_the_call_that_it_announces_keeps_its_reason() {
    let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "I look."}}]}).to_string();
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I look.\"},\"finish_reason\":null}]}\n\n\
                  data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let fixture = Fixture::new([Answer::text(&body), Answer::sse(events)]).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    assert_eq!(reply.text(), body);
    let reply = fixture.post(PATH, &[], &request(true, &weather(), &json!([]))).await;
    assert_eq!(without_comments(&reply), events);
}

#[tokio::test]
async fn responses_end_at_the_limit_only_if_the_operator_wants_it() {
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "get_weather", "arguments": "{\"city\": \"Ro", "status": "incomplete"});
    let answer = json!({"id": "r", "object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [item]});
    let request = json!({"model": "m", "input": "x", "tools": [{"type": "function", "name": "get_weather", "parameters": weather()}]});
    for (truncation, status) in
        [(TruncationMode::Recover, "completed"), (TruncationMode::Honest, "incomplete")]
    {
        let config = Config { truncation, ..Config::default() };
        let fixture = Fixture::with(config, [Answer::json(&answer)]).await;
        let reply = fixture.post("/v1/responses", &[], &request.to_string()).await;
        assert_eq!(reply.json()["status"], status, "{}", reply.text());
        assert!(reply.text().contains("__unparsedToolInput"), "{}", reply.text());
        assert!(reply.summary().starts_with("truncated"), "{}", reply.summary());
    }
}

#[tokio::test]
async fn a_marked_call_in_text_becomes_a_stub() {
    let marked = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": ][}}\n</tool_call>";
    let content = |text: &str| {
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}).to_string()
    };
    let fixture = Fixture::new([Answer::text(&content(marked))]).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    let (call, arguments, reason) = read(&reply);
    assert_eq!(
        (&call["function"]["name"], reason.as_str()),
        (&json!("get_weather"), "tool_calls"),
        "{}",
        reply.text()
    );
    assert!(arguments["__unparsedToolInput"]["raw"].as_str().unwrap().contains("]["), "{arguments}");
}

/// Returns a conversation in which the call was refused this often.
fn conversation(arguments: &str, times: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "hi"})];
    for _ in 0..times {
        messages.push(
            json!({"role": "assistant", "content": null, "tool_calls": [call("get_weather", arguments)]}),
        );
        messages.push(json!({"role": "tool", "tool_call_id": "a", "content": "invalid arguments"}));
    }
    Value::Array(messages)
}

#[tokio::test]
async fn the_model_is_shown_what_it_wrote_and_why_it_was_refused() {
    let fixture = Fixture::new([]).await;
    fixture.answer(Answer::text(&whole(&call("get_weather", UNREADABLE), "tool_calls")));
    fixture.answer(Answer::text(&whole(&call("get_weather", r#"{"city":"Rome"}"#), "tool_calls")));
    let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    let stub = read(&reply).0["function"]["arguments"].as_str().unwrap().to_owned();
    fixture.post(PATH, &[], &request(false, &weather(), &conversation(&stub, 1))).await;
    let sent = fixture.received()[1].json();
    let shown = sent["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(shown).unwrap(), json!({"unreadable_arguments": UNREADABLE}));
    let result = sent["messages"][2]["content"].as_str().unwrap();
    assert!(result.contains("was not run") && result.ends_with("invalid arguments"), "{result}");
}

#[tokio::test]
async fn another_conversation_with_the_same_ids_gets_no_notes() {
    let fixture = Fixture::new([]).await;
    fixture.answer(Answer::text(&whole(&call("get_weather", UNREADABLE), "tool_calls")));
    fixture.answer(Answer::text(&whole(&call("get_weather", r#"{"city":"Rome"}"#), "tool_calls")));
    fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    // Some models count their calls from 0 in every conversation.
    let other = request(false, &weather(), &conversation(r#"{"city":"Oslo"}"#, 1));
    fixture.post(PATH, &[], &other).await;
    assert_eq!(fixture.received()[1].body, other.as_bytes());
}

#[tokio::test]
async fn the_fourth_equal_call_is_answered_in_words() {
    let answer = || Answer::text(&whole(&call("get_weather", UNREADABLE), "tool_calls"));
    let fixture = Fixture::new([answer()]).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await;
    let stub = read(&reply).0["function"]["arguments"].as_str().unwrap().to_owned();
    for (times, expected) in [(1, "tool_calls"), (2, "tool_calls"), (3, "stop")] {
        fixture.answer(answer());
        let reply = fixture.post(PATH, &[], &request(false, &weather(), &conversation(&stub, times))).await;
        assert_eq!(read(&reply).2, expected, "{times}: {}", reply.text());
    }
}

#[tokio::test]
async fn good_calls_stay_beside_a_refused_one() {
    let good = call("get_weather", r#"{"city":"Rome"}"#);
    let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [good, {"id": "b", "type": "function", "function": {"name": "get_weather", "arguments": UNREADABLE}}]}}]});
    for refusal in [RefusalMode::Auto, RefusalMode::Feedback] {
        let fixture = Fixture::with(Config { refusal, ..Config::default() }, [Answer::json(&body)]).await;
        let reply = fixture.post(PATH, &[], &request(false, &weather(), &json!([]))).await.json();
        let calls = reply["choices"][0]["message"]["tool_calls"].as_array().unwrap().clone();
        assert_eq!(calls[0], good);
        assert_eq!(calls.len(), if refusal == RefusalMode::Auto { 2 } else { 1 }, "{reply}");
    }
}
