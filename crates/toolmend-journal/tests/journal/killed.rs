//! A process that is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use toolmend_journal::{By, Filter, Place, Range, Store};

use crate::rig::{check, full, open};

const PLACE: &str = "TOOLMEND_TEST_WRITE_TO";
/// How many entries are in the database at least before the process is killed.
const ENOUGH: u64 = 1500;

/// Not a test: what the process that is killed does.
#[test]
#[ignore = "started by the test below, and writes until it is killed"]
fn writes_until_it_is_killed() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let journal = open(&Place::read(&place));
    for number in 0_u64.. {
        let mut entry = full("a", "read", "mended", &["x"]);
        entry.before = Some(number.to_string());
        journal.record(entry);
        // Nothing is dropped, so that a gap could only come from a batch that was torn.
        while number.saturating_sub(journal.counts().written) > 4000 {
            std::thread::yield_now();
        }
        if number % 100 == 0 {
            writeln!(std::io::stdout(), "written {}", journal.counts().written).unwrap();
        }
    }
}

#[test]
fn a_process_that_is_killed_loses_its_last_batch_at_most() {
    check(|place| {
        let url = match place {
            Place::Postgres(url) => url.clone(),
            other => other.to_string(),
        };
        let mut before = 0;
        for _ in 0..3 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "killed::writes_until_it_is_killed", "--ignored", "--nocapture"])
                .env(PLACE, &url)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
            let numbers = lines.filter_map(|line| line.strip_prefix("written ")?.parse::<u64>().ok());
            let told = { numbers }.find(|written| *written >= ENOUGH);
            child.kill().unwrap();
            child.wait().unwrap();
            let told = told.expect("the process wrote nothing");
            let mut store = Store::open_existing(place).unwrap();
            let held = store.held().unwrap().entries;
            assert!(held >= before + told, "{held} entries, where {before} and {told} were written");
            complete(&mut store, held - before);
            let chart = store.chart(By::Kind, Range::Day, &Filter::default()).unwrap();
            assert_eq!(chart.lines[0].total, held, "counters and entries are written together");
            before = held;
        }
        if let Place::Sqlite(path) = place {
            let connection = rusqlite::Connection::open(path).unwrap();
            let verdict: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(verdict, "ok");
        }
    });
}

/// The newest entries are the numbers from zero up, without a gap.
fn complete(store: &mut Store, count: u64) {
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
