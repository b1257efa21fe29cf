//! Servers and clients that misbehave.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::json;
use toolmend_gateway::{Config, RequestLimits};

use crate::fixture::{Answer, Fixture, weather};

const PATH: &str = "/v1/chat/completions";
const CALL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\\\"Rome\\\"}\"}}]}}]}\n\n";
const END: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

fn request() -> String {
    json!({"model": "m", "stream": true, "messages": [], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]}).to_string()
}

fn text(text: &str) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]})
    )
}

fn limits(change: impl FnOnce(&mut RequestLimits)) -> Config {
    let mut config = Config::default();
    change(&mut config.limits);
    config
}

#[tokio::test]
async fn a_connection_that_breaks_is_broken_for_the_client_too() {
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::new([answer]).await;
    feed.send(Ok(Bytes::from(text("Hi, you.")))).unwrap();
    let mut response = fixture.open(PATH, &[], &request()).await;
    let first = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, text("Hi, you."));
    feed.send(Ok(Bytes::from(CALL))).unwrap();
    feed.send(Err(std::io::Error::other("dead"))).unwrap();
    // An event that reports an error would look like an answer. Clients ask again after a broken connection.
    let next = response.body_mut().frame().await.unwrap();
    assert!(next.is_err(), "{next:?}");
}

#[tokio::test]
async fn half_a_character_and_half_a_frame_wait_for_the_rest() {
    let stream = text("Grüße 😀") + CALL + END;
    for cut in 0..stream.len() {
        if stream.is_char_boundary(cut) && cut % 7 != 0 {
            continue;
        }
        let (feed, answer) = Answer::fed();
        let fixture = Fixture::new([answer]).await;
        let (left, right) = stream.as_bytes().split_at(cut);
        feed.send(Ok(Bytes::copy_from_slice(left))).unwrap();
        let response = fixture.open(PATH, &[], &request()).await;
        feed.send(Ok(Bytes::copy_from_slice(right))).unwrap();
        drop(feed);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, stream, "cut at {cut}");
    }
}

#[tokio::test]
async fn garbage_does_not_reach_the_client_as_an_event() {
    let garbage = "data: {not json\n\nnonsense\n\ndata: \u{1}\n\n\u{feff}data: [1]\n\n: fine\n\n";
    let stream = format!("{}{garbage}{CALL}{END}", text("Hi, you."));
    let mut bytes = stream.clone().into_bytes();
    // Not even text.
    let broken = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n";
    bytes.splice(0..0, broken.iter().copied());
    let fixture = Fixture::new([Answer::sse(&bytes)]).await;
    let body = fixture.post(PATH, &[], &request()).await.body;
    let shown = String::from_utf8_lossy(&body);
    let data: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.len(), 4, "{shown}");
    assert!(data[1].contains("get_weather") && data[3] == "[DONE]", "{shown}");
    assert!(shown.contains(": data: {not json"), "nothing is lost: {shown}");
}

#[tokio::test]
async fn ten_megabytes_in_one_event_pass_and_more_than_allowed_is_an_error() {
    let big = text(&"x".repeat(10 << 20))
        + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    // How long this takes is not the point, and a busy machine takes its time.
    let patient = limits(|limits| limits.work_millis = 120_000);
    let fixture = Fixture::with(patient, [Answer::sse(&big)]).await;
    assert!(fixture.post(PATH, &[], &request()).await.body == big);
    let fixture = Fixture::with(limits(|limits| limits.held_bytes = 1 << 20), [Answer::sse(&big)]).await;
    let reply = fixture.post(PATH, &[], &request()).await;
    assert!(reply.body.len() < 1000 && reply.text().contains("\"error\""), "{}", reply.body.len());
}

#[tokio::test]
async fn a_server_that_stalls_times_out() {
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::with(limits(|limits| limits.idle_seconds = 1), [answer]).await;
    feed.send(Ok(Bytes::from(CALL))).unwrap();
    let reply = fixture.post(PATH, &[], &request()).await;
    assert!(reply.text().contains("sent nothing for 1 seconds"), "{}", reply.text());
    feed.closed().await;
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = limits(|limits| limits.idle_seconds = 1);
    config.upstreams =
        vec![toolmend_gateway::Upstream::new(format!("http://{}", silent.local_addr().unwrap()))];
    let fixture = Fixture::with(config, []).await;
    for path in [PATH, "/v1/embeddings"] {
        let reply = fixture.post(path, &[], &request()).await;
        assert_eq!(reply.status, 504, "{}", reply.text());
        assert!(reply.text().contains("sent nothing for 1 seconds"), "{}", reply.text());
    }
}

