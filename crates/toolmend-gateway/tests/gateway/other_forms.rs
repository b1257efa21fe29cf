//! Servers that answer in another form than the client asked for, or that reject what clients of a protocol send.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolmend_gateway::{Config, Upstream};
use toolmend_protocol::Protocol;

use crate::fixture::{Answer, Fixture, Reply, weather};

const BROKEN: &str = r#"{"city": 'Rome',}"#;
const MENDED: &str = r#"{"city": "Rome"}"#;

/// One protocol: its path, a request, an answer with a broken call as a whole, and the same as a stream.
struct Surface {
    path: &'static str,
    request: fn(bool) -> Value,
    whole: fn() -> Value,
    stream: fn() -> Vec<Value>,
    /// Returns the text and the arguments of the call of a whole answer.
    read: fn(&Value) -> (String, Value),
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

const CHAT: Surface = Surface {
    path: "/v1/chat/completions",
    request: |stream| {
        let tools =
            json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
        json!({"model": "m", "messages": [], "tools": tools, "stream": stream, "stream_options": {"include_usage": true}})
    },
    whole: || {
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": BROKEN}});
        let message = json!({"role": "assistant", "content": "Hm.", "tool_calls": [call]});
        let usage = json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7});
        json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage})
    },
    stream: || {
        let call = json!({"index": 0, "id": "c", "type": "function", "function": {"name": "get_weather", "arguments": BROKEN}});
        let delta = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        vec![
            delta(json!({"role": "assistant", "content": "Hm."}), Value::Null),
            delta(json!({"tool_calls": [call]}), Value::Null),
            delta(json!({}), json!("tool_calls")),
            json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}),
        ]
    },
    read: |answer| {
        let message = &answer["choices"][0]["message"];
        assert_eq!(answer["usage"]["total_tokens"], 7, "{answer}");
        (text(&message["content"]), message["tool_calls"][0]["function"]["arguments"].clone())
    },
};

const MESSAGES: Surface = Surface {
    path: "/v1/messages",
    request: |stream| {
        let tools = json!([{"name": "get_weather", "input_schema": weather()}]);
        json!({"model": "m", "max_tokens": 9, "messages": [], "tools": tools, "stream": stream})
    },
    whole: || {
        let content = json!([{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "c", "name": "GetWeather", "input": {"city": "Rome"}}]);
        json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}})
    },
    stream: || {
        let message = json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}});
        vec![
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hm."}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c", "name": "GetWeather", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": MENDED}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}}),
            json!({"type": "message_stop"}),
        ]
    },
    read: |answer| {
        assert_eq!(
            (&answer["stop_reason"], &answer["usage"]["output_tokens"]),
            (&json!("tool_use"), &json!(4)),
            "{answer}"
        );
        (text(&answer["content"][0]["text"]), answer["content"][1]["input"].clone())
    },
};

const RESPONSES: Surface = Surface {
    path: "/v1/responses",
    request: |stream| {
        let tools = json!([{"type": "function", "name": "get_weather", "parameters": weather()}]);
        json!({"model": "m", "input": "hi", "tools": tools, "stream": stream})
    },
    whole: || {
        let message = json!({"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hm.", "annotations": []}]});
        let call = json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "get_weather", "arguments": BROKEN, "status": "completed"});
        json!({"id": "x", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [message, call], "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}})
    },
    stream: || {
        let whole = (RESPONSES.whole)();
        let (message, call) = (&whole["output"][0], &whole["output"][1]);
        let mut events = Vec::new();
        for (index, item) in [message, call].into_iter().enumerate() {
            let mut begun = item.clone();
            begun["content"] = json!([]);
            if index == 1 {
                begun["arguments"] = json!("");
            }
            events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
            events.push(if index == 0 {
                json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "i", "delta": "Hm."})
            } else {
                json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "fc", "delta": BROKEN})
            });
            events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        }
        events.push(json!({"type": "response.completed", "response": whole}));
        events
    },
    read: |answer| {
        assert_eq!(answer["usage"]["total_tokens"], 7, "{answer}");
        (text(&answer["output"][0]["content"][0]["text"]), answer["output"][1]["arguments"].clone())
    },
};

