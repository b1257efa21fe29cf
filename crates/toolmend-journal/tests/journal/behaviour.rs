//! What a journal does with entries: it returns them unchanged, lists, filters and counts them, and removes old ones.

use toolmend_journal::{ChartRange, EntrySummary, Filter, GroupBy, Id, Journal, Location, Options, Store};

use crate::support::{TIMEOUT, entry_with_all_fields, execute, open, test_on_each_database};

fn filter(change: impl FnOnce(&mut Filter)) -> Filter {
    let mut filter = Filter::default();
    change(&mut filter);
    filter
}

/// Id, model, tool, outcome and kinds of an entry.
type Wanted<'r> = (Id, &'r str, &'r str, &'r str, &'r [&'r str]);
type Fits = Box<dyn Fn(&Wanted<'_>) -> bool>;

/// Reads the whole list, page by page.
fn read_all(store: &mut Store, filter: &Filter, limit: usize) -> Vec<EntrySummary> {
    let (mut entries, mut before) = (Vec::new(), None);
    loop {
        let page = store.list(filter, before, limit).unwrap();
        assert!(page.entries.len() <= limit);
        entries.extend(page.entries);
        before = page.next;
        if before.is_none() {
            return entries;
        }
    }
}

test_on_each_database! {
    an_entry_is_returned_unchanged,
    pages_are_disjoint_and_complete_with_every_filter,
    charts_count_every_call_once_in_every_range,
    the_oldest_entries_are_removed_when_there_are_too_many,
    old_entries_are_removed,
    entries_can_be_deleted,
    several_gateways_write_into_one_journal,
    a_journal_of_the_version_before_is_brought_up_to_date,
    schemas_that_nothing_uses_are_removed,
    long_ids_and_schemas_do_not_fill_the_journal,
}

fn an_entry_is_returned_unchanged(location: &Location) {
    let journal = open(location);
    let mut entry =
        entry_with_all_fields("qwen3", "read_file", "mended", &["single_quoted", "trailing_comma_removed"]);
    journal.record(entry.clone());
    assert!(journal.flush(TIMEOUT));
    if matches!(location, Location::Postgres(_)) {
        // PostgreSQL cannot store this one character.
        entry.before = entry.before.map(|text| text.replace('\0', "\u{fffd}"));
    }
    assert_eq!(journal.with_store(|store| store.entry(entry.id)).unwrap(), Some(entry));
    assert_eq!(journal.with_store(|store| store.entry(Id::now())).unwrap(), None);
    assert_eq!(journal.counts().written, 1);
}

fn a_journal_of_the_version_before_is_brought_up_to_date(location: &Location) {
    let old = entry_with_all_fields("a", "read", "mended", &["x"]);
    let journal = open(location);
    journal.record(old.clone());
    assert!(journal.flush(TIMEOUT));
    drop(journal);
    execute(
        location,
        "DROP INDEX journal_entries_schema; ALTER TABLE journal_entries DROP COLUMN call_id; \
         UPDATE journal_meta SET number = 3 WHERE name = 'version';",
    );
    for _ in 0..2 {
        let journal = open(location);
        let new = entry_with_all_fields("a", "read", "mended", &["x"]);
        journal.record(new.clone());
        assert!(journal.flush(TIMEOUT));
        let read = |id| journal.with_store(|store| store.entry(id)).unwrap().unwrap();
        assert_eq!((read(old.id).call_id, read(old.id).called), (None, old.called.clone()));
        assert_eq!(read(new.id).call_id, new.call_id);
    }
}

fn schemas_that_nothing_uses_are_removed(location: &Location) {
    let options = Options { megabytes: 1, ..Options::new(location.clone()) };
    let journal = Journal::open(options).unwrap();
    let mut last = None;
    for number in 0..20 {
        let schema = format!(r#"{{"title": "{number} {}"}}"#, "x".repeat(200 << 10));
        let entry = entry_with_all_fields("a", "read", "mended", &[]);
        last = Some(entry.id);
        journal.record(toolmend_journal::Entry { schema: Some(schema.into()), ..entry });
        assert!(journal.flush(TIMEOUT));
    }
    drop(journal);
    // The next writer begins with removing what is too much.
    let journal = Journal::open(Options { megabytes: 1, ..Options::new(location.clone()) }).unwrap();
    journal.record(entry_with_all_fields("a", "read", "mended", &[]));
    assert!(journal.flush(TIMEOUT));
    while journal.with_store(Store::usage).unwrap().bytes > 1 << 20 {
        assert!(journal.flush(TIMEOUT));
    }
    let usage = journal.with_store(Store::usage).unwrap();
    assert!(usage.entries < 8, "schemas count: {usage:?}");
    let entry = journal.with_store(|store| store.entry(last.unwrap())).unwrap();
    assert!(entry.is_some_and(|entry| entry.schema.is_some()), "those in use stay");
    drop(journal);
    // The table is readable only from outside. An entry that refers to the first schema shows whether it is still there.
    execute(location, "UPDATE journal_entries SET schema = (SELECT MIN(schema) - 5 FROM journal_entries)");
    let entry = Store::open(location).unwrap().entry(last.unwrap()).unwrap();
    assert_eq!(entry.and_then(|entry| entry.schema), None, "those that are not in use are gone");
}

fn long_ids_and_schemas_do_not_fill_the_journal(location: &Location) {
    let journal = open(location);
    let long = "x".repeat(300 << 10);
    let entry = toolmend_journal::Entry {
        call_id: Some(long.clone()),
        called: Some(long.clone()),
        schema: Some(format!("\"{long}\"").into()),
        ..entry_with_all_fields("a", "read", "mended", &[])
    };
    journal.record(entry.clone());
    assert!(journal.flush(TIMEOUT));
    let stored = journal.with_store(|store| store.entry(entry.id)).unwrap().unwrap();
    assert_eq!(stored.schema, None);
    for text in [stored.call_id, stored.called] {
        assert!((1..=1024).contains(&text.unwrap().len()));
    }
}

fn pages_are_disjoint_and_complete_with_every_filter(location: &Location) {
    let journal = open(location);
    let mut wanted = Vec::new();
    for number in 0..300 {
        let model = ["a", "b", "c"][number % 3];
        let tool = ["read", "write"][number % 2];
        let outcome = ["mended", "mended", "mended", "truncated", "rejected"][number % 5];
        let kinds: &[&str] = if outcome == "mended" { &["x", "y"][..=number % 2] } else { &[] };
        let entry = entry_with_all_fields(model, tool, outcome, kinds);
        wanted.push((entry.id, model, tool, outcome, kinds));
        journal.record(entry);
    }
    assert!(journal.flush(TIMEOUT));
    wanted.reverse();
    let middle = wanted[150].0.millis();
    let cases: Vec<(Filter, Fits)> = vec![
        (Filter::default(), Box::new(|_| true)),
        (filter(|f| f.model = Some("b".into())), Box::new(|row| row.1 == "b")),
        (filter(|f| f.tool = Some("write".into())), Box::new(|row| row.2 == "write")),
        (filter(|f| f.outcome = Some("rejected".into())), Box::new(|row| row.3 == "rejected")),
        (filter(|f| f.kind = Some("y".into())), Box::new(|row| row.4.contains(&"y"))),
        (filter(|f| f.surface = Some("messages".into())), Box::new(|_| false)),
        (filter(|f| f.kind = Some("no such kind".into())), Box::new(|_| false)),
        (filter(|f| f.since = Some(middle)), Box::new(move |row| row.0.millis() >= middle)),
        (filter(|f| f.until = Some(middle)), Box::new(move |row| row.0.millis() < middle)),
        (
            filter(|f| {
                (f.model, f.kind, f.tool) = (Some("a".into()), Some("x".into()), Some("read".into()));
            }),
            Box::new(|row| row.1 == "a" && row.2 == "read" && row.4.contains(&"x")),
        ),
    ];
    for (filter, fits) in cases {
        let expected: Vec<Id> = wanted.iter().filter(|row| fits(row)).map(|row| row.0).collect();
        for limit in [1, 7, 500] {
            let found = journal.with_store(|store| Ok(read_all(store, &filter, limit))).unwrap();
            let found: Vec<Id> = found.iter().map(|entry| entry.id).collect();
            assert_eq!(found, expected, "{filter:?}, {limit} a page");
        }
    }
    let names = journal.with_store(Store::known_names).unwrap();
    assert_eq!((names.models.join(" "), names.kinds.join(" ")), ("a b c".into(), "x y".into()));
}

fn charts_count_every_call_once_in_every_range(location: &Location) {
    let journal = open(location);
    for (model, outcome, kinds) in
        [("a", "mended", &["x", "x", "y"][..]), ("a", "rejected", &[]), ("b", "mended", &["y"])]
    {
        journal.record(entry_with_all_fields(model, "read", outcome, kinds));
    }
    for _ in 0..5 {
        journal.count_clean_call("chat", "http://127.0.0.1:8080", "b", "read", 10);
    }
    assert!(journal.flush(TIMEOUT));
    let lines = |by, range, filter: &Filter| {
        let chart = journal.with_store(|store| store.chart(by, range, filter)).unwrap();
        let lines: Vec<_> = chart.lines.iter().map(|line| format!("{}={}", line.name, line.total)).collect();
        for line in &chart.lines {
            assert_eq!(line.counts.len(), chart.calls.len());
            assert_eq!(line.counts.iter().sum::<u64>(), line.total);
        }
        (lines.join(" "), chart.calls.iter().sum::<u64>())
    };
    let none = Filter::default();
    for (_, range) in ChartRange::ALL {
        assert_eq!(lines(GroupBy::Outcome, range, &none), ("clean=5 mended=2 rejected=1".into(), 8));
        assert_eq!(lines(GroupBy::Model, range, &none), ("a=2 b=1".into(), 8));
        assert_eq!(lines(GroupBy::Tool, range, &none), ("read=3".into(), 8));
        // A kind counts once a call, however often the call needed it.
        assert_eq!(lines(GroupBy::Kind, range, &none), ("y=2 x=1".into(), 8));
        let only = filter(|f| f.model = Some("b".into()));
        assert_eq!(lines(GroupBy::Kind, range, &only), ("y=1".into(), 6));
    }
    let worst = journal.with_store(|store| store.worst_pairs(ChartRange::Day)).unwrap();
    let worst: Vec<_> =
        worst.iter().map(|p| (&*p.model, p.calls, p.mended, p.failed, p.kinds.len())).collect();
    assert_eq!(worst, [("a", 2, 1, 1, 2), ("b", 6, 1, 0, 1)]);
}

fn the_oldest_entries_are_removed_when_there_are_too_many(location: &Location) {
    let options = Options { megabytes: 1, ..Options::new(location.clone()) };
    let journal = Journal::open(options).unwrap();
    let long = "x".repeat(10_000);
    let mut newest = None;
    for _ in 0..300 {
        let mut entry = entry_with_all_fields("a", "read", "mended", &["x"]);
        entry.before = Some(long.clone());
        newest = Some(entry.id);
        journal.record(entry);
    }
    assert!(journal.flush(TIMEOUT));
    // The writer looks for entries to remove after its first batch, and then not before a minute or many entries later.
    drop(journal);
    let journal = Journal::open(Options { megabytes: 1, ..Options::new(location.clone()) }).unwrap();
    for _ in 0..3 {
        assert!(journal.flush(TIMEOUT));
    }
    let held = journal.with_store(Store::usage).unwrap();
    assert!(held.bytes <= 1 << 20 && held.bytes > 900_000, "{held:?}");
    let entries = journal.with_store(|store| Ok(read_all(store, &Filter::default(), 500))).unwrap();
    assert_eq!(entries.len() as u64, held.entries);
    assert_eq!(entries.first().map(|entry| entry.id), newest);
    let by_kind = filter(|f| f.kind = Some("x".into()));
    let by_kind = journal.with_store(|store| Ok(read_all(store, &by_kind, 500))).unwrap();
    assert_eq!(by_kind.len(), entries.len(), "no index entries of removed entries are left");
}

fn old_entries_are_removed(location: &Location) {
    let journal = open(location);
    let mut old = entry_with_all_fields("a", "read", "mended", &["x"]);
    old.id = Id::at_millis(old.id.millis() - 31 * 86_400_000);
    let young = entry_with_all_fields("a", "read", "mended", &["x"]);
    journal.record(old.clone());
    journal.record(young.clone());
    for _ in 0..3 {
        assert!(journal.flush(TIMEOUT));
    }
    assert_eq!(journal.with_store(|store| store.entry(old.id)).unwrap(), None);
    assert!(journal.with_store(|store| store.entry(young.id)).unwrap().is_some());
}

fn entries_can_be_deleted(location: &Location) {
    let journal = open(location);
    let entries: Vec<_> = (0..3).map(|_| entry_with_all_fields("a", "read", "mended", &["x"])).collect();
    for entry in &entries {
        journal.record(entry.clone());
    }
    assert!(journal.flush(TIMEOUT));
    assert!(journal.with_store(|store| store.delete(entries[1].id)).unwrap());
    assert!(!journal.with_store(|store| store.delete(entries[1].id)).unwrap());
    assert_eq!(journal.with_store(Store::usage).unwrap().entries, 2);
    journal.with_store(Store::clear).unwrap();
    assert_eq!(journal.with_store(Store::usage).unwrap(), toolmend_journal::Usage::default());
    assert!(journal.with_store(|store| Ok(read_all(store, &Filter::default(), 10))).unwrap().is_empty());
    // The writer still knows the ids of names and schemas.
    journal.record(entries[0].clone());
    assert!(journal.flush(TIMEOUT));
    let again = journal.with_store(|store| store.entry(entries[0].id)).unwrap().unwrap();
    assert_eq!(again.schema, entries[0].schema);
}

fn several_gateways_write_into_one_journal(location: &Location) {
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let location = location.clone();
            std::thread::spawn(move || {
                let journal = open(&location);
                for number in 0..100 {
                    journal.record(entry_with_all_fields(
                        ["a", "b"][number % 2],
                        "read",
                        "mended",
                        &["x", "y"],
                    ));
                    journal.count_clean_call("chat", "http://h", "a", "read", 1);
                }
                assert!(journal.flush(TIMEOUT));
                assert_eq!(journal.counts().dropped, 0);
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let mut store = Store::open_existing(location).unwrap();
    assert_eq!(read_all(&mut store, &Filter::default(), 500).len(), 400);
    let chart = store.chart(GroupBy::Outcome, ChartRange::Day, &Filter::default()).unwrap();
    assert_eq!(chart.calls.iter().sum::<u64>(), 800);
}

#[test]
fn an_unreachable_database_costs_entries_and_nothing_else() {
    let location = Location::Postgres("postgres://nobody@127.0.0.1:1/none".to_owned());
    let journal = open(&location);
    for _ in 0..20_000 {
        journal.record(entry_with_all_fields("a", "read", "mended", &["x"]));
    }
    let counts = journal.counts();
    assert_eq!(counts.written, 0);
    assert!(counts.dropped > 0 && counts.dropped < 20_000, "{counts:?}");
    assert!(
        journal
            .with_store(Store::usage)
            .unwrap_err()
            .to_string()
            .contains("postgres://nobody@127.0.0.1:1/none")
    );
}

#[test]
fn files_that_are_not_journals_are_reported_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "these are notes, and they are longer than the head of a database file would be")
        .unwrap();
    for (location, expected) in [
        (Location::Sqlite(file.clone()), "not a database"),
        (Location::Sqlite(folder.path().to_owned()), "unable to open"),
    ] {
        let error = Journal::open(Options::new(location.clone())).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(&location.to_string()), "{error}");
    }
    let missing = Location::Sqlite(folder.path().join("missing.db"));
    assert!(Store::open_existing(&missing).unwrap_err().to_string().contains("no such file"));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("these are notes"), "the file is unchanged");
}

