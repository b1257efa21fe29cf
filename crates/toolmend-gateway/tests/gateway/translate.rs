//! Clients of every protocol in front of servers of every protocol.

use bytes::Bytes;
use serde_json::{Value, json};
use toolmend_gateway::{Config, Protocol, ToolMode, Upstream};

use crate::fixture::{Answer, AnswerBody, Fixture, Reply};
use crate::test_protocols::{Reason, SIDES, TestProtocol, Turn, parsed, read, sse};

fn config(server: TestProtocol) -> Config {
    // The fixture inserts its own address.
    Config {
        upstreams: vec![Upstream { surface: Some(server.protocol()), ..Upstream::new("http://fixture") }],
        ..Config::default()
    }
}

fn answer(server: TestProtocol, stream: bool, body: Vec<u8>) -> Answer {
    Answer {
        status: 200,
        headers: vec![("content-type", server.kind(stream).to_owned())],
        body: AnswerBody::Whole(body),
    }
}

/// Sends a request of one protocol to a server of another.
async fn send_through(
    client: TestProtocol,
    server: TestProtocol,
    stream: bool,
    answers: Vec<Answer>,
) -> (Fixture, Reply) {
    let fixture = Fixture::at(config(server), answers).await;
    let reply = fixture
        .post(client.path(), &[("authorization", "Bearer k")], &client.request(stream).to_string())
        .await;
    (fixture, reply)
}

const DAMAGED: &str = "{'city': \"Oslo\", \"days\": \"3\",}";

/// Returns the turn that every pair must produce. Two protocols do not report cached tokens.
fn expected(client: TestProtocol, server: TestProtocol) -> Turn {
    let cached = if client == TestProtocol::Ollama || server == TestProtocol::Ollama { 0 } else { 20 };
    Turn {
        reasoning: "Hm.".into(),
        text: "Let me see.".into(),
        calls: vec![("get_weather".into(), json!({"city": "Oslo", "days": 3}))],
        stop: "calls".into(),
        usage: (50, cached, 7),
    }
}

#[tokio::test]
async fn every_pair_produces_the_same_turn() {
    for client in SIDES {
        for server in SIDES {
            for stream in [false, true] {
                let body = server.answer(stream, DAMAGED, Reason::Calls);
                let (fixture, reply) =
                    send_through(client, server, stream, vec![answer(server, stream, body)]).await;
                let what = format!("{client:?} over {server:?}, stream {stream}: {}", reply.text());
                assert_eq!(reply.status, 200, "{what}");
                assert_eq!(read(client, stream, &reply), expected(client, server), "{what}");
                let got = &fixture.received()[0];
                assert_eq!(got.path, server.path(), "{what}");
                assert_eq!(
                    common_request(server, &got.json()),
                    common_request(client, &client.request(stream)),
                    "{what}\n{}",
                    got.json()
                );
            }
        }
    }
}

/// Returns what a request says in common terms: the system prompt, the turns, the tools, the limit.
fn common_request(side: TestProtocol, body: &Value) -> Value {
    let mut turns = Vec::new();
    let mut system = body["system"].as_str().or(body["instructions"].as_str()).unwrap_or_default().to_owned();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect(),
        _ => String::new(),
    };
    let list = body["messages"].as_array().or(body["input"].as_array()).unwrap();
    for message in list {
        let role = message["role"].as_str().unwrap_or_default();
        match (side, message["type"].as_str().unwrap_or_default()) {
            (TestProtocol::Responses, "function_call") => {
                turns.push(json!(["call", message["name"], parsed(&message["arguments"])]));
            }
            (TestProtocol::Responses, "function_call_output") => {
                turns.push(json!(["result", message["output"]]));
            }
            _ if role == "system" => system = text(&message["content"]),
            _ if role == "tool" => turns.push(json!(["result", message["content"]])),
            (TestProtocol::Messages, _) if message["content"].is_array() => {
                for block in message["content"].as_array().unwrap() {
                    turns.push(match block["type"].as_str().unwrap() {
                        "text" => json!([role, block["text"]]),
                        "tool_use" => json!(["call", block["name"], block["input"]]),
                        _ => json!(["result", text(&block["content"])]),
                    });
                }
            }
            _ if role == "assistant" => {
                for call in message["tool_calls"].as_array().unwrap() {
                    let arguments = &call["function"]["arguments"];
                    let arguments = if arguments.is_string() { parsed(arguments) } else { arguments.clone() };
                    turns.push(json!(["call", call["function"]["name"], arguments]));
                }
            }
            _ => turns.push(json!([role, text(&message["content"])])),
        }
    }
    let tool = &body["tools"][0];
    let function = if tool["function"].is_object() { &tool["function"] } else { tool };
    let schema =
        if function["parameters"].is_object() { &function["parameters"] } else { &function["input_schema"] };
    let limit = ["max_tokens", "max_output_tokens"].iter().find_map(|name| body[*name].as_u64());
    json!([
        system,
        turns,
        function["name"],
        function["description"],
        schema,
        limit.or(body["options"]["num_predict"].as_u64())
    ])
}

