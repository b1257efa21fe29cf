//! The dashboard: who may read, who may change something, and what it shows.

use http::{Method, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolmend_gateway::{Config, Gateway, JournalConfig, Secret, Upstream};

use crate::fixture::{Answer, Fixture, Reply, weather};

async fn fixture(admin_key: Option<&str>, answers: Vec<Answer>) -> (tempfile::TempDir, Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("journal.db").to_str().unwrap().to_owned();
    let journal = JournalConfig { place: Some(place), ..JournalConfig::default() };
    let admin_key = admin_key.map(Secret::new);
    let config = Config {
        journal,
        admin_key,
        api_keys: vec![Secret::new("c1ient-k3y")],
        hosts: vec!["h".to_owned()],
        ..Config::default()
    };
    (folder, Fixture::with(config, answers).await)
}

/// Sends a request and reads the answer.
async fn ask(fixture: &Fixture, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut request = Request::builder().method(method).uri(format!("http://{}{path}", fixture.address));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    fixture.send(request.body(Full::from(body.to_owned())).unwrap()).await
}

async fn get(fixture: &Fixture, path: &str, headers: &[(&str, &str)]) -> Reply {
    ask(fixture, Method::GET, path, headers, "").await
}

/// Sends a call that needs mending through the gateway.
async fn broken_call(fixture: &Fixture) {
    let request = json!({"model": "qwen3", "messages": [], "tools": [
        {"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]});
    let reply = fixture
        .post("/v1/chat/completions", &[("authorization", "Bearer c1ient-k3y")], &request.to_string())
        .await;
    assert_eq!(reply.status, StatusCode::OK);
}

fn broken_answer() -> Answer {
    Answer::json(&json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\": \"Ålesund\", \"days\": '3'}"}}]}}]}))
}