#[tokio::test]
async fn comments_keep_the_connection_alive_while_a_call_is_held() {
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::with(limits(|limits| limits.keep_alive_seconds = 1), [answer]).await;
    feed.send(Ok(Bytes::from(CALL))).unwrap();
    let mut response = fixture.open(PATH, &[], &request()).await;
    let first = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, ": toolmend holds a call\n\n");
    feed.send(Ok(Bytes::from(END))).unwrap();
    drop(feed);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), format!("{CALL}{END}"));
}

#[tokio::test]
async fn errors_of_the_server_pass_unchanged() {
    let body = r#"{"error": {"message": "out of memory", "odd": 1.50}}"#;
    let fixture = Fixture::new([Answer::text(body).status(500).header("retry-after", "7")]).await;
    let reply = fixture.post(PATH, &[], &request()).await;
    assert_eq!(
        (reply.status.as_u16(), reply.text(), reply.headers["retry-after"].to_str().unwrap()),
        (500, body, "7")
    );
    // One in the middle of a stream ends it.
    let error = "data: {\"error\":{\"message\":\"boom\"}}\n\n";
    fixture.answer(Answer::sse(text("Hi, you.") + CALL + error + END));
    assert_eq!(fixture.post(PATH, &[], &request()).await.text(), text("Hi, you.") + error);
}

#[tokio::test]
async fn a_server_that_closes_early_or_is_not_there_is_a_bad_gateway() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            drop(connection);
        }
    });
    let to = |url: String| Config {
        upstreams: vec![toolmend_gateway::Upstream::new(url)],
        ..limits(|limits| limits.connect_retries = 1)
    };
    let fixture = Fixture::with(to(format!("http://{address}")), []).await;
    assert_eq!(fixture.post(PATH, &[], &request()).await.status, 502);
    // A port on which nothing listens.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fixture = Fixture::with(to(format!("http://{gone}")), []).await;
    let reply = fixture.post("/v1/messages", &[], &request()).await;
    assert_eq!((reply.status.as_u16(), reply.json()["type"].as_str()), (502, Some("error")));
    assert!(reply.text().contains("cannot be reached"), "{}", reply.text());
    let metrics = fixture.get("/metrics").await;
    assert!(metrics.text().contains("toolmend_connect_retries_total 1"), "{}", metrics.text());
}

#[tokio::test]
async fn a_client_that_disconnects_ends_the_work_of_the_server() {
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::new([answer]).await;
    feed.send(Ok(Bytes::from(text("Hi, you.")))).unwrap();
    let mut response = fixture.open(PATH, &[], &request()).await;
    response.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(fixture.gateway.open_streams(), 1);
    drop(response);
    // The channel closes when the server drops the body, which it does when its client disconnects.
    while feed.send(Ok(Bytes::from(text("more, more.")))).is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.gateway.open_streams(), 0);
}

#[tokio::test]
async fn a_slow_client_slows_the_server_down() {
    let (feed, answer) = Answer::fed_slowly();
    let fixture = Fixture::new([answer]).await;
    let piece = Bytes::from(text(&"x".repeat(1 << 16)));
    feed.send(Ok(piece.clone())).await.unwrap();
    let mut response = fixture.open(PATH, &[], &request()).await;
    response.body_mut().frame().await.unwrap().unwrap();
    // The client does not read, so only as much as the sockets hold may leave the server.
    let mut taken = 0;
    while let Ok(sent) = tokio::time::timeout(Duration::from_millis(500), feed.send(Ok(piece.clone()))).await
    {
        sent.unwrap();
        taken += 1;
        assert!(taken < 1000, "the gateway swallows without end");
    }
    let end =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let body = tokio::spawn(response.into_body().collect());
    feed.send(Ok(Bytes::from(end))).await.unwrap();
    drop(feed);
    let rest = body.await.unwrap().unwrap().to_bytes();
    assert!(rest.len() >= taken * (1 << 16) && rest.ends_with(end.as_bytes()), "nothing is lost");
}
