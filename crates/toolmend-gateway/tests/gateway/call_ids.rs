//! Ids of calls belong to whoever wrote them.

use serde_json::{Value, json};
use toolmend_gateway::{Config, Upstream};
use toolmend_protocol::Protocol;

use crate::fixture::{Answer, Fixture, weather};

const CHAT: &str = "/v1/chat/completions";
const KIMI: &str = "functions.get_weather:0";

fn history(model: &str, id: &str) -> String {
    let call = json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}});
    let messages = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "tool", "tool_call_id": id, "content": "sun"}]);
    let tools = json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
    json!({"model": model, "messages": messages, "tools": tools}).to_string()
}

fn said(text: &str) -> Answer {
    let message = json!({"role": "assistant", "content": text});
    Answer::json(&json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

fn ids(request: &Value) -> (&Value, &Value) {
    (&request["messages"][1]["tool_calls"][0]["id"], &request["messages"][2]["tool_call_id"])
}

#[tokio::test]
async fn ids_stay_as_they_are() {
    let fixture = Fixture::new([]).await;
    for model in ["moonshotai/Kimi-K2-Instruct", "mistral-small", "m"] {
        for id in [KIMI, "call_1", &"x".repeat(90)] {
            let request = history(model, id);
            fixture.answer(said("ok"));
            fixture.post(CHAT, &[], &request).await;
            assert_eq!(fixture.received().last().unwrap().body, request, "{model} {id}");
        }
    }
}

#[tokio::test]
async fn ids_that_the_server_rejects_are_replaced() {
    let error = json!({"object": "error", "message": "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."});
    let rejected = || Answer::json(&error).status(400);
    let fixture = Fixture::new([rejected(), said("ok"), said("again")]).await;
    let reply = fixture.post(CHAT, &[], &history("mistral-small", "call_1")).await;
    assert_eq!((reply.status.as_u16(), reply.summary()), (200, "clean"));
    let second = fixture.received()[1].json();
    let (call, result) = ids(&second);
    assert_eq!((call, call.as_str().unwrap().len()), (result, 9));
    // What was learned holds for the next request.
    fixture.post(CHAT, &[], &history("mistral-small", "call_1")).await;
    assert_eq!(fixture.received().len(), 3);
    assert_eq!(ids(&fixture.received()[2].json()), (call, result));
    // Another model, an error about something else, and a model that depends on its ids.
    for (model, answer) in [
        ("m", Answer::json(&json!({"error": {"message": "the prompt is too long"}})).status(400)),
        ("kimi-k2", rejected()),
    ] {
        fixture.answer(answer);
        let before = fixture.received().len();
        let reply = fixture.post(CHAT, &[], &history(model, KIMI)).await;
        assert_eq!((reply.status.as_u16(), fixture.received().len()), (400, before + 1), "{model}");
        assert!(reply.text().contains("too long") || reply.text().contains("length of 9"));
        assert_eq!(ids(&fixture.received()[before].json()), (&json!(KIMI), &json!(KIMI)));
    }
}

#[tokio::test]
async fn a_model_gets_its_own_ids_back_through_a_translation() {
    let call = json!({"id": KIMI, "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let answer = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let upstream = Upstream { surface: Some(Protocol::Chat), ..Upstream::new("http://127.0.0.1:1") };
    let config = Config { upstreams: vec![upstream], ..Config::default() };
    let fixture = Fixture::at(config, [Answer::json(&answer), said("ok")]).await;
    let tools = json!([{"name": "get_weather", "input_schema": weather()}]);
    let user = json!({"role": "user", "content": "hi"});
    let ask = |messages: Value| {
        json!({"model": "kimi-k2", "max_tokens": 9, "messages": messages, "tools": tools}).to_string()
    };
    let reply = fixture.post("/v1/messages", &[], &ask(json!([user]))).await;
    let block = &reply.json()["content"][0];
    let id = block["id"].as_str().unwrap();
    assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')), "{id}");
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "sun"}]});
    fixture
        .post("/v1/messages", &[], &ask(json!([user, {"role": "assistant", "content": [block]}, result])))
        .await;
    assert_eq!(ids(&fixture.received()[1].json()), (&json!(KIMI), &json!(KIMI)));
}
