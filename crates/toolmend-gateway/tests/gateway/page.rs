//! The page: who may look, who may change something, and what it is told.

use http::{Method, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolmend_gateway::{Config, Gateway, JournalConfig, Secret, Upstream};

use crate::rig::{Answer, Reply, Rig, weather};

async fn rig(admin_key: Option<&str>, answers: Vec<Answer>) -> (tempfile::TempDir, Rig) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("journal.db").to_str().unwrap().to_owned();
    let journal = JournalConfig { place: Some(place), ..JournalConfig::default() };
    let admin_key = admin_key.map(Secret::new);
    let config =
        Config { journal, admin_key, api_keys: vec![Secret::new("c1ient-k3y")], ..Config::default() };
    (folder, Rig::with(config, answers).await)
}

/// Sends a request and reads the answer.
async fn ask(rig: &Rig, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut request = Request::builder().method(method).uri(format!("http://{}{path}", rig.address));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    rig.send(request.body(Full::from(body.to_owned())).unwrap()).await
}

async fn get(rig: &Rig, path: &str, headers: &[(&str, &str)]) -> Reply {
    ask(rig, Method::GET, path, headers, "").await
}

/// A call that needs mending, through the gateway.
async fn broken_call(rig: &Rig) {
    let request = json!({"model": "qwen3", "messages": [], "tools": [
        {"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]});
    let reply = rig
        .post("/v1/chat/completions", &[("authorization", "Bearer c1ient-k3y")], &request.to_string())
        .await;
    assert_eq!(reply.status, StatusCode::OK);
}

fn broken_answer() -> Answer {
    Answer::json(&json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\": \"Ålesund\", \"days\": '3'}"}}]}}]}))
}

