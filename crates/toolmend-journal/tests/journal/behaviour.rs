//! What goes in comes out: whole, in order, filtered, counted, and not for ever.

use toolmend_journal::{By, Filter, Id, Journal, Options, Place, Range, Store, Summary};

use crate::rig::{PATIENCE, check, full, open};

fn filter(change: impl FnOnce(&mut Filter)) -> Filter {
    let mut filter = Filter::default();
    change(&mut filter);
    filter
}

/// Id, model, tool, outcome and kinds of an entry.
type Wanted<'r> = (Id, &'r str, &'r str, &'r str, &'r [&'r str]);
type Fits = Box<dyn Fn(&Wanted<'_>) -> bool>;

/// Every entry of the list, read page by page.
fn all(store: &mut Store, filter: &Filter, limit: usize) -> Vec<Summary> {
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

#[test]
fn an_entry_comes_back_as_it_went_in() {
    check(|place| {
        let journal = open(place);
        let mut entry = full("qwen3", "read_file", "mended", &["single_quoted", "trailing_comma_removed"]);
        journal.record(entry.clone());
        assert!(journal.flush(PATIENCE));
        if matches!(place, Place::Postgres(_)) {
            // It has no room for this one character.
            entry.before = entry.before.map(|text| text.replace('\0', "\u{fffd}"));
        }
        assert_eq!(journal.ask(|store| store.entry(entry.id)).unwrap(), Some(entry));
        assert_eq!(journal.ask(|store| store.entry(Id::now())).unwrap(), None);
        assert_eq!(journal.counts().written, 1);
    });
}

#[test]
fn pages_are_disjoint_and_complete_with_every_filter() {
    check(|place| {
        let journal = open(place);
        let mut wanted = Vec::new();
        for number in 0..300 {
            let model = ["a", "b", "c"][number % 3];
            let tool = ["read", "write"][number % 2];
            let outcome = ["mended", "mended", "mended", "truncated", "rejected"][number % 5];
            let kinds: &[&str] = if outcome == "mended" { &["x", "y"][..=number % 2] } else { &[] };
            let entry = full(model, tool, outcome, kinds);
            wanted.push((entry.id, model, tool, outcome, kinds));
            journal.record(entry);
        }
        assert!(journal.flush(PATIENCE));
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
                let found = journal.ask(|store| Ok(all(store, &filter, limit))).unwrap();
                let found: Vec<Id> = found.iter().map(|entry| entry.id).collect();
                assert_eq!(found, expected, "{filter:?}, {limit} a page");
            }
        }
        let names = journal.ask(Store::names).unwrap();
        assert_eq!((names.models.join(" "), names.kinds.join(" ")), ("a b c".into(), "x y".into()));
    });
}

#[test]
fn charts_count_every_call_once_in_every_range() {
    check(|place| {
        let journal = open(place);
        for (model, outcome, kinds) in
            [("a", "mended", &["x", "x", "y"][..]), ("a", "rejected", &[]), ("b", "mended", &["y"])]
        {
            journal.record(full(model, "read", outcome, kinds));
        }
        for _ in 0..5 {
            journal.clean("chat", "http://127.0.0.1:8080", "b", "read", 10);
        }
        assert!(journal.flush(PATIENCE));
        let lines = |by, range, filter: &Filter| {
            let chart = journal.ask(|store| store.chart(by, range, filter)).unwrap();
            let lines: Vec<_> =
                chart.lines.iter().map(|line| format!("{}={}", line.name, line.total)).collect();
            for line in &chart.lines {
                assert_eq!(line.counts.len(), chart.calls.len());
                assert_eq!(line.counts.iter().sum::<u64>(), line.total);
            }
            (lines.join(" "), chart.calls.iter().sum::<u64>())
        };
        let none = Filter::default();
        for (_, range) in Range::ALL {
            assert_eq!(lines(By::Outcome, range, &none), ("clean=5 mended=2 rejected=1".into(), 8));
            assert_eq!(lines(By::Model, range, &none), ("a=2 b=1".into(), 8));
            assert_eq!(lines(By::Tool, range, &none), ("read=3".into(), 8));
            // A kind counts once a call, however often the call needed it.
            assert_eq!(lines(By::Kind, range, &none), ("y=2 x=1".into(), 8));
            let only = filter(|f| f.model = Some("b".into()));
            assert_eq!(lines(By::Kind, range, &only), ("y=1".into(), 6));
        }
        let worst = journal.ask(|store| store.worst(Range::Day)).unwrap();
        let worst: Vec<_> =
            worst.iter().map(|p| (&*p.model, p.calls, p.mended, p.failed, p.kinds.len())).collect();
        assert_eq!(worst, [("a", 2, 1, 1, 2), ("b", 6, 1, 0, 1)]);
    });
}

