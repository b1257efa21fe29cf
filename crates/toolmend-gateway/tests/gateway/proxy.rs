//! What any good proxy does: paths, keys, compression, routing, limits, shutdown.

use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use toolmend_gateway::{Config, Secret, Upstream};

use crate::fixture::{Answer, AnswerBody, Fixture, weather};

const PATH: &str = "/v1/chat/completions";

fn request(model: &str) -> String {
    json!({"model": model, "messages": [], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]}).to_string()
}

fn answer(arguments: &str) -> Value {
    json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}}]})
}

#[tokio::test]
async fn other_paths_pass_through_unchanged() {
    let body = "{ \"data\": [1.50] }";
    let fixture =
        Fixture::new([Answer::text(body).header("x-server", "yes"), Answer::text("{}").status(404)]).await;
    let reply = fixture.get("/v1/models?x=%20").await;
    assert_eq!((reply.text(), reply.headers["x-server"].to_str().unwrap()), (body, "yes"));
    assert_eq!(fixture.received()[0].path, "/v1/models?x=%20");
    let reply = fixture.post("/v1/messages/count_tokens", &[("x-custom", "stays")], "{ not json").await;
    assert_eq!(reply.status, 404);
    assert_eq!(
        (fixture.received()[1].body.as_ref(), &fixture.received()[1].headers["x-custom"]),
        (&b"{ not json"[..], &"stays".parse().unwrap())
    );
}

#[tokio::test]
async fn a_request_that_is_not_json_is_left_to_the_server() {
    let fixture = Fixture::new([Answer::text("{\"error\":\"bad\"}").status(400)]).await;
    let reply = fixture.post(PATH, &[], "{\"model\": ").await;
    assert_eq!((reply.status.as_u16(), fixture.received()[0].body.as_ref()), (400, &b"{\"model\": "[..]));
}

#[tokio::test]
async fn compressed_answers_are_read_and_stay_compressed_if_they_are_clean() {
    for coding in ["gzip", "br", "zstd"] {
        for (arguments, told) in [("{\"city\":\"Rome\"}", "clean"), ("{'city': 'Rome'}", "mended")] {
            let plain = answer(arguments).to_string().into_bytes();
            let mut packed = Vec::new();
            match coding {
                "gzip" => GzipEncoder::new(&plain[..]).read_to_end(&mut packed).await.unwrap(),
                "br" => BrotliEncoder::new(&plain[..]).read_to_end(&mut packed).await.unwrap(),
                _ => ZstdEncoder::new(&plain[..]).read_to_end(&mut packed).await.unwrap(),
            };
            let mut compressed = Answer::text("").header("content-encoding", coding);
            compressed.body = AnswerBody::Whole(packed.clone());
            let fixture = Fixture::new([compressed]).await;
            let reply =
                fixture.post(PATH, &[("accept-encoding", "gzip, br, zstd, weird")], &request("m")).await;
            assert!(reply.summary().starts_with(told), "{coding}: {}", reply.summary());
            assert_eq!(fixture.received()[0].headers["accept-encoding"], "gzip, br, zstd");
            if told == "clean" {
                assert_eq!(
                    (reply.body.as_ref(), reply.headers["content-encoding"].to_str().unwrap()),
                    (&packed[..], coding)
                );
            } else {
                assert!(!reply.headers.contains_key("content-encoding"));
                assert!(reply.text().contains("{\\\"city\\\": \\\"Rome\\\"}"), "{}", reply.text());
            }
        }
    }
}

