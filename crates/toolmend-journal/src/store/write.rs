//! Writes entries and counters.
//!
//! A batch is one transaction: entries, their kinds and the counters are written together or not at all, so lists and charts
//! always agree. Rows are written in the order of their keys. So two gateways that update the same counters cannot wait for
//! each other in a circle.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Store;
use super::database::{Database, DatabaseResult, Value};
use super::hash::hash_text;
use crate::entry::{Entry, Series};
use crate::error::Error;
use crate::query::SPANS;

/// How many series a connection distinguishes. Clients choose the names of models and tools, so there could be any number.
const MAX_SERIES: usize = 4096;
/// How many sets of kinds a connection remembers.
const MAX_KIND_SETS: usize = 4096;
/// How many bytes of schemas a connection remembers. It keeps their texts.
const MAX_SCHEMA_BYTES: usize = 4 << 20;
/// The model and the tool of all further series.
const OTHER: &str = "other";
/// Two gateways may have created the same id in the same microsecond. The first entry is kept.
const IGNORE_DUPLICATES: &str = "ON CONFLICT DO NOTHING";
/// The surface, server and outcome of a series that stands for all of them.
const ANY: &str = "";
/// Separates the kinds of a set. Names of kinds have no spaces.
pub(super) const KIND_SEPARATOR: &str = " ";
/// The longest name of a series, in bytes. Longer names are shortened.
const MAX_NAME_BYTES: usize = 200;

/// Clean calls of one series since the last write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CleanCalls {
    pub(crate) calls: u64,
    pub(crate) micros: u64,
}

/// The rows that a batch adds. Counters are sorted by their keys, in the order in which they are written.
#[derive(Debug, Default)]
struct BatchRows {
    entries: Vec<Vec<Value>>,
    /// Calls and microseconds by span, start of the bucket and series.
    calls: BTreeMap<(i64, i64, i64), (i64, i64)>,
    /// Calls by span, start of the bucket, kind, and series of model and tool.
    kinds: BTreeMap<(i64, i64, i64, i64), i64>,
    /// Number and size of the entries by hour.
    sizes: BTreeMap<i64, (i64, i64)>,
}

impl BatchRows {
    /// Counts calls of a series in the bucket of every span.
    fn count_calls(&mut self, seconds: i64, series: i64, calls: u64, micros: u64) {
        for span in SPANS {
            let counter = self.calls.entry((span, seconds / span * span, series)).or_default();
            counter.0 = counter.0.saturating_add_unsigned(calls);
            counter.1 = counter.1.saturating_add_unsigned(micros);
        }
    }

    /// Counts a call with a repair of this kind in the bucket of every span.
    fn count_kind(&mut self, seconds: i64, kind: i64, pair: i64) {
        for span in SPANS {
            *self.kinds.entry((span, seconds / span * span, kind, pair)).or_default() += 1;
        }
    }

    /// Counts an entry of this size.
    fn count_size(&mut self, seconds: i64, size: i64) {
        let (entries, bytes) = self.sizes.entry(seconds / 3600 * 3600).or_default();
        *entries += 1;
        *bytes = bytes.saturating_add(size);
    }

    fn insert_into(self, database: &mut dyn Database) -> DatabaseResult {
        let head = format!("INSERT INTO journal_entries ({COLUMNS})");
        database.insert_rows(&head, IGNORE_DUPLICATES, self.entries)?;
        let calls = self.calls.into_iter().map(|((span, start, series), (calls, micros))| {
            vec![span.into(), start.into(), series.into(), calls.into(), micros.into()]
        });
        database.insert_rows(
            "INSERT INTO journal_rollups (span, start, series, calls, micros)",
            "ON CONFLICT (span, start, series) DO UPDATE SET calls = journal_rollups.calls + excluded.calls, \
             micros = journal_rollups.micros + excluded.micros",
            calls.collect(),
        )?;
        let kinds = self.kinds.into_iter().map(|((span, start, kind, series), calls)| {
            vec![span.into(), start.into(), kind.into(), series.into(), calls.into()]
        });
        database.insert_rows(
            "INSERT INTO journal_kind_rollups (span, start, kind, series, calls)",
            "ON CONFLICT (span, start, kind, series) DO UPDATE SET calls = journal_kind_rollups.calls + excluded.calls",
            kinds.collect(),
        )?;
        let sizes = self.sizes.into_iter();
        let sizes = sizes.map(|(hour, (count, bytes))| vec![hour.into(), count.into(), bytes.into()]);
        database.insert_rows(
            "INSERT INTO journal_sizes (hour, entries, bytes)",
            "ON CONFLICT (hour) DO UPDATE SET entries = journal_sizes.entries + excluded.entries, \
             bytes = journal_sizes.bytes + excluded.bytes",
            sizes.collect(),
        )
    }
}

