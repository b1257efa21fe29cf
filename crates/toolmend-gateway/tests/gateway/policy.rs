//! Calls that cannot be mended, and the settings of single requests.

use serde_json::{Value, json};
use toolmend::Preset;
use toolmend_gateway::{Config, RefusalMode};

use crate::fixture::{Answer, Fixture, weather};

const PATH: &str = "/v1/chat/completions";

fn request(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]})
    .to_string()
}

fn whole(arguments: &str, text: &Value) -> String {
    json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": text, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}}]})
    .to_string()
}

fn stream(arguments: &str, text: Option<&str>) -> String {
    let mut out = String::from(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    );
    if let Some(text) = text {
        out += &format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}));
    }
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}}]});
    out += &format!(
        "data: {call}\n\ndata: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    );
    out
}

const BAD: &str = r#"{"town": 5}"#;
const GOOD: &str = r#"{"city":"Rome"}"#;

#[tokio::test]
async fn feedback_is_a_turn_of_text() {
    let config = Config { refusal: RefusalMode::Feedback, ..Config::default() };
    let answers = [Answer::text(&whole(BAD, &json!("Hm."))), Answer::sse(stream(BAD, None))];
    let fixture = Fixture::with(config, answers).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    let choice = &reply.json()["choices"][0];
    let text = choice["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("Hm.\n\n") && text.contains("\nNext: "), "{text}");
    assert_eq!((choice["finish_reason"].as_str(), choice["message"].get("tool_calls")), (Some("stop"), None));
    assert!(reply.summary().starts_with("rejected"), "{}", reply.summary());
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(reply.text().contains("Next: ") && !reply.text().contains("tool_calls"), "{}", reply.text());
    assert!(reply.text().contains("\"finish_reason\":\"stop\""));
}

#[tokio::test]
async fn pass_leaves_the_bytes_unchanged() {
    let config = Config { refusal: RefusalMode::Pass, ..Config::default() };
    let fixture =
        Fixture::with(config, [Answer::text(&whole(BAD, &Value::Null)), Answer::sse(stream(BAD, None))])
            .await;
    assert_eq!(fixture.post(PATH, &[], &request(false)).await.text(), whole(BAD, &Value::Null));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    let without_comments: String =
        reply.text().split_inclusive("\n\n").filter(|frame| !frame.starts_with(':')).collect();
    assert_eq!(without_comments, stream(BAD, None));
}

/// A refused call in text stays too, with its markers and the white space around them.
#[tokio::test]
async fn pass_leaves_calls_in_text_unchanged() {
    let text = format!(
        "One moment.\n<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {BAD}}}\n</tool_call>\n\nDone."
    );
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
    let frames: String = text
        .split_inclusive(' ')
        .map(|piece| json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": piece}}]}))
        .map(|frame| format!("data: {frame}\n\n"))
        .chain([
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
                .to_owned(),
        ])
        .collect();
    let config = Config { refusal: RefusalMode::Pass, ..Config::default() };
    let fixture =
        Fixture::with(config, [Answer::text(&whole.to_string()), Answer::sse(frames.clone())]).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!(reply.text(), whole.to_string());
    assert!(reply.summary().starts_with("rejected"), "{}", reply.summary());
    let reply = fixture.post(PATH, &[], &request(true)).await;
    let without_comments: String =
        reply.text().split_inclusive("\n\n").filter(|frame| !frame.starts_with(':')).collect();
    assert_eq!(without_comments, frames);
}

#[tokio::test]
async fn the_server_is_asked_again_before_anything_was_sent() {
    let config = || Config { refusal: RefusalMode::Reprompt, ..Config::default() };
    let fixture = Fixture::with(
        config(),
        [Answer::text(&whole(BAD, &Value::Null)), Answer::text(&whole(GOOD, &Value::Null))],
    )
    .await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!(reply.text(), whole(GOOD, &Value::Null));
    assert_eq!(reply.summary(), "clean; reprompts=1");
    let again = fixture.received()[1].json();
    assert_eq!(again["messages"][1]["tool_calls"][0]["function"]["arguments"], BAD);
    assert_eq!(again["messages"][2]["role"], "tool");
    assert!(again["messages"][2]["content"].as_str().unwrap().contains("Next: "));

    fixture.answer(Answer::sse(stream(BAD, None)));
    fixture.answer(Answer::sse(stream(GOOD, None)));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert_eq!(reply.text().replace(": toolmend clean; reprompts=1\n\n", ""), stream(GOOD, None));
    assert_eq!(fixture.received().len(), 4);

    // Both answers are bad: the client gets the feedback on the second.
    fixture.answer(Answer::sse(stream(BAD, None)));
    fixture.answer(Answer::sse(stream(r#"{"village": 1}"#, None)));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert!(reply.text().contains("village") && reply.text().contains("Next: "), "{}", reply.text());
    assert_eq!(fixture.received().len(), 6);
    let metrics = fixture.get("/metrics").await;
    assert!(metrics.text().contains("toolmend_reprompts_total 3"), "{}", metrics.text());
}

#[tokio::test]
async fn the_server_is_not_asked_again_after_text_was_sent() {
    let (feed, answer) = Answer::fed();
    let fixture =
        Fixture::with(Config { refusal: RefusalMode::Reprompt, ..Config::default() }, [answer]).await;
    let stream = stream(BAD, Some("Hello, you."));
    let (left, right) = stream.split_at(stream.find("tool_calls").unwrap());
    feed.send(Ok(left.to_owned().into())).unwrap();
    let mut response = fixture.open(PATH, &[], &request(true)).await;
    let first =
        http_body_util::BodyExt::frame(response.body_mut()).await.unwrap().unwrap().into_data().unwrap();
    assert!(first.windows(5).any(|window| window == b"Hello"));
    feed.send(Ok(right.to_owned().into())).unwrap();
    drop(feed);
    let rest = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    assert!(std::str::from_utf8(&rest).unwrap().contains("Next: "));
    assert_eq!(fixture.received().len(), 1);
}

#[tokio::test]
async fn a_request_may_choose_its_policy() {
    let broken = whole("{'city': 'Rome'}", &Value::Null);
    let answer = || Answer::text(&broken);
    let fixture = Fixture::new([answer(), answer(), answer()]).await;
    let reply = fixture.post(PATH, &[("x-toolmend-policy", "off")], &request(false)).await;
    assert_eq!((reply.text(), reply.summary()), (broken.as_str(), "off"));
    let reply = fixture.post(PATH, &[("x-toolmend-policy", "strict")], &request(false)).await;
    assert!(reply.summary().starts_with("rejected"), "{}", reply.summary());
    let reply = fixture.post(PATH, &[("x-toolmend-policy", "balanced")], &request(false)).await;
    assert!(reply.summary().starts_with("mended"), "{}", reply.summary());
    for (name, value) in [("x-toolmend-policy", "brave"), ("x-toolmend-stream", "maybe")] {
        let reply = fixture.post(PATH, &[(name, value)], &request(false)).await;
        assert_eq!(reply.status, 400);
        assert!(reply.text().contains(value), "{}", reply.text());
    }
    assert!(fixture.received().iter().all(|got| !got.headers.contains_key("x-toolmend-policy")));
    let fixture = Fixture::with(Config { policy: Preset::Off, ..Config::default() }, [answer()]).await;
    assert_eq!(fixture.post(PATH, &[], &request(false)).await.text(), broken);
}

#[tokio::test]
async fn an_unknown_tool_is_refused_unless_the_server_has_tools_of_its_own() {
    let answer = whole(GOOD, &Value::Null).replace("get_weather", "web_search");
    let config = Config { refusal: RefusalMode::Feedback, ..Config::default() };
    let fixture = Fixture::with(config, [Answer::text(&answer), Answer::text(&answer)]).await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert!(
        reply.summary().starts_with("rejected") && reply.text().contains("get_weather"),
        "{}",
        reply.text()
    );
    let mut open: Value = serde_json::from_str(&request(false)).unwrap();
    open["tools"].as_array_mut().unwrap().push(json!({"type": "web_search"}));
    assert_eq!(fixture.post(PATH, &[], &open.to_string()).await.text(), answer);
}

#[tokio::test]
async fn a_prompt_is_continued_in_its_template() {
    let config = Config { refusal: RefusalMode::Reprompt, ..Config::default() };
    let text = |arguments: &str| {
        let text =
            format!("<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {arguments}}}\n</tool_call>");
        json!({"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]}).to_string()
    };
    let fixture = Fixture::with(config, [Answer::text(&text(BAD)), Answer::text(&text(GOOD))]).await;
    let ask = |prompt: &str| {
        json!({"model": "m", "prompt": prompt, "tools": [{"name": "get_weather", "parameters": weather()}]})
            .to_string()
    };
    let reply = fixture
        .post("/v1/completions", &[], &ask("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"))
        .await;
    assert_eq!((reply.text(), reply.summary()), (text(GOOD).as_str(), "clean; reprompts=1"));
    let again = fixture.received()[1].json()["prompt"].as_str().unwrap().to_owned();
    assert!(again.contains("<|im_end|>\n<|im_start|>user\n") && again.contains("Next: "), "{again}");
    assert!(again.ends_with("<|im_start|>assistant\n"), "{again}");

    // If it is unknown how the next turn begins, the client gets the feedback.
    fixture.answer(Answer::text(&text(BAD)));
    let reply = fixture.post("/v1/completions", &[], &ask("Once upon a time")).await;
    assert!(reply.text().contains("Next: ") && reply.summary().starts_with("rejected"), "{}", reply.text());
}
