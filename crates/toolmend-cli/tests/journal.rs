//! `toolmend journal` on a journal with a few entries.

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use toolmend_journal::{Entry, Journal, Location, Options, RepairRecord, Series};

struct TestJournal {
    folder: tempfile::TempDir,
    entries: Vec<Entry>,
}

/// Creates a journal with one entry for each of these: tool, outcome, before and after.
fn create_journal(calls: &[(&str, &str, &str, Option<&str>)]) -> TestJournal {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(Options::new(Location::Sqlite(folder.path().join("journal.db")))).unwrap();
    let entries: Vec<Entry> = calls.iter().map(|call| create_entry(call)).collect();
    for entry in &entries {
        journal.record(entry.clone());
    }
    assert!(journal.flush(Duration::from_mins(1)));
    TestJournal { folder, entries }
}

fn create_entry((tool, outcome, before, after): &(&str, &str, &str, Option<&str>)) -> Entry {
    Entry {
        repairs: vec![RepairRecord {
            kind: "quotes_replaced".to_owned(),
            path: "/path".to_owned(),
            at: Some((1, 7)),
        }],
        before_bytes: before.len(),
        after_bytes: after.map_or(0, str::len),
        schema: Some(Arc::from(
            r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#,
        )),
        before: Some((*before).to_owned()),
        after: after.map(ToOwned::to_owned),
        feedback: after.is_none().then(|| "Send the path.".to_owned()),
        ..Entry::new(Series {
            surface: "chat".into(),
            upstream: "http://127.0.0.1:8080".into(),
            model: "qwen3".into(),
            tool: (*tool).into(),
            outcome: (*outcome).into(),
        })
    }
}

const CALLS: &[(&str, &str, &str, Option<&str>)] = &[
    ("read", "mended", "{'path': 'a'}", Some("{\"path\": \"a\"}")),
    ("write", "truncated", "{\"path\": \"b", None),
    ("read", "mended", "{'path': 'c'}", Some("{\"path\": \"c\"}")),
];

impl TestJournal {
    fn run(&self, args: &[&str]) -> Output {
        let place = self.folder.path().join("journal.db");
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmend"));
        command.arg("journal").args(args).env("TOOLMEND_JOURNAL", place).output().unwrap()
    }

    /// Runs a command that succeeds and returns its output.
    #[track_caller]
    fn output_of(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn id(&self, at: usize) -> String {
        self.entries[at].id.to_string()
    }
}

#[test]
fn entries_are_listed_the_newest_first_and_filtered() {
    let journal = create_journal(CALLS);
    let ids = |args: &[&str]| -> Vec<String> {
        journal.output_of(args).lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["list"]), [journal.id(2), journal.id(1), journal.id(0)]);
    assert_eq!(ids(&["list", "--tool", "read"]), [journal.id(2), journal.id(0)]);
    assert_eq!(ids(&["list", "--outcome", "truncated"]), [journal.id(1)]);
    assert_eq!(ids(&["list", "--limit", "1"]), [journal.id(2)]);
    assert_eq!(ids(&["list", "--before", &journal.id(2)]), [journal.id(1), journal.id(0)]);
    assert_eq!(ids(&["list", "--model", "none"]), [""; 0]);
    assert_eq!(ids(&["list", "--since", "1h", "--kind", "quotes_replaced"]).len(), 3);
}

#[test]
fn one_entry_is_shown_with_its_difference() {
    let journal = create_journal(CALLS);
    let shown = journal.output_of(&["show", &journal.id(0)]);
    for part in
        ["mended read", "qwen3", "quotes_replaced at /path", "\n-{'path': 'a'}", "\n+{\"path\": \"a\"}"]
    {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    let shown = journal.output_of(&["show", &journal.id(1)]);
    assert!(shown.contains("Send the path.") && shown.ends_with("{\"path\": \"b\n"), "{shown}");
    let output = journal.run(&["show", "0000000000000"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no entry 0000000000000"));
}

#[test]
fn entries_are_exported_as_json_lines() {
    let journal = create_journal(CALLS);
    let lines: Vec<serde_json::Value> =
        journal.output_of(&["export"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[2]["before"], &lines[2]["tool"]), (&"{'path': 'a'}".into(), &"read".into()));
}

#[test]
fn an_entry_becomes_a_case() {
    let journal = create_journal(CALLS);
    let case = journal.output_of(&["to-corpus", &journal.id(0)]);
    assert!(case.ends_with("--- input\n{'path': 'a'}\n--- output\n{\"path\": \"a\"}\n"), "{case}");
    let case = journal.output_of(&["to-corpus", &journal.id(1)]);
    assert!(case.contains("\noutcome: truncated\ncut: /path\n--- input\n"), "{case}");
}
