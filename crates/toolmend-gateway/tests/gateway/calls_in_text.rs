//! Calls that the model wrote as text, in every protocol.

use serde_json::{Value, json};
use toolmend_gateway::{Config, Gateway, RefusalMode, Upstream};

use crate::fixture::{Answer, Fixture, weather};

const LEAK: &str = "Let me see. <tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\",}}\n</tool_call>";

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}])
}

fn chat(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}], "tools": tools()})
        .to_string()
}

/// Returns a chat stream in which the text of a member arrives in pieces of this many characters.
fn pieces(field: &str, text: &str, size: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for piece in chars.chunks(size) {
        let piece: String = piece.iter().collect();
        out += &format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"role": "assistant", field: piece}}]})
        );
    }
    out + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":5}}\n\ndata: [DONE]\n\n"
}

/// Reads text, reasoning and calls of a chat stream.
fn read(events: &[Value]) -> (String, String, Vec<Value>, Vec<Value>) {
    let (mut text, mut thoughts, mut calls, mut reasons) =
        (String::new(), String::new(), Vec::new(), Vec::new());
    for event in events {
        for choice in event["choices"].as_array().into_iter().flatten() {
            let delta = &choice["delta"];
            text += delta["content"].as_str().unwrap_or_default();
            thoughts += delta["reasoning_content"].as_str().unwrap_or_default();
            calls.extend(delta["tool_calls"].as_array().into_iter().flatten().cloned());
            reasons.extend(choice.get("finish_reason").filter(|reason| !reason.is_null()).cloned());
        }
    }
    (text, thoughts, calls, reasons)
}