fn sse(events: &[Value]) -> String {
    let mut out = String::new();
    for event in events {
        if let Some(name) = event["type"].as_str() {
            out += &format!("event: {name}\n");
        }
        out += &format!("data: {event}\n\n");
    }
    if events[0].get("type").is_none() { out + "data: [DONE]\n\n" } else { out }
}

#[track_caller]
fn assert_right(surface: &Surface, whole: &Value) {
    let (text, arguments) = (surface.read)(whole);
    let arguments = arguments.as_str().map_or(arguments.clone(), |text| serde_json::from_str(text).unwrap());
    assert_eq!((text.as_str(), arguments), ("Hm.", json!({"city": "Rome"})), "{whole}");
}

#[tokio::test]
async fn a_stream_for_a_plain_request_becomes_whole() {
    for surface in [CHAT, MESSAGES, RESPONSES] {
        let stream = sse(&(surface.stream)());
        // Some servers do not even say that they stream.
        for answer in [Answer::sse(&stream), Answer::text(&stream)] {
            let fixture = Fixture::new([answer]).await;
            let reply = fixture.post(surface.path, &[], &(surface.request)(false).to_string()).await;
            assert_eq!(reply.headers["content-type"], "application/json", "{}", reply.text());
            assert!(reply.summary().starts_with("mended"), "{}", reply.summary());
            assert_right(&surface, &reply.json());
        }
    }
}

#[tokio::test]
async fn a_whole_answer_to_a_request_for_a_stream_becomes_a_stream() {
    for surface in [CHAT, MESSAGES, RESPONSES] {
        let fixture = Fixture::new([Answer::json(&(surface.whole)())]).await;
        let reply = fixture.post(surface.path, &[], &(surface.request)(true).to_string()).await;
        assert_eq!(reply.headers["content-type"], "text/event-stream");
        assert!(reply.summary().starts_with("mended"), "{}", reply.summary());
        // The way back shows that the stream is complete.
        let again = Fixture::new([Answer::sse(reply.text())]).await;
        let whole = again.post(surface.path, &[], &(surface.request)(false).to_string()).await;
        assert_right(&surface, &whole.json());
    }
}

#[tokio::test]
async fn what_only_the_vendor_knows_survives_in_a_stream() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": MENDED}, "extra_content": {"google": {"thought_signature": "s"}}});
    let details = json!([{"type": "reasoning.encrypted", "data": "abc", "id": "r1"}]);
    let message =
        json!({"role": "assistant", "content": "Hm.", "reasoning_details": details, "tool_calls": [call]});
    let choices = json!([{"index": 0, "message": message, "finish_reason": "tool_calls", "stop_reason": 151_645}, {"index": 1, "message": {"role": "assistant", "content": "Two."}, "finish_reason": "stop"}]);
    let chat = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "system_fingerprint": "f", "choices": choices, "usage": {"total_tokens": 7}});
    let fixture = Fixture::new([Answer::json(&chat)]).await;
    let events = fixture.post(CHAT.path, &[], &(CHAT.request)(true).to_string()).await.events();
    assert_eq!(events[0]["choices"][0]["delta"]["reasoning_details"], details);
    assert_eq!(events[1]["choices"][0]["delta"]["tool_calls"][0]["extra_content"], call["extra_content"]);
    assert_eq!(events[2]["choices"][0]["stop_reason"], 151_645);
    assert_eq!(
        (&events[3]["choices"][0]["index"], &events[3]["choices"][0]["delta"]["content"]),
        (&json!(1), &json!("Two."))
    );
    assert!(
        events
            .iter()
            .all(|event| event["system_fingerprint"] == "f" && event["object"] == "chat.completion.chunk")
    );
    assert_eq!(events.last().unwrap()["usage"]["total_tokens"], 7);

    let blocks = json!([
        {"type": "thinking", "thinking": "Let me think.", "signature": "sig+/="},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "Hm.", "citations": [{"type": "char_location", "cited_text": "c"}]},
        {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
        {"type": "tool_use", "id": "c", "name": "get_weather", "input": {"city": "Rome"}, "caller": {"type": "direct"}},
    ]);
    let whole = json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4, "service_tier": "standard"}});
    let fixture = Fixture::new([Answer::json(&whole)]).await;
    let events = fixture.post(MESSAGES.path, &[], &(MESSAGES.request)(true).to_string()).await.events();
    assert_eq!(assemble_message(&events), whole);

    let reasoning = json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "S."}], "content": [{"type": "reasoning_text", "text": "T."}], "encrypted_content": "enc"});
    let mut response = (RESPONSES.whole)();
    response["output"].as_array_mut().unwrap().splice(
        0..0,
        [reasoning.clone(), json!({"type": "web_search_call", "id": "ws", "status": "completed"})],
    );
    response["output"][3]["arguments"] = json!(MENDED);
    let fixture = Fixture::new([Answer::json(&response)]).await;
    let events = fixture.post(RESPONSES.path, &[], &(RESPONSES.request)(true).to_string()).await.events();
    assert_eq!(events.last().unwrap()["response"], response);
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(json!(done), response["output"]);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let deltas: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas, format!("S.T.Hm.{MENDED}"));
}

