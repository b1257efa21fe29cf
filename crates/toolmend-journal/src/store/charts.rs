//! Charts: counts over time.
//!
//! Charts read the counters that are kept while entries are written, for buckets of a minute, a quarter of an hour, six hours
//! and a day. They never read entries, so their cost does not depend on how many entries there are.

use std::collections::{BTreeMap, HashMap};

use super::Store;
use super::database::{DatabaseResult, Value};
use super::lists::series_conditions;
use crate::error::Error;
use crate::id::millis_now;
use crate::query::{Chart, ChartLine, ChartRange, Filter, GroupBy, ModelToolCounts};

/// How many lines a chart has at most. More are hard to tell apart.
const MAX_LINES: usize = 8;
/// How many pairs of a model and a tool are returned.
const MAX_PAIRS: usize = 20;
/// How many kinds of repair are returned for a pair.
const MAX_KINDS: usize = 3;
/// The name of the line that adds up the smallest ones.
const OTHER: &str = "other";

impl Store {
    /// Returns counts over time.
    ///
    /// The time in the filter is ignored, because `range` gives the time. If lines stand for kinds of repair, only the model
    /// and the tool of the filter count.
    ///
    /// ```
    /// use toolmend_journal::{ChartRange, Filter, GroupBy, Location, Store};
    /// # let folder = tempfile::tempdir().unwrap();
    /// let mut store = Store::open(&Location::Sqlite(folder.path().join("journal.db")))?;
    /// let chart = store.chart(GroupBy::Outcome, ChartRange::Day, &Filter::default())?;
    /// assert_eq!(chart.calls.len(), 96);
    /// # Ok::<(), toolmend_journal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn chart(&mut self, by: GroupBy, range: ChartRange, filter: &Filter) -> Result<Chart, Error> {
        let result = self.read_chart(by, range, filter, millis_now() / 1000);
        self.with_location(result)
    }

    fn read_chart(
        &mut self,
        by: GroupBy,
        range: ChartRange,
        filter: &Filter,
        now: i64,
    ) -> DatabaseResult<Chart> {
        let (span, step, count) = range.buckets();
        let start = now / step * step - (count - 1) * step;
        let count = usize::try_from(count).unwrap_or(0);
        let bucket = |at: i64| usize::try_from((at - start) / step).ok().filter(|at| *at < count);
        let mut calls = vec![0; count];
        let all = self.read_counters("''", "journal_rollups r", "", (span, step, start), filter)?;
        for (at, _, more) in all {
            if let Some(at) = bucket(at) {
                calls[at] += more;
            }
        }
        let rollups = "journal_rollups r";
        let kinds = "journal_kind_rollups r JOIN journal_kinds k ON k.id = r.kind";
        let not_clean = " AND s.outcome <> 'clean'";
        let (name, table, condition) = match by {
            GroupBy::Outcome => ("s.outcome", rollups, ""),
            GroupBy::Model => ("s.model", rollups, not_clean),
            GroupBy::Tool => ("s.tool", rollups, not_clean),
            GroupBy::Kind => ("k.name", kinds, ""),
        };
        let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        // There are no counters of kinds by surface, server or outcome.
        let pairs = Filter { model: filter.model.clone(), tool: filter.tool.clone(), ..Filter::default() };
        let filter = if by == GroupBy::Kind { &pairs } else { filter };
        for (at, name, more) in self.read_counters(name, table, condition, (span, step, start), filter)? {
            if let Some(at) = bucket(at) {
                lines.entry(name).or_insert_with(|| vec![0; count])[at] += more;
            }
        }
        Ok(Chart { start, step, calls, lines: limit_lines(lines) })
    }

    /// Reads counters: the start of the bucket, the name, and the number of calls.
    fn read_counters(
        &mut self,
        name: &str,
        table: &str,
        condition: &str,
        (span, step, start): (i64, i64, i64),
        filter: &Filter,
    ) -> DatabaseResult<Vec<(i64, String, u64)>> {
        let (conditions, values) = series_conditions(filter, 4);
        let sql = format!(
            "SELECT r.start / $1 * $1, {name}, CAST(SUM(r.calls) AS BIGINT) FROM {table} \
             JOIN journal_series s ON s.id = r.series \
             WHERE r.span = $2 AND r.start >= $3{condition}{conditions} GROUP BY 1, 2"
        );
        let mut all: Vec<Value> = vec![step.into(), span.into(), start.into()];
        all.extend(values);
        let rows = self.database.query(&sql, &all)?;
        Ok(rows.iter().map(|row| (row.int(0), row.text(1).to_owned(), row.count(2))).collect())
    }

    /// Returns the pairs of a model and a tool with the most calls that were not clean, worst first.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub fn worst_pairs(&mut self, range: ChartRange) -> Result<Vec<ModelToolCounts>, Error> {
        let result = self.read_worst_pairs(range, millis_now() / 1000);
        self.with_location(result)
    }

    fn read_worst_pairs(&mut self, range: ChartRange, now: i64) -> DatabaseResult<Vec<ModelToolCounts>> {
        let (span, step, count) = range.buckets();
        let window = [span.into(), (now / step * step - (count - 1) * step).into()];
        // Adding up by id first is far cheaper than comparing names for every counter.
        let sum = |column: &str, table: &str, name: &str, join: &str| {
            format!(
                "SELECT s.model, s.tool, {name}, CAST(SUM(r.calls) AS BIGINT) \
                 FROM (SELECT series{column}, SUM(calls) AS calls FROM {table} \
                 WHERE span = $1 AND start >= $2 GROUP BY series{column}) AS r \
                 JOIN journal_series s ON s.id = r.series{join} GROUP BY 1, 2, 3"
            )
        };
        let mut pairs: HashMap<(String, String), ModelToolCounts> = HashMap::new();
        for row in self.database.query(&sum("", "journal_rollups", "s.outcome", ""), &window)? {
            let key = (row.text(0).to_owned(), row.text(1).to_owned());
            let pair = pairs.entry(key.clone()).or_insert_with(|| ModelToolCounts {
                model: key.0,
                tool: key.1,
                calls: 0,
                mended: 0,
                failed: 0,
                kinds: Vec::new(),
            });
            let more = row.count(3);
            pair.calls += more;
            match row.text(2) {
                "clean" => {}
                "mended" => pair.mended += more,
                _ => pair.failed += more,
            }
        }
        let mut worst: Vec<ModelToolCounts> =
            pairs.into_values().filter(|pair| pair.mended + pair.failed > 0).collect();
        // A call that did not run costs a turn. A mended call costs nothing, but shows what could be improved.
        worst.sort_by_cached_key(|pair| {
            (std::cmp::Reverse(pair.failed * 4 + pair.mended), pair.model.clone(), pair.tool.clone())
        });
        worst.truncate(MAX_PAIRS);
        let kinds = sum(", kind", "journal_kind_rollups", "k.name", " JOIN journal_kinds k ON k.id = r.kind");
        for row in self.database.query(&kinds, &window)? {
            let pair = worst.iter_mut().find(|pair| pair.model == row.text(0) && pair.tool == row.text(1));
            if let Some(pair) = pair {
                pair.kinds.push((row.text(2).to_owned(), row.count(3)));
            }
        }
        for pair in &mut worst {
            pair.kinds.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
            pair.kinds.truncate(MAX_KINDS);
        }
        Ok(worst)
    }
}

/// Keeps the largest lines and adds up the others.
fn limit_lines(lines: BTreeMap<String, Vec<u64>>) -> Vec<ChartLine> {
    let line = |(name, counts): (String, Vec<u64>)| ChartLine { name, total: counts.iter().sum(), counts };
    let mut lines: Vec<ChartLine> = lines.into_iter().map(line).collect();
    lines.sort_by(|one, other| other.total.cmp(&one.total).then_with(|| one.name.cmp(&other.name)));
    if lines.len() > MAX_LINES {
        let rest = lines.split_off(MAX_LINES - 1);
        let mut counts = vec![0; rest[0].counts.len()];
        for line in &rest {
            for (sum, more) in counts.iter_mut().zip(&line.counts) {
                *sum += more;
            }
        }
        lines.push(ChartLine { name: OTHER.to_owned(), total: counts.iter().sum(), counts });
    }
    lines
}
