//! Keys with names, limits and budgets.

use serde_json::json;
use toolmend_gateway::{ClientKey, Config, Secret, Upstream};

use crate::fixture::{Answer, Fixture};

const PATH: &str = "/v1/chat/completions";

fn with_key(key: ClientKey) -> Config {
    Config { keys: vec![key], api_keys: vec![Secret::new("old")], ..Config::default() }
}

async fn post(fixture: &Fixture, key: &str, body: &str) -> crate::fixture::Reply {
    fixture
        .post(PATH, &[("authorization", &format!("Bearer {key}")), ("accept-encoding", "gzip")], body)
        .await
}

async fn has_metric(fixture: &Fixture, line: &str) -> bool {
    fixture.get("/metrics").await.text().lines().any(|found| found == line)
}

#[tokio::test]
async fn requests_are_limited_per_minute_and_counted_by_name() {
    let key = ClientKey { requests_per_minute: Some(2), ..ClientKey::new("ci", Secret::new("k")) };
    let fixture = Fixture::with(with_key(key), (0..4).map(|_| Answer::text("{}"))).await;
    assert_eq!(post(&fixture, "k", "{}").await.status, 200);
    assert_eq!(post(&fixture, "k", "{}").await.status, 200);
    let reply = post(&fixture, "k", "{}").await;
    assert_eq!(
        (reply.status.as_u16(), reply.json()["error"]["type"].as_str()),
        (429, Some("rate_limit_error"))
    );
    let seconds: u64 = reply.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=30).contains(&seconds), "{seconds}");
    assert!(reply.text().contains("requests_per_minute"), "{}", reply.text());
    // Another surface gets the error in its own form.
    let reply = fixture.post("/v1/messages", &[("x-api-key", "k")], "{}").await;
    assert_eq!((reply.status.as_u16(), reply.json()["type"].as_str()), (429, Some("error")));
    assert_eq!(post(&fixture, "old", "{}").await.status, 200, "keys without a name still work");
    assert_eq!(post(&fixture, "wrong", "{}").await.status, 401);
    assert_eq!(fixture.received().len(), 3);
    assert!(fixture.received().iter().all(|request| !request.headers.contains_key("authorization")));
    assert!(has_metric(&fixture, r#"toolmend_key_requests_total{key="ci",status="200"} 2"#).await);
    assert!(has_metric(&fixture, r#"toolmend_key_requests_total{key="ci",status="429"} 2"#).await);
    assert!(
        has_metric(&fixture, r#"toolmend_key_limits_total{key="ci",limit="requests_per_minute"} 2"#).await
    );
    assert!(!fixture.get("/metrics").await.text().contains("\"k\""), "the key itself is not shown");
}

#[tokio::test]
async fn tokens_are_counted_as_the_server_reports_them_and_end_with_the_budget() {
    let key = ClientKey { tokens_per_day: Some(10), ..ClientKey::new("ci", Secret::new("k")) };
    let whole = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}});
    let stream = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":40}}\n\ndata: [DONE]\n\n";
    let config = with_key(key);
    let answers = [Answer::json(&whole), Answer::sse(stream), Answer::text("{}")];
    let fixture = Fixture::with(config.clone(), answers).await;
    assert_eq!(post(&fixture, "k", "{}").await.status, 200);
    // Seven tokens are below ten, so one more request is served to its end.
    assert_eq!(post(&fixture, "k", r#"{"stream":true}"#).await.status, 200);
    assert!(!fixture.received()[0].headers.contains_key("accept-encoding"));
    let reply = post(&fixture, "k", "{}").await;
    assert_eq!(reply.status, 429, "{}", reply.text());
    assert!(reply.text().contains("tokens_per_day"), "{}", reply.text());
    assert!(has_metric(&fixture, r#"toolmend_key_tokens_total{key="ci",kind="input"} 33"#).await);
    assert!(has_metric(&fixture, r#"toolmend_key_tokens_total{key="ci",kind="output"} 44"#).await);
    // What was used survives a reload, and a larger budget counts at once.
    let upstreams = vec![Upstream::new(format!("http://{}", fixture.server))];
    let reload = |tokens| {
        let mut config = Config { upstreams: upstreams.clone(), ..config.clone() };
        config.keys[0].tokens_per_day = Some(tokens);
        fixture.gateway.reload(config).unwrap();
    };
    reload(77);
    assert_eq!(post(&fixture, "k", "{}").await.status, 429);
    reload(78);
    assert_eq!(post(&fixture, "k", "{}").await.status, 200);
}

#[tokio::test]
async fn keys_are_read_from_the_file_and_never_shown() {
    let text = "[[keys]]\nname = \"ci\"\nkey = \"s3cret\"\nrequests_per_minute = 5\n[[upstreams]]\nurl = \"http://a\"";
    let config = Config::from_toml(text).unwrap();
    assert!(config.has_client_keys() && config.check().is_ok());
    let shown = config.to_toml();
    assert!(shown.contains("name = \"ci\"") && shown.contains("requests_per_minute = 5"), "{shown}");
    assert!(!shown.contains("s3cret") && !format!("{config:?}").contains("s3cret"));
    let error = Config::from_toml(&shown).unwrap().check().unwrap_err().to_string();
    assert!(error.contains("keys: expected `key` or `key_env` for \"ci\""), "{error}");
}
