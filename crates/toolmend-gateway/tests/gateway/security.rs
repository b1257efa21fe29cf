//! What strangers, pages of other sites and servers must not get.

use std::sync::Arc;

use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use toolmend_gateway::{Config, Secret, TlsConfig, Upstream};

use crate::fixture::{Answer, Fixture};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn pages_of_other_sites_reach_nothing() {
    let fixture = Fixture::new([Answer::text("{}"), Answer::text("{}")]).await;
    for path in [PATH, "/v1/models", "/healthz", "/metrics", "/toolmend/api/state"] {
        for header in [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")] {
            let reply = fixture.post(path, &[header], "{}").await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path} {header:?}");
        }
    }
    assert!(fixture.received().is_empty());
    assert_eq!(fixture.post(PATH, &[("origin", "http://localhost:3000")], "{}").await.status, 200);
    assert!(fixture.get("/metrics").await.text().contains("toolmend_refused_origins_total 15"));
    let config = Config { hosts: vec!["*".into()], origins: vec!["*".into()], ..Config::default() };
    let fixture = Fixture::with(config, [Answer::text("{}")]).await;
    let headers = [("host", "any.example"), ("origin", "https://app.example")];
    assert_eq!(fixture.post(PATH, &headers, "{}").await.status, 200);
}

#[tokio::test]
async fn only_the_gateways_own_key_reaches_a_server() {
    let upstream = Upstream { api_key: Some(Secret::new("own")), ..Upstream::new("http://h") };
    let config = Config { upstreams: vec![upstream], ..Config::default() };
    let fixture = Fixture::at(config, [Answer::text("{}"), Answer::text("{}")]).await;
    fixture.post(PATH, &[("x-api-key", "client"), ("authorization", "Bearer client")], "{}").await;
    fixture.post("/v1/other", &[("x-api-key", "client")], "{}").await;
    for received in fixture.received() {
        assert_eq!(received.headers["authorization"], "Bearer own");
        assert!(!received.headers.contains_key("x-api-key"), "{}", received.path);
    }
}

#[tokio::test]
async fn a_password_in_an_address_is_sent_and_shown_nowhere() {
    let server = Fixture::new([]).await;
    let url = format!("http://me:s3cret@{}", server.address);
    let config = Config { upstreams: vec![Upstream::new(&url)], ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    // The server behind the second gateway has no more answers; what matters is what it received.
    fixture.post(PATH, &[("authorization", "Bearer client")], "{}").await;
    assert_eq!(server.received()[0].headers["authorization"], "Basic bWU6czNjcmV0");
    assert_eq!(fixture.gateway.upstreams(), [format!("http://{}", server.address)]);
    for path in ["/toolmend/api/upstreams", "/toolmend/api/state", "/metrics"] {
        assert!(!fixture.get(path).await.text().contains("s3cret"), "{path}");
    }
    let gone = Config { upstreams: vec![Upstream::new("http://me:s3cret@127.0.0.1:1")], ..Config::default() };
    let reply = Fixture::with(gone, []).await.post(PATH, &[], "{}").await;
    assert!(reply.status == 502 && !reply.text().contains("s3cret"), "{}", reply.text());
}

#[tokio::test]
async fn no_path_leads_out_of_the_configured_one() {
    let fixture = Fixture::new([Answer::text("{}")]).await;
    for path in ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/..%2fadmin"] {
        assert_eq!(fixture.post(path, &[], "{}").await.status, 400, "{path}");
    }
    assert!(fixture.received().is_empty());
    assert_eq!(fixture.post("/v1/a..b", &[], "{}").await.status, 200);
}

/// Sends bytes to the gateway and returns the status of its first answer.
async fn send_raw(fixture: &Fixture, request: &str) -> String {
    let mut stream = TcpStream::connect(fixture.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 64];
    let read = stream.read(&mut answer).await.unwrap_or(0);
    String::from_utf8_lossy(&answer[..read]).split(' ').nth(1).unwrap_or("closed").to_owned()
}