#[tokio::test]
async fn chat_finds_calls_in_any_pieces() {
    let fixture = Fixture::new([]).await;
    for size in [1, 2, 3, 7, 1000] {
        fixture.answer(Answer::sse(pieces("content", LEAK, size)));
        let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
        let (text, _, calls, reasons) = read(&reply.events());
        assert_eq!(text.trim(), "Let me see.", "{size}");
        assert_eq!(calls.len(), 1, "{size}: {}", reply.text());
        assert_eq!(calls[0]["index"], 0);
        assert_eq!(
            serde_json::from_str::<Value>(calls[0]["function"]["arguments"].as_str().unwrap()).unwrap(),
            json!({"city": "Rome"})
        );
        assert_eq!(reasons, [json!("tool_calls")]);
        assert!(reply.text().contains("\"total_tokens\":5"), "usage stays");
        assert!(reply.comments()[0].contains("call_in_text"));
    }
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": LEAK}, "finish_reason": "stop"}]});
    fixture.answer(Answer::json(&whole));
    let reply = fixture.post("/v1/chat/completions", &[], &chat(false)).await;
    let choice = &reply.json()["choices"][0];
    assert_eq!(choice["message"]["content"].as_str().unwrap().trim(), "Let me see.");
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], "get_weather");
    assert_eq!(choice["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn markers_in_plain_text_pass_byte_for_byte() {
    let fixture = Fixture::new([]).await;
    for text in [
        "a < b, <to be or not>, <tool",
        "if x <tool_calm> then y",
        "{\"city\": 1} is JSON",
        "```json\n{\"a\": 1}\n```",
        "\n\n Hello \n\n",
    ] {
        for size in [1, 4] {
            let stream = pieces("content", text, size);
            fixture.answer(Answer::sse(&stream));
            let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
            assert_eq!(reply.text(), stream, "{text}");
        }
    }
    // Without tools, nothing is a call.
    let stream = pieces("content", LEAK, 3);
    fixture.answer(Answer::sse(&stream));
    let request = json!({"model": "m", "stream": true, "messages": []}).to_string();
    assert_eq!(fixture.post("/v1/chat/completions", &[], &request).await.text(), stream);
    fixture.answer(Answer::sse(&stream));
    let request =
        json!({"model": "m", "stream": true, "messages": [], "tools": tools(), "tool_choice": "none"})
            .to_string();
    assert_eq!(fixture.post("/v1/chat/completions", &[], &request).await.text(), stream);
}

#[tokio::test]
async fn a_call_in_the_reasoning_counts_only_if_nothing_else_is_said() {
    let fixture = Fixture::new([]).await;
    for size in [1, 5, 1000] {
        fixture.answer(Answer::sse(pieces("reasoning_content", LEAK, size)));
        let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
        let (text, thoughts, calls, reasons) = read(&reply.events());
        assert_eq!(
            (text.as_str(), thoughts.trim(), calls.len()),
            ("", "Let me see.", 1),
            "{size}: {}",
            reply.text()
        );
        assert_eq!(reasons, [json!("tool_calls")]);

        let thought = pieces("reasoning_content", LEAK, size);
        let answer = pieces("content", "No need.", size);
        let stream =
            thought.split("data: {\"choices\":[{\"index\":0,\"delta\":{},").next().unwrap().to_owned()
                + &answer;
        fixture.answer(Answer::sse(&stream));
        let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
        let (text, thoughts, calls, reasons) = read(&reply.events());
        assert_eq!(
            (text.as_str(), thoughts.as_str(), calls.len()),
            ("No need.", LEAK, 0),
            "{size}: {}",
            reply.text()
        );
        assert_eq!(reasons, [json!("stop")]);
    }
}

#[tokio::test]
async fn messages_finds_calls() {
    let fixture = Fixture::new([]).await;
    let request = |stream: bool| {
        json!({"model": "m", "max_tokens": 9, "stream": stream, "messages": [], "tools": [{"name": "get_weather", "input_schema": weather()}]}).to_string()
    };
    fixture.answer(Answer::json(&json!({"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": LEAK}], "stop_reason": "end_turn", "usage": {}})));
    let answer = fixture.post("/v1/messages", &[], &request(false)).await.json();
    assert_eq!(answer["content"].as_array().unwrap().len(), 2);
    assert_eq!(answer["content"][1]["input"], json!({"city": "Rome"}));
    assert_eq!(answer["stop_reason"], "tool_use");
    for (text, blocks) in [(LEAK, "text tool_use"), (&LEAK[12..], "tool_use")] {
        let mut stream = String::from(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
        );
        stream += "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
        for piece in text.as_bytes().chunks(4) {
            let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": String::from_utf8_lossy(piece)}});
            stream += &format!("event: content_block_delta\ndata: {delta}\n\n");
        }
        stream += "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
        stream += "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        fixture.answer(Answer::sse(&stream));
        let reply = fixture.post("/v1/messages", &[], &request(true)).await;
        let kinds: Vec<String> = reply
            .events()
            .iter()
            .filter_map(|event| event["content_block"]["type"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(kinds.join(" "), blocks, "{}", reply.text());
        assert!(
            reply.text().contains("\"stop_reason\":\"tool_use\"")
                && reply.text().contains("\"output_tokens\":7")
        );
        let opened = reply.text().matches("content_block_start\"").count();
        assert_eq!(opened, reply.text().matches("content_block_stop\"").count());
    }
}

#[tokio::test]
async fn responses_finds_calls() {
    let fixture = Fixture::new([]).await;
    let request = |stream: bool| {
        json!({"model": "m", "stream": stream, "input": "hi", "tools": [{"type": "function", "name": "get_weather", "parameters": weather()}]}).to_string()
    };
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": LEAK, "annotations": []}]});
    let response = json!({"id": "r", "object": "response", "status": "completed", "output": [message]});
    fixture.answer(Answer::json(&response));
    let answer = fixture.post("/v1/responses", &[], &request(false)).await.json();
    let kinds: Vec<&str> =
        answer["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call"]);
    assert_eq!(answer["output"][0]["content"][0]["text"].as_str().unwrap().trim(), "Let me see.");
    for text in [LEAK, &LEAK[12..]] {
        let mut message = message.clone();
        message["content"][0]["text"] = json!(text);
        let mut events = vec![
            json!({"type": "response.created", "response": {"id": "r", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1", "content": []}}),
            json!({"type": "response.content_part.added", "output_index": 0, "content_index": 0, "item_id": "msg_1", "part": {"type": "output_text", "text": ""}}),
        ];
        events.extend(text.as_bytes().chunks(4).map(|piece| {
            json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "msg_1", "delta": String::from_utf8_lossy(piece)})
        }));
        events.push(json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "item_id": "msg_1", "text": text}));
        events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": message}));
        events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [message]}}));
        let stream: String = events
            .iter()
            .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
            .collect();
        fixture.answer(Answer::sse(&stream));
        let reply = fixture.post("/v1/responses", &[], &request(true)).await;
        assert!(!reply.text().contains("tool_call>"), "{}", reply.text());
        let events = reply.events();
        let done: Vec<&Value> = events
            .iter()
            .filter(|event| event["type"] == "response.output_item.done")
            .map(|event| &event["item"])
            .collect();
        let last = events.last().unwrap()["response"]["output"].as_array().unwrap();
        assert_eq!(last.iter().collect::<Vec<_>>(), done, "{}", reply.text());
        assert_eq!(done.last().unwrap()["name"], "get_weather");
        assert_eq!(done.len(), if text == LEAK { 2 } else { 1 }, "{}", reply.text());
    }
}

