//! Fresh databases, and entries to put into them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolmend_journal::{Change, Entry, Journal, Options, Place, Series};

/// Long enough for a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Runs a check on an empty journal in each of the databases.
pub(crate) fn check(what: impl Fn(&Place)) {
    let folder = tempfile::tempdir().unwrap();
    what(&Place::Sqlite(folder.path().join("deep/er/journal.db")));
    if let Some(place) = fresh_postgres() {
        what(&place);
    }
}

/// A schema of its own on the server, so that tests do not see each other.
fn fresh_postgres() -> Option<Place> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let url = std::env::var("TOOLMEND_TEST_POSTGRES").ok()?;
    let name = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.batch_execute(&format!("CREATE SCHEMA {name}")).unwrap();
    let sign = if url.contains('?') { '&' } else { '?' };
    Some(Place::Postgres(format!("{url}{sign}options=-csearch_path%3D{name}")))
}

pub(crate) fn open(place: &Place) -> Journal {
    Journal::open(Options::new(place.clone())).unwrap()
}

pub(crate) fn series(model: &str, tool: &str, outcome: &str) -> Series {
    Series {
        surface: "chat".into(),
        upstream: "http://127.0.0.1:8080".into(),
        model: model.into(),
        tool: tool.into(),
        outcome: outcome.into(),
    }
}

/// An entry with everything that an entry can have.
pub(crate) fn full(model: &str, tool: &str, outcome: &str, kinds: &[&str]) -> Entry {
    let change = |(at, kind): (usize, &&str)| Change {
        kind: (*kind).to_owned(),
        path: "/path".to_owned(),
        at: Some((at, at + 3)),
    };
    let (before, after) = ("{'path': 'naïve\u{0}', }", "{\"path\": \"naïve\"}");
    Entry {
        called: Some("ReadFile".to_owned()),
        dialect: Some("hermes_json".to_owned()),
        reason: Some("schema".to_owned()),
        message: Some("expected a string".to_owned()),
        cut: Some("/path".to_owned()),
        finish: Some("stop".to_owned()),
        repairs: kinds.iter().enumerate().map(change).collect(),
        before_bytes: before.len(),
        after_bytes: after.len(),
        micros: 1234,
        schema: Some(Arc::from(r#"{"properties": {"path": {"type": "string"}}}"#)),
        feedback: Some("Send the path.".to_owned()),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
        ..Entry::new(series(model, tool, outcome))
    }
}
