//! Pages of the list, by key: the thousandth page costs what the first one costs.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Store;
use super::database::{Done, Row, Value};
use super::write::{BETWEEN, COLUMNS};
use crate::entry::{Change, Entry, Series, Summary};
use crate::error::Error;
use crate::id::Id;
use crate::query::{Filter, Names, Page};
use crate::values::Values;

/// The longest page.
const MOST: usize = 500;
/// How many series or sets of kinds are looked at with one statement; databases have a limit.
const GROUPS_AT_ONCE: usize = 200;

impl Store {
    /// A page of the list: the entries before `before`, or the newest.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn list(&mut self, filter: &Filter, before: Option<Id>, limit: usize) -> Result<Page, Error> {
        let result = self.list_within(filter, before, limit.clamp(1, MOST));
        self.told(result)
    }

    fn list_within(&mut self, filter: &Filter, before: Option<Id>, limit: usize) -> Done<Page> {
        let from = filter.since.map_or(0, |millis| Id::at_millis(millis).0);
        let until = filter.until.map_or(i64::MAX, |millis| Id::at_millis(millis).0);
        let until = before.map_or(until, |id| until.min(id.0));
        // One more than wanted tells whether there is another page.
        let mut ids = self.ids(filter, from, until, limit + 1)?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        let next = ids.last().filter(|_| more).map(|id| Id(*id));
        Ok(Page { entries: self.summaries(&ids)?, next })
    }

    /// The newest ids that fit.
    fn ids(&mut self, filter: &Filter, from: i64, until: i64, limit: usize) -> Done<Vec<i64>> {
        let window = [until.into(), from.into(), limit.into()];
        let sets = self.sets_of(filter)?;
        let (column, groups, condition) = match (self.series_of(filter)?, sets) {
            (None, None) => {
                let sql =
                    "SELECT id FROM journal_entries WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3";
                return Ok(self.database.query(sql, &window)?.iter().map(|row| row.int(0)).collect());
            }
            (None, Some(sets)) => ("kinds", sets, String::new()),
            (Some(series), None) => ("series", series, String::new()),
            (Some(_), Some(sets)) if sets.is_empty() => return Ok(Vec::new()),
            (Some(series), Some(sets)) => ("series", series, format!(" AND kinds IN ({})", numbers(&sets))),
        };
        // Every group has its own place in the index: its newest entries are read there, and nothing else is. A plain
        // `IN` would read and sort all of them.
        let mut ids = Vec::new();
        for groups in groups.chunks(GROUPS_AT_ONCE) {
            let newest = groups.iter().map(|group| {
                format!(
                    "SELECT * FROM (SELECT id FROM journal_entries WHERE {column} = {group} AND id < $1 \
                     AND id >= $2{condition} ORDER BY id DESC LIMIT $3) AS g{}",
                    // A minus has no place in a name.
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

    /// The sets of kinds that fit; none where all of them do.
    fn sets_of(&mut self, filter: &Filter) -> Done<Option<Vec<i64>>> {
        let Some(kind) = &filter.kind else { return Ok(None) };
        let sets = self.database.query("SELECT id, names FROM journal_kind_sets", &[])?;
        let fitting = sets.iter().filter(|row| row.text(1).split(BETWEEN).any(|name| name == kind));
        Ok(Some(fitting.map(|row| row.int(0)).collect()))
    }

    /// The series that fit; none where all of them do.
    fn series_of(&mut self, filter: &Filter) -> Done<Option<Vec<i64>>> {
        let (condition, values) = conditions(filter, 1);
        if condition.is_empty() {
            return Ok(None);
        }
        let sql =
            format!("SELECT s.id FROM journal_series s WHERE s.outcome NOT IN ('clean', ''){condition}");
        Ok(Some(self.database.query(&sql, &values)?.iter().map(|row| row.int(0)).collect()))
    }

    fn summaries(&mut self, ids: &[i64]) -> Done<Vec<Summary>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let list = numbers(ids);
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
                    changes(row.text(8)).into_iter().map(|change| change.kind).collect();
                kinds.sort_unstable();
                kinds.dedup();
                Summary {
                    id: Id(row.int(0)),
                    millis: Id(row.int(0)).millis(),
                    series: series(row, 1),
                    dialect: row.optional(6),
                    reason: row.optional(7),
                    kinds,
                    before_bytes: row.bytes(9),
                    micros: row.count(10),
                }
            })
            .collect())
    }

    /// One entry in full.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn entry(&mut self, id: Id) -> Result<Option<Entry>, Error> {
        let columns = COLUMNS.split(", ").map(|name| format!("e.{name}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns}, s.surface, s.upstream, s.model, s.tool, s.outcome, t.text \
             FROM journal_entries e JOIN journal_series s ON s.id = e.series \
             LEFT JOIN journal_schemas t ON t.id = e.schema WHERE e.id = $1"
        );
        let rows = self.database.query(&sql, &[id.0.into()]);
        Ok(self.told(rows)?.first().map(entry))
    }

    /// The names that there are.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn names(&mut self) -> Result<Names, Error> {
        let result = self.names_within();
        self.told(result)
    }

    fn names_within(&mut self) -> Done<Names> {
        let mut distinct = |sql: &str| -> Done<Vec<String>> {
            Ok(self.database.query(sql, &[])?.iter().map(|row| row.text(0).to_owned()).collect())
        };
        Ok(Names {
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

/// What a filter says about series named `s`, with its values. Places are counted from `first`.
pub(super) fn conditions(filter: &Filter, first: usize) -> (String, Vec<Value>) {
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
            // Writing to a string cannot fail.
            let _ = write!(sql, " AND s.{name} = ${}", first + values.len());
            values.push(Value::from(wanted.as_str()));
        }
    }
    (sql, values)
}

/// Numbers as SQL has them.
pub(super) fn numbers(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn series(row: &Row, at: usize) -> Series {
    let name = |at: usize| Arc::from(row.text(at));
    Series {
        surface: name(at),
        upstream: name(at + 1),
        model: name(at + 2),
        tool: name(at + 3),
        outcome: name(at + 4),
    }
}

fn changes(text: &str) -> Vec<Change> {
    serde_json::from_str(text).unwrap_or_default()
}

fn entry(row: &Row) -> Entry {
    Entry {
        id: Id(row.int(0)),
        series: series(row, 19),
        micros: row.count(4),
        before_bytes: row.bytes(5),
        after_bytes: row.bytes(6),
        values: Values::from_name(row.text(8)),
        dialect: row.optional(9),
        reason: row.optional(10),
        called: row.optional(11),
        cut: row.optional(12),
        finish: row.optional(13),
        message: row.optional(14),
        repairs: changes(row.text(15)),
        feedback: row.optional(16),
        before: row.optional(17),
        after: row.optional(18),
        schema: row.optional(24).map(Arc::from),
    }
}
