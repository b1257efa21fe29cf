//! Entries and counters on their way into the database, many with one transaction.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Store;
use super::database::{Done, Value};
use crate::entry::{Entry, Series};
use crate::error::Error;
use crate::query::SPANS;

/// How many series are told apart. Clients choose the names of models and tools.
const MOST_SERIES: usize = 4096;
/// What everything beyond is counted under.
const OTHER: &str = "other";
/// Two gateways that made the same id at the same microsecond: the first one counts.
const TWICE: &str = "ON CONFLICT DO NOTHING";
/// Stands for every surface, server and outcome.
pub(super) const ANY: &str = "";
/// Between the kinds of a set, which are words.
pub(super) const BETWEEN: &str = " ";
/// The longest name that is counted under.
const LONGEST_NAME: usize = 200;

/// Calls of one series that were clean, since the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Clean {
    pub(crate) calls: u64,
    pub(crate) micros: u64,
}

/// What a batch adds to a counter.
#[derive(Debug, Default, Clone, Copy)]
struct Added {
    calls: i64,
    micros: i64,
}

impl Store {
    /// Writes a batch wholly or not at all. `millis` is the time of the clean calls.
    pub(crate) fn write(
        &mut self,
        entries: &[Entry],
        clean: &[(Series, Clean)],
        millis: i64,
    ) -> Result<(), Error> {
        if entries.is_empty() && clean.is_empty() {
            return Ok(());
        }
        self.transaction(|store| store.write_within(entries, clean, millis))
    }

    fn write_within(&mut self, entries: &[Entry], clean: &[(Series, Clean)], millis: i64) -> Done {
        let mut rows = Vec::with_capacity(entries.len());
        // Sorted, so that several gateways that count the same take turns in the same order.
        let mut calls: BTreeMap<(i64, i64, i64), Added> = BTreeMap::new();
        let mut by_kind: BTreeMap<(i64, i64, i64, i64), Added> = BTreeMap::new();
        let mut sizes: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for entry in entries {
            let series = self.series_id(&entry.series)?;
            let seconds = entry.id.millis() / 1000;
            // Kinds times series would be nearly as many as entries.
            let pair = self.pair_id(series, &entry.series)?;
            let mut changed: Vec<&str> = entry.repairs.iter().map(|change| change.kind.as_str()).collect();
            changed.sort_unstable();
            changed.dedup();
            for span in SPANS {
                let start = seconds / span * span;
                add(calls.entry((span, start, series)).or_default(), 1, entry.micros);
            }
            let kinds = self.set_id(&changed.join(BETWEEN))?;
            for kind in changed {
                let kind = self.kind_id(kind)?;
                for span in SPANS {
                    let start = seconds / span * span;
                    add(by_kind.entry((span, start, kind, pair)).or_default(), 1, 0);
                }
            }
            let size = i64::try_from(entry.size()).unwrap_or(i64::MAX);
            let held = sizes.entry(seconds / 3600 * 3600).or_default();
            *held = (held.0 + 1, held.1.saturating_add(size));
            let schema = self.schema_id(entry)?;
            rows.push(columns(entry, (series, kinds), size, schema));
        }
        for (series, clean) in clean {
            let series = self.series_id(series)?;
            for span in SPANS {
                let start = millis / 1000 / span * span;
                add(calls.entry((span, start, series)).or_default(), clean.calls, clean.micros);
            }
        }
        let database = &mut *self.database;
        database.insert(&format!("INSERT INTO journal_entries ({COLUMNS})"), TWICE, rows)?;
        let rows = calls.into_iter().map(|((span, start, series), added)| {
            vec![span.into(), start.into(), series.into(), added.calls.into(), added.micros.into()]
        });
        database.insert(
            "INSERT INTO journal_rollups (span, start, series, calls, micros)",
            "ON CONFLICT (span, start, series) DO UPDATE SET calls = journal_rollups.calls + excluded.calls, \
             micros = journal_rollups.micros + excluded.micros",
            rows.collect(),
        )?;
        let rows = by_kind.into_iter().map(|((span, start, kind, series), added)| {
            vec![span.into(), start.into(), kind.into(), series.into(), added.calls.into()]
        });
        database.insert(
            "INSERT INTO journal_kind_rollups (span, start, kind, series, calls)",
            "ON CONFLICT (span, start, kind, series) DO UPDATE SET calls = journal_kind_rollups.calls + excluded.calls",
            rows.collect(),
        )?;
        let rows =
            sizes.into_iter().map(|(hour, (count, bytes))| vec![hour.into(), count.into(), bytes.into()]);
        database.insert(
            "INSERT INTO journal_sizes (hour, entries, bytes)",
            "ON CONFLICT (hour) DO UPDATE SET entries = journal_sizes.entries + excluded.entries, \
             bytes = journal_sizes.bytes + excluded.bytes",
            rows.collect(),
        )
    }

