//! Counts over time, from counters that are kept while entries are written: their cost does not depend on how many
//! entries there are.

use std::collections::{BTreeMap, HashMap};

use super::Store;
use super::database::{Done, Value};
use super::lists::conditions;
use crate::error::Error;
use crate::id::millis_now;
use crate::query::{By, Chart, Filter, Line, Pair, Range};

/// How many lines a chart has; more cannot be told apart.
const LINES: usize = 8;
/// How many pairs are shown.
const PAIRS: usize = 20;
/// How many kinds of repairs are shown for a pair.
const KINDS: usize = 3;
const OTHER: &str = "other";

impl Store {
    /// Counts over time. The time in the filter is not looked at, the range says it. Kinds are filtered by model and tool
    /// only.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn chart(&mut self, by: By, range: Range, filter: &Filter) -> Result<Chart, Error> {
        let result = self.chart_within(by, range, filter, millis_now() / 1000);
        self.told(result)
    }

    fn chart_within(&mut self, by: By, range: Range, filter: &Filter, now: i64) -> Done<Chart> {
        let (span, step, count) = range.buckets();
        let start = now / step * step - (count - 1) * step;
        let count = usize::try_from(count).unwrap_or(0);
        let place = |at: i64| usize::try_from((at - start) / step).ok().filter(|at| *at < count);
        let mut calls = vec![0; count];
        let everything = self.counted("''", "journal_rollups r", "", (span, step, start), filter)?;
        for (at, _, more) in everything {
            if let Some(at) = place(at) {
                calls[at] += more;
            }
        }
        let rollups = "journal_rollups r";
        let kinds = "journal_kind_rollups r JOIN journal_kinds k ON k.id = r.kind";
        let not_clean = " AND s.outcome <> 'clean'";
        let (name, table, condition) = match by {
            By::Outcome => ("s.outcome", rollups, ""),
            By::Model => ("s.model", rollups, not_clean),
            By::Tool => ("s.tool", rollups, not_clean),
            By::Kind => ("k.name", kinds, ""),
        };
        let mut lines: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        // Kinds are counted by model and tool only.
        let pairs = Filter { model: filter.model.clone(), tool: filter.tool.clone(), ..Filter::default() };
        let filter = if by == By::Kind { &pairs } else { filter };
        for (at, name, more) in self.counted(name, table, condition, (span, step, start), filter)? {
            if let Some(at) = place(at) {
                lines.entry(name).or_insert_with(|| vec![0; count])[at] += more;
            }
        }
        Ok(Chart { start, step, calls, lines: largest(lines) })
    }

    /// Start of the bucket, name and number.
    fn counted(
        &mut self,
        name: &str,
        table: &str,
        condition: &str,
        (span, step, start): (i64, i64, i64),
        filter: &Filter,
    ) -> Done<Vec<(i64, String, u64)>> {
        let (wanted, values) = conditions(filter, 4);
        let sql = format!(
            "SELECT r.start / $1 * $1, {name}, CAST(SUM(r.calls) AS BIGINT) FROM {table} \
             JOIN journal_series s ON s.id = r.series \
             WHERE r.span = $2 AND r.start >= $3{condition}{wanted} GROUP BY 1, 2"
        );
        let mut all: Vec<Value> = vec![step.into(), span.into(), start.into()];
        all.extend(values);
        let rows = self.database.query(&sql, &all)?;
        Ok(rows.iter().map(|row| (row.int(0), row.text(1).to_owned(), row.count(2))).collect())
    }

    /// The pairs of a model and a tool that make the most trouble, the worst first.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub fn worst(&mut self, range: Range) -> Result<Vec<Pair>, Error> {
        let result = self.worst_within(range, millis_now() / 1000);
        self.told(result)
    }

    fn worst_within(&mut self, range: Range, now: i64) -> Done<Vec<Pair>> {
        let (span, step, count) = range.buckets();
        let window = [span.into(), (now / step * step - (count - 1) * step).into()];
        // Added up by numbers first: comparing names for every counter would cost far more.
        let sum = |column: &str, table: &str, name: &str, join: &str| {
            format!(
                "SELECT s.model, s.tool, {name}, CAST(SUM(r.calls) AS BIGINT) \
                 FROM (SELECT series{column}, SUM(calls) AS calls FROM {table} \
                 WHERE span = $1 AND start >= $2 GROUP BY series{column}) AS r \
                 JOIN journal_series s ON s.id = r.series{join} GROUP BY 1, 2, 3"
            )
        };
        let mut pairs: HashMap<(String, String), Pair> = HashMap::new();
        for row in self.database.query(&sum("", "journal_rollups", "s.outcome", ""), &window)? {
            let key = (row.text(0).to_owned(), row.text(1).to_owned());
            let pair = pairs.entry(key.clone()).or_insert_with(|| Pair {
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
        let mut worst: Vec<Pair> = pairs.into_values().filter(|pair| pair.mended + pair.failed > 0).collect();
        // A call that did not run cost a turn; one that was mended cost nothing but shows what to improve.
        worst.sort_by_cached_key(|pair| {
            (std::cmp::Reverse(pair.failed * 4 + pair.mended), pair.model.clone(), pair.tool.clone())
        });
        worst.truncate(PAIRS);
        let kinds = sum(", kind", "journal_kind_rollups", "k.name", " JOIN journal_kinds k ON k.id = r.kind");
        for row in self.database.query(&kinds, &window)? {
            let pair = worst.iter_mut().find(|pair| pair.model == row.text(0) && pair.tool == row.text(1));
            if let Some(pair) = pair {
                pair.kinds.push((row.text(2).to_owned(), row.count(3)));
            }
        }
        for pair in &mut worst {
            pair.kinds.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
            pair.kinds.truncate(KINDS);
        }
        Ok(worst)
    }
}

/// The largest lines, and the others as one.
fn largest(lines: BTreeMap<String, Vec<u64>>) -> Vec<Line> {
    let line = |(name, counts): (String, Vec<u64>)| Line { name, total: counts.iter().sum(), counts };
    let mut lines: Vec<Line> = lines.into_iter().map(line).collect();
    lines.sort_by(|one, other| other.total.cmp(&one.total).then_with(|| one.name.cmp(&other.name)));
    if lines.len() > LINES {
        let rest = lines.split_off(LINES - 1);
        let mut counts = vec![0; rest[0].counts.len()];
        for line in &rest {
            for (sum, more) in counts.iter_mut().zip(&line.counts) {
                *sum += more;
            }
        }
        lines.push(Line { name: OTHER.to_owned(), total: counts.iter().sum(), counts });
    }
    lines
}
