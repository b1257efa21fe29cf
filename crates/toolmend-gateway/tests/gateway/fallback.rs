//! Several servers for one model, some of which fail.

use serde_json::json;
use toolmend_gateway::{Config, Protocol, RequestLimits, Upstream};

use crate::fixture::{Answer, Fixture, Reply};

const PATH: &str = "/v1/chat/completions";
const GONE: &str = "http://127.0.0.1:1";

/// Returns a gateway in front of these servers.
async fn gateway_to(upstreams: Vec<Upstream>, limits: RequestLimits) -> Fixture {
    Fixture::with(Config { upstreams, limits, ..Config::default() }, []).await
}

fn upstream(server: &Fixture) -> Upstream {
    Upstream::new(format!("http://{}", server.server))
}

fn answer(text: &str) -> Answer {
    Answer::json(
        &json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}),
    )
}

async fn ask(fixture: &Fixture) -> Reply {
    fixture.post(PATH, &[], r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#).await
}

async fn metric(fixture: &Fixture, line: &str) -> bool {
    fixture.get("/metrics").await.text().lines().any(|found| found == line)
}

#[tokio::test]
async fn the_next_server_answers_if_one_cannot_be_reached_or_fails() {
    let failing = Fixture::new([Answer::text("{}").status(500), Answer::text("{}").status(503)]).await;
    let well = Fixture::new([answer("one"), answer("two"), Answer::text("[]")]).await;
    let upstreams = vec![Upstream::new(GONE), upstream(&failing), upstream(&well)];
    let fixture = gateway_to(upstreams, RequestLimits::default()).await;
    for text in ["one", "two"] {
        let reply = ask(&fixture).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json()["choices"][0]["message"]["content"], text);
    }
    assert_eq!((failing.received().len(), well.received().len()), (2, 2));
    assert_eq!(failing.received()[0].body, well.received()[0].body);
    assert!(metric(&fixture, &format!("toolmend_fallbacks_total{{upstream=\"{GONE}\"}} 2")).await);
    let failures = format!(
        "toolmend_upstream_failures_total{{upstream=\"http://{}\",kind=\"status\"}} 2",
        failing.server
    );
    assert!(metric(&fixture, &failures).await, "{}", fixture.get("/metrics").await.text());
    assert!(
        metric(
            &fixture,
            &format!("toolmend_upstream_seconds_count{{upstream=\"http://{}\"}} 2", well.server)
        )
        .await
    );
    assert!(metric(&fixture, "toolmend_first_byte_seconds_count{surface=\"chat\"} 2").await);
    // Requests that only pass through go on, too, if they change nothing.
    assert_eq!(
        fixture.get("/v1/models").await.text(),
        "the script is over",
        "the answer of the second server"
    );
}

#[tokio::test]
async fn the_last_failure_reaches_the_client() {
    let first = Fixture::new([Answer::text(r#"{"error":"first"}"#).status(500)]).await;
    let last = Fixture::new([Answer::text(r#"{"error":"last"}"#).status(502)]).await;
    let fixture = gateway_to(vec![upstream(&first), upstream(&last)], RequestLimits::default()).await;
    let reply = ask(&fixture).await;
    assert_eq!((reply.status.as_u16(), reply.text()), (502, r#"{"error":"last"}"#));
}

#[tokio::test]
async fn what_is_the_fault_of_the_request_stays_where_it_is() {
    for status in [400, 401, 404, 422, 429, 501] {
        let first = Fixture::new([Answer::text("{}").status(status)]).await;
        let other = Fixture::new([answer("no")]).await;
        let own = Upstream { surface: Some(Protocol::Chat), ..upstream(&first) };
        let fixture = gateway_to(vec![own, upstream(&other)], RequestLimits::default()).await;
        assert_eq!(ask(&fixture).await.status.as_u16(), status);
        assert!(other.received().is_empty(), "{status}");
    }
}

#[tokio::test]
async fn only_servers_of_the_model_are_asked_and_in_their_own_protocol() {
    let failing = Fixture::new([Answer::text("{}").status(503)]).await;
    let other = Fixture::new([answer("another model")]).await;
    let messages = Fixture::new([Answer::json(&json!({"id": "x", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "translated"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}))])
    .await;
    let upstreams = vec![
        upstream(&failing),
        Upstream { models: vec!["other*".into()], ..upstream(&other) },
        Upstream { surface: Some(Protocol::Messages), ..upstream(&messages) },
    ];
    let fixture = gateway_to(upstreams, RequestLimits::default()).await;
    let reply = ask(&fixture).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "translated", "{}", reply.text());
    assert_eq!((other.received().len(), messages.received()[0].path.as_str()), (0, "/v1/messages"));
}

#[tokio::test]
async fn a_server_that_failed_several_times_rests_and_is_still_the_last_resort() {
    let limits = RequestLimits { circuit_failures: 2, circuit_seconds: 600, ..RequestLimits::default() };
    let failing = Fixture::new((0..2).map(|_| Answer::text("{}").status(500)).chain([answer("back")])).await;
    let well = Fixture::new((0..3).map(|_| answer("well")).chain([Answer::text("{}").status(500)])).await;
    let fixture = gateway_to(vec![upstream(&failing), upstream(&well)], limits).await;
    let up = |value: u8| format!("toolmend_upstream_up{{upstream=\"http://{}\"}} {value}", failing.server);
    assert!(metric(&fixture, &up(1)).await);
    for _ in 0..3 {
        assert_eq!(ask(&fixture).await.status, 200);
    }
    assert_eq!(failing.received().len(), 2, "the third request goes to the other server at once");
    assert!(metric(&fixture, &up(0)).await);
    // A reload does not forget it.
    let config = Config { upstreams: vec![upstream(&failing), upstream(&well)], limits, ..Config::default() };
    fixture.gateway.reload(config).unwrap();
    assert!(metric(&fixture, &up(0)).await);
    // The other one fails now, so the one that rests is asked after all, and works again.
    assert_eq!(ask(&fixture).await.json()["choices"][0]["message"]["content"], "back");
    assert!(metric(&fixture, &up(1)).await);
}

#[tokio::test]
async fn a_single_server_is_always_asked() {
    let limits = RequestLimits { circuit_failures: 1, circuit_seconds: 600, ..RequestLimits::default() };
    let server = Fixture::new([Answer::text("{}").status(500), answer("again")]).await;
    let fixture = gateway_to(vec![upstream(&server)], limits).await;
    assert_eq!(ask(&fixture).await.status, 500);
    assert_eq!(ask(&fixture).await.status, 200);
}

#[tokio::test]
async fn health_checks_notice_failures_without_requests() {
    let limits = RequestLimits { circuit_failures: 1, health_seconds: 1, ..RequestLimits::default() };
    let sick = Fixture::new([Answer::text("no").status(503), Answer::text("ok")]).await;
    let well = Fixture::new([]).await;
    let checked = Upstream { health: Some("/health".into()), ..upstream(&sick) };
    let fixture = gateway_to(vec![checked, upstream(&well)], limits).await;
    let up = |value: u8| format!("toolmend_upstream_up{{upstream=\"http://{}\"}} {value}", sick.server);
    for value in [0, 1] {
        // The next check comes within a second.
        while !metric(&fixture, &up(value)).await {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(sick.received()[0].path, "/health");
    let error = Config::from_toml("[[upstreams]]\nurl = \"http://a\"\nhealth = \"health\"").unwrap().check();
    assert!(error.unwrap_err().to_string().contains("expected a path like /health"));
}
