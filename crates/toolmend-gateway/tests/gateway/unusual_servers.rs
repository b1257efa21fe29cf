//! Servers that work, but differently from others.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolmend_gateway::{Config, Upstream};

use crate::fixture::{Answer, Fixture, Reply, weather};

const PATH: &str = "/v1/chat/completions";
const BROKEN: &str = "{'city': 'Rome',}";

fn request(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]}).to_string()
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}})
}

fn answer(calls: &[Value]) -> Value {
    json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": calls}}]})
}

/// Returns a stream with one broken call and these line ends.
fn events(line: &str, colon: &str) -> String {
    let mut first = call("a", BROKEN);
    first["index"] = json!(0);
    let chunks = [
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [first]}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let chunks = chunks.iter().map(Value::to_string).chain(["[DONE]".to_owned()]);
    chunks.map(|chunk| format!("data{colon}{chunk}{line}{line}")).collect()
}

/// Returns the arguments of the only call in a stream, whatever its line ends.
fn arguments(reply: &Reply) -> String {
    let payloads = reply.text().split(['\n', '\r']).filter_map(|line| line.strip_prefix("data:"));
    let chunks = payloads.filter_map(|payload| serde_json::from_str::<Value>(payload).ok());
    let calls = chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0).cloned());
    calls.filter_map(|call| call["function"]["arguments"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn streams_are_recognised_by_their_content() {
    for kind in [
        "text/event-stream",
        "Text/Event-Stream; charset=UTF-8",
        "application/json",
        "text/plain; charset=utf-8",
        "application/octet-stream",
    ] {
        let mut answer = Answer::sse(events("\n", ": "));
        answer.headers = vec![("content-type", kind.to_owned())];
        let fixture = Fixture::new([answer]).await;
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(reply.summary(), "stream", "{kind}");
        let shown = reply.headers["content-type"].to_str().unwrap().to_ascii_lowercase();
        assert!(shown.starts_with("text/event-stream"), "{kind}: {shown}");
        assert_eq!(arguments(&reply), "{\"city\": \"Rome\"}", "{kind}");
    }
    // A whole answer becomes a stream, and looking at its beginning loses nothing.
    let fixture = Fixture::new([Answer::json(&answer(&[call("a", BROKEN)]))]).await;
    let reply = fixture.post(PATH, &[], &request(true)).await;
    assert_eq!(arguments(&reply), "{\"city\": \"Rome\"}");
}

#[tokio::test]
async fn every_notation_of_an_event_is_read() {
    let mark = "\u{feff}".to_owned();
    for text in [
        events("\n", ": "),
        events("\r\n", ": "),
        events("\r", ": "),
        events("\n", ":"),
        mark + &events("\n", ": "),
        // One payload in several lines.
        events("\n", ": ").replacen(',', ",\ndata: ", 1),
    ] {
        let fixture = Fixture::new([Answer::sse(&text)]).await;
        let reply = fixture.post(PATH, &[], &request(true)).await;
        assert_eq!(arguments(&reply), "{\"city\": \"Rome\"}", "{text:?}");
        assert!(reply.text().contains("[DONE]"), "{text:?}");
    }
}

#[tokio::test]
async fn a_byte_order_mark_or_another_success_status_does_not_prevent_mending() {
    let body = answer(&[call("a", BROKEN)]).to_string();
    let fixture =
        Fixture::new([Answer::text(&format!("\u{feff}{body}")), Answer::text(&body).status(201)]).await;
    for status in [200, 201] {
        let reply = fixture.post(PATH, &[], &request(false)).await;
        assert_eq!(reply.status, status);
        let message = &reply.json()["choices"][0]["message"];
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"city\": \"Rome\"}");
        assert!(reply.summary().starts_with("mended"), "{}", reply.summary());
    }
}

#[tokio::test]
async fn errors_in_a_stream_reach_the_client_in_its_form() {
    let said = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Well, "}}]});
    for error in [
        "data: {\"error\": {\"message\": \"no memory left\"}}\n\n",
        "event: error\ndata: {\"message\": \"no memory left\"}\n\n",
        "event: error\ndata: no memory left\n\n",
        "error: {\"code\": 500, \"message\": \"no memory left\"}\n\n",
        "error: no memory left\n\n",
    ] {
        let fixture = Fixture::new([Answer::sse(format!("data: {said}\n\n{error}"))]).await;
        let reply = fixture.post(PATH, &[], &request(true)).await;
        let events = reply.events();
        assert_eq!(events[0]["choices"][0]["delta"]["content"], "Well, ", "{error}");
        assert_eq!(events.last().unwrap()["error"]["message"], "no memory left", "{error}");
    }
}

#[tokio::test]
async fn the_header_names_only_what_was_done_to_calls() {
    let fine = "{\"city\":\"Oslo\"}";
    for (calls, wire_form) in [
        ([call("a", BROKEN), call("b", fine)], false),
        ([call("a", BROKEN), call("a", fine)], true),
        ([call("a", fine), call("a", fine)], true),
    ] {
        let fixture = Fixture::new([Answer::json(&answer(&calls))]).await;
        let reply = fixture.post(PATH, &[], &request(false)).await;
        assert_eq!(reply.summary().contains("wire_form"), wire_form, "{}", reply.summary());
    }
}

#[tokio::test]
async fn websockets_are_rejected_with_a_reason() {
    let fixture = Fixture::new([]).await;
    let request = Request::get(format!("http://{}/v1/realtime", fixture.address))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .body(Full::<Bytes>::default());
    let reply = fixture.send(request.unwrap()).await;
    assert_eq!(reply.status, 501);
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("websocket"));
    assert!(fixture.received().is_empty());
}

/// Starts a server that keeps its connections open, except after a stream: then it closes them, a moment too late for the
/// next request.
async fn start_closing_server() -> std::net::SocketAddr {
    async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
        let mut streamed = false;
        loop {
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                if stream.read_buf(&mut request).await? == 0 {
                    return Ok(());
                }
            }
            if streamed {
                return Ok(());
            }
            streamed = String::from_utf8_lossy(&request).contains("\"stream\":true");
            let (kind, body) = if streamed {
                ("text/event-stream", events("\n", ": "))
            } else {
                ("application/json", answer(&[call("a", BROKEN)]).to_string())
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nkeep-alive: timeout=5\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).await?;
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    address
}

#[tokio::test]
async fn no_request_is_lost_on_a_connection_that_is_about_to_close() {
    let upstreams = vec![Upstream::new(format!("http://{}", start_closing_server().await))];
    let fixture = Fixture::with(Config { upstreams, ..Config::default() }, []).await;
    for round in 0..20 {
        for policy in ["balanced", "off"] {
            for stream in [true, false] {
                let reply = fixture.post(PATH, &[("x-toolmend-policy", policy)], &request(stream)).await;
                assert_eq!(reply.status, 200, "round {round}, {policy}, {stream}: {}", reply.text());
            }
        }
    }
}
