//! Empty databases for tests, and entries to put into them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolmend_journal::{Entry, Journal, Location, Options, RepairRecord, Series};

/// Long enough for a machine that is busy with other things.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);

/// Turns functions that take the location of an empty journal into tests, one for each database.
///
/// A test that needs a server is ignored, so that a run without one says so.
macro_rules! test_on_each_database {
    ($($name:ident,)*) => {
        mod sqlite {
            $(
                #[test]
                fn $name() {
                    $crate::support::with_sqlite(super::$name);
                }
            )*
        }

        mod postgres {
            $(
                #[test]
                #[ignore = "needs a PostgreSQL server; run `cargo xtask postgres`"]
                fn $name() {
                    super::$name(&$crate::support::create_postgres_schema());
                }
            )*
        }
    };
}
pub(crate) use test_on_each_database;

/// Runs a test on an empty journal in a file.
pub(crate) fn with_sqlite(test: fn(&Location)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Location::Sqlite(folder.path().join("missing/folders/journal.db")));
}

/// Creates an empty schema on the server, so that tests do not see each other.
pub(crate) fn create_postgres_schema() -> Location {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let url = std::env::var("TOOLMEND_TEST_POSTGRES")
        .expect("TOOLMEND_TEST_POSTGRES must be the URL of a server; `cargo xtask postgres` starts one");
    let name = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.batch_execute(&format!("CREATE SCHEMA {name}")).unwrap();
    let sign = if url.contains('?') { '&' } else { '?' };
    Location::Postgres(format!("{url}{sign}options=-csearch_path%3D{name}"))
}

/// Runs statements on the database of a journal, behind its back.
pub(crate) fn execute(location: &Location, statements: &str) {
    match location {
        Location::Sqlite(path) => {
            rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
        }
        Location::Postgres(url) => {
            postgres::Client::connect(url, postgres::NoTls).unwrap().batch_execute(statements).unwrap();
        }
        Location::Off => {}
    }
}

pub(crate) fn open(location: &Location) -> Journal {
    Journal::open(Options::new(location.clone())).unwrap()
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

pub(crate) fn entry_with_all_fields(model: &str, tool: &str, outcome: &str, kinds: &[&str]) -> Entry {
    let repair = |(at, kind): (usize, &&str)| RepairRecord {
        kind: (*kind).to_owned(),
        path: "/path".to_owned(),
        at: Some((at, at + 3)),
    };
    let (before, after) = ("{'path': 'naïve\u{0}', }", "{\"path\": \"naïve\"}");
    Entry {
        call_id: Some("call_1".to_owned()),
        called: Some("ReadFile".to_owned()),
        dialect: Some("hermes_json".to_owned()),
        reason: Some("schema".to_owned()),
        message: Some("expected a string".to_owned()),
        cut: Some("/path".to_owned()),
        finish: Some("stop".to_owned()),
        repairs: kinds.iter().enumerate().map(repair).collect(),
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