/// Puts a message together as clients do.
fn assemble_message(events: &[Value]) -> Value {
    let mut message = Value::Null;
    for event in events {
        let at = usize::try_from(event["index"].as_u64().unwrap_or(0)).unwrap();
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let block = &mut message["content"][at];
                let add = |block: &mut Value, name: &str| {
                    block[name] = json!(text(&block[name]) + &text(&delta[name]));
                };
                match delta["type"].as_str().unwrap() {
                    "input_json_delta" => {
                        block["input"] =
                            serde_json::from_str(delta["partial_json"].as_str().unwrap()).unwrap();
                    }
                    kind => add(block, kind.strip_suffix("_delta").unwrap()),
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"] = event["usage"].clone();
            }
            _ => {}
        }
    }
    message
}

#[tokio::test]
async fn a_text_completion_becomes_a_stream_too() {
    let whole = json!({"id": "x", "object": "text_completion", "created": 1, "model": "m", "choices": [{"index": 0, "text": "Hm.", "finish_reason": "stop"}], "usage": {"total_tokens": 7}});
    let fixture = Fixture::new([Answer::json(&whole)]).await;
    let request =
        json!({"model": "m", "prompt": "x", "stream": true, "stream_options": {"include_usage": true}});
    let reply = fixture.post("/v1/completions", &[], &request.to_string()).await;
    let events = reply.events();
    assert_eq!(
        (&events[0]["choices"], &events[1]["usage"]),
        (&whole["choices"], &whole["usage"]),
        "{}",
        reply.text()
    );
    assert!(reply.text().ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn the_other_form_is_translated_too() {
    let upstream = Upstream { surface: Some(Protocol::Chat), ..Upstream::new("http://127.0.0.1:1") };
    let config = Config { upstreams: vec![upstream], ..Config::default() };
    let fixture =
        Fixture::at(config, [Answer::json(&(CHAT.whole)()), Answer::sse(sse(&(CHAT.stream)()))]).await;
    let reply = fixture.post(MESSAGES.path, &[], &(MESSAGES.request)(true).to_string()).await;
    let kinds: Vec<String> = reply.events().iter().map(|event| text(&event["type"])).collect();
    assert_eq!(
        (kinds.first().unwrap().as_str(), kinds.last().unwrap().as_str()),
        ("message_start", "message_stop")
    );
    let reply = fixture.post(MESSAGES.path, &[], &(MESSAGES.request)(false).to_string()).await;
    assert_right(&MESSAGES, &reply.json());
}

#[tokio::test]
async fn an_error_in_a_stream_is_never_taken_for_an_answer() {
    let broken = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hm\"}}]}\n\n";
    let fixture = Fixture::new([Answer::sse(broken)]).await;
    let reply = fixture.post(CHAT.path, &[], &(CHAT.request)(false).to_string()).await;
    assert_eq!((reply.summary(), reply.text()), ("unread", broken));
}

#[tokio::test]
async fn a_response_that_was_never_announced_is_announced() {
    let fixture = Fixture::new([Answer::sse(sse(&(RESPONSES.stream)()))]).await;
    let reply = fixture.post(RESPONSES.path, &[], &(RESPONSES.request)(true).to_string()).await;
    let events = reply.events();
    assert_eq!(events[0]["type"], "response.created", "{}", reply.text());
    let id = &events[0]["response"]["id"];
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["response"]["id"]), (&json!("response.completed"), id));
    let indexes: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(indexes, (0..events.len() as u64).collect::<Vec<_>>());
    assert_right(&RESPONSES, &last["response"]);
}

