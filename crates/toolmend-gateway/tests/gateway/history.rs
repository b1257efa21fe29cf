//! Earlier turns in requests that servers could not parse again.

use serde_json::{Value, json};
use toolmend_gateway::Config;

use crate::fixture::{Answer, Fixture, weather};

async fn sent(fixture: &Fixture, path: &str, request: &Value) -> Value {
    fixture.answer(Answer::json(&json!({})));
    fixture.post(path, &[], &request.to_string()).await;
    fixture.received().last().unwrap().json()
}

fn chat(messages: Value) -> Value {
    json!({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]})
}

fn call(id: &str, arguments: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]})
}

#[tokio::test]
async fn chat_history_is_repaired() {
    let fixture = Fixture::new([]).await;
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "sunny"});
    for (broken, expected) in [
        (json!("{\"city\": \"Rome\",}"), json!({"city": "Rome"})),
        (json!(""), json!({})),
        (json!({"city": "Rome"}), json!({"city": "Rome"})),
        (json!("{\"city\": \"Ro"), json!({"unreadable_arguments": "{\"city\": \"Ro"})),
    ] {
        let got =
            sent(&fixture, "/v1/chat/completions", &chat(json!([call("a", &broken), result("a")]))).await;
        let arguments = got["messages"][0]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), expected);
    }
    let good = chat(
        json!([call("a", &json!("{ \"city\":\"Rome\", \"odd\": 1 }")), result("a"), {"role": "user", "content": "<tool_call> is a tag"}]),
    );
    assert_eq!(sent(&fixture, "/v1/chat/completions", &good).await, good, "valid history stays");
    assert_eq!(fixture.received().last().unwrap().body, good.to_string());

    let user = json!({"role": "user", "content": "go on"});
    let got = sent(
        &fixture,
        "/v1/chat/completions",
        &chat(json!([call("a", &json!("{\"city\":\"Rome\"}")), user])),
    )
    .await;
    assert_eq!(
        (&got["messages"][1]["role"], &got["messages"][1]["tool_call_id"]),
        (&json!("tool"), &json!("a"))
    );
    assert_eq!(got["messages"][2], user);
    let got = sent(&fixture, "/v1/chat/completions", &chat(json!([result("gone"), user]))).await;
    assert_eq!(got["messages"][0]["role"], "user");
    assert!(got["messages"][0]["content"].as_str().unwrap().ends_with("sunny"));
    let leak =
        "I look. <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>";
    let got =
        sent(&fixture, "/v1/chat/completions", &chat(json!([{"role": "assistant", "content": leak}, user])))
            .await;
    assert_eq!(got["messages"][0]["content"], "I look.");

    let fixture = Fixture::with(Config { repair_history: false, ..Config::default() }, []).await;
    let bad = chat(json!([call("a", &json!("{")), user]));
    assert_eq!(sent(&fixture, "/v1/chat/completions", &bad).await, bad);
}

#[tokio::test]
async fn messages_history_is_repaired() {
    let fixture = Fixture::new([]).await;
    let request = |messages: Value| json!({"model": "m", "max_tokens": 9, "messages": messages, "tools": [{"name": "get_weather", "input_schema": weather()}]});
    let used = |input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "get_weather", "input": input}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "could not be parsed", "is_error": true}]});
    for broken in [
        json!({"__unparsedToolInput": {"raw": "{\"city\": \"Rome\",}", "len": 17}}),
        json!("{'city': 'Rome'}"),
    ] {
        let got = sent(&fixture, "/v1/messages", &request(json!([used(broken), result]))).await;
        assert_eq!(got["messages"][0]["content"][0]["input"], json!({"city": "Rome"}));
        assert_eq!(got["messages"][1], result);
    }
    let got = sent(&fixture, "/v1/messages", &request(json!([used(json!({"city": "Rome"})), {"role": "user", "content": [{"type": "text", "text": "go on"}]}]))).await;
    assert_eq!(got["messages"][1]["content"][0]["tool_use_id"], "a");
    assert_eq!(got["messages"][1]["content"][1]["text"], "go on");
    let got = sent(
        &fixture,
        "/v1/messages",
        &request(json!([used(json!({"city": "Rome"})), {"role": "user", "content": "go on"}])),
    )
    .await;
    assert_eq!(got["messages"][1]["content"][0]["tool_use_id"], "a");
    let got =
        sent(&fixture, "/v1/messages", &request(json!([{"role": "user", "content": "x"}, result]))).await;
    assert_eq!(got["messages"][1]["content"][0]["type"], "text");
    let good = request(json!([used(json!({"city": "Rome"})), result]));
    assert_eq!(sent(&fixture, "/v1/messages", &good).await, good);
}

#[tokio::test]
async fn responses_and_ollama_history_is_repaired() {
    let fixture = Fixture::new([]).await;
    let request = |input: Value| json!({"model": "m", "input": input, "tools": [{"type": "function", "name": "get_weather", "parameters": weather()}]});
    let call =
        json!({"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{city: Rome}"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "sunny"});
    let got = sent(&fixture, "/v1/responses", &request(json!([call, output]))).await;
    assert_eq!(
        serde_json::from_str::<Value>(got["input"][0]["arguments"].as_str().unwrap()).unwrap(),
        json!({"city": "Rome"})
    );
    let got =
        sent(&fixture, "/v1/responses", &request(json!([call, {"role": "user", "content": "x"}]))).await;
    assert_eq!(got["input"][1]["type"], "function_call_output");
    let got = sent(&fixture, "/v1/responses", &request(json!([output]))).await;
    assert_eq!(got["input"][0]["role"], "user");
    let mut known = request(json!([output]));
    known["previous_response_id"] = json!("resp_1");
    assert_eq!(sent(&fixture, "/v1/responses", &known).await, known);

    let ollama = json!({"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": "{\"city\": \"Rome\",}"}}]}]});
    let got = sent(&fixture, "/api/chat", &ollama).await;
    assert_eq!(got["messages"][0]["tool_calls"][0]["function"]["arguments"], json!({"city": "Rome"}));
}

#[tokio::test]
async fn hints_are_added_if_configured() {
    let fixture = Fixture::with(Config { contract_hints: true, ..Config::default() }, []).await;
    let request = json!({"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}}]});
    let got = sent(&fixture, "/v1/chat/completions", &request).await;
    let shown = got["tools"][0]["function"]["description"].as_str().unwrap();
    assert!(shown.starts_with("Runs. ") && shown.len() > 10, "{shown}");
}

#[tokio::test]
async fn notes_precede_the_result_of_their_call() {
    let fixture = Fixture::new([]).await;
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
        "required": ["path"], "x-toolmend": {"relational": [{"fields": ["offset", "limit"], "default": {"offset": 0, "limit": 9}}]}});
    let tools = json!([{"type": "function", "function": {"name": "read", "parameters": schema}}]);
    let answer = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "n1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\",\"limit\":5}"}}]}}]});
    fixture.answer(Answer::json(&answer));
    let reply = fixture
        .post("/v1/chat/completions", &[], &json!({"model": "m", "messages": [], "tools": tools}).to_string())
        .await;
    let message = reply.json()["choices"][0]["message"].clone();
    println!("{} {message}", reply.summary());
    let next = json!({"model": "m", "tools": tools, "messages": [message, {"role": "tool", "tool_call_id": "n1", "content": "text"}]});
    let got = sent(&fixture, "/v1/chat/completions", &next).await;
    let content = got["messages"][1]["content"].as_str().unwrap();
    assert!(content.starts_with("Note: ") && content.ends_with("\ntext"), "{content}");
}
