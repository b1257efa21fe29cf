//! Members that only one vendor knows survive a repair and, where the other side has a place for them, a translation.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, weather};
use toolmend_gateway::{Config, Upstream};
use toolmend_protocol::Protocol;

const BROKEN: &str = r#"{"city": 'Rome',}"#;

fn signature() -> Value {
    json!({"google": {"thought_signature": "c2ln+/=="}})
}

fn chat_request(stream: bool) -> String {
    let tools = json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
    json!({"model": "m", "messages": [], "stream": stream, "tools": tools}).to_string()
}

fn chat_call(arguments: &str) -> Value {
    json!({"index": 0, "id": "c1", "type": "function", "extra_content": signature(),
        "function": {"name": "get_weather", "arguments": arguments, "provider_specific_fields": {"a": 1}}})
}

#[tokio::test]
async fn chat_keeps_them_whole() {
    let message = json!({"role": "assistant", "content": null, "reasoning_details": [{"data": "x"}],
        "tool_calls": [chat_call(BROKEN)]});
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let fixture = Fixture::new([Answer::json(&answer)]).await;
    let reply = fixture.post("/v1/chat/completions", &[], &chat_request(false)).await;
    let message = &reply.json()["choices"][0]["message"];
    let call = &message["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"city": "Rome"}"#);
    assert_eq!(call["extra_content"], signature());
    assert_eq!(call["function"]["provider_specific_fields"], json!({"a": 1}));
    assert_eq!(message["reasoning_details"], json!([{"data": "x"}]));
}

#[tokio::test]
async fn chat_keeps_them_in_streams_once() {
    for mode in ["held", "live"] {
        let mut second = chat_call(",}");
        second["function"] = json!({"arguments": ",}"});
        second.as_object_mut().unwrap().remove("extra_content");
        let deltas = [
            json!({"role": "assistant", "reasoning_details": [{"data": "x"}], "tool_calls": [chat_call("{\"city\": \"Rome\"")]}),
            json!({"tool_calls": [second]}),
        ];
        let mut text = String::new();
        for delta in deltas {
            let chunk = json!({"id": "a", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
            text += &format!("data: {chunk}\n\n");
        }
        let last = json!({"id": "a", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        text += &format!("data: {last}\n\ndata: [DONE]\n\n");
        let fixture = Fixture::new([Answer::sse(&text)]).await;
        let headers = [("x-toolmend-stream", mode)];
        let reply = fixture.post("/v1/chat/completions", &headers, &chat_request(true)).await;
        let deltas: Vec<Value> =
            reply.events().iter().map(|event| event["choices"][0]["delta"].clone()).collect();
        let calls = deltas.iter().filter_map(|delta| delta["tool_calls"][0].as_object());
        let calls: Vec<_> = calls.collect();
        let arguments: String =
            calls.iter().map(|call| call["function"]["arguments"].as_str().unwrap()).collect();
        assert_eq!(arguments, r#"{"city": "Rome"}"#, "{mode}");
        let signatures: Vec<_> = calls.iter().filter_map(|call| call.get("extra_content")).collect();
        assert_eq!(signatures, [&signature()], "{mode}");
        let details: Vec<_> = deltas.iter().filter_map(|delta| delta.get("reasoning_details")).collect();
        assert_eq!(details, [&json!([{"data": "x"}])], "{mode}");
    }
}

#[tokio::test]
async fn messages_keep_them() {
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "caller": {"type": "direct"},
        "cache_control": {"type": "ephemeral"}, "input": {"city": "Rome", "days": "2"}});
    let answer =
        json!({"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"});
    let fixture = Fixture::new([Answer::json(&answer)]).await;
    let tools = json!([{"name": "get_weather", "input_schema": weather()}]);
    let request = json!({"model": "m", "max_tokens": 9, "messages": [], "tools": tools}).to_string();
    let reply = fixture.post("/v1/messages", &[], &request).await;
    let block = &reply.json()["content"][0];
    assert_eq!(block["input"], json!({"city": "Rome", "days": 2}));
    assert_eq!(block["caller"], json!({"type": "direct"}));
    assert_eq!(block["cache_control"], json!({"type": "ephemeral"}));
}

#[tokio::test]
async fn responses_keep_them_and_the_id_of_the_item() {
    let item = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "namespace": "maps", "phase": "x",
        "status": "completed", "name": "get_weather", "arguments": BROKEN});
    let answer = json!({"id": "resp_1", "status": "completed", "output": [item]});
    let fixture = Fixture::new([Answer::json(&answer)]).await;
    let tools = json!([{"type": "function", "name": "get_weather", "parameters": weather()}]);
    let request = json!({"model": "m", "input": "hi", "tools": tools}).to_string();
    let reply = fixture.post("/v1/responses", &[], &request).await;
    let item = &reply.json()["output"][0];
    assert_eq!(item["arguments"], r#"{"city": "Rome"}"#);
    assert_eq!(
        (&item["id"], &item["namespace"], &item["phase"]),
        (&json!("fc_1"), &json!("maps"), &json!("x"))
    );
}

#[tokio::test]
async fn a_signature_survives_translation_in_both_directions() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [chat_call(BROKEN)]});
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let upstream = Upstream { surface: Some(Protocol::Chat), ..Upstream::new("http://127.0.0.1:1") };
    let config = Config { upstreams: vec![upstream], ..Config::default() };
    let fixture = Fixture::at(config, [Answer::json(&answer), Answer::json(&answer)]).await;
    let tools = json!([{"name": "get_weather", "input_schema": weather()}]);
    let ask = |messages: Value| {
        json!({"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}).to_string()
    };
    let user = json!({"role": "user", "content": "hi"});
    let reply = fixture.post("/v1/messages", &[], &ask(json!([user]))).await;
    let block = &reply.json()["content"][0];
    assert_eq!(block["extra_content"], signature());
    assert_eq!(block.get("index"), None);
    let result = json!({"type": "tool_result", "tool_use_id": block["id"], "content": "sun"});
    let history =
        json!([user, {"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]);
    fixture.post("/v1/messages", &[], &ask(history)).await;
    let sent = fixture.received()[1].json();
    assert_eq!(sent["messages"][1]["tool_calls"][0]["extra_content"], signature());
}