#[tokio::test]
async fn the_size_of_the_servers_pieces_does_not_matter() {
    for client in SIDES {
        for server in SIDES {
            let bytes = server.answer(true, DAMAGED, Reason::Calls);
            for size in [1, 13, 200] {
                let (feed, mut fed) = Answer::fed();
                fed.headers = vec![("content-type", server.kind(true).to_owned())];
                for piece in bytes.chunks(size) {
                    feed.send(Ok(Bytes::copy_from_slice(piece))).unwrap();
                }
                drop(feed);
                let (_rig, reply) = send_through(client, server, true, vec![fed]).await;
                assert_eq!(
                    read(client, true, &reply),
                    expected(client, server),
                    "{client:?} over {server:?} in pieces of {size}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_truncated_call_never_runs() {
    for client in SIDES {
        for server in SIDES {
            for stream in [false, true] {
                let body = server.answer(stream, "{\"city\": \"Os", Reason::Length);
                let (_rig, reply) =
                    send_through(client, server, stream, vec![answer(server, stream, body)]).await;
                let turn = read(client, stream, &reply);
                let stubs = turn.calls.iter().filter(|(_, input)| input.get("__unparsedToolInput").is_some());
                // Agents of one protocol give up at the limit.
                let reason = if client == TestProtocol::Responses { "calls" } else { "length" };
                assert_eq!(
                    (turn.calls.len(), stubs.count(), turn.stop.as_str()),
                    (1, 1, reason),
                    "{client:?} over {server:?}, stream {stream}: {}",
                    reply.text()
                );
            }
        }
    }
}

#[tokio::test]
async fn errors_are_in_the_clients_form() {
    let errors = [
        (TestProtocol::Chat, json!({"error": {"message": "too long", "type": "x"}})),
        (
            TestProtocol::Messages,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}),
        ),
        (TestProtocol::Responses, json!({"error": {"message": "too long", "type": "x", "code": null}})),
        (TestProtocol::Ollama, json!({"error": "too long"})),
    ];
    for client in SIDES {
        for (server, body) in &errors {
            let refusal = Answer::json(body).status(429).header("retry-after", "7");
            let (_rig, reply) = send_through(client, *server, true, vec![refusal]).await;
            assert_eq!((reply.status.as_u16(), reply.headers["retry-after"].to_str().unwrap()), (429, "7"));
            let shown = reply.json();
            let message =
                if client == TestProtocol::Ollama { &shown["error"] } else { &shown["error"]["message"] };
            assert_eq!(message, "too long", "{client:?} over {server:?}: {shown}");
            if client == TestProtocol::Messages && *server != client {
                assert_eq!(
                    (&shown["type"], &shown["error"]["type"]),
                    (&json!("error"), &json!("rate_limit_error"))
                );
            }
        }
    }
}

/// Whether the client sees that a stream broke off.
fn ends_with_error(client: TestProtocol, reply: &Reply) -> bool {
    match client {
        TestProtocol::Chat => reply.events().last().unwrap()["error"].is_object(),
        TestProtocol::Messages => reply.events().last().unwrap()["type"] == "error",
        TestProtocol::Responses => reply.events().last().unwrap()["type"] == "response.failed",
        TestProtocol::Ollama => reply.text().lines().last().unwrap().starts_with("{\"error\":"),
    }
}

/// Returns the stream of a server up to the frame with this word, and nothing after it.
fn cut_after(server: TestProtocol, word: &str) -> Vec<u8> {
    let mut body = server.answer(true, "{\"city\": \"Oslo\"}", Reason::Calls);
    let text = String::from_utf8(body.clone()).unwrap();
    let at = text.find(word).unwrap();
    body.truncate(at + text[at..].find('\n').unwrap() + 1);
    if server != TestProtocol::Ollama {
        body.push(b'\n');
    }
    body
}

#[tokio::test]
async fn a_stream_without_an_end_is_an_error_unless_its_call_is_complete() {
    for client in SIDES {
        for server in SIDES {
            let pair = format!("{client:?} over {server:?}");
            let text = answer(server, true, cut_after(server, "Let me"));
            let (_rig, reply) = send_through(client, server, true, vec![text]).await;
            assert!(ends_with_error(client, &reply), "{pair}: {}", reply.text());
            let call = answer(server, true, cut_after(server, "Oslo"));
            let (_rig, reply) = send_through(client, server, true, vec![call]).await;
            let turn = read(client, true, &reply);
            assert_eq!(turn.calls, [("get_weather".to_owned(), json!({"city": "Oslo"}))], "{pair}");
        }
    }
}

#[tokio::test]
async fn a_server_is_asked_only_once_which_protocol_it_speaks() {
    let missing = || Answer::text("no such path").status(404);
    let chat = || answer(TestProtocol::Chat, false, TestProtocol::Chat.answer(false, DAMAGED, Reason::Calls));
    let complains = Answer::json(&json!({"error": {"message": "no messages"}})).status(400);
    // The request itself, its path again, then chat.
    let fixture = Fixture::new([missing(), missing(), complains, chat(), chat()]).await;
    for _ in 0..2 {
        let reply = fixture
            .post("/v1/messages", &[("x-api-key", "k")], &TestProtocol::Messages.request(false).to_string())
            .await;
        assert_eq!(
            read(TestProtocol::Messages, false, &reply),
            expected(TestProtocol::Messages, TestProtocol::Chat)
        );
    }
    let paths: Vec<String> = fixture.received().into_iter().map(|got| got.path).collect();
    assert_eq!(
        paths,
        [
            "/v1/messages",
            "/v1/messages",
            "/v1/chat/completions",
            "/v1/chat/completions",
            "/v1/chat/completions"
        ]
    );
    assert_eq!(
        fixture.received()[3].headers["authorization"],
        "Bearer k",
        "keys are in the header of the protocol"
    );
    // A missing model does not mean a missing protocol.
    let fixture = Fixture::new([missing(), Answer::text("{}").status(400)]).await;
    let reply = fixture.post("/v1/messages", &[], &TestProtocol::Messages.request(false).to_string()).await;
    assert_eq!((reply.status.as_u16(), fixture.received().len()), (404, 2));
}

/// Returns the body that a server receives for a request of another protocol, and what was reported as dropped.
async fn translated_body(client: TestProtocol, server: TestProtocol, request: Value) -> (Value, String) {
    let body = server.answer(false, "{\"city\": \"Oslo\"}", Reason::Calls);
    let fixture = Fixture::at(config(server), [answer(server, false, body)]).await;
    // Numbers keep their spelling, which `json!` does not.
    let request = request.to_string().replace("1.5}", "1.50}");
    let reply = fixture.post(client.path(), &[], &request).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let warning =
        reply.headers.get("x-toolmend-warning").map_or("", |value| value.to_str().unwrap()).to_owned();
    (fixture.received()[0].json(), warning)
}

#[tokio::test]
async fn a_request_of_claude_code_is_translated_for_a_chat_server() {
    let (body, warning) = translated_body(TestProtocol::Messages, TestProtocol::Chat, json!({
        "model": "m", "max_tokens": 32000, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"},
        "metadata": {"user_id": "u"}, "context_management": {"edits": []},
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cch=1"}, {"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "system", "content": "Tools changed."},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "t1", "name": "Read", "input": {"p": 1.50}}, {"type": "tool_use", "id": "t2", "name": "Shot", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no such file"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "here"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]},
                {"type": "document", "title": "n.txt", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}}]},
        ],
        "tools": [
            {"name": "Read", "input_schema": {"type": "object", "properties": {"p": {"type": "number"}}}},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20260318", "name": "web_search"}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
    })).await;
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0], json!({"role": "system", "content": "You are an agent."}));
    assert_eq!(messages[1]["content"], "go\n\n<system-reminder>\nTools changed.\n</system-reminder>");
    assert_eq!(messages[2]["reasoning_content"], "hm");
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"p\":1.50}");
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "t1", "content": "Error: no such file"}));
    assert_eq!(messages[4], json!({"role": "tool", "tool_call_id": "t2", "content": "here"}));
    assert_eq!(messages[5]["content"][1]["image_url"]["url"], "data:image/png;base64,AAAA");
    assert_eq!(messages[5]["content"][2]["text"], "n.txt:\n\nnotes");
    assert_eq!((&body["tool_choice"], &body["parallel_tool_calls"]), (&json!("required"), &json!(false)));
    assert_eq!(
        (&body["reasoning_effort"], &body["user"], &body["max_tokens"]),
        (&json!("high"), &json!("u"), &json!(32000))
    );
    let names: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Read", "bash"]);
    assert_eq!(
        warning,
        "dropped: cache_control, tool web_search, reasoning signature, thinking, context_management"
    );
}

