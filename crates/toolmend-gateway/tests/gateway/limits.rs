//! What happens if a limit is reached.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolmend_gateway::{Config, RequestLimits};

use crate::fixture::{Answer, Fixture, weather};

const PATH: &str = "/v1/chat/completions";

fn with_limits(limits: RequestLimits) -> Config {
    Config { limits, ..Config::default() }
}

fn request(stream: bool, schema: &Value) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]})
    .to_string()
}

/// Returns the frames of a stream with a call that is not strict JSON: the start of the call, its end, the end of the turn.
fn call_frames(city: &str) -> [String; 3] {
    let call = |arguments: &str| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}}]});
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    [
        format!("data: {}\n\n", call(&format!("{{city: '{city}"))),
        format!("data: {}\n\n", call("',}")),
        format!("data: {stop}\n\ndata: [DONE]\n\n"),
    ]
}

async fn metric(fixture: &Fixture, limit: &str) -> u64 {
    let metrics = fixture.get("/metrics").await;
    let name = format!("toolmend_limits_total{{limit=\"{limit}\"}} ");
    let value = metrics.text().lines().find_map(|line| line.strip_prefix(&name));
    value.unwrap_or_else(|| panic!("{limit} is not counted")).parse().unwrap()
}

/// Sends bytes, and returns everything that comes back until the gateway disconnects.
async fn exchange_bytes(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A connection may also be reset.
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "the connection stays open");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_request_that_takes_too_long_to_read_is_passed_on() {
    let config = with_limits(RequestLimits { work_millis: 0, ..RequestLimits::default() });
    let answer = r#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{city: 1"}}]}}]}"#;
    let fixture = Fixture::with(config, [Answer::text(answer)]).await;
    // Patterns are never checked on the thread of a connection.
    let schema = json!({"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}});
    let request = request(false, &schema);
    let reply = fixture.post(PATH, &[], &request).await;
    assert_eq!((reply.status.as_u16(), reply.summary(), reply.text()), (200, "unread", answer));
    assert_eq!(fixture.received()[0].body, request.as_bytes());
    assert_eq!(metric(&fixture, "work_millis").await, 1);
}

#[tokio::test]
async fn patterns_are_checked_on_another_thread() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}});
    let fixture = Fixture::new([Answer::sse(call_frames("Oslo").concat())]).await;
    let reply = fixture.post(PATH, &[], &request(true, &schema)).await;
    assert!(reply.text().contains(r#""arguments":"{\"city\": \"Oslo\"}""#), "{}", reply.text());
}

#[tokio::test]
async fn a_stream_that_holds_too_much_is_passed_on_byte_for_byte() {
    let frames = call_frames(&"x".repeat(5000)).concat();
    let config = with_limits(RequestLimits { held_bytes: 1000, ..RequestLimits::default() });
    // The splitter has the same limit for one frame, so the call is in small ones.
    let piece = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather", "arguments": text}}]}}]})
        )
    };
    let small: String = (0..40).map(|_| piece("{city: ")).collect();
    assert!(frames.len() > 1000 && small.len() > 1000);
    let fixture = Fixture::with(config, [Answer::sse(&small)]).await;
    let reply = fixture.post(PATH, &[], &request(true, &weather())).await;
    assert_eq!(reply.text(), format!("{small}: toolmend unread\n\n"));
    assert_eq!(metric(&fixture, "held_bytes").await, 1);
}

#[tokio::test]
async fn a_whole_answer_that_is_too_long_is_passed_on() {
    let config = with_limits(RequestLimits { held_bytes: 1000, ..RequestLimits::default() });
    let answer = json!({"choices": [{"message": {"content": "x".repeat(2000)}}]}).to_string();
    let fixture = Fixture::with(config, [Answer::text(&answer)]).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather())).await;
    assert_eq!((reply.summary(), reply.text()), ("unread", answer.as_str()));
}