/// The newest entries, as soon as there are some: the journal is written in the background.
async fn entries(rig: &Rig) -> Vec<Value> {
    loop {
        let list = get(rig, "/toolmend/api/entries", &[]).await.json();
        let entries = list["entries"].as_array().cloned().unwrap_or_default();
        if !entries.is_empty() {
            return entries;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn browsers_get_the_page_and_programs_the_server() {
    let (_folder, rig) = rig(None, vec![Answer::text("\"Ollama is running\"")]).await;
    let page = get(&rig, "/", &[("accept", "text/html,*/*")]).await;
    assert!(page.text().contains("<title>toolmend</title>"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let tag = page.headers["etag"].to_str().unwrap();
    let again = get(&rig, "/", &[("accept", "text/html"), ("if-none-match", tag)]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let program = get(&rig, "/", &[("accept", "*/*"), ("authorization", "Bearer c1ient-k3y")]).await;
    assert_eq!(program.text(), "\"Ollama is running\"");
    assert_eq!(get(&rig, "/toolmend/none.js", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_call_is_listed_shown_and_explained() {
    let (_folder, rig) = rig(None, vec![broken_answer()]).await;
    broken_call(&rig).await;
    let listed = entries(&rig).await;
    assert_eq!((&listed[0]["tool"], &listed[0]["outcome"]), (&json!("get_weather"), &json!("mended")));
    let id = listed[0]["id"].as_str().unwrap();
    let entry = get(&rig, &format!("/toolmend/api/entries/{id}"), &[]).await.json();
    assert_eq!(entry["after"], "{\"city\": \"Ålesund\", \"days\": 3}");
    // Browsers count in units of UTF-16, where the first letter of the city is one and not two.
    let at: (usize, usize) = serde_json::from_value(entry["repairs"][0]["at"].clone()).unwrap();
    let units: Vec<u16> = entry["before"].as_str().unwrap().encode_utf16().collect();
    assert!(String::from_utf16(&units[at.0..at.1]).unwrap().contains('\''), "{entry}");
    let chart = get(&rig, "/toolmend/api/chart?by=kind&range=1h", &[]).await.json();
    assert!(chart["lines"][0]["total"].as_u64().unwrap() > 0);
    let worst = get(&rig, "/toolmend/api/worst?range=1h", &[]).await.json();
    assert!(worst[0]["hint"].is_string(), "{worst}");
    let servers = get(&rig, "/toolmend/api/upstreams", &[]).await;
    assert_eq!(servers.json()["upstreams"][0]["reachable"], true);
    assert!(
        servers.text().contains("listen = ") && !servers.text().contains("c1ient-k3y"),
        "keys are not shown"
    );
    for wrong in ["nonsense", "0000000000000"] {
        let reply = get(&rig, &format!("/toolmend/api/entries/{wrong}"), &[]).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn without_a_key_nobody_changes_anything_and_other_names_see_nothing() {
    let (_folder, rig) = rig(None, vec![]).await;
    let from_page = ("x-toolmend-page", "1");
    let reply = ask(&rig, Method::DELETE, "/toolmend/api/entries", &[from_page], "").await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    // A page of somebody else whose name leads to this machine.
    for path in ["state", "entries", "live", "names", "chart", "worst", "upstreams", "entries/0000000000000"]
    {
        let reply = get(&rig, &format!("/toolmend/api/{path}"), &[("host", "evil.example")]).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
    }
    let reply = ask(&rig, Method::POST, "/toolmend/api/mend", &[("host", "evil.example")], "{}").await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn with_the_key_entries_can_be_deleted_from_the_page() {
    let (_folder, rig) = rig(Some("open sesame"), vec![broken_answer()]).await;
    broken_call(&rig).await;
    let id = entries(&rig).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/toolmend/api/entries/{id}");
    let wrong = ask(&rig, Method::POST, "/toolmend/api/session", &[], r#"{"key": "open"}"#).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let right = ask(&rig, Method::POST, "/toolmend/api/session", &[], r#"{"key": "open sesame"}"#).await;
    let cookie = right.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(!cookie.contains("sesame"));
    let from_page = ("x-toolmend-page", "1");
    for (headers, expected) in [
        (vec![from_page], StatusCode::UNAUTHORIZED),
        (vec![("cookie", &*cookie)], StatusCode::UNAUTHORIZED),
        (vec![("cookie", &*cookie), from_page], StatusCode::OK),
        (vec![("authorization", "Bearer open sesame"), from_page], StatusCode::NOT_FOUND),
    ] {
        assert_eq!(ask(&rig, Method::DELETE, &path, &headers, "").await.status, expected, "{headers:?}");
    }
    // The key of the page is none for the gateway, and the other way round.
    let reply = get(&rig, "/v1/models", &[("authorization", "Bearer open sesame")]).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    let state =
        get(&rig, "/toolmend/api/state", &[("host", "h"), ("authorization", "Bearer c1ient-k3y")]).await;
    assert_eq!(state.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn beyond_this_machine_the_key_is_needed_to_look() {
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
        let rig = Rig::client_of(([127, 0, 0, 1], port).into());
        assert_eq!(get(&rig, "/toolmend/api/state", &[]).await.status, expected);
        assert_eq!(get(&rig, "/", &[("accept", "text/html")]).await.status, StatusCode::OK);
        let with_key = get(&rig, "/toolmend/api/state", &[("authorization", "Bearer k")]).await;
        assert_eq!(with_key.status == StatusCode::OK, admin_key.is_some());
        stop.send(()).unwrap();
        served.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn the_playground_needs_no_server() {
    let (_folder, rig) = rig(None, vec![]).await;
    let tools = json!([{"name": "get_weather", "parameters": weather()}]).to_string();
    let text = "<think>Ø</think>Look.<tool_call>{\"name\": \"get_weather\", \"arguments\": {'city': 'Oslo'}}</tool_call>";
    let trial = |body: Value| {
        let rig = &rig;
        async move { ask(rig, Method::POST, "/toolmend/api/mend", &[], &body.to_string()).await.json() }
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
    assert!(rig.got().is_empty(), "no server was asked");
}

#[tokio::test]
async fn open_pages_are_told_and_do_not_keep_the_gateway_from_stopping() {
    let (_folder, mut rig) = rig(None, vec![broken_answer()]).await;
    let request =
        Request::get(format!("http://{}/toolmend/api/live", rig.address)).body(Full::default()).unwrap();
    let reading = tokio::spawn(rig.sending(request));
    broken_call(&rig).await;
    entries(&rig).await;
    // It is written, so the next look of the open page finds it.
    let mut open = reading.await.unwrap();
    let mut told = String::new();
    while !told.contains("get_weather") {
        let frame = http_body_util::BodyExt::frame(open.body_mut()).await.unwrap().unwrap();
        told.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap()));
    }
    assert!(told.starts_with("event: entries\ndata: ["), "{told}");
    rig.stop();
    rig.served.take().unwrap().await.unwrap().unwrap();
}