#[tokio::test]
async fn a_compressed_stream_is_mended() {
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{city: Rome}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let mut packed = Vec::new();
    GzipEncoder::new(stream.as_bytes()).read_to_end(&mut packed).await.unwrap();
    let mut compressed = Answer::sse("").header("content-encoding", "gzip");
    compressed.body = AnswerBody::Whole(packed);
    let fixture = Fixture::new([compressed]).await;
    let mut request: Value = serde_json::from_str(&request("m")).unwrap();
    request["stream"] = json!(true);
    let reply = fixture.post(PATH, &[], &request.to_string()).await;
    assert!(reply.text().contains("\\\"Rome\\\""), "{}", reply.text());
    assert!(!reply.headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn models_go_to_their_servers() {
    let (left, right) = (
        Fixture::new([Answer::text("{\"left\":1}")]).await,
        Fixture::new([Answer::text("{\"right\":1}")]).await,
    );
    let upstream = |fixture: &Fixture, model: &str| Upstream {
        models: vec![model.to_owned()],
        ..Upstream::new(format!("http://{}", fixture.address))
    };
    let config =
        Config { upstreams: vec![upstream(&left, "qwen*"), upstream(&right, "*")], ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    assert_eq!(fixture.post(PATH, &[], &request("llama")).await.text(), "{\"right\":1}");
    assert_eq!(fixture.post(PATH, &[], &request("qwen3:8b")).await.text(), "{\"left\":1}");
    // Requests that pass through also go to the server of their model.
    right.answer(Answer::text("{\"right\":2}"));
    let off = [("x-toolmend-policy", "off")];
    assert_eq!(fixture.post(PATH, &off, &request("llama")).await.text(), "{\"right\":2}");
    right.answer(Answer::text("{\"right\":3}"));
    assert_eq!(fixture.post("/v1/embeddings", &[], &request("llama")).await.text(), "{\"right\":3}");
}

#[tokio::test]
async fn keys_are_required_and_never_passed_on() {
    let config = Config { api_keys: vec![Secret::new("right")], ..Config::default() };
    let fixture = Fixture::with(config, [Answer::text("{}"), Answer::text("{}")]).await;
    for headers in [&[][..], &[("authorization", "Bearer wrong")]] {
        let reply = fixture.post(PATH, headers, &request("m")).await;
        assert_eq!(reply.status, 401);
        assert!(reply.json()["error"]["message"].is_string());
    }
    let reply = fixture.post("/v1/messages", &[("x-api-key", "wrong")], &request("m")).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.json()["error"]["type"]),
        (401, &json!("authentication_error"))
    );
    assert_eq!(fixture.post(PATH, &[("authorization", "Bearer right")], &request("m")).await.status, 200);
    assert_eq!(fixture.post("/v1/messages", &[("x-api-key", "right")], &request("m")).await.status, 200);
    assert_eq!(fixture.get("/healthz").await.status, 200, "health needs no key");
    for got in fixture.received() {
        assert!(!got.headers.contains_key("authorization") && !got.headers.contains_key("x-api-key"));
    }
}

#[tokio::test]
async fn the_servers_key_replaces_the_clients() {
    let server = Fixture::new([Answer::text("{}"), Answer::text("{}")]).await;
    let upstream =
        Upstream { api_key: Some(Secret::new("own")), ..Upstream::new(format!("http://{}", server.address)) };
    let fixture = Fixture::with(Config { upstreams: vec![upstream], ..Config::default() }, []).await;
    fixture.post(PATH, &[("authorization", "Bearer client")], &request("m")).await;
    fixture.post("/v1/messages", &[("x-api-key", "client"), ("anthropic-version", "1")], &request("m")).await;
    assert_eq!(server.received()[0].headers["authorization"], "Bearer own");
    assert_eq!(server.received()[1].headers["x-api-key"], "own");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_rejected() {
    let mut config = Config::default();
    config.limits.body_bytes = 100;
    let fixture = Fixture::with(config, []).await;
    let reply = fixture.post("/v1/messages", &[], &request(&"m".repeat(100))).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["error"]["type"]), (413, &json!("request_too_large")));
    assert!(fixture.received().is_empty());
}

#[tokio::test]
async fn health_and_metrics_are_served() {
    let fixture = Fixture::new([Answer::json(&answer("{'city': 'Rome'}"))]).await;
    assert_eq!(
        (fixture.get("/healthz").await.text(), fixture.get("/readyz").await.text()),
        ("ok\n", "ready\n")
    );
    fixture.post(PATH, &[], &request("some-model")).await;
    let text = fixture.get("/metrics").await;
    for line in [
        r#"toolmend_requests_total{surface="chat",status="200"} 1"#,
        r#"toolmend_calls_total{outcome="mended",tool="get_weather",model="some-model"} 1"#,
        r#"tool="get_weather",model="some-model"} "#,
        r#"toolmend_added_seconds_count{surface="chat"} 1"#,
        "toolmend_held_bytes 0",
    ] {
        assert!(text.text().contains(line), "{line}: {}", text.text());
    }
    assert_eq!(fixture.gateway.call_counts().calls(), 1);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fixture = Fixture::with(
        Config { upstreams: vec![Upstream::new(format!("http://{gone}"))], ..Config::default() },
        [],
    )
    .await;
    assert_eq!(fixture.get("/readyz").await.status, 503);
}

#[tokio::test]
async fn a_new_configuration_applies_to_the_next_request() {
    let fixture = Fixture::new([Answer::text("{}")]).await;
    let upstreams = fixture.gateway.upstreams().into_iter().map(Upstream::new).collect();
    fixture
        .gateway
        .reload(Config { api_keys: vec![Secret::new("k")], upstreams, ..Config::default() })
        .unwrap();
    assert_eq!(fixture.post(PATH, &[], &request("m")).await.status, 401);
    let wrong = Config { upstreams: vec![Upstream::new("nonsense")], ..Config::default() };
    assert!(fixture.gateway.reload(wrong).is_err());
    assert_eq!(fixture.post(PATH, &[], &request("m")).await.status, 401, "the old one stays");
}

#[tokio::test]
async fn open_streams_are_finished_before_the_gateway_stops() {
    let (feed, answer) = Answer::fed();
    let mut fixture = Fixture::new([answer]).await;
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    feed.send(Ok(Bytes::from(text))).unwrap();
    let mut request: Value = serde_json::from_str(&request("m")).unwrap();
    request["stream"] = json!(true);
    let mut response = fixture.open(PATH, &[], &request.to_string()).await;
    response.body_mut().frame().await.unwrap().unwrap();
    fixture.stop();
    feed.send(Ok(Bytes::from("data: [DONE]\n\n"))).unwrap();
    drop(feed);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "data: [DONE]\n\n");
    fixture.served.take().unwrap().await.unwrap().unwrap();
}

#[tokio::test]
async fn http_2_is_spoken() {
    let fixture = Fixture::new([Answer::json(&answer("{'city': 'Rome'}"))]).await;
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let to = http::Request::post(format!("http://{}{PATH}", fixture.address))
        .body(Full::from(request("m")))
        .unwrap();
    let response = client.request(to).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(std::str::from_utf8(&body).unwrap().contains("Rome"));
}