#[tokio::test]
async fn the_largest_hold_makes_room_for_the_others() {
    let config = with_limits(RequestLimits { held_total_bytes: 2_000_000, ..RequestLimits::default() });
    let (large_feed, large_answer) = Answer::fed();
    let (small_feed, small_answer) = Answer::fed();
    let fixture = Fixture::with(config, [large_answer, small_answer]).await;
    let request = request(true, &weather());
    let send = |feed: &crate::fixture::Feed, text: &str| feed.send(Ok(Bytes::from(text.to_owned()))).unwrap();
    // Streams are held about three times: as they arrived, as frames and as arguments.
    let large = call_frames(&"x".repeat(400_000));
    let small = call_frames(&"y".repeat(200_000));
    send(&large_feed, &large[0]);
    let mut large_reply = fixture.open(PATH, &[], &request).await.into_body();
    send(&small_feed, &small[0]);
    let small_reply = fixture.open(PATH, &[], &request).await.into_body();
    // Both fit. What follows does not, and the larger of the two is released although it receives nothing.
    send(
        &small_feed,
        &format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "z".repeat(150_000)}}]}}]})
        ),
    );
    let mut first = Vec::new();
    while first.len() < large[0].len() {
        first.extend_from_slice(&large_reply.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert!(first == large[0].as_bytes());
    send(&small_feed, &small[1]);
    send(&small_feed, &small[2]);
    drop(small_feed);
    let small_text = small_reply.collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&small_text).contains("toolmend mended"), "the smaller is mended");
    assert_eq!(metric(&fixture, "held_total_bytes").await, 1);
}

#[tokio::test]
async fn a_body_that_does_not_fit_has_to_be_sent_again() {
    let config = with_limits(RequestLimits { held_total_bytes: 1000, ..RequestLimits::default() });
    let fixture = Fixture::with(config, []).await;
    let reply = fixture.post(PATH, &[], &"x".repeat(2000)).await;
    assert_eq!((reply.status.as_u16(), &reply.headers["retry-after"]), (503, &"1".parse().unwrap()));
    let config = with_limits(RequestLimits { body_bytes: 1000, ..RequestLimits::default() });
    let fixture = Fixture::with(config, []).await;
    assert_eq!(fixture.post(PATH, &[], &"x".repeat(2000)).await.status, 413);
    assert_eq!(metric(&fixture, "body_bytes").await, 1);
}

#[tokio::test]
async fn a_body_takes_as_much_as_its_text_in_however_many_pieces_it_arrives() {
    let text = json!({"model": "m", "x": "y".repeat(700_000)}).to_string();
    let limits = RequestLimits { held_total_bytes: 1_000_000, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), [Answer::text("{}"), Answer::text("{}")]).await;
    assert_eq!(fixture.post(PATH, &[], &text).await.status, 200);
    assert_eq!(post_compressed(&fixture, text.as_bytes()).await.status, 200);
    assert!(fixture.received().iter().all(|request| request.body == text.as_bytes()));
}

#[tokio::test]
async fn an_answer_that_passes_through_is_not_waited_for_without_end() {
    let (_feed, answer) = Answer::fed();
    let limits = RequestLimits { idle_seconds: 1, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), [answer]).await;
    let answer = exchange_bytes(fixture.address, b"GET /v1/other HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn requests_beyond_the_limit_are_turned_away() {
    let config = with_limits(RequestLimits { requests: 1, queue: 0, ..RequestLimits::default() });
    let (feed, answer) = Answer::fed();
    let fixture = Fixture::with(config, [answer, Answer::text("{}")]).await;
    let first = fixture.open(PATH, &[], &request(true, &weather())).await;
    let reply = fixture.post(PATH, &[], &request(false, &weather())).await;
    assert_eq!((reply.status.as_u16(), &reply.headers["retry-after"]), (503, &"1".parse().unwrap()));
    assert_eq!(reply.json()["error"]["type"], "overloaded_error");
    assert_eq!(fixture.get("/healthz").await.status, 200);
    assert_eq!(metric(&fixture, "requests").await, 1);
    drop(feed);
    drop(first.into_body().collect().await);
    // The place is free as soon as the gateway has noticed the end.
    while fixture.post(PATH, &[], &request(false, &weather())).await.status == 503 {}
}

