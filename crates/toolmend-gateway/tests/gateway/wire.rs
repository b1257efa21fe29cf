//! What crosses the gateway beside the calls themselves: hosted tools, ids, and what a request says about its calls.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Reply, weather};

const CHAT: &str = "/v1/chat/completions";
const LIVE: (&str, &str) = ("x-toolmend-stream", "live");

fn chat_tools() -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}])
}

fn chat_request(more: &Value) -> String {
    let mut request =
        json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": chat_tools()});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request.to_string()
}

fn chat_call(at: usize, name: &str, arguments: &str) -> Value {
    json!({"index": at, "id": format!("id{at}"), "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn chat_answer(calls: &[Value]) -> Value {
    json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": calls}}]})
}

fn chat_stream(deltas: &[Value]) -> String {
    let mut out = String::new();
    for delta in deltas {
        out += &format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        );
    }
    out + &format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    )
}

/// Returns the names and arguments of the calls of a chat answer, whole or streamed.
fn calls_of(reply: &Reply) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let events = if reply.text().starts_with('{') { vec![reply.json()] } else { reply.events() };
    for event in events {
        let choice = &event["choices"][0];
        let message = if choice["message"].is_object() { &choice["message"] } else { &choice["delta"] };
        for (at, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let at = call["index"].as_u64().map_or(at, |at| usize::try_from(at).unwrap());
            calls.resize(calls.len().max(at + 1), Default::default());
            calls[at].0.push_str(call["function"]["name"].as_str().unwrap_or_default());
            calls[at].1.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
    }
    calls
}

#[tokio::test]
async fn hosted_tools_change_nothing_for_functions() {
    let mut tools = chat_tools();
    tools.as_array_mut().unwrap().extend([
        json!({"type": "web_search"}),
        json!({"type": "builtin_function", "function": {"name": "$web_search"}}),
    ]);
    for (name, arguments, expected, summary) in [
        ("GetWeather", r#"{"city": 'Rome'}"#, ("get_weather", r#"{"city": "Rome"}"#), "mended"),
        ("get_weather", r#"{"town": "Rome"}"#, ("get_weather", r#"{"town": "Rome"}"#), "rejected"),
        ("launch", "{}", ("launch", "{}"), "rejected"),
        ("web_search", r#"{"q": "x"}"#, ("web_search", r#"{"q": "x"}"#), "clean"),
        ("$web_search", r#"{"q": "x"}"#, ("$web_search", r#"{"q": "x"}"#), "clean"),
    ] {
        let scripted = chat_answer(&[chat_call(0, name, arguments)]);
        let fixture = Fixture::new([Answer::json(&scripted), Answer::json(&scripted)]).await;
        let reply = fixture.post(CHAT, &[], &chat_request(&json!({"tools": tools}))).await;
        assert_eq!(calls_of(&reply), [(expected.0.to_owned(), expected.1.to_owned())]);
        assert!(reply.summary().starts_with(summary), "{name}: {}", reply.summary());
        let alone = fixture.post(CHAT, &[], &chat_request(&json!({}))).await;
        if !name.contains("search") {
            assert_eq!((alone.text(), alone.summary()), (reply.text(), reply.summary()));
        }
    }
}

#[tokio::test]
async fn codex_tools_are_repaired_beside_a_hosted_one() {
    let item = json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "ExecCommand", "arguments": "{'cmd': 'ls'}"});
    let fixture =
        Fixture::new([Answer::json(&json!({"id": "r", "status": "completed", "output": [item]}))]).await;
    let schema = json!({"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]});
    let tools =
        json!([{"type": "function", "name": "exec_command", "parameters": schema}, {"type": "web_search"}]);
    let reply = fixture
        .post("/v1/responses", &[], &json!({"model": "m", "input": "hi", "tools": tools}).to_string())
        .await;
    let item = &reply.json()["output"][0];
    assert_eq!((&item["name"], &item["arguments"]), (&json!("exec_command"), &json!(r#"{"cmd": "ls"}"#)));
}

#[tokio::test]
async fn one_call_at_a_time_is_one_call() {
    let calls = [r#"{"city":"Rome"}"#, r#"{"city": 'Oslo'}"#, r#"{"city": ]["#];
    let calls: Vec<Value> =
        calls.iter().enumerate().map(|(at, text)| chat_call(at, "get_weather", text)).collect();
    let first = [("get_weather".to_owned(), r#"{"city":"Rome"}"#.to_owned())];
    let deltas: Vec<Value> = calls.iter().map(|call| json!({"tool_calls": [call]})).collect();
    let in_text = ["Rome", "Oslo"].map(|city| {
        format!(r#"<tool_call>{{"name":"get_weather","arguments":{{"city":"{city}"}}}}</tool_call>"#)
    });
    let fixture = Fixture::new([]).await;
    let only = json!({"parallel_tool_calls": false});
    let streamed = json!({"parallel_tool_calls": false, "stream": true});
    for (answer, headers, more, dropped) in [
        (Answer::json(&chat_answer(&calls)), None, &only, 2),
        (Answer::sse(chat_stream(&deltas)), None, &streamed, 2),
        (Answer::sse(chat_stream(&deltas)), Some(LIVE), &streamed, 2),
        (Answer::sse(chat_stream(&[json!({"content": in_text.concat()})])), None, &streamed, 1),
    ] {
        fixture.answer(answer);
        let before = fixture.gateway.call_counts().refused();
        let reply = fixture.post(CHAT, headers.as_slice(), &chat_request(more)).await;
        assert_eq!(calls_of(&reply), first, "{}", reply.text());
        assert!(reply.text().contains(r#""finish_reason":"tool_calls""#));
        let summary = reply.comments().last().copied().unwrap_or(reply.summary()).to_owned();
        assert!(summary.starts_with("rejected") && summary.contains("surplus_call"), "{summary}");
        assert_eq!(fixture.gateway.call_counts().refused() - before, dropped, "{summary}");
    }
    // The model learns that the others did not run.
    let result = json!({"role": "tool", "tool_call_id": "id0", "content": "sun"});
    let history = json!([{"role": "assistant", "content": null, "tool_calls": [calls[0]]}, result]);
    fixture.post(CHAT, &[], &chat_request(&json!({"messages": history}))).await;
    let sent = fixture.received().last().unwrap().json();
    assert!(sent["messages"][1]["content"].as_str().unwrap().contains("only the first call"), "{sent}");
    // Without the setting all calls are delivered.
    fixture.answer(Answer::json(&chat_answer(&calls)));
    let reply = fixture.post(CHAT, &[], &chat_request(&json!({}))).await;
    assert_eq!(calls_of(&reply).len(), 3);
}

#[tokio::test]
async fn one_call_at_a_time_in_messages() {
    let block = |id: &str, city: &str| json!({"type": "tool_use", "id": id, "name": "get_weather", "input": {"city": city}});
    let answer = json!({"type": "message", "role": "assistant", "content": [block("a", "Rome"), block("b", "Oslo")], "stop_reason": "tool_use"});
    let fixture = Fixture::new([Answer::json(&answer)]).await;
    let choice = json!({"type": "auto", "disable_parallel_tool_use": true});
    let tools = json!([{"name": "get_weather", "input_schema": weather()}]);
    let request =
        json!({"model": "m", "max_tokens": 9, "messages": [], "tools": tools, "tool_choice": choice});
    let reply = fixture.post("/v1/messages", &[], &request.to_string()).await;
    assert_eq!(reply.json()["content"], json!([block("a", "Rome")]));
    assert!(reply.summary().contains("surplus_call"), "{}", reply.summary());
}