    fn series_id(&mut self, series: &Series) -> Done<i64> {
        if let Some(id) = self.series.get(series) {
            return Ok(*id);
        }
        let mut bounded = series.clone();
        if self.series.len() >= MOST_SERIES {
            bounded.tool = OTHER.into();
            bounded.model = OTHER.into();
            if let Some(id) = self.series.get(&bounded) {
                return Ok(*id);
            }
        }
        for name in [&mut bounded.model, &mut bounded.tool, &mut bounded.upstream] {
            if name.len() > LONGEST_NAME {
                *name = name[..name.floor_char_boundary(LONGEST_NAME)].into();
            }
        }
        let values: Vec<Value> =
            [&bounded.model, &bounded.tool, &bounded.outcome, &bounded.surface, &bounded.upstream]
                .map(|name| Value::from(&**name))
                .into();
        let insert = "INSERT INTO journal_series (model, tool, outcome, surface, upstream) \
                      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        let select = "SELECT id FROM journal_series \
                      WHERE model = $1 AND tool = $2 AND outcome = $3 AND surface = $4 AND upstream = $5";
        let id = self.dictionary(insert, select, &values)?;
        self.series.insert(bounded, id);
        Ok(id)
    }

    /// The series of model and tool alone: what kinds are counted by.
    fn pair_id(&mut self, id: i64, series: &Series) -> Done<i64> {
        if let Some(pair) = self.pairs.get(&id) {
            return Ok(*pair);
        }
        let pair = self.series_id(&pair(series))?;
        self.pairs.insert(id, pair);
        Ok(pair)
    }

    fn kind_id(&mut self, kind: &str) -> Done<i64> {
        if let Some(id) = self.kinds.get(kind) {
            return Ok(*id);
        }
        let insert = "INSERT INTO journal_kinds (name) VALUES ($1) ON CONFLICT DO NOTHING";
        let id = self.dictionary(insert, "SELECT id FROM journal_kinds WHERE name = $1", &[kind.into()])?;
        self.kinds.insert(kind.to_owned(), id);
        Ok(id)
    }

    /// The set of these kinds, by their names.
    fn set_id(&mut self, names: &str) -> Done<i64> {
        if let Some(id) = self.kind_sets.get(names) {
            return Ok(*id);
        }
        let insert = "INSERT INTO journal_kind_sets (names) VALUES ($1) ON CONFLICT DO NOTHING";
        let select = "SELECT id FROM journal_kind_sets WHERE names = $1";
        let id = self.dictionary(insert, select, &[names.into()])?;
        if self.kind_sets.len() >= MOST_SERIES {
            self.kind_sets.clear();
        }
        self.kind_sets.insert(names.to_owned(), id);
        Ok(id)
    }

    /// Looks first: an insert that does nothing still uses up a number.
    fn dictionary(&mut self, insert: &str, select: &str, values: &[Value]) -> Done<i64> {
        if let Some(row) = self.database.query(select, values)?.first() {
            return Ok(row.int(0));
        }
        self.database.execute(insert, values)?;
        Ok(self.database.query(select, values)?.first().map_or(0, |row| row.int(0)))
    }

    /// Schemas come again with every request, so each is stored once.
    fn schema_id(&mut self, entry: &Entry) -> Done<Value> {
        let Some(text) = &entry.schema else { return Ok(Value::Null) };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let id = hasher.finish().cast_signed();
        if !self.schemas.contains(&id) {
            let sql = "INSERT INTO journal_schemas (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            self.database.execute(sql, &[id.into(), (&**text).into()])?;
            if self.schemas.len() >= MOST_SERIES {
                self.schemas.clear();
            }
            self.schemas.insert(id);
        }
        Ok(id.into())
    }
}

fn pair(series: &Series) -> Series {
    let any: Arc<str> = ANY.into();
    Series {
        surface: Arc::clone(&any),
        upstream: Arc::clone(&any),
        model: Arc::clone(&series.model),
        tool: Arc::clone(&series.tool),
        outcome: any,
    }
}

fn add(counter: &mut Added, calls: u64, micros: u64) {
    counter.calls = counter.calls.saturating_add_unsigned(calls);
    counter.micros = counter.micros.saturating_add_unsigned(micros);
}

/// The columns of an entry, in the order of [`columns`].
pub(crate) const COLUMNS: &str = "id, series, kinds, size, micros, before_bytes, after_bytes, schema, stored, dialect, \
                                  reason, called, cut, finish, message, repairs, feedback, before_text, after_text";

fn columns(entry: &Entry, (series, kinds): (i64, i64), size: i64, schema: Value) -> Vec<Value> {
    let text = |text: &Option<String>| Value::from(text.as_deref());
    // A list of plain structs always has a JSON form.
    let repairs = serde_json::to_string(&entry.repairs).unwrap_or_default();
    vec![
        entry.id.0.into(),
        series.into(),
        kinds.into(),
        size.into(),
        entry.micros.into(),
        entry.before_bytes.into(),
        entry.after_bytes.into(),
        schema,
        entry.values.name().into(),
        text(&entry.dialect),
        text(&entry.reason),
        text(&entry.called),
        text(&entry.cut),
        text(&entry.finish),
        text(&entry.message),
        Value::Text(repairs),
        text(&entry.feedback),
        text(&entry.before),
        text(&entry.after),
    ]
}