#[tokio::test]
async fn inner_system_prompts_become_reminders_for_a_server_of_the_same_protocol() {
    let request = r#"{"model":"m","max_tokens": 9,"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]}"#;
    for (fold_system, folded) in [(None, true), (Some(false), false)] {
        let upstream = Upstream { fold_system, ..Upstream::new("http://fixture") };
        let body = TestProtocol::Messages.answer(false, "{}", Reason::Calls);
        let setup = Config { upstreams: vec![upstream], ..Config::default() };
        let fixture = Fixture::at(setup, [answer(TestProtocol::Messages, false, body)]).await;
        fixture.post("/v1/messages", &[], request).await;
        let sent = String::from_utf8(fixture.received()[0].body.to_vec()).unwrap();
        assert_eq!(sent != request, folded, "{sent}");
        assert_eq!(sent.contains("<system-reminder>"), folded, "{sent}");
    }
}

#[tokio::test]
async fn custom_and_grouped_tools_are_restored() {
    let tools = json!([
        {"type": "custom", "name": "apply_patch", "description": "Edits.", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
        {"type": "namespace", "name": "agents", "description": "More.", "tools": [{"type": "function", "name": "spawn", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]},
        {"type": "web_search"}]);
    let call = |name: &str, arguments: &str| json!({"id": format!("call_{name}"), "type": "function", "function": {"name": name, "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call("apply_patch", "{\"input\": \"*** Begin\n+a\"}"), call("agents__spawn", "{\"n\": \"2\"}")]});
    let whole = json!({"id": "c", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    for stream in [false, true] {
        let reply_body = if stream {
            let mut delta = message.clone();
            delta["tool_calls"][0]["index"] = json!(0);
            delta["tool_calls"][1]["index"] = json!(1);
            let chunk = json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]});
            format!("data: {chunk}\n\ndata: [DONE]\n\n").into_bytes()
        } else {
            whole.to_string().into_bytes()
        };
        let fixture =
            Fixture::at(config(TestProtocol::Chat), [answer(TestProtocol::Chat, stream, reply_body)]).await;
        let request = json!({"model": "m", "stream": stream, "tools": tools, "input": [
            {"role": "user", "content": "go"},
            {"type": "custom_tool_call", "call_id": "c0", "name": "apply_patch", "input": "say \"hi\""},
            {"type": "custom_tool_call_output", "call_id": "c0", "output": "done"},
            {"type": "function_call", "call_id": "c1", "name": "spawn", "namespace": "agents", "arguments": "{\"n\":1}"},
            {"type": "function_call_output", "call_id": "c1", "output": "1"}]});
        let reply = fixture.post("/v1/responses", &[], &request.to_string()).await;
        let sent = fixture.received()[0].json();
        assert_eq!(sent["tools"][0]["function"]["parameters"]["required"], json!(["input"]));
        assert_eq!(sent["tools"][1]["function"]["name"], "agents__spawn");
        assert_eq!(
            sent["messages"][1]["tool_calls"][0]["function"]["arguments"],
            "{\"input\":\"say \\\"hi\\\"\"}"
        );
        let output = if stream {
            reply.events().last().unwrap()["response"]["output"].clone()
        } else {
            reply.json()["output"].clone()
        };
        assert_eq!(
            (&output[0]["type"], &output[0]["input"]),
            (&json!("custom_tool_call"), &json!("*** Begin\n+a")),
            "{}",
            reply.text()
        );
        assert_eq!((&output[1]["name"], &output[1]["namespace"]), (&json!("spawn"), &json!("agents")));
        assert_eq!(parsed(&output[1]["arguments"]), json!({"n": 2}));
        assert_eq!(reply.headers["x-toolmend-warning"], "dropped: tool web_search");
    }
}

#[tokio::test]
async fn untranslatable_requests_are_rejected() {
    let cases = [
        (
            TestProtocol::Responses,
            TestProtocol::Chat,
            json!({"model": "m", "input": "x", "previous_response_id": "resp_1"}),
            "response_store",
        ),
        (
            TestProtocol::Responses,
            TestProtocol::Chat,
            json!({"model": "m", "input": "x", "background": true}),
            "background",
        ),
        (
            TestProtocol::Responses,
            TestProtocol::Messages,
            json!({"model": "m", "input": [{"type": "item_reference", "id": "i"}]}),
            "item_reference",
        ),
        (
            TestProtocol::Chat,
            TestProtocol::Messages,
            json!({"model": "m", "n": 2, "messages": []}),
            "one answer",
        ),
        (
            TestProtocol::Chat,
            TestProtocol::Messages,
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}),
            "input_audio",
        ),
        (
            TestProtocol::Messages,
            TestProtocol::Chat,
            json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}]}),
            "file id",
        ),
        (
            TestProtocol::Chat,
            TestProtocol::Ollama,
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]}),
            "base64",
        ),
    ];
    for (client, server, request, why) in cases {
        let fixture = Fixture::at(config(server), []).await;
        let reply = fixture.post(client.path(), &[], &request.to_string()).await;
        assert_eq!(reply.status, 400, "{request}");
        assert!(reply.text().contains(why), "{request}: {}", reply.text());
        assert!(fixture.received().is_empty(), "nothing is sent");
    }
}