/// A server whose endpoint for responses knows only a part of what Codex sends, as that of llama.cpp.
#[tokio::test]
async fn a_server_that_rejects_the_history_of_an_agent_is_asked_in_chat() {
    let rejected = || {
        Answer::json(&json!({"error": {"code": 400, "message": "item['content'] is not an array", "type": "invalid_request_error"}})).status(400)
    };
    let not_empty = || Answer::json(&json!({"error": {"message": "messages is required"}})).status(400);
    let first = Answer::json(&(RESPONSES.whole)());
    let script =
        [first, rejected(), not_empty(), Answer::json(&(CHAT.whole)()), Answer::json(&(CHAT.whole)())];
    let fixture = Fixture::new(script).await;
    let paths = || fixture.received().iter().map(|request| request.path.clone()).collect::<Vec<_>>();
    let mut request = (RESPONSES.request)(false);
    fixture.post(RESPONSES.path, &[], &request.to_string()).await;
    request["input"] = json!([
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{\"city\":\"Rome\"}"},
        {"type": "function_call_output", "call_id": "c", "output": "sun"},
    ]);
    let reply = fixture.post(RESPONSES.path, &[], &request.to_string()).await;
    assert_right(&RESPONSES, &reply.json());
    assert_eq!(paths()[1..], [RESPONSES.path, CHAT.path, CHAT.path]);
    // From now on it is asked in chat at once.
    let reply = fixture.post(RESPONSES.path, &[], &request.to_string()).await;
    assert_right(&RESPONSES, &reply.json());
    assert_eq!(paths()[4..], [CHAT.path]);
}

#[tokio::test]
async fn a_request_that_is_wrong_in_every_protocol_gets_the_first_error() {
    let error = |message: &str| Answer::json(&json!({"error": {"message": message}})).status(400);
    let fixture = Fixture::new([error("first"), error("empty"), error("second")]).await;
    let reply = fixture.post(RESPONSES.path, &[], &(RESPONSES.request)(false).to_string()).await;
    assert_eq!((reply.status.as_u16(), reply.json()["error"]["message"].as_str()), (400, Some("first")));
}

/// Serves one request on each of the first connections and closes it when the next arrives. Returns how many requests came.
async fn close_kept_connections(listener: TcpListener, answers: bool) {
    let body = (CHAT.whole)().to_string();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        if stream.read(&mut request).await.unwrap() == 0 || !answers {
            continue;
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        // The next request arrives and is not answered.
        let _ = stream.read(&mut request).await;
    }
}

async fn ask_closing_server(answers: bool, times: usize) -> Vec<Reply> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = Upstream {
        surface: Some(Protocol::Chat),
        ..Upstream::new(format!("http://{}", listener.local_addr().unwrap()))
    };
    tokio::spawn(close_kept_connections(listener, answers));
    let config = Config { upstreams: vec![upstream], threads: 1, ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    let mut replies = Vec::new();
    for _ in 0..times {
        replies.push(fixture.post(CHAT.path, &[], &(CHAT.request)(false).to_string()).await);
    }
    replies
}

#[tokio::test]
async fn a_kept_connection_that_closes_under_a_request_is_no_error() {
    for reply in ask_closing_server(true, 4).await {
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    // A server that answers nothing on a new connection saw the request, so it is not repeated.
    assert_eq!(ask_closing_server(false, 1).await[0].status, 502);
}
