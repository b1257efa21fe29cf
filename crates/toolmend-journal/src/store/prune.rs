//! What is too old or too much goes, the oldest first and in small pieces.

use std::collections::BTreeMap;

use super::Store;
use super::database::{Done, Value};
use super::lists::numbers;
use crate::error::Error;
use crate::id::{Id, millis_now};
use crate::query::{Held, SPANS};

/// How many entries go with one transaction: others want to write, too.
const AT_ONCE: usize = 2000;
/// How long counters are kept, in seconds, in the order of the spans.
const COUNTERS: [i64; SPANS.len()] = [2 * 3600, 2 * 86_400, 9 * 86_400, 400 * 86_400];

impl Store {
    /// How much there is.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn held(&mut self) -> Result<Held, Error> {
        let result = self.held_within();
        self.told(result)
    }

    fn held_within(&mut self) -> Done<Held> {
        let sql = "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) \
                   FROM journal_sizes";
        let rows = self.database.query(sql, &[])?;
        Ok(rows.first().map_or_else(Held::default, |row| Held { entries: row.count(0), bytes: row.count(1) }))
    }

    /// Takes out what is older than `oldest` (milliseconds of Unix time) and what is more than `most_bytes`, one piece
    /// of it. Gives whether there is more to take out.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) fn prune(&mut self, oldest: i64, most_bytes: u64) -> Result<bool, Error> {
        let more = self.transaction(|store| {
            store.prune_counters(millis_now() / 1000)?;
            let held = store.held_within()?;
            let surplus = held.bytes.saturating_sub(most_bytes);
            let until = if surplus > 0 { i64::MAX } else { Id::at_millis(oldest).0 };
            let sql = "SELECT id, size FROM journal_entries WHERE id < $1 ORDER BY id LIMIT $2";
            let rows = store.database.query(sql, &[until.into(), AT_ONCE.into()])?;
            let mut left = surplus;
            let mut gone = Vec::new();
            for row in &rows {
                if row.int(0) >= Id::at_millis(oldest).0 && left == 0 {
                    break;
                }
                left = left.saturating_sub(row.count(1));
                gone.push(row.int(0));
            }
            store.delete_within(&gone)?;
            Ok(!gone.is_empty() && gone.len() == AT_ONCE)
        })?;
        let shrunk = self.database.shrink();
        self.told(shrunk)?;
        Ok(more)
    }

    fn prune_counters(&mut self, now: i64) -> Done {
        for (span, kept) in SPANS.into_iter().zip(COUNTERS) {
            for table in ["journal_rollups", "journal_kind_rollups"] {
                let sql = format!("DELETE FROM {table} WHERE span = $1 AND start < $2");
                self.database.execute(&sql, &[span.into(), (now - kept).into()])?;
            }
        }
        Ok(())
    }

    /// Takes out one entry. Gives whether it was there. Counters stay.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn delete(&mut self, id: Id) -> Result<bool, Error> {
        self.transaction(|store| Ok(store.delete_within(&[id.0])? > 0))
    }

    /// Takes out everything, counters included.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.transaction(|store| {
            // Names and schemas stay: the writer knows them by their numbers.
            for table in ["entries", "rollups", "kind_rollups", "sizes"] {
                store.database.run(&format!("DELETE FROM journal_{table}"))?;
            }
            Ok(())
        })?;
        let shrunk = self.database.shrink();
        self.told(shrunk)
    }

    /// Takes out these entries. Gives how many were still there: another gateway may have been faster.
    fn delete_within(&mut self, ids: &[i64]) -> Done<usize> {
        if ids.is_empty() {
            return Ok(0);
        }
        let sql = format!("DELETE FROM journal_entries WHERE id IN ({}) RETURNING id, size", numbers(ids));
        let gone = self.database.query(&sql, &[])?;
        let mut hours: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for row in &gone {
            let hour = hours.entry(Id(row.int(0)).millis() / 3_600_000 * 3600).or_default();
            *hour = (hour.0 + 1, hour.1 + row.int(1));
        }
        for (hour, (entries, bytes)) in hours {
            let sql = "UPDATE journal_sizes SET entries = entries - $1, bytes = bytes - $2 WHERE hour = $3";
            let values: [Value; 3] = [entries.into(), bytes.into(), hour.into()];
            self.database.execute(sql, &values)?;
        }
        self.database.run("DELETE FROM journal_sizes WHERE entries <= 0")?;
        Ok(gone.len())
    }
}