#[tokio::test]
async fn unfinished_heads_and_bodies_are_ended() {
    let limits = RequestLimits { header_seconds: 1, body_seconds: 1, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), []).await;
    let head = exchange_bytes(fixture.address, b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    let body = exchange_bytes(
        fixture.address,
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{",
    );
    let (head, body) = tokio::join!(head, body);
    assert_eq!(head, "");
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
    assert_eq!(metric(&fixture, "header_seconds").await, 1);
    assert_eq!(metric(&fixture, "body_seconds").await, 1);
}

#[tokio::test]
async fn connections_that_only_wait_are_closed() {
    let limits = RequestLimits { connection_seconds: 1, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), []).await;
    assert_eq!(exchange_bytes(fixture.address, b"").await, "");
    assert_eq!(metric(&fixture, "connection_seconds").await, 1);
    let limits = RequestLimits { connections: 2, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), []).await;
    let oldest = exchange_bytes(fixture.address, b"");
    let (oldest, ()) = tokio::join!(oldest, async {
        for _ in 0..3 {
            assert_eq!(fixture.get("/healthz").await.status, 200);
            drop(TcpStream::connect(fixture.address).await.unwrap());
        }
    });
    assert_eq!(oldest, "");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let limits = RequestLimits { header_bytes: 10_000, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), []).await;
    let head =
        format!("GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nx-long: {}\r\n\r\n", "x".repeat(20_000));
    let answer = exchange_bytes(fixture.address, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(metric(&fixture, "header_bytes").await, 1);
}

/// Compresses a body.
async fn compress(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = async_compression::tokio::bufread::GzipEncoder::new(body);
    encoder.read_to_end(&mut out).await.unwrap();
    out
}

async fn post_compressed(fixture: &Fixture, body: &[u8]) -> crate::fixture::Reply {
    let request = http::Request::post(format!("http://{}{PATH}", fixture.address))
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(http_body_util::Full::from(compress(body).await))
        .unwrap();
    fixture.send(request).await
}

#[tokio::test]
async fn what_a_compressed_request_becomes_counts() {
    let config = with_limits(RequestLimits { held_total_bytes: 1 << 20, ..RequestLimits::default() });
    let fixture = Fixture::with(config, [Answer::text("{}")]).await;
    let bomb = format!(r#"{{"model":"{}"}}"#, "x".repeat(8 << 20));
    let reply = post_compressed(&fixture, bomb.as_bytes()).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(fixture.received().is_empty());
    let small = request(false, &weather());
    assert_eq!(post_compressed(&fixture, small.as_bytes()).await.status, 200);
    let received = &fixture.received()[0];
    assert_eq!(received.body, small.as_bytes());
    assert!(!received.headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn a_request_of_too_many_values_is_passed_on_unread() {
    let config = with_limits(RequestLimits { held_bytes: 1 << 20, ..RequestLimits::default() });
    let fixture = Fixture::with(config, [Answer::text("{}")]).await;
    let body = format!(r#"{{"model":"m","messages":[{}0]}}"#, "0,".repeat(1 << 20));
    let reply = fixture.post(PATH, &[], &body).await;
    assert_eq!((reply.status.as_u16(), reply.summary()), (200, "unread"));
    assert_eq!(fixture.received()[0].body, body.as_bytes());
    assert_eq!(metric(&fixture, "held_bytes").await, 1);
}

#[tokio::test]
async fn a_body_that_arrives_byte_by_byte_is_not_waited_for() {
    let limits = RequestLimits { body_seconds: 1, ..RequestLimits::default() };
    let fixture = Fixture::with(with_limits(limits), []).await;
    for path in [PATH, "/v1/other", "/toolmend/api/mend"] {
        let mut stream = TcpStream::connect(fixture.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 999999\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The first path gets bytes all the time, only too few of them.
        let (mut reading, mut writing) = stream.into_split();
        let drip = async {
            let mut pause = tokio::time::interval(Duration::from_millis(100));
            while path == PATH && writing.write_all(b" ").await.is_ok() {
                pause.tick().await;
            }
            std::future::pending::<()>().await;
        };
        let mut answer = Vec::new();
        tokio::select! {
            read = reading.read_to_end(&mut answer) => drop(read),
            () = drip => {}
            () = tokio::time::sleep(Duration::from_secs(30)) => panic!("{path} is waited for"),
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5"), "{path}: {answer}");
    }
}