#[tokio::test]
async fn requests_that_programs_could_read_differently_are_refused() {
    let fixture = Fixture::new([]).await;
    let post = |fields: &str, body: &str| {
        format!("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n{fields}\r\n\r\n{body}")
    };
    let hidden = "{}GET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for (request, status) in [
        // Nobody could say which host these are for, or which file.
        ("GET /v1/models HTTP/1.1\r\n\r\n".to_owned(), "403"),
        ("GET * HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), "400"),
        ("CONNECT evil.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), "403"),
        ("GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), "403"),
        // Nobody could say where these end.
        (post("content-length: 2\r\ncontent-length: 60", hidden), "400"),
        (post("content-length: 2, 60", hidden), "400"),
        (post("content-length: +2", hidden), "400"),
        (post("transfer-encoding: xchunked", hidden), "400"),
        (post("transfer-encoding : chunked", hidden), "400"),
        (post("transfer-encoding: chunked\r\ntransfer-encoding: identity", "0\r\n\r\n"), "400"),
        (post("transfer-encoding:\r\n chunked", "0\r\n\r\n"), "400"),
        (post("x-y: a\0b\r\ncontent-length: 2", "{}"), "400"),
    ] {
        assert_eq!(send_raw(&fixture, &request).await, status, "{request:?}");
    }
    // With both, the chunks count, and the connection ends with them.
    let both = post(
        "content-length: 3\r\ntransfer-encoding: chunked",
        "2\r\n{}\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n",
    );
    fixture.answer(Answer::text("{}"));
    send_raw(&fixture, &both).await;
    let paths: Vec<String> = fixture.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, [PATH], "nothing hidden reaches the server");
}

/// Writes a frame of HTTP/2.
/// Sends bytes, and says how often the model server has failed since the start.
async fn count_failures_after(fixture: &Fixture, request: &str, status: &str) -> u64 {
    assert_eq!(send_raw(fixture, request).await, status, "{request:?}");
    let metrics = fixture.get("/metrics").await;
    let failures =
        metrics.text().lines().filter(|line| line.starts_with("toolmend_upstream_failures_total{"));
    failures.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

#[tokio::test]
async fn broken_requests_are_not_failures_of_the_server() {
    let fixture = Fixture::new([]).await;
    for chunks in ["0x1\r\nX\r\n0\r\n\r\n", "1;a\nb\r\nX\r\n0\r\n\r\n", "ffffffffffffffff1\r\nX"] {
        let request = format!(
            "POST /v1/other HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
        );
        assert_eq!(count_failures_after(&fixture, &request, "400").await, 0, "{chunks:?}");
    }
}

#[tokio::test]
async fn a_server_cannot_switch_to_another_protocol() {
    let fixture = Fixture::new([Answer::text("").status(101), Answer::text("").status(101)]).await;
    for path in [PATH, "/v1/other"] {
        assert_eq!(fixture.post(path, &[], "{}").await.status, StatusCode::BAD_GATEWAY, "{path}");
    }
}

fn http2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[tokio::test]
async fn floods_of_http2_frames_end_their_own_connection_only() {
    let field = |name: &str, value: &str| {
        let length = |text: &str| u8::try_from(text.len()).unwrap();
        [&[0, length(name)], name.as_bytes(), &[length(value)], value.as_bytes()].concat()
    };
    let head = [(":method", "GET"), (":path", "/healthz"), (":scheme", "http"), (":authority", "localhost")];
    let head: Vec<u8> = head.iter().flat_map(|(name, value)| field(name, value)).collect();
    let start = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), http2_frame(4, 0, 0, &[])].concat();
    let resets = (0..20_000_u32).flat_map(|at| {
        [http2_frame(1, 5, 2 * at + 1, &head), http2_frame(3, 0, 2 * at + 1, &[0, 0, 0, 8])].concat()
    });
    let more = http2_frame(9, 0, 1, &field("x", &"y".repeat(100)).repeat(100));
    let continued = [http2_frame(1, 1, 1, &head), more.repeat(500)].concat();
    let fixture = Fixture::new([]).await;
    for flood in [resets.collect::<Vec<u8>>(), continued] {
        let mut stream = TcpStream::connect(fixture.address).await.unwrap();
        // The gateway may disconnect in the middle.
        let _ = stream.write_all(&[start.clone(), flood].concat()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(fixture.get("/healthz").await.status, 200);
    }
}

#[tokio::test]
async fn names_from_requests_stay_inside_their_labels() {
    let name = r#"t"} 7 \"#;
    let answer = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}]}}]});
    let answers = (0..2).map(|_| Answer::json(&answer));
    let fixture = Fixture::new(answers).await;
    for model in [r#"m"} 7 \"#, "m\n# EOF\u{1b}[2J"] {
        let tool = json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let request =
            json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "tools": [tool]});
        assert_eq!(fixture.post(PATH, &[], &request.to_string()).await.status, 200);
    }
    let metrics = fixture.get("/metrics").await;
    let calls: Vec<&str> =
        metrics.text().lines().filter(|line| line.starts_with("toolmend_calls_total")).collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    for line in calls {
        assert!(line.contains(r#"tool="t\"} 7 \\""#), "{line}");
        assert!(line.ends_with("} 1"), "{line}");
    }
    assert!(!metrics.text().contains('\u{1b}'));
    assert_eq!(metrics.text().matches("# EOF").count(), 1);
}

#[tokio::test]
async fn wrong_keys_are_counted() {
    let config = Config { api_keys: vec![Secret::new("k")], ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    assert_eq!(fixture.post(PATH, &[("authorization", "Bearer x")], "{}").await.status, 401);
    assert!(fixture.get("/metrics").await.text().contains("toolmend_wrong_keys_total 1"));
}

#[tokio::test]
async fn clients_can_use_tls_and_a_new_certificate_is_read_at_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let write = || {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        made.cert.der().clone()
    };
    let first = write();
    let config = Config {
        tls: Some(TlsConfig { cert: cert.clone(), key: key.clone() }),
        admin_key: Some(Secret::new("open sesame")),
        upstreams: vec![Upstream::new("http://127.0.0.1:1")],
        ..Config::default()
    };
    let fixture = Fixture::with(config.clone(), []).await;
    let reply = open_session(&fixture, first.clone()).await.unwrap();
    let cookie = reply.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let second = write();
    assert!(open_session(&fixture, second.clone()).await.is_none(), "not reloaded yet");
    fixture.gateway.reload(config.clone()).unwrap();
    assert!(open_session(&fixture, second.clone()).await.is_some());
    assert!(open_session(&fixture, first).await.is_none());
    // A certificate that cannot be used changes nothing: the gateway goes on with the one that it has.
    let other_key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let good_key = std::fs::read(&key).unwrap();
    for (broken_cert, broken_key) in [
        (&b"garbage"[..], &b"garbage"[..]),
        (b"", b""),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &good_key),
        (other_key.cert.pem().as_bytes(), &good_key),
        (b"\xff\xfe\x00", &good_key),
    ] {
        std::fs::write(&cert, broken_cert).unwrap();
        std::fs::write(&key, broken_key).unwrap();
        let error = fixture.gateway.reload(config.clone()).unwrap_err().to_string();
        assert!(error.contains("tls"), "{error}");
        assert!(open_session(&fixture, second.clone()).await.is_some(), "{error}");
    }
}

/// Opens a session on a connection that trusts only this certificate. `None` if the gateway shows another one.
async fn open_session(
    fixture: &Fixture,
    trusted: rustls::pki_types::CertificateDer<'static>,
) -> Option<http::Response<bytes::Bytes>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(fixture.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    hyper::rt::Executor::execute(&TokioExecutor::new(), async { drop(connection.await) });
    let body: Full<bytes::Bytes> = Full::from(json!({"key": "open sesame"}).to_string());
    let request = Request::post("/toolmend/api/session").header("host", "localhost").body(body).unwrap();
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    Some(http::Response::from_parts(head, body.collect().await.unwrap().to_bytes()))
}