/// Waits for entries, because the journal is written in the background, and returns the newest.
async fn entries(fixture: &Fixture) -> Vec<Value> {
    loop {
        let list = get(fixture, "/toolmend/api/entries", &[]).await.json();
        let entries = list["entries"].as_array().cloned().unwrap_or_default();
        if !entries.is_empty() {
            return entries;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn browsers_get_the_dashboard_and_programs_the_server() {
    let (_folder, fixture) = fixture(None, vec![Answer::text("\"Ollama is running\"")]).await;
    let page = get(&fixture, "/", &[("accept", "text/html,*/*")]).await;
    assert!(page.text().contains("<title>toolmend</title>"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let tag = page.headers["etag"].to_str().unwrap();
    let again = get(&fixture, "/", &[("accept", "text/html"), ("if-none-match", tag)]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let program = get(&fixture, "/", &[("accept", "*/*"), ("authorization", "Bearer c1ient-k3y")]).await;
    assert_eq!(program.text(), "\"Ollama is running\"");
    assert_eq!(get(&fixture, "/toolmend/none.js", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_call_is_listed_shown_and_explained() {
    let (_folder, fixture) = fixture(None, vec![broken_answer()]).await;
    broken_call(&fixture).await;
    let listed = entries(&fixture).await;
    assert_eq!((&listed[0]["tool"], &listed[0]["outcome"]), (&json!("get_weather"), &json!("mended")));
    let id = listed[0]["id"].as_str().unwrap();
    let entry = get(&fixture, &format!("/toolmend/api/entries/{id}"), &[]).await.json();
    assert_eq!(entry["after"], "{\"city\": \"Ålesund\", \"days\": 3}");
    // Browsers count in UTF-16, where the first letter of the city is one unit and not two bytes.
    let at: (usize, usize) = serde_json::from_value(entry["repairs"][0]["at"].clone()).unwrap();
    let units: Vec<u16> = entry["before"].as_str().unwrap().encode_utf16().collect();
    assert!(String::from_utf16(&units[at.0..at.1]).unwrap().contains('\''), "{entry}");
    let chart = get(&fixture, "/toolmend/api/chart?by=kind&range=1h", &[]).await.json();
    assert!(chart["lines"][0]["total"].as_u64().unwrap() > 0);
    let worst = get(&fixture, "/toolmend/api/worst?range=1h", &[]).await.json();
    assert!(worst[0]["hint"].is_string(), "{worst}");
    let servers = get(&fixture, "/toolmend/api/upstreams", &[]).await;
    assert_eq!(servers.json()["upstreams"][0]["reachable"], true);
    assert!(
        servers.text().contains("listen = ") && !servers.text().contains("c1ient-k3y"),
        "keys are not shown"
    );
    for wrong in ["nonsense", "0000000000000"] {
        let reply = get(&fixture, &format!("/toolmend/api/entries/{wrong}"), &[]).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn without_a_key_nothing_can_be_changed_and_foreign_hosts_see_nothing() {
    let (_folder, fixture) = fixture(None, vec![]).await;
    let from_page = ("x-toolmend-page", "1");
    let reply = ask(&fixture, Method::DELETE, "/toolmend/api/entries", &[from_page], "").await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    // A foreign page whose name resolves to this machine.
    for path in ["state", "entries", "live", "names", "chart", "worst", "upstreams", "entries/0000000000000"]
    {
        let reply = get(&fixture, &format!("/toolmend/api/{path}"), &[("host", "evil.example")]).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
    }
    let reply = ask(&fixture, Method::POST, "/toolmend/api/mend", &[("host", "evil.example")], "{}").await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    // A proxy on this machine forwards what comes from elsewhere, often with the name of this machine.
    for header in ["forwarded", "x-forwarded-for", "x-real-ip", "via"] {
        let reply = get(&fixture, "/toolmend/api/state", &[(header, "203.0.113.7")]).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{header}");
    }
    assert_eq!(get(&fixture, "/toolmend/api/state", &[]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn with_the_key_entries_can_be_deleted() {
    let (_folder, fixture) = fixture(Some("open sesame"), vec![broken_answer()]).await;
    broken_call(&fixture).await;
    let id = entries(&fixture).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/toolmend/api/entries/{id}");
    let wrong = ask(&fixture, Method::POST, "/toolmend/api/session", &[], r#"{"key": "open"}"#).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let right = ask(&fixture, Method::POST, "/toolmend/api/session", &[], r#"{"key": "open sesame"}"#).await;
    let cookie = right.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(!cookie.contains("sesame"));
    let from_page = ("x-toolmend-page", "1");
    for (headers, expected) in [
        (vec![from_page], StatusCode::UNAUTHORIZED),
        (vec![("cookie", &*cookie)], StatusCode::UNAUTHORIZED),
        (vec![("cookie", &*cookie), from_page], StatusCode::OK),
        (vec![("authorization", "Bearer open sesame"), from_page], StatusCode::NOT_FOUND),
    ] {
        assert_eq!(ask(&fixture, Method::DELETE, &path, &headers, "").await.status, expected, "{headers:?}");
    }
    // The admin key is not an API key, and the other way round.
    let reply = get(&fixture, "/v1/models", &[("authorization", "Bearer open sesame")]).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    let state =
        get(&fixture, "/toolmend/api/state", &[("host", "h"), ("authorization", "Bearer c1ient-k3y")]).await;
    assert_eq!(state.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn other_machines_need_the_key_to_read() {
    for (admin_key, expected) in [(None, StatusCode::FORBIDDEN), (Some("k"), StatusCode::UNAUTHORIZED)] {
        let config = Config {
            upstreams: vec![Upstream::new("http://127.0.0.1:1")],
            admin_key: admin_key.map(Secret::new),
            ..Config::default()
        };
        let gateway = Gateway::new(config).unwrap();
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            gateway.serve(listener, stopped).await
        });
        let fixture = Fixture::client_of(([127, 0, 0, 1], port).into());
        assert_eq!(get(&fixture, "/toolmend/api/state", &[]).await.status, expected);
        assert_eq!(get(&fixture, "/", &[("accept", "text/html")]).await.status, StatusCode::OK);
        let with_key = get(&fixture, "/toolmend/api/state", &[("authorization", "Bearer k")]).await;
        assert_eq!(with_key.status == StatusCode::OK, admin_key.is_some());
        stop.send(()).unwrap();
        served.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn the_playground_needs_no_server() {
    let (_folder, fixture) = fixture(None, vec![]).await;
    let tools = json!([{"name": "get_weather", "parameters": weather()}]).to_string();
    let text = "<think>Ø</think>Look.<tool_call>{\"name\": \"get_weather\", \"arguments\": {'city': 'Oslo'}}</tool_call>";
    let trial = |body: Value| {
        let fixture = &fixture;
        async move { ask(fixture, Method::POST, "/toolmend/api/mend", &[], &body.to_string()).await.json() }
    };
    let answer = trial(json!({"text": text, "tools": tools})).await;
    assert_eq!((&answer["content"], &answer["reasoning"]), (&json!("Look."), &json!("Ø")));
    assert_eq!(answer["calls"][0]["arguments"], "{\"city\": \"Oslo\"}");
    let whole: String = answer["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| segment["text"].as_str().unwrap())
        .collect();
    assert_eq!(whole, text);
    let answer = trial(json!({"text": "{'city': 1", "tools": tools, "tool": "get_weather"})).await;
    assert_eq!(answer["outcome"], "truncated");
    assert!(answer["calls"][0]["feedback"].is_string());
    let answer = trial(json!({"text": "x", "tools": "[{"})).await;
    assert!(answer["tools"]["error"].as_str().unwrap().contains("EOF"), "{answer}");
    assert!(fixture.received().is_empty(), "no server was asked");
}

#[tokio::test]
async fn open_pages_get_new_entries_and_do_not_keep_the_gateway_from_stopping() {
    let (_folder, mut fixture) = fixture(None, vec![broken_answer()]).await;
    let request =
        Request::get(format!("http://{}/toolmend/api/live", fixture.address)).body(Full::default()).unwrap();
    let reading = tokio::spawn(fixture.sending(request));
    broken_call(&fixture).await;
    entries(&fixture).await;
    // It is written, so the next query of the open page finds it.
    let mut open = reading.await.unwrap();
    let mut shown = String::new();
    while !shown.contains("get_weather") {
        let frame = http_body_util::BodyExt::frame(open.body_mut()).await.unwrap().unwrap();
        shown.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap()));
    }
    assert!(shown.starts_with("event: entries\ndata: ["), "{shown}");
    fixture.stop();
    fixture.served.take().unwrap().await.unwrap().unwrap();
}