#[test]
fn what_is_too_much_goes_and_the_newest_stays() {
    check(|place| {
        let options = Options { megabytes: 1, ..Options::new(place.clone()) };
        let journal = Journal::open(options).unwrap();
        let long = "x".repeat(10_000);
        let mut newest = None;
        for _ in 0..300 {
            let mut entry = full("a", "read", "mended", &["x"]);
            entry.before = Some(long.clone());
            newest = Some(entry.id);
            journal.record(entry);
        }
        assert!(journal.flush(PATIENCE));
        // It is looked at once after the first batch, then again after many entries or a minute.
        drop(journal);
        let journal = Journal::open(Options { megabytes: 1, ..Options::new(place.clone()) }).unwrap();
        for _ in 0..3 {
            assert!(journal.flush(PATIENCE));
        }
        let held = journal.ask(Store::held).unwrap();
        assert!(held.bytes <= 1 << 20 && held.bytes > 900_000, "{held:?}");
        let entries = journal.ask(|store| Ok(all(store, &Filter::default(), 500))).unwrap();
        assert_eq!(entries.len() as u64, held.entries);
        assert_eq!(entries.first().map(|entry| entry.id), newest);
        let by_kind = filter(|f| f.kind = Some("x".into()));
        let by_kind = journal.ask(|store| Ok(all(store, &by_kind, 500))).unwrap();
        assert_eq!(by_kind.len(), entries.len(), "no traces of what is gone");
    });
}

#[test]
fn what_is_too_old_goes() {
    check(|place| {
        let journal = open(place);
        let mut old = full("a", "read", "mended", &["x"]);
        old.id = Id::at_millis(old.id.millis() - 31 * 86_400_000);
        let young = full("a", "read", "mended", &["x"]);
        journal.record(old.clone());
        journal.record(young.clone());
        for _ in 0..3 {
            assert!(journal.flush(PATIENCE));
        }
        assert_eq!(journal.ask(|store| store.entry(old.id)).unwrap(), None);
        assert!(journal.ask(|store| store.entry(young.id)).unwrap().is_some());
    });
}

#[test]
fn entries_can_be_taken_out() {
    check(|place| {
        let journal = open(place);
        let entries: Vec<_> = (0..3).map(|_| full("a", "read", "mended", &["x"])).collect();
        for entry in &entries {
            journal.record(entry.clone());
        }
        assert!(journal.flush(PATIENCE));
        assert!(journal.ask(|store| store.delete(entries[1].id)).unwrap());
        assert!(!journal.ask(|store| store.delete(entries[1].id)).unwrap());
        assert_eq!(journal.ask(Store::held).unwrap().entries, 2);
        journal.ask(Store::clear).unwrap();
        assert_eq!(journal.ask(Store::held).unwrap(), toolmend_journal::Held::default());
        assert!(journal.ask(|store| Ok(all(store, &Filter::default(), 10))).unwrap().is_empty());
        // It goes on, with names and schemas that it knew before.
        journal.record(entries[0].clone());
        assert!(journal.flush(PATIENCE));
        let again = journal.ask(|store| store.entry(entries[0].id)).unwrap().unwrap();
        assert_eq!(again.schema, entries[0].schema);
    });
}

#[test]
fn several_gateways_write_into_one_journal() {
    check(|place| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let place = place.clone();
                std::thread::spawn(move || {
                    let journal = open(&place);
                    for number in 0..100 {
                        journal.record(full(["a", "b"][number % 2], "read", "mended", &["x", "y"]));
                        journal.clean("chat", "http://h", "a", "read", 1);
                    }
                    assert!(journal.flush(PATIENCE));
                    assert_eq!(journal.counts().dropped, 0);
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        let mut store = Store::open_existing(place).unwrap();
        assert_eq!(all(&mut store, &Filter::default(), 500).len(), 400);
        let chart = store.chart(By::Outcome, Range::Day, &Filter::default()).unwrap();
        assert_eq!(chart.calls.iter().sum::<u64>(), 800);
    });
}

#[test]
fn a_database_that_does_not_answer_costs_entries_and_nothing_else() {
    let place = Place::Postgres("postgres://nobody@127.0.0.1:1/none".to_owned());
    let journal = open(&place);
    for _ in 0..20_000 {
        journal.record(full("a", "read", "mended", &["x"]));
    }
    let counts = journal.counts();
    assert_eq!(counts.written, 0);
    assert!(counts.dropped > 0 && counts.dropped < 20_000, "{counts:?}");
    assert!(journal.ask(Store::held).unwrap_err().to_string().contains("postgres://nobody@127.0.0.1:1/none"));
}

#[test]
fn a_place_that_is_no_journal_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "these are notes, and they are longer than the head of a database file would be")
        .unwrap();
    for (place, told) in [
        (Place::Sqlite(file.clone()), "not a database"),
        (Place::Sqlite(folder.path().to_owned()), "unable to open"),
    ] {
        let error = Journal::open(Options::new(place.clone())).unwrap_err().to_string();
        assert!(error.contains(told) && error.contains(&place.to_string()), "{error}");
    }
    let missing = Place::Sqlite(folder.path().join("missing.db"));
    assert!(Store::open_existing(&missing).unwrap_err().to_string().contains("no such file"));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("these are notes"), "it is untouched");
}

#[test]
fn a_journal_of_a_newer_version_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop(Store::open(&Place::Sqlite(path.clone())).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE journal_meta SET number = 99 WHERE name = 'version'", []).unwrap();
    let error = Store::open(&Place::Sqlite(path)).unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
}