#[tokio::test]
async fn ollama_and_completions_find_calls() {
    let fixture = Fixture::new([]).await;
    let request = |stream: bool| {
        json!({"model": "m", "stream": stream, "messages": [], "prompt": "x", "tools": tools()}).to_string()
    };
    fixture.answer(Answer::json(&json!({"model": "m", "message": {"role": "assistant", "content": LEAK}, "done": true, "done_reason": "stop"})));
    let answer = fixture.post("/api/chat", &[], &request(false)).await.json();
    assert_eq!(answer["message"]["tool_calls"][0]["function"]["arguments"], json!({"city": "Rome"}));
    let lines: String = LEAK.as_bytes().chunks(5).map(|piece| format!("{}\n", json!({"model": "m", "message": {"role": "assistant", "content": String::from_utf8_lossy(piece)}, "done": false}))).collect();
    fixture.answer(Answer::lines(&(lines + "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":5}\n")));
    let reply = fixture.post("/api/chat", &[], &request(true)).await;
    assert!(
        !reply.text().contains("tool_call>") && reply.text().contains("\"eval_count\":5"),
        "{}",
        reply.text()
    );
    assert!(reply.text().contains(r#""arguments":{"city": "Rome"}"#), "{}", reply.text());
}

#[tokio::test]
async fn calls_stay_text_in_protocols_without_calls() {
    let fixture = Fixture::new([]).await;
    let request =
        |stream: bool| json!({"model": "m", "stream": stream, "prompt": "x", "tools": tools()}).to_string();
    let completion = |text: &str, reason: Value| json!({"choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": reason}]});
    let stream = |text: &str| {
        let letters: Vec<char> = text.chars().collect();
        let pieces =
            letters.chunks(7).map(|piece| completion(&piece.iter().collect::<String>(), Value::Null));
        let frames: String =
            pieces.chain([completion("", json!("stop"))]).map(|chunk| format!("data: {chunk}\n\n")).collect();
        frames + "data: [DONE]\n\n"
    };
    // A dialect with ids gets one if the model left it out.
    let without_id = |text: &str| text.split(", \"id\"").next().unwrap_or_default().to_owned();
    let clean =
        "Hi <think>so</think>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n";
    fixture.answer(Answer::json(&completion(clean, json!("stop"))));
    let reply = fixture.post("/v1/completions", &[], &request(false)).await;
    assert_eq!((reply.json()["choices"][0]["text"].as_str(), reply.summary()), (Some(clean), "clean"));
    fixture.answer(Answer::sse(stream(clean)));
    assert_eq!(fixture.post("/v1/completions", &[], &request(true)).await.text(), stream(clean));

    for (broken, expected) in [
        ("Hi\n[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {'city': 'Rome',}}]", "[TOOL_CALLS]"),
        (
            "Hi\n<tool_call>\n<function=Get_Weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
            "<function=get_weather>\n<parameter=city>\nRome\n</parameter>",
        ),
    ] {
        fixture.answer(Answer::json(&completion(broken, json!("stop"))));
        let reply = fixture.post("/v1/completions", &[], &request(false)).await;
        let choice = reply.json()["choices"][0].clone();
        let text = choice["text"].as_str().unwrap();
        assert!(text.starts_with("Hi") && text.contains(expected), "{text}");
        assert!(reply.summary().starts_with("mended"), "{}", reply.summary());
        let told = choice["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(told).unwrap(), json!({"city": "Rome"}), "{choice}");

        fixture.answer(Answer::sse(stream(broken)));
        let reply = fixture.post("/v1/completions", &[], &request(true)).await;
        let streamed: String = reply
            .events()
            .iter()
            .map(|event| event["choices"][0]["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(without_id(&streamed), without_id(text), "{}", reply.text());

        fixture.answer(Answer::json(
            &json!({"model": "m", "response": broken, "done": true, "done_reason": "stop"}),
        ));
        let reply = fixture.post("/api/generate", &[], &request(false)).await.json();
        assert_eq!(without_id(reply["response"].as_str().unwrap()), without_id(text), "{reply}");
    }
}

/// A custom dialect of the gateway's owner.
#[tokio::test]
async fn custom_dialects_are_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let row = "[[dialect]]\nname = \"acme\"\ncall = \"<|act|>{name}<|with|>{arguments}<|/act|>\"\n";
    std::fs::write(file.path(), row).unwrap();
    let config = Config { dialects: Some(file.path().to_owned()), ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    for size in [1, 1000] {
        let text = "Let me see.<|act|>get_weather<|with|>{'city': 'Rome'}<|/act|>";
        fixture.answer(Answer::sse(pieces("content", text, size)));
        let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
        let (text, _, calls, reasons) = read(&reply.events());
        assert_eq!((text.as_str(), calls.len()), ("Let me see.", 1), "{size}: {}", reply.text());
        assert_eq!(reasons, ["tool_calls"]);
    }
    std::fs::write(file.path(), "[[dialect]]\nname = \"acme\"\ncall = \"{name}\"\n").unwrap();
    let config = Config { dialects: Some(file.path().to_owned()), ..Config::default() };
    let error = Gateway::new(config).unwrap_err().to_string();
    assert!(error.contains("expected {arguments} or {parameters}"), "{error}");
}

/// The chat template of a server's models.
#[tokio::test]
async fn dialects_of_templates_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}\
                    {% for call in message.tool_calls or [] %}<|act|>{{ call.function.name }}<|with|>\
                    {{ call.function.arguments | tojson }}<|/act|>{% endfor %}{{ eos_token }}{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|><think>{% endif %}";
    std::fs::write(folder.path().join("chat_template.jinja"), template).unwrap();
    std::fs::write(folder.path().join("tokenizer_config.json"), r#"{"eos_token": "<|end|>"}"#).unwrap();
    let upstream = Upstream { template: Some(folder.path().to_owned()), ..Upstream::new("http://fixture") };
    let config = || Config { upstreams: vec![upstream.clone()], ..Config::default() };
    let fixture = Fixture::at(config(), []).await;
    // The prompt opens the reasoning, but the server may have removed it.
    let text = "Let me see.<|act|>get_weather<|with|>{'city': 'Rome'}<|/act|>";
    fixture.answer(Answer::sse(pieces("content", text, 1)));
    let reply = fixture.post("/v1/chat/completions", &[], &chat(true)).await;
    let (text, _, calls, reasons) = read(&reply.events());
    assert_eq!((text.as_str(), calls.len()), ("Let me see.", 1), "{}", reply.text());
    assert_eq!(reasons, ["tool_calls"]);
    std::fs::write(folder.path().join("chat_template.jinja"), "{{ messages[0].content }}").unwrap();
    let error = Gateway::new(config()).unwrap_err().to_string();
    assert!(error.contains("the template shows no calls"), "{error}");
}

#[tokio::test]
async fn an_undeclared_name_is_refused_in_text_too() {
    let text = "<tool_call>\n{\"name\": \"launch_rocket\", \"arguments\": {}}\n</tool_call>";
    let answer = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
    let config = Config { refusal: RefusalMode::Feedback, ..Config::default() };
    let fixture = Fixture::with(config, [Answer::json(&answer)]).await;
    let reply = fixture.post("/v1/chat/completions", &[], &chat(false)).await;
    let choice = &reply.json()["choices"][0];
    assert!(reply.summary().starts_with("rejected"), "{}", reply.summary());
    assert!(choice["message"].get("tool_calls").is_none() && choice["finish_reason"] == "stop", "{choice}");
    assert!(
        choice["message"]["content"].as_str().unwrap().contains("get_weather"),
        "what there is: {choice}"
    );
}