/// Creates a journal whose tables claim to have this version, and opens it again.
fn open_with_version(version: i64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(Store::open(&Location::Sqlite(path.clone())).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE journal_meta SET number = ?1 WHERE name = 'version'", [version]).unwrap();
    Store::open(&Location::Sqlite(path)).unwrap_err().to_string()
}

#[test]
fn a_journal_of_a_newer_version_is_not_touched() {
    let error = open_with_version(99);
    assert!(error.contains("version 99") && error.contains("update toolmend"), "{error}");
}

#[test]
fn a_journal_of_an_older_version_is_refused_with_advice() {
    let error = open_with_version(2);
    assert!(error.contains("version 2") && error.contains("remove it, or name another journal"), "{error}");
}

#[test]
fn schemas_with_the_same_hash_are_not_mixed_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let location = Location::Sqlite(path.clone());
    let record = || {
        let (journal, entry) = (open(&location), entry_with_all_fields("a", "read", "mended", &["x"]));
        journal.record(entry.clone());
        assert!(journal.flush(TIMEOUT));
        (journal.with_store(|store| store.entry(entry.id)).unwrap().unwrap().schema, entry.schema)
    };
    let (stored, expected) = record();
    assert_eq!(stored, expected);
    // Another schema with the hash of the one that is recorded next.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE journal_schemas SET text = 'another one'", []).unwrap();
    let (stored, expected) = record();
    assert_eq!(stored, expected);
    let count_schemas = || connection.query_row("SELECT COUNT(*) FROM journal_schemas", [], |row| row.get(0));
    assert_eq!(count_schemas(), Ok(2_i64));
    assert_eq!(record().0, expected);
    assert_eq!(count_schemas(), Ok(2_i64), "a known schema is not stored again");
}
