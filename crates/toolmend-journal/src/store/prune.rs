//! Removes entries: old ones, the oldest ones if there are too many, or those that a user names.
//!
//! Counters outlive their entries: those of days are kept for more than a year.

use std::collections::BTreeMap;

use super::Store;
use super::database::{DatabaseResult, Value};
use super::lists::join_numbers;
use crate::error::Error;
use crate::id::{Id, millis_now};
use crate::query::{SPANS, Usage};

/// How many entries one transaction removes at most. Other gateways have to write in between.
const ENTRIES_AT_ONCE: usize = 2000;
/// How long counters are kept, in seconds, in the order of [`SPANS`].
const COUNTER_AGES: [i64; SPANS.len()] = [2 * 3600, 2 * 86_400, 9 * 86_400, 400 * 86_400];

impl Store {
    /// Returns how much the journal holds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn usage(&mut self) -> Result<Usage, Error> {
        let result = self.read_usage();
        self.with_location(result)
    }

    fn read_usage(&mut self) -> DatabaseResult<Usage> {
        let sql = "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) \
                   FROM journal_sizes";
        let rows = self.database.query(sql, &[])?;
        Ok(rows
            .first()
            .map_or_else(Usage::default, |row| Usage { entries: row.count(0), bytes: row.count(1) }))
    }

    /// Removes some of the entries that are older than `oldest` (milliseconds of Unix time), or the oldest entries if all
    /// entries take up more than `max_bytes`. Returns whether there is more to remove.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub(crate) fn prune(&mut self, oldest: i64, max_bytes: u64) -> Result<bool, Error> {
        let more = self.transaction(|store| {
            store.prune_counters(millis_now() / 1000)?;
            let usage = store.read_usage()?;
            let surplus = usage.bytes.saturating_sub(max_bytes);
            let until = if surplus > 0 { i64::MAX } else { Id::at_millis(oldest).0 };
            let sql = "SELECT id, size FROM journal_entries WHERE id < $1 ORDER BY id LIMIT $2";
            let rows = store.database.query(sql, &[until.into(), ENTRIES_AT_ONCE.into()])?;
            let mut left = surplus;
            let mut removed = Vec::new();
            for row in &rows {
                if row.int(0) >= Id::at_millis(oldest).0 && left == 0 {
                    break;
                }
                left = left.saturating_sub(row.count(1));
                removed.push(row.int(0));
            }
            store.delete_entries(&removed)?;
            // Ids of schemas may be gone now, whichever gateway removed them.
            store.ids.schemas.clear();
            if !removed.is_empty() {
                let unused =
                    "NOT EXISTS (SELECT 1 FROM journal_entries e WHERE e.schema = journal_schemas.id)";
                store.database.execute_batch(&format!("DELETE FROM journal_schemas WHERE {unused}"))?;
            }
            Ok(!removed.is_empty() && removed.len() == ENTRIES_AT_ONCE)
        })?;
        let reclaimed = self.database.reclaim_space();
        self.with_location(reclaimed)?;
        Ok(more)
    }

    fn prune_counters(&mut self, now: i64) -> DatabaseResult {
        for (span, kept) in SPANS.into_iter().zip(COUNTER_AGES) {
            for table in ["journal_rollups", "journal_kind_rollups"] {
                let sql = format!("DELETE FROM {table} WHERE span = $1 AND start < $2");
                self.database.execute(&sql, &[span.into(), (now - kept).into()])?;
            }
        }
        Ok(())
    }

    /// Removes one entry and returns whether it existed. Counters are not changed.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn delete(&mut self, id: Id) -> Result<bool, Error> {
        self.transaction(|store| Ok(store.delete_entries(&[id.0])? > 0))
    }

    /// Removes all entries and all counters.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.transaction(|store| {
            // Names and schemas are kept, because writers remember their ids.
            for table in ["entries", "rollups", "kind_rollups", "sizes"] {
                store.database.execute_batch(&format!("DELETE FROM journal_{table}"))?;
            }
            Ok(())
        })?;
        let reclaimed = self.database.reclaim_space();
        self.with_location(reclaimed)
    }

    /// Removes these entries. Returns how many of them existed: another gateway may have removed some before.
    fn delete_entries(&mut self, ids: &[i64]) -> DatabaseResult<usize> {
        if ids.is_empty() {
            return Ok(0);
        }
        let sql =
            format!("DELETE FROM journal_entries WHERE id IN ({}) RETURNING id, size", join_numbers(ids));
        let removed = self.database.query(&sql, &[])?;
        let mut hours: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for row in &removed {
            let hour = hours.entry(Id(row.int(0)).millis() / 3_600_000 * 3600).or_default();
            *hour = (hour.0 + 1, hour.1 + row.int(1));
        }
        for (hour, (entries, bytes)) in hours {
            let sql = "UPDATE journal_sizes SET entries = entries - $1, bytes = bytes - $2 WHERE hour = $3";
            let values: [Value; 3] = [entries.into(), bytes.into(), hour.into()];
            self.database.execute(sql, &values)?;
        }
        self.database.execute_batch("DELETE FROM journal_sizes WHERE entries <= 0")?;
        Ok(removed.len())
    }
}
