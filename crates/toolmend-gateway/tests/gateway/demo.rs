//! The demo server behind the gateway: what a newcomer sees.

use serde_json::{Value, json};
use toolmend_gateway::{Config, Upstream, start_demo};

use crate::fixture::{Fixture, weather};

async fn fixture() -> Fixture {
    let demo = start_demo().await.unwrap();
    Fixture::with(
        Config { upstreams: vec![Upstream::new(format!("http://{demo}"))], ..Config::default() },
        [],
    )
    .await
}

#[tokio::test]
async fn every_protocol_gets_calls_that_run() {
    let fixture = fixture().await;
    let chat = json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
    let flat = json!([{"type": "function", "name": "get_weather", "parameters": weather()}]);
    let plain = json!([{"name": "get_weather", "input_schema": weather()}]);
    let said = json!([{"role": "user", "content": "How is the weather?"}]);
    let expected = json!({"city": "Oslo", "days": 3});
    for stream in [false, true] {
        for (path, tools) in [
            ("/v1/chat/completions", &chat),
            ("/v1/messages", &plain),
            ("/v1/responses", &flat),
            ("/api/chat", &chat),
            ("/v1/completions", &chat),
            ("/api/generate", &chat),
        ] {
            for turn in 0..7 {
                let request = json!({"model": "demo", "stream": stream, "messages": said, "input": said, "prompt": format!("Tools: {tools}\nHow is the weather?"), "tools": tools, "max_tokens": 9});
                let reply = fixture.post(path, &[], &request.to_string()).await;
                let call = call(path, stream, reply.text());
                assert_eq!(
                    call,
                    Some(("get_weather".to_owned(), expected.clone())),
                    "{path} {stream} {turn}: {}",
                    reply.text()
                );
            }
        }
    }
}

fn call(path: &str, stream: bool, text: &str) -> Option<(String, Value)> {
    let events: Vec<Value> = match (path, stream) {
        (_, false) => vec![serde_json::from_str(text).unwrap()],
        ("/api/chat" | "/api/generate", true) => {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        _ => text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect(),
    };
    let parsed = |text: &Value| text.as_str().and_then(|text| serde_json::from_str(text).ok());
    let name = |value: &Value| value.as_str().map(str::to_owned);
    if matches!(path, "/v1/completions" | "/api/generate") {
        // In this protocol calls are text and stay text.
        let said = |event: &Value| {
            event["choices"][0]["text"].as_str().or(event["response"].as_str()).map(str::to_owned)
        };
        let said: String = events.iter().filter_map(said).collect();
        let inside = said.split_once("<tool_call>")?.1.split_once("</tool_call>")?.0;
        let call: Value = serde_json::from_str(inside).ok()?;
        // Some models write arguments as a string, which is one notation of a call.
        let arguments = parsed(&call["arguments"]).unwrap_or_else(|| call["arguments"].clone());
        return Some((name(&call["name"])?, arguments));
    }
    events.iter().find_map(|event| match path {
        "/v1/chat/completions" => {
            let said = event["choices"][0].get("delta").unwrap_or(&event["choices"][0]["message"]);
            let function = said["tool_calls"].get(0)?.get("function")?;
            Some((name(&function["name"])?, parsed(&function["arguments"])?))
        }
        "/v1/messages" if stream => {
            let pieces = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str());
            let text = serde_json::from_str(&pieces.collect::<String>())
                .ok()
                .filter(|_| event["type"] == "message_stop")?;
            let begun = events.iter().find(|event| event["content_block"]["type"] == "tool_use")?;
            Some((name(&begun["content_block"]["name"])?, text))
        }
        "/v1/messages" => {
            let used = event["content"].as_array()?.iter().find(|block| block["type"] == "tool_use")?;
            Some((name(&used["name"])?, used["input"].clone()))
        }
        "/v1/responses" => {
            let output = event.get("response").unwrap_or(event)["output"].as_array()?;
            let item = output.iter().find(|item| item["type"] == "function_call")?;
            Some((name(&item["name"])?, parsed(&item["arguments"])?))
        }
        _ => {
            let function = event["message"]["tool_calls"].get(0)?.get("function")?;
            Some((name(&function["name"])?, function["arguments"].clone()))
        }
    })
}
