//! Reads entries: pages of the list, single entries, and the names to filter by.
//!
//! Pages are found by key. A filter selects series or sets of kinds, each of them has its own range of an index, and the
//! newest entries of each are merged. So the cost depends on the length of the page, neither on how deep the page is nor on how
//! rare the entries are.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Store;
use super::database::{DatabaseResult, Row, Value};
use super::write::{COLUMNS, KIND_SEPARATOR};
use crate::entry::{Entry, EntrySummary, RepairRecord, Series, StoredValues};
use crate::error::Error;
use crate::id::Id;
use crate::query::{Filter, KnownNames, Page};

/// The longest page.
const MAX_PAGE: usize = 500;
/// How many series or sets of kinds one statement reads. Databases limit the length of a statement.
const GROUPS_AT_ONCE: usize = 200;

impl Store {
    /// Returns a page of the list: the entries before `before`, or the newest ones. A page has at most 500 entries.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn list(&mut self, filter: &Filter, before: Option<Id>, limit: usize) -> Result<Page, Error> {
        let result = self.read_page(filter, before, limit.clamp(1, MAX_PAGE));
        self.with_location(result)
    }

    fn read_page(&mut self, filter: &Filter, before: Option<Id>, limit: usize) -> DatabaseResult<Page> {
        let from = filter.since.map_or(0, |millis| Id::at_millis(millis).0);
        let until = filter.until.map_or(i64::MAX, |millis| Id::at_millis(millis).0);
        let until = before.map_or(until, |id| until.min(id.0));
        // One entry more than wanted shows whether there is another page.
        let mut ids = self.find_ids(filter, from, until, limit + 1)?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        let next = ids.last().filter(|_| more).map(|id| Id(*id));
        Ok(Page { entries: self.read_summaries(&ids)?, next })
    }

    /// Finds the newest ids that match a filter.
    fn find_ids(&mut self, filter: &Filter, from: i64, until: i64, limit: usize) -> DatabaseResult<Vec<i64>> {
        let window = [until.into(), from.into(), limit.into()];
        let sets = self.find_kind_sets(filter)?;
        let (column, groups, condition) = match (self.find_series(filter)?, sets) {
            (None, None) => {
                let sql =
                    "SELECT id FROM journal_entries WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3";
                return Ok(self.database.query(sql, &window)?.iter().map(|row| row.int(0)).collect());
            }
            (None, Some(sets)) => ("kinds", sets, String::new()),
            (Some(series), None) => ("series", series, String::new()),
            (Some(_), Some(sets)) if sets.is_empty() => return Ok(Vec::new()),
            (Some(series), Some(sets)) => {
                ("series", series, format!(" AND kinds IN ({})", join_numbers(&sets)))
            }
        };
        // Every group has its own range of the index, and only its newest entries are read there. A plain `IN` would read and
        // sort all entries of all groups.
        let mut ids = Vec::new();
        for groups in groups.chunks(GROUPS_AT_ONCE) {
            let newest = groups.iter().map(|group| {
                format!(
                    "SELECT * FROM (SELECT id FROM journal_entries WHERE {column} = {group} AND id < $1 \
                     AND id >= $2{condition} ORDER BY id DESC LIMIT $3) AS g{}",
                    // A name cannot contain a minus sign.
                    group.unsigned_abs()
                )
            });
            let newest = newest.collect::<Vec<_>>().join(" UNION ALL ");
            let sql = format!("SELECT id FROM ({newest}) AS newest ORDER BY id DESC LIMIT $3");
            ids.extend(self.database.query(&sql, &window)?.iter().map(|row| row.int(0)));
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(limit);
        Ok(ids)
    }

    /// Finds the sets of kinds that match a filter. `None` means all of them.
    fn find_kind_sets(&mut self, filter: &Filter) -> DatabaseResult<Option<Vec<i64>>> {
        let Some(kind) = &filter.kind else { return Ok(None) };
        let sets = self.database.query("SELECT id, names FROM journal_kind_sets", &[])?;
        let fitting = sets.iter().filter(|row| row.text(1).split(KIND_SEPARATOR).any(|name| name == kind));
        Ok(Some(fitting.map(|row| row.int(0)).collect()))
    }

    /// Finds the series that match a filter. `None` means all of them.
    fn find_series(&mut self, filter: &Filter) -> DatabaseResult<Option<Vec<i64>>> {
        let (condition, values) = series_conditions(filter, 1);
        if condition.is_empty() {
            return Ok(None);
        }
        let sql =
            format!("SELECT s.id FROM journal_series s WHERE s.outcome NOT IN ('clean', ''){condition}");
        Ok(Some(self.database.query(&sql, &values)?.iter().map(|row| row.int(0)).collect()))
    }

    fn read_summaries(&mut self, ids: &[i64]) -> DatabaseResult<Vec<EntrySummary>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let list = join_numbers(ids);
        let sql = format!(
            "SELECT e.id, s.surface, s.upstream, s.model, s.tool, s.outcome, e.dialect, e.reason, e.repairs, \
             e.before_bytes, e.micros FROM journal_entries e JOIN journal_series s ON s.id = e.series \
             WHERE e.id IN ({list}) ORDER BY e.id DESC"
        );
        let rows = self.database.query(&sql, &[])?;
        Ok(rows
            .iter()
            .map(|row| {
                let mut kinds: Vec<String> =
                    parse_repairs(row.text(8)).into_iter().map(|repair| repair.kind).collect();
                kinds.sort_unstable();
                kinds.dedup();
                EntrySummary {
                    id: Id(row.int(0)),
                    millis: Id(row.int(0)).millis(),
                    series: series_from_row(row, 1),
                    dialect: row.optional(6),
                    reason: row.optional(7),
                    kinds,
                    before_bytes: row.bytes(9),
                    micros: row.count(10),
                }
            })
            .collect())
    }

    /// Returns one entry with all its fields.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn entry(&mut self, id: Id) -> Result<Option<Entry>, Error> {
        let columns = COLUMNS.split(", ").map(|name| format!("e.{name}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns}, s.surface, s.upstream, s.model, s.tool, s.outcome, t.text \
             FROM journal_entries e JOIN journal_series s ON s.id = e.series \
             LEFT JOIN journal_schemas t ON t.id = e.schema WHERE e.id = $1"
        );
        let rows = self.database.query(&sql, &[id.0.into()]);
        Ok(self.with_location(rows)?.first().map(entry_from_row))
    }

    /// Returns all names that occur in the journal.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn known_names(&mut self) -> Result<KnownNames, Error> {
        let result = self.read_known_names();
        self.with_location(result)
    }

    fn read_known_names(&mut self) -> DatabaseResult<KnownNames> {
        let mut distinct = |sql: &str| -> DatabaseResult<Vec<String>> {
            Ok(self.database.query(sql, &[])?.iter().map(|row| row.text(0).to_owned()).collect())
        };
        Ok(KnownNames {
            surfaces: distinct(
                "SELECT DISTINCT surface FROM journal_series WHERE surface <> '' ORDER BY surface",
            )?,
            upstreams: distinct(
                "SELECT DISTINCT upstream FROM journal_series WHERE upstream <> '' ORDER BY upstream",
            )?,
            models: distinct("SELECT DISTINCT model FROM journal_series ORDER BY model")?,
            tools: distinct("SELECT DISTINCT tool FROM journal_series ORDER BY tool")?,
            kinds: distinct("SELECT name FROM journal_kinds ORDER BY name")?,
        })
    }
}

