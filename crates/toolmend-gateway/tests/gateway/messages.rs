//! Messages.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture, Reply, weather};

const PATH: &str = "/v1/messages?beta=true";

fn request(stream: bool) -> String {
    json!({
        "model": "m", "max_tokens": 100, "stream": stream,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "get_weather", "input_schema": weather()}],
    })
    .to_string()
}

fn whole(content: &Value, reason: &str) -> Answer {
    Answer::json(
        &json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 2}}),
    )
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}})
}

fn open(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn tool(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "get_weather", "input": {}})
}

fn part(index: u64, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}})
}

fn text(index: u64, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}})
}

fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// Reads the blocks of a stream as the strictest client does.
#[track_caller]
fn blocks(reply: &Reply) -> (Vec<Value>, String) {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut open = None;
    let (mut begun, mut reason, mut over) = (false, None, false);
    let names: Vec<&str> = reply.text().lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let events = reply.events();
    assert_eq!(names.len(), events.len(), "every event has its name: {}", reply.text());
    for (name, event) in names.iter().zip(&events) {
        assert_eq!(event["type"], *name);
        assert!(!over, "nothing after the end");
        let index = event["index"].as_u64();
        match *name {
            "message_start" => {
                assert!(!begun && event["message"]["usage"]["output_tokens"].is_u64());
                begun = true;
            }
            "content_block_start" => {
                assert!(begun && open.is_none(), "one block at a time: {}", reply.text());
                assert_eq!(index, Some(blocks.len() as u64), "dense numbers: {}", reply.text());
                open = index;
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                assert_eq!(index, open);
                let (block, delta) = (blocks.last_mut().unwrap(), &event["delta"]);
                match delta["type"].as_str().unwrap() {
                    "text_delta" => {
                        block["text"] = json!(format!(
                            "{}{}",
                            block["text"].as_str().unwrap(),
                            delta["text"].as_str().unwrap()
                        ));
                    }
                    "thinking_delta" => {
                        block["thinking"] = json!(format!(
                            "{}{}",
                            block["thinking"].as_str().unwrap(),
                            delta["thinking"].as_str().unwrap()
                        ));
                    }
                    "input_json_delta" => {
                        inputs.last_mut().unwrap().push_str(delta["partial_json"].as_str().unwrap());
                    }
                    other => panic!("{other}"),
                }
            }
            "content_block_stop" => {
                assert_eq!(index, open.take());
                let (block, input) = (blocks.last_mut().unwrap(), inputs.last().unwrap());
                if block["type"] == "tool_use" {
                    assert_eq!(block["input"], json!({}));
                    assert!(block["id"].as_str().is_some_and(|id| !id.is_empty()));
                    block["input"] = serde_json::from_str(input).unwrap_or_else(|_| panic!("{input}"));
                }
            }
            "message_delta" => {
                assert!(open.is_none() && event["usage"]["output_tokens"].is_u64());
                reason = event["delta"]["stop_reason"].as_str().map(str::to_owned);
            }
            "message_stop" => over = true,
            "ping" => {}
            other => panic!("{other}"),
        }
    }
    assert!(over, "{}", reply.text());
    (blocks, reason.expect("a reason"))
}

fn used(block: &Value) -> (&Value, &Value) {
    (&block["name"], &block["input"])
}

#[tokio::test]
async fn clean_answers_pass_byte_for_byte() {
    let body = r#"{ "id":"m", "type":"message","role":"assistant","content":[ {"type":"text","text":"ok"}, {"type":"tool_use","id":"a","name":"get_weather","input":{ "city": "Rome", "days": 1e0 }} ],"stop_reason":"tool_use","usage":{"input_tokens":1.0}}"#;
    let stream = sse(&[
        &[
            start(),
            json!({"type": "ping"}),
            open(0, &json!({"type": "text", "text": ""})),
            text(0, "Hi"),
            close(0),
            open(1, &tool("a")),
            part(1, ""),
            part(1, "{\"city\": \"Ro"),
            part(1, "me\"}"),
            close(1),
        ][..],
        &end("tool_use"),
    ]
    .concat());
    let fixture = Fixture::new([Answer::text(body), Answer::sse(&stream)]).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!((reply.text(), reply.summary()), (body, "clean"));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert_eq!(reply.text(), stream);
    assert_eq!(fixture.received()[0].path, PATH);
}

