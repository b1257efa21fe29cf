//! Ollama and text completions.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, weather};

fn request(stream: Option<bool>) -> String {
    let mut request = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}],
    });
    if let Some(stream) = stream {
        request["stream"] = json!(stream);
    }
    request.to_string()
}

fn line(message: &Value, done: bool) -> Value {
    let mut line = json!({"model": "m", "created_at": "t", "message": message, "done": done});
    if done {
        line["done_reason"] = json!("stop");
        line["eval_count"] = json!(7);
    }
    line
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn ollama_lines_pass_unchanged_or_are_mended() {
    let call = |arguments: Value| json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": arguments}}]});
    let said = json!({"role": "assistant", "content": "Hi"});
    let empty = json!({"role": "assistant", "content": ""});
    let clean = lines(&[line(&said, false), line(&call(json!({"city": "Rome"})), false), line(&empty, true)]);
    let fixture = Fixture::new([Answer::lines(&clean)]).await;
    let reply = fixture.post("/api/chat", &[], &request(None)).await;
    assert_eq!((reply.text(), reply.summary()), (clean.as_str(), "stream"));

    for broken in [json!("{'city': 'Rome'}"), json!({"City": "Rome"}), json!({"city": "Rome", "days": "3"})] {
        fixture.answer(Answer::lines(&lines(&[
            line(&said, false),
            line(&call(broken.clone()), false),
            line(&empty, true),
        ])));
        let reply = fixture.post("/api/chat", &[], &request(None)).await;
        let got: Vec<Value> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(got[0]["message"], said);
        assert_eq!(got[1]["message"]["tool_calls"][0]["function"]["arguments"]["city"], "Rome", "{broken}");
        let last = got.last().unwrap();
        assert_eq!((&last["done"], &last["eval_count"]), (&json!(true), &json!(7)));
        assert!(last["toolmend"].as_str().unwrap().starts_with("mended"));

        fixture.answer(Answer::json(&line(&call(broken), true)));
        let reply = fixture.post("/api/chat", &[], &request(Some(false))).await;
        assert_eq!(reply.json()["message"]["tool_calls"][0]["function"]["arguments"]["city"], "Rome");
        assert!(reply.summary().starts_with("mended"));
    }
    fixture.answer(Answer::lines(&lines(&[line(&said, false)])));
    let reply = fixture.post("/api/chat", &[], &request(None)).await;
    assert!(reply.text().lines().last().unwrap().starts_with("{\"error\":"), "{}", reply.text());
}

#[tokio::test]
async fn completions_and_generate_pass_unchanged() {
    let chunk = |text: &str, reason: Value| json!({"id": "c", "object": "text_completion", "choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": reason}]});
    let stream = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        chunk("Hi", Value::Null),
        chunk("", json!("stop"))
    );
    let whole = chunk("Hi <tool_call>", json!("stop")).to_string();
    let generated = lines(&[
        json!({"model": "m", "response": "Hi", "done": false}),
        json!({"model": "m", "response": "", "done": true}),
    ]);
    let fixture = Fixture::new([Answer::sse(&stream), Answer::text(&whole), Answer::lines(&generated)]).await;
    assert_eq!(fixture.post("/v1/completions", &[], r#"{"prompt":"x","stream":true}"#).await.text(), stream);
    assert_eq!(fixture.post("/v1/completions", &[], r#"{"prompt":"x"}"#).await.text(), whole);
    assert_eq!(fixture.post("/api/generate", &[], r#"{"prompt":"x"}"#).await.text(), generated);
    // If the protocol has no tools, those of a request are for the gateway.
    fixture.answer(Answer::text(&chunk("Hi", json!("stop")).to_string()));
    fixture.post("/v1/completions", &[], r#"{"prompt":"x","tools":[{"name":"a"}],"n":1}"#).await;
    assert_eq!(fixture.received()[3].body, r#"{"prompt":"x","n":1}"#);
}