#[tokio::test]
async fn answers_are_stored_if_configured() {
    let reply = |text: &str| {
        Answer::json(
            &json!({"id": "c", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
        )
    };
    let setup = Config { response_store: 1, ..config(TestProtocol::Chat) };
    let fixture = Fixture::at(setup, [reply("one"), reply("two"), reply("three")]).await;
    let ask = async |body: Value| fixture.post("/v1/responses", &[], &body.to_string()).await.json();
    let first = ask(json!({"model": "m", "instructions": "old", "input": "a"})).await;
    let second =
        ask(json!({"model": "m", "instructions": "new", "input": "b", "previous_response_id": first["id"]}))
            .await;
    assert_eq!(
        fixture.received()[1].json()["messages"],
        json!([{"role": "system", "content": "new"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "one"}, {"role": "user", "content": "b"}])
    );
    assert!(second["id"].is_string());
    let forgotten = ask(json!({"model": "m", "input": "c", "previous_response_id": first["id"]})).await;
    assert!(forgotten["error"]["message"].as_str().unwrap().contains("no answer"));
}

fn prompted(protocol: Protocol) -> Config {
    let upstream =
        Upstream { surface: Some(protocol), tools: ToolMode::Prompt, ..Upstream::new("http://fixture") };
    Config { upstreams: vec![upstream], ..Config::default() }
}

/// Sends the client's request, and checks that the answer calls the tool once. Returns the answer, and what it means.
async fn ask_about_oslo(fixture: &Fixture, client: TestProtocol, stream: bool) -> (Reply, Turn) {
    let reply = fixture.post(client.path(), &[], &client.request(stream).to_string()).await;
    let turn = read(client, stream, &reply);
    let expected = [("get_weather".to_owned(), json!({"city": "Oslo"}))];
    assert_eq!(turn.calls, expected, "{client:?} {stream}: {}", reply.text());
    (reply, turn)
}

#[tokio::test]
async fn tools_are_written_into_the_prompt_for_servers_that_accept_none() {
    let called = "On it.\n<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}\n</tool_call>";
    for client in SIDES {
        for stream in [false, true] {
            let chat = |text: &str| {
                if stream {
                    let chunk = |delta: Value, reason: Value| json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
                    let pieces = text.as_bytes().chunks(7).map(|piece| {
                        chunk(json!({"content": std::str::from_utf8(piece).unwrap()}), Value::Null)
                    });
                    let events: Vec<Value> = pieces.chain([chunk(json!({}), json!("stop"))]).collect();
                    answer(TestProtocol::Chat, true, (sse(&events, false) + "data: [DONE]\n\n").into_bytes())
                } else {
                    answer(TestProtocol::Chat, false, json!({"id": "c", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}).to_string().into_bytes())
                }
            };
            let fixture = Fixture::at(prompted(Protocol::Chat), [chat(called)]).await;
            let (reply, turn) = ask_about_oslo(&fixture, client, stream).await;
            assert_eq!((turn.text.trim(), turn.stop.as_str()), ("On it.", "calls"), "{}", reply.text());
            let sent = fixture.received()[0].json();
            assert!(sent.get("tools").is_none(), "{sent}");
            let messages = sent["messages"].as_array().unwrap();
            let system = messages[0]["content"].as_str().unwrap();
            assert!(
                system.starts_with("Be kind.\n\n# Tools") && system.contains("\"name\":\"get_weather\""),
                "{system}"
            );
            assert_eq!(
                messages[2]["content"],
                "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rom\"}}\n</tool_call>"
                    .replace(
                        "\": \"Rom\"",
                        if client == TestProtocol::Messages || client == TestProtocol::Ollama {
                            "\":\"Rom\""
                        } else {
                            "\": \"Rom\""
                        }
                    )
            );
            assert_eq!(
                messages[3]["content"],
                "<tool_response>\n{\"name\":\"get_weather\",\"content\":\"warm\"}\n</tool_response>\n\nand Oslo?"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_only_completes_text_calls_tools_too() {
    let text = "<think>Hm.</think>On it.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\",}}\n</tool_call>";
    for client in SIDES {
        for stream in [false, true] {
            let body = if stream {
                let chunk = |text: &str, reason: Value| json!({"id": "c", "object": "text_completion", "model": "m", "choices": [{"index": 0, "text": text, "finish_reason": reason}]});
                let pieces = text
                    .as_bytes()
                    .chunks(5)
                    .map(|piece| chunk(std::str::from_utf8(piece).unwrap(), Value::Null));
                let usage = json!({"id": "c", "object": "text_completion", "model": "m", "choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 7}});
                let events: Vec<Value> = pieces.chain([chunk("", json!("stop")), usage]).collect();
                sse(&events, false) + "data: [DONE]\n\n"
            } else {
                json!({"id": "c", "object": "text_completion", "model": "m", "choices": [{"index": 0, "text": text, "finish_reason": "stop"}], "usage": {"prompt_tokens": 50, "completion_tokens": 7}}).to_string()
            };
            let kind = TestProtocol::Chat.kind(stream).to_owned();
            let answer = Answer {
                status: 200,
                headers: vec![("content-type", kind)],
                body: AnswerBody::Whole(body.into_bytes()),
            };
            let fixture = Fixture::at(prompted(Protocol::Completions), [answer]).await;
            let (reply, turn) = ask_about_oslo(&fixture, client, stream).await;
            assert_eq!(
                (turn.reasoning.as_str(), turn.text.trim(), turn.stop.as_str()),
                ("Hm.", "On it.", "calls"),
                "{client:?} {stream}: {}",
                reply.text()
            );
            assert_eq!(turn.usage, (50, 0, 7));
            let sent = fixture.received()[0].json();
            assert_eq!(fixture.received()[0].path, "/v1/completions");
            let prompt = sent["prompt"].as_str().unwrap();
            assert!(
                prompt.starts_with("<|im_start|>system\nBe kind.\n\n# Tools")
                    && prompt.ends_with("and Oslo?<|im_end|>\n<|im_start|>assistant\n"),
                "{prompt}"
            );
        }
    }
}
