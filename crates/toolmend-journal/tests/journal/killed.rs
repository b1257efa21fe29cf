//! A process that is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use toolmend_journal::{ChartRange, Filter, GroupBy, Location, Store};

use crate::support::{entry_with_all_fields, open, test_on_each_database};

/// Names the journal that the child process writes to.
const LOCATION: &str = "TOOLMEND_TEST_WRITE_TO";
/// The process is killed when it has written this many entries.
const MIN_ENTRIES: u64 = 1500;

/// Not a test: this is what the killed process does.
#[test]
#[ignore = "the test below starts it in a process of its own"]
fn writes_until_it_is_killed() {
    let Ok(location) = std::env::var(LOCATION) else { return };
    let journal = open(&Location::parse(&location));
    for number in 0_u64.. {
        let mut entry = entry_with_all_fields("a", "read", "mended", &["x"]);
        entry.before = Some(number.to_string());
        journal.record(entry);
        // The process waits, so that no entry is dropped: only a partly written batch could leave a gap.
        while number.saturating_sub(journal.counts().written) > 4000 {
            std::thread::yield_now();
        }
        if number % 100 == 0 {
            writeln!(std::io::stdout(), "written {}", journal.counts().written).unwrap();
        }
    }
}

test_on_each_database! {
    a_process_that_is_killed_loses_its_last_batch_at_most,
}

fn a_process_that_is_killed_loses_its_last_batch_at_most(location: &Location) {
    let url = match location {
        Location::Postgres(url) => url.clone(),
        other => other.to_string(),
    };
    let mut before = 0;
    for _ in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::writes_until_it_is_killed", "--ignored", "--nocapture"])
            .env(LOCATION, &url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let numbers = lines.filter_map(|line| line.strip_prefix("written ")?.parse::<u64>().ok());
        let written = { numbers }.find(|written| *written >= MIN_ENTRIES);
        child.kill().unwrap();
        child.wait().unwrap();
        let written = written.expect("the process wrote nothing");
        let mut store = Store::open_existing(location).unwrap();
        let stored = store.usage().unwrap().entries;
        assert!(stored >= before + written, "{stored} entries, but {before} and {written} were written");
        assert_no_gaps(&mut store, stored - before);
        let chart = store.chart(GroupBy::Kind, ChartRange::Day, &Filter::default()).unwrap();
        assert_eq!(chart.lines[0].total, stored, "counters and entries are written together");
        before = stored;
    }
    if let Location::Sqlite(path) = location {
        let connection = rusqlite::Connection::open(path).unwrap();
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}

/// Asserts that the newest entries are numbered from zero up, without a gap.
fn assert_no_gaps(store: &mut Store, count: u64) {
    let (mut at, mut left) = (None, count);
    while left > 0 {
        let page = store.list(&Filter::default(), at, 500).unwrap();
        for summary in page.entries.iter().take(usize::try_from(left).unwrap()) {
            let entry = store.entry(summary.id).unwrap().unwrap();
            assert_eq!(entry.before, Some((left - 1).to_string()));
            left -= 1;
        }
        at = page.next;
    }
}
