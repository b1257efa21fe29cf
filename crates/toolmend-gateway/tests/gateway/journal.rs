//! What the journal records about calls.

use serde_json::json;
use toolmend_gateway::{ClientKey, Config, JournalConfig, Secret, Upstream};
use toolmend_journal::{ChartRange, Entry, Filter, GroupBy, Location, Store};

use crate::fixture::{Answer, Fixture, weather};

fn chat(tool_calls: &serde_json::Value, content: Option<&str>) -> Answer {
    Answer::json(&json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": content, "tool_calls": tool_calls}}]}))
}

fn call(name: &str, arguments: &str) -> serde_json::Value {
    json!([{"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}])
}

fn request() -> String {
    json!({"model": "qwen3", "messages": [], "tools": [
        {"type": "function", "function": {"name": "get_weather", "parameters": weather()}}]})
    .to_string()
}

/// Sends the answers through a gateway, stops it, and opens its journal.
async fn journal(values: &str, answers: Vec<Answer>) -> (tempfile::TempDir, Store, Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = JournalConfig {
        place: Some(path.to_str().unwrap().to_owned()),
        values: serde_json::from_value(json!(values)).unwrap(),
        ..JournalConfig::default()
    };
    let count = answers.len();
    let mut fixture = Fixture::with(Config { journal, ..Config::default() }, answers).await;
    for _ in 0..count {
        fixture.post("/v1/chat/completions", &[], &request()).await;
    }
    fixture.stop();
    fixture.served.take().unwrap().await.unwrap().unwrap();
    (folder, Store::open_existing(&Location::Sqlite(path)).unwrap(), fixture)
}

/// Returns all entries in full, the oldest first.
fn entries(store: &mut Store) -> Vec<Entry> {
    let page = store.list(&Filter::default(), None, 100).unwrap();
    page.entries.iter().rev().map(|line| store.entry(line.id).unwrap().unwrap()).collect()
}

#[tokio::test]
async fn calls_that_were_not_clean_are_recorded_and_clean_ones_are_counted() {
    let (_folder, mut store, fixture) = journal(
        "whole",
        vec![
            chat(&call("get_weather", r#"{"city": "Oslo"}"#), None),
            chat(&call("GetWeather", r#"{"city": 'Oslo', }"#), None),
            chat(&call("get_weather", r#"{"city": "Os"#), None),
            chat(
                &json!([]),
                Some(r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>"#),
            ),
        ],
    )
    .await;
    let found = entries(&mut store);
    let outcomes: Vec<&str> = found.iter().map(|entry| &*entry.series.outcome).collect();
    assert_eq!(outcomes, ["mended", "rejected", "mended"]);
    let mended = &found[0];
    assert_eq!((&*mended.series.tool, mended.called.as_deref()), ("get_weather", Some("GetWeather")));
    assert!(found.iter().all(|entry| entry.call_id.as_ref().is_some_and(|id| !id.is_empty())), "{found:?}");
    assert_eq!((&*mended.series.surface, &*mended.series.model), ("chat", "qwen3"));
    assert_eq!(*mended.series.upstream, *fixture.gateway.upstreams()[0]);
    assert_eq!(mended.before.as_deref(), Some(r#"{"city": 'Oslo', }"#));
    assert_eq!(mended.after.as_deref(), Some(r#"{"city": "Oslo" }"#));
    let quoted = mended.repairs.iter().find(|change| change.path == "/city").unwrap();
    let (start, end) = quoted.at.unwrap();
    assert!(mended.before.as_ref().unwrap()[start..end].contains('\''), "{quoted:?}");
    assert!(mended.schema.as_ref().unwrap().contains("additionalProperties"));
    assert!(mended.micros > 0);
    let cut = &found[1];
    assert_eq!((cut.cut.as_deref(), cut.after.as_deref()), (Some("/city"), None));
    assert!(cut.feedback.as_ref().unwrap().contains("end inside `/city`"), "{cut:?}");
    let in_text = &found[2];
    assert_eq!(in_text.dialect.as_deref(), Some("hermes_json"));
    assert_eq!(in_text.repairs.last().unwrap().kind, "call_in_text");
    let chart = store.chart(GroupBy::Outcome, ChartRange::Day, &Filter::default()).unwrap();
    let lines: Vec<_> = chart.lines.iter().map(|line| (&*line.name, line.total)).collect();
    assert_eq!(lines, [("mended", 2), ("clean", 1), ("rejected", 1)]);
}

#[tokio::test]
async fn values_are_left_out_if_configured() {
    for (values, before) in [("masked", Some(r#"{"city": 'xxxx', }"#)), ("none", None)] {
        let (_folder, mut store, _rig) =
            journal(values, vec![chat(&call("get_weather", r#"{"city": 'Oslo', }"#), None)]).await;
        assert_eq!(entries(&mut store)[0].before.as_deref(), before);
    }
}

#[tokio::test]
async fn journal_entries_are_counted_in_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("journal.db").to_str().unwrap().to_owned();
    let journal = JournalConfig { place: Some(place), ..JournalConfig::default() };
    let fixture = Fixture::with(Config { journal, ..Config::default() }, []).await;
    let metrics = fixture.get("/metrics").await;
    for name in ["written", "dropped", "failures"] {
        assert!(
            metrics.text().contains(&format!("\ntoolmend_journal_{name}_total 0\n")),
            "{}",
            metrics.text()
        );
    }
}

/// Returns every metric that the Grafana dashboard uses.
fn dashboard_metrics() -> std::collections::BTreeSet<&'static str> {
    let text = include_str!("../../../../docs/grafana.json");
    let starts = text.match_indices("toolmend_").map(|(at, _)| &text[at..]);
    let names = starts.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    });
    names.collect()
}

#[tokio::test]
async fn the_grafana_dashboard_uses_metrics_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("journal.db").to_str().unwrap().to_owned();
    let journal = JournalConfig { place: Some(place), ..JournalConfig::default() };
    let answer = chat(&call("get_weather", r#"{"city": 'Oslo'}"#), None);
    let server = Fixture::new([answer]).await;
    // A server that fails and a key that reaches its limit, so that there is something to count everywhere.
    let upstreams = ["127.0.0.1:1".to_owned(), server.server.to_string()];
    let upstreams = upstreams.map(|address| Upstream::new(format!("http://{address}"))).to_vec();
    let key = ClientKey { requests_per_minute: Some(1), ..ClientKey::new("ci", Secret::new("k")) };
    let config = Config { journal, upstreams, keys: vec![key], ..Config::default() };
    let fixture = Fixture::with(config, []).await;
    for status in [200, 429] {
        let reply = fixture.post("/v1/chat/completions", &[("x-api-key", "k")], &request()).await;
        assert_eq!(reply.status.as_u16(), status);
    }
    let metrics = fixture.get("/metrics").await;
    let names = dashboard_metrics();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let exists = metrics
            .text()
            .lines()
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
        assert!(exists, "{name} is in the dashboard and not in\n{}", metrics.text());
    }
}