impl Store {
    /// Writes a batch in one transaction. `millis` is the time at which the clean calls are counted.
    pub(crate) fn write(
        &mut self,
        entries: &[Entry],
        clean: &[(Series, CleanCalls)],
        millis: i64,
    ) -> Result<(), Error> {
        if entries.is_empty() && clean.is_empty() {
            return Ok(());
        }
        self.transaction(|store| {
            let mut rows = BatchRows::default();
            for entry in entries {
                store.add_entry(entry, &mut rows)?;
            }
            for (series, clean) in clean {
                let series = store.series_id(series)?;
                rows.count_calls(millis / 1000, series, clean.calls, clean.micros);
            }
            rows.insert_into(&mut *store.database)
        })
    }

    fn add_entry(&mut self, entry: &Entry, rows: &mut BatchRows) -> DatabaseResult {
        let series = self.series_id(&entry.series)?;
        let pair = self.pair_id(series, &entry.series)?;
        let seconds = entry.id.millis() / 1000;
        rows.count_calls(seconds, series, 1, entry.micros);
        // A kind counts once for each call, however often the call needed it.
        let mut names: Vec<&str> = entry.repairs.iter().map(|repair| repair.kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let kinds = self.kind_set_id(&names.join(KIND_SEPARATOR))?;
        for name in names {
            rows.count_kind(seconds, self.kind_id(name)?, pair);
        }
        let (schema, new_bytes) = self.schema_id(entry)?;
        let size = i64::try_from(entry.size() + new_bytes).unwrap_or(i64::MAX);
        rows.count_size(seconds, size);
        rows.entries.push(entry_columns(entry, (series, kinds), size, schema));
        Ok(())
    }

    /// Returns the id of a series. Once there are too many, new ones are counted under [`OTHER`].
    fn series_id(&mut self, series: &Series) -> DatabaseResult<i64> {
        if let Some(id) = self.ids.series.get(series) {
            return Ok(*id);
        }
        let mut bounded = series.clone();
        if self.ids.series.len() >= MAX_SERIES {
            bounded.tool = OTHER.into();
            bounded.model = OTHER.into();
            if let Some(id) = self.ids.series.get(&bounded) {
                return Ok(*id);
            }
        }
        for name in [&mut bounded.model, &mut bounded.tool, &mut bounded.upstream] {
            if name.len() > MAX_NAME_BYTES {
                *name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].into();
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
        let id = self.find_or_insert(insert, select, &values)?;
        self.ids.series.insert(bounded, id);
        Ok(id)
    }

    /// Returns the id of the series with the same model and tool, for all surfaces, servers and outcomes. Kinds are counted
    /// by these.
    fn pair_id(&mut self, id: i64, series: &Series) -> DatabaseResult<i64> {
        if let Some(pair) = self.ids.pairs.get(&id) {
            return Ok(*pair);
        }
        let pair = self.series_id(&pair_of(series))?;
        self.ids.pairs.insert(id, pair);
        Ok(pair)
    }

    fn kind_id(&mut self, kind: &str) -> DatabaseResult<i64> {
        if let Some(id) = self.ids.kinds.get(kind) {
            return Ok(*id);
        }
        let insert = "INSERT INTO journal_kinds (name) VALUES ($1) ON CONFLICT DO NOTHING";
        let id =
            self.find_or_insert(insert, "SELECT id FROM journal_kinds WHERE name = $1", &[kind.into()])?;
        self.ids.kinds.insert(kind.to_owned(), id);
        Ok(id)
    }

    /// Returns the id of a set of kinds, given as their names in alphabetical order.
    fn kind_set_id(&mut self, names: &str) -> DatabaseResult<i64> {
        if let Some(id) = self.ids.kind_sets.get(names) {
            return Ok(*id);
        }
        let insert = "INSERT INTO journal_kind_sets (names) VALUES ($1) ON CONFLICT DO NOTHING";
        let select = "SELECT id FROM journal_kind_sets WHERE names = $1";
        let id = self.find_or_insert(insert, select, &[names.into()])?;
        if self.ids.kind_sets.len() >= MAX_KIND_SETS {
            self.ids.kind_sets.clear();
        }
        self.ids.kind_sets.insert(names.to_owned(), id);
        Ok(id)
    }

    /// Returns the id that `select` finds, after an `insert` if it finds none.
    ///
    /// It looks first, because an insert uses up an id even if it does nothing.
    fn find_or_insert(&mut self, insert: &str, select: &str, values: &[Value]) -> DatabaseResult<i64> {
        if let Some(row) = self.database.query(select, values)?.first() {
            return Ok(row.int(0));
        }
        self.database.execute(insert, values)?;
        Ok(self.database.query(select, values)?.first().map_or(0, |row| row.int(0)))
    }

    /// Returns the id of the schema of an entry, or null, and how many bytes it adds to the journal. Every request repeats its schemas,
    /// so each one is stored once.
    fn schema_id(&mut self, entry: &Entry) -> DatabaseResult<(Value, usize)> {
        let Some(text) = &entry.schema else { return Ok((Value::Null, 0)) };
        if let Some(id) = self.ids.schemas.get(text) {
            return Ok(((*id).into(), 0));
        }
        let select = "SELECT id FROM journal_schemas WHERE hash = $1 AND text = $2 ORDER BY id LIMIT 1";
        let values = [hash_text(text).into(), (&**text).into()];
        let known = self.database.query(select, &values)?.first().map(|row| row.int(0));
        let (id, new_bytes) = if let Some(id) = known {
            (id, 0)
        } else {
            // Two gateways may insert the same schema at the same time. Then it is stored twice, and both ids are good.
            let insert = "INSERT INTO journal_schemas (hash, text) VALUES ($1, $2)";
            (self.find_or_insert(insert, select, &values)?, text.len())
        };
        let remembered: usize = self.ids.schemas.keys().map(|text| text.len()).sum();
        if remembered + text.len() > MAX_SCHEMA_BYTES {
            self.ids.schemas.clear();
        }
        self.ids.schemas.insert(Arc::clone(text), id);
        Ok((id.into(), new_bytes))
    }
}

/// Returns the series with the same model and tool, for all surfaces, servers and outcomes.
fn pair_of(series: &Series) -> Series {
    let any: Arc<str> = ANY.into();
    Series {
        surface: Arc::clone(&any),
        upstream: Arc::clone(&any),
        model: Arc::clone(&series.model),
        tool: Arc::clone(&series.tool),
        outcome: any,
    }
}

/// The columns of an entry, in the order of [`entry_columns`].
pub(crate) const COLUMNS: &str = "id, series, kinds, size, micros, before_bytes, after_bytes, schema, stored, dialect, \
                                  reason, called, cut, finish, message, repairs, feedback, before_text, after_text, call_id";

fn entry_columns(entry: &Entry, (series, kinds): (i64, i64), size: i64, schema: Value) -> Vec<Value> {
    let text = |text: &Option<String>| Value::from(text.as_deref());
    // Serialising these structs cannot fail.
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
        text(&entry.call_id),
    ]
}