#[tokio::test]
async fn broken_calls_are_mended() {
    let fixture = Fixture::new([]).await;
    for broken in [r#"{"city": "Rome", }"#, "{'city': 'Rome'}", r#"{"city": "Rome", "days": "2""#] {
        fixture.answer(whole(&json!([{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "a", "name": "GetWeather", "input": broken}]), "end_turn"));
        let answer = fixture.post(PATH, &[], &request(false)).await.json();
        assert_eq!(answer["content"][0]["text"], "Let me see.");
        assert_eq!(answer["content"][1]["name"], "get_weather");
        assert_eq!(answer["content"][1]["input"]["city"], "Rome", "{broken}");
        assert_eq!(answer["stop_reason"], "tool_use");
        let (left, right) = broken.split_at(6);
        let events =
            [&[start(), open(0, &tool("a")), part(0, left), part(0, right), close(0)][..], &end("tool_use")]
                .concat();
        fixture.answer(Answer::sse(sse(&events)));
        let reply = fixture.post(PATH, &[], &request(true)).await;
        let (blocks, reason) = blocks(&reply);
        assert_eq!(
            (blocks.len(), blocks[0]["input"]["city"].as_str(), reason.as_str()),
            (1, Some("Rome"), "tool_use")
        );
        assert!(reply.comments()[0].starts_with("mended; kinds="));
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table with one row per quirk")]
async fn stream_quirks_are_corrected() {
    let args = "{\"city\":\"Rome\"}";
    let call = || vec![start(), open(0, &tool("a")), part(0, args), close(0)];
    let with = |mut events: Vec<Value>, more: &[Value]| {
        events.extend_from_slice(more);
        events
    };
    let no_usage =
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}});
    let both = vec![json!({"city": "Rome"}), json!({"city": "Rome"})];
    let one = vec![json!({"city": "Rome"})];
    let cases = vec![
        ("plain", with(call(), &end("tool_use")), &one),
        ("end_turn", with(call(), &end("end_turn")), &one),
        ("no start", with(call()[1..].to_vec(), &end("tool_use")), &one),
        ("no usage", with([&[no_usage][..], &call()[1..]].concat(), &end("tool_use")), &one),
        (
            "no input",
            with(
                vec![
                    start(),
                    open(0, &json!({"type": "tool_use", "id": "a", "name": "get_weather"})),
                    part(0, args),
                    close(0),
                ],
                &end("tool_use"),
            ),
            &one,
        ),
        (
            "full input",
            with(
                vec![
                    start(),
                    open(
                        0,
                        &json!({"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Rome"}}),
                    ),
                    close(0),
                ],
                &end("tool_use"),
            ),
            &one,
        ),
        (
            "no id",
            with(
                vec![
                    start(),
                    open(0, &json!({"type": "tool_use", "name": "get_weather", "input": {}})),
                    part(0, args),
                    close(0),
                ],
                &end("tool_use"),
            ),
            &one,
        ),
        ("no stop of the block", with(call()[..3].to_vec(), &end("tool_use")), &one),
        ("no message_delta", with(call(), &end("tool_use")[1..]), &one),
        ("no message_stop", with(call(), &end("tool_use")[..1]), &one),
        ("from 1", with(vec![start(), open(1, &tool("a")), part(1, args), close(1)], &end("tool_use")), &one),
        (
            "parallel",
            with(with(call(), &[open(1, &tool("b")), part(1, args), close(1)]), &end("tool_use")),
            &both,
        ),
        (
            "interleaved",
            with(
                vec![
                    start(),
                    open(0, &tool("a")),
                    open(1, &tool("b")),
                    part(0, args),
                    part(1, args),
                    close(0),
                    close(1),
                ],
                &end("tool_use"),
            ),
            &both,
        ),
        (
            "no stops",
            with(
                vec![start(), open(0, &tool("a")), part(0, args), open(1, &tool("b")), part(1, args)],
                &end("tool_use"),
            ),
            &both,
        ),
    ];
    let fixture = Fixture::new([]).await;
    for (what, events, expected) in cases {
        for named in [true, false] {
            let stream = if named {
                sse(&events)
            } else {
                events.iter().map(|event| format!("data: {event}\n\n")).collect()
            };
            fixture.answer(Answer::sse(stream));
            let reply = fixture.post(PATH, &[], &request(true)).await;
            println!("{what}: {}", reply.text());
            let (blocks, reason) = blocks(&reply);
            assert_eq!(reason, "tool_use", "{what}");
            let inputs: Vec<Value> = blocks.iter().map(|block| block["input"].clone()).collect();
            assert_eq!(&inputs, expected, "{what}");
            assert_eq!(used(&blocks[0]).0, "get_weather");
        }
    }
}

#[tokio::test]
async fn text_and_reasoning_before_a_mended_call_stay() {
    let events = [
        &[
            start(),
            open(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            close(0),
            open(1, &json!({"type": "text", "text": ""})),
            text(1, "Let me"),
            text(1, " see."),
            close(1),
            open(2, &tool("a")),
            part(2, "{\"city\": \"Rome\",}"),
            close(2),
        ][..],
        &end("tool_use"),
    ]
    .concat();
    let fixture = Fixture::new([Answer::sse(sse(&events))]).await;
    let (blocks, _) = blocks(&fixture.post(PATH, &[], &request(true)).await);
    assert_eq!((&blocks[0]["thinking"], &blocks[1]["text"]), (&json!("hm"), &json!("Let me see.")));
    assert_eq!(used(&blocks[2]), (&json!("get_weather"), &json!({"city": "Rome"})));
}

#[tokio::test]
async fn a_truncated_call_is_never_completed() {
    let events =
        [&[start(), open(0, &tool("a")), part(0, "{\"city\": \"Ro"), close(0)][..], &end("max_tokens")]
            .concat();
    let fixture = Fixture::new([Answer::sse(sse(&events))]).await;
    let (cut, reason) = blocks(&fixture.post(PATH, &[], &request(true)).await);
    assert_eq!((cut.len(), cut[0]["type"].as_str(), reason.as_str()), (1, Some("tool_use"), "max_tokens"));
    assert_eq!(cut[0]["input"]["__unparsedToolInput"]["raw"], "{\"city\": \"Ro");
    let fixture = Fixture::new([Answer::sse(sse(&events[..3]))]).await;
    // The stream ends in the middle of the call: no limit was reached.
    let (broken_off, reason) = blocks(&fixture.post(PATH, &[], &request(true)).await);
    assert_eq!(broken_off[0]["input"]["__unparsedToolInput"]["raw"], "{\"city\": \"Ro");
    assert_eq!((broken_off.len(), reason.as_str()), (1, "tool_use"));
}