/// Writes the conditions of a filter on the series table `s`, and returns them with their values. Parameters are numbered
/// from `first`.
pub(super) fn series_conditions(filter: &Filter, first: usize) -> (String, Vec<Value>) {
    let wanted = [
        ("surface", &filter.surface),
        ("upstream", &filter.upstream),
        ("model", &filter.model),
        ("tool", &filter.tool),
        ("outcome", &filter.outcome),
    ];
    let (mut sql, mut values) = (String::new(), Vec::new());
    for (name, wanted) in wanted {
        if let Some(wanted) = wanted {
            let _ = write!(sql, " AND s.{name} = ${}", first + values.len());
            values.push(Value::from(wanted.as_str()));
        }
    }
    (sql, values)
}

/// Writes numbers as a list in SQL.
pub(super) fn join_numbers(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn series_from_row(row: &Row, at: usize) -> Series {
    let name = |at: usize| Arc::from(row.text(at));
    Series {
        surface: name(at),
        upstream: name(at + 1),
        model: name(at + 2),
        tool: name(at + 3),
        outcome: name(at + 4),
    }
}

fn parse_repairs(text: &str) -> Vec<RepairRecord> {
    serde_json::from_str(text).unwrap_or_default()
}

fn entry_from_row(row: &Row) -> Entry {
    Entry {
        id: Id(row.int(0)),
        series: series_from_row(row, 20),
        micros: row.count(4),
        before_bytes: row.bytes(5),
        after_bytes: row.bytes(6),
        values: StoredValues::from_name(row.text(8)),
        dialect: row.optional(9),
        reason: row.optional(10),
        called: row.optional(11),
        cut: row.optional(12),
        finish: row.optional(13),
        message: row.optional(14),
        repairs: parse_repairs(row.text(15)),
        feedback: row.optional(16),
        before: row.optional(17),
        after: row.optional(18),
        call_id: row.optional(19),
        schema: row.optional(25).map(Arc::from),
    }
}
