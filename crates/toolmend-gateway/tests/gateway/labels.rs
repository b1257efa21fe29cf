//! What is reported about an answer is true, and every place reports the same.

use async_compression::tokio::bufread::GzipEncoder;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use toolmend_gateway::{Config, JournalConfig, RefusalMode};
use toolmend_journal::{Filter, Location, Store};

use crate::fixture::{Answer, AnswerBody, Fixture, weather};

const PATH: &str = "/v1/chat/completions";
const BAD: &str = r#"{"city": ]["#;
const GOOD: &str = r#"{"city":"Rome"}"#;

fn request(stream: bool) -> String {
    let tools = json!([{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]);
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream, "tools": tools})
        .to_string()
}

fn answer(content: Option<&str>, calls: &[&str], reason: &str, tokens: u64) -> Value {
    let calls: Vec<Value> = calls.iter().enumerate().map(|(at, arguments)| json!({"id": format!("id{at}"), "type": "function", "function": {"name": "get_weather", "arguments": arguments}})).collect();
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5, "prompt_tokens_details": {"cached_tokens": 1}});
    json!({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": content, "tool_calls": calls}}], "usage": usage})
}

/// Returns the same answer as a stream.
fn stream(answer: &Value) -> String {
    let message = &answer["choices"][0]["message"];
    let mut delta = json!({"role": "assistant", "content": message["content"]});
    let calls = message["tool_calls"].as_array().unwrap().iter().enumerate().map(|(at, call)| {
        let mut call = call.clone();
        call["index"] = json!(at);
        call
    });
    delta["tool_calls"] = calls.collect();
    let chunk = |delta: &Value, reason: &Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    chunk(&delta, &Value::Null)
        + &chunk(&json!({}), &answer["choices"][0]["finish_reason"])
        + &format!("data: {}\n\n", json!({"choices": [], "usage": answer["usage"]}))
        + "data: [DONE]\n\n"
}

fn reprompting() -> Config {
    Config { refusal: RefusalMode::Reprompt, ..Config::default() }
}

#[tokio::test]
async fn what_was_not_read_is_not_clean() {
    let text = answer(None, &[GOOD], "tool_calls", 1).to_string();
    let mut gzip = Vec::new();
    GzipEncoder::new(text.as_bytes()).read_to_end(&mut gzip).await.unwrap();
    let cut = gzip[..gzip.len() - 12].to_vec();
    let invalid = text.clone().into_bytes().into_iter().map(|byte| if byte == b'R' { 0xff } else { byte });
    let broken = text.as_bytes()[..text.len() - 9].to_vec();
    for (body, coding, expected) in [
        (gzip, Some("gzip"), "clean"),
        (cut, Some("gzip"), "unread"),
        (text.clone().into_bytes(), Some("compress"), "unread"),
        (invalid.collect(), None, "unread"),
        (broken, None, "unread"),
    ] {
        let mut scripted = Answer::text("");
        scripted.body = AnswerBody::Whole(body.clone());
        if let Some(coding) = coding {
            scripted = scripted.header("content-encoding", coding);
        }
        let fixture = Fixture::new([scripted]).await;
        let reply = fixture.post(PATH, &[], &request(false)).await;
        assert_eq!(reply.summary(), expected);
        assert_eq!(reply.body, body, "{expected}");
    }
}

#[tokio::test]
async fn a_frame_that_was_not_read_is_reported() {
    let good = stream(&answer(None, &[GOOD], "tool_calls", 1));
    for broken in ["data: {\"choices\": [\n\n", "data: {\"choices\": []} x\n\n"] {
        let fixture = Fixture::new([Answer::sse(broken.to_owned() + &good), Answer::sse(&good)]).await;
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(reply.comments().last(), Some(&"unread"), "{}", reply.text());
        assert!(reply.text().contains("Rome"));
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(reply.text(), good);
    }
}

#[tokio::test]
async fn removed_text_is_named() {
    let fixture = Fixture::new([]).await;
    for (text, kind) in [
        ("<think>Hm.</think>It is sunny.", "reasoning_in_text"),
        ("It is sunny.<|im_end|>", "markup_removed"),
    ] {
        let scripted = answer(Some(text), &[], "stop", 1);
        fixture.answer(Answer::json(&scripted));
        let reply = fixture.post(PATH, &[], &request(false)).await;
        assert_eq!(reply.json()["choices"][0]["message"]["content"], "It is sunny.");
        assert_eq!(reply.summary(), format!("mended; kinds={kind}"));
        let metrics = fixture.get("/metrics").await;
        assert!(metrics.text().contains(&format!("toolmend_repairs_total{{kind=\"{kind}\"")), "{kind}");
    }
    let scripted = answer(Some("It is `</think>` sunny."), &[], "stop", 1);
    fixture.answer(Answer::json(&scripted));
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!((reply.json(), reply.summary()), (scripted, "clean"));
}

#[tokio::test]
async fn usage_is_the_sum_of_all_generations() {
    let (bad, good) = (answer(None, &[BAD], "tool_calls", 10), answer(None, &[GOOD], "tool_calls", 30));
    let script =
        [Answer::json(&bad), Answer::json(&good), Answer::sse(stream(&bad)), Answer::sse(stream(&good))];
    let fixture = Fixture::with(reprompting(), script).await;
    let expected = json!({"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50, "prompt_tokens_details": {"cached_tokens": 2}});
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!((&reply.json()["usage"], reply.summary()), (&expected, "clean; reprompts=1"));
    let reply = fixture.post(PATH, &[], &request(true)).await;
    let usage = reply.events().into_iter().rev().find(|event| event["usage"].is_object()).unwrap();
    assert_eq!(usage["usage"], expected, "{}", reply.text());
    assert_eq!(reply.comments(), ["clean; reprompts=1"]);
}

#[tokio::test]
async fn the_model_is_asked_again_with_a_failed_result() {
    let (bad, good) = (answer(None, &[GOOD, BAD], "tool_calls", 1), answer(None, &[GOOD], "tool_calls", 1));
    let fixture = Fixture::with(reprompting(), [Answer::json(&bad), Answer::json(&good)]).await;
    fixture.post(PATH, &[], &request(false)).await;
    let again = fixture.received()[1].json();
    let messages = again["messages"].as_array().unwrap();
    let calls = messages[1]["tool_calls"].as_array().unwrap();
    assert_eq!((&messages[1]["role"], calls.len()), (&json!("assistant"), 2));
    assert_eq!(calls[0]["function"]["arguments"], GOOD);
    let shown: Value = serde_json::from_str(calls[1]["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(shown, json!({"unreadable_arguments": BAD}));
    for (at, word) in [(2, "another call"), (3, "Next: ")] {
        assert_eq!(
            (&messages[at]["role"], &messages[at]["tool_call_id"]),
            (&json!("tool"), &calls[at - 2]["id"])
        );
        assert!(messages[at]["content"].as_str().unwrap().contains(word), "{}", messages[at]);
    }
}

#[tokio::test]
async fn a_failed_reprompt_is_reported() {
    let bad = answer(None, &[BAD], "tool_calls", 10);
    let script = || Answer::text("overloaded").status(503);
    let fixture =
        Fixture::with(reprompting(), [Answer::json(&bad), script(), Answer::sse(stream(&bad)), script()])
            .await;
    let reply = fixture.post(PATH, &[], &request(false)).await;
    assert_eq!(reply.summary(), "rejected; reprompts=1; failed_reprompts=1");
    assert_eq!(reply.json()["usage"], bad["usage"]);
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert_eq!(reply.comments(), ["rejected; reprompts=1; failed_reprompts=1"]);
}

#[tokio::test]
async fn a_refusal_is_no_repair_of_the_form() {
    for refusal in [RefusalMode::Auto, RefusalMode::Feedback, RefusalMode::Pass] {
        for reason in ["tool_calls", "stop"] {
            let bad = answer(None, &[BAD], reason, 1);
            let fixture = Fixture::with(
                Config { refusal, ..Config::default() },
                [Answer::json(&bad), Answer::sse(stream(&bad))],
            )
            .await;
            let reply = fixture.post(PATH, &[], &request(false)).await;
            let is_corrected = refusal == RefusalMode::Pass && reason == "stop";
            assert_eq!(
                reply.summary() == "rejected",
                !is_corrected,
                "{refusal:?} {reason}: {}",
                reply.summary()
            );
            let reply = fixture.post(PATH, &[], &request(true)).await;
            assert_eq!(
                reply.comments() == ["rejected"],
                !is_corrected,
                "{refusal:?} {reason}: {:?}",
                reply.comments()
            );
        }
    }
}

/// Every place that counts calls, after the same three calls.
#[tokio::test]
async fn header_metrics_counts_and_journal_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let place = Some(path.to_str().unwrap().to_owned());
    let config = Config { journal: JournalConfig { place, ..JournalConfig::default() }, ..Config::default() };
    // A call that is fine, one without an id, one that ends early although the model was finished, and one in text.
    let mut without_id = answer(None, &[GOOD], "tool_calls", 1);
    without_id["choices"][0]["message"]["tool_calls"][0].as_object_mut().unwrap().remove("id");
    let in_text = r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>"#;
    let script = [
        (answer(None, &[GOOD], "tool_calls", 1), "clean"),
        (without_id, "mended; kinds=wire_form"),
        (answer(None, &[r#"{"city": "Ro"#], "tool_calls", 1), "rejected"),
        (answer(None, &[r#"{"city": "Ro"#], "length", 1), "truncated"),
        (answer(Some(in_text), &[], "stop", 1), "mended; kinds=call_in_text"),
    ];
    let mut fixture = Fixture::with(config, script.iter().map(|(answer, _)| Answer::json(answer))).await;
    for (_, expected) in &script {
        let reply = fixture.post(PATH, &[], &request(false)).await;
        assert_eq!(reply.summary(), *expected, "{}", reply.text());
        let reason = &reply.json()["choices"][0]["finish_reason"];
        assert_eq!(reason == "length", *expected == "truncated");
    }
    let expected = [("clean", 1), ("mended", 2), ("truncated", 1), ("rejected", 1)];
    let metrics = fixture.get("/metrics").await;
    for (outcome, count) in expected {
        let line =
            format!("toolmend_calls_total{{outcome=\"{outcome}\",tool=\"get_weather\",model=\"m\"}} {count}");
        assert!(metrics.text().contains(&line), "{line}: {}", metrics.text());
    }
    for kind in ["wire_form", "call_in_text"] {
        let line = format!("toolmend_repairs_total{{kind=\"{kind}\",tool=\"get_weather\",model=\"m\"}} 1");
        assert!(metrics.text().contains(&line), "{line}: {}", metrics.text());
    }
    let counts = fixture.gateway.call_counts();
    assert_eq!((counts.calls(), counts.refused()), (5, 2));
    assert_eq!(
        counts.kinds().iter().map(|(kind, count)| (*kind, *count)).collect::<Vec<_>>(),
        [("call_in_text", 1), ("wire_form", 1)]
    );
    fixture.stop();
    fixture.served.take().unwrap().await.unwrap().unwrap();
    let mut store = Store::open_existing(&Location::Sqlite(path)).unwrap();
    let chart = store.chart(
        toolmend_journal::GroupBy::Outcome,
        toolmend_journal::ChartRange::Day,
        &Filter::default(),
    );
    let mut lines: Vec<(String, u64)> =
        chart.unwrap().lines.iter().map(|line| (line.name.clone(), line.total)).collect();
    let mut expected = expected.map(|(name, count)| (name.to_owned(), count)).to_vec();
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
    let page = store.list(&Filter::default(), None, 100).unwrap();
    let unfinished = page.entries.iter().find(|line| &*line.series.outcome == "rejected").unwrap();
    let unfinished = store.entry(unfinished.id).unwrap().unwrap();
    assert_eq!((unfinished.reason.as_deref(), unfinished.finish.as_deref()), (Some("syntax"), Some("stop")));
    assert!(!unfinished.feedback.unwrap().contains("cut off"));
}
