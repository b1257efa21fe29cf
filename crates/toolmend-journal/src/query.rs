//! Questions to a journal and their answers: filters, pages, charts. Data only; the store answers them.

use serde::Serialize;

use crate::entry::EntrySummary;
use crate::id::Id;

/// The widths of the buckets in which calls are counted, in seconds.
pub(crate) const SPANS: [i64; 4] = [60, 900, 21_600, 86_400];

/// Selects entries. The default selects all of them.
///
/// ```
/// use toolmend_journal::Filter;
/// let refused_by_qwen =
///     Filter { model: Some("qwen3".into()), outcome: Some("rejected".into()), ..Filter::default() };
/// assert_eq!(refused_by_qwen.tool, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only entries of this API surface.
    pub surface: Option<String>,
    /// Only entries of this server.
    pub upstream: Option<String>,
    /// Only entries of this model.
    pub model: Option<String>,
    /// Only entries of this tool.
    pub tool: Option<String>,
    /// Only entries with this outcome.
    pub outcome: Option<String>,
    /// Only entries with a repair of this kind.
    pub kind: Option<String>,
    /// Only entries from this time on, in milliseconds of Unix time.
    pub since: Option<i64>,
    /// Only entries before this time, in milliseconds of Unix time.
    pub until: Option<i64>,
}

/// A page of the list of entries, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The entries.
    pub entries: Vec<EntrySummary>,
    /// The `before` argument for the next page. `None` if this is the last one.
    pub next: Option<Id>,
}

/// How far back a chart goes.
///
/// ```
/// use toolmend_journal::ChartRange;
/// assert_eq!(ChartRange::from_name("7d"), Some(ChartRange::Week));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChartRange {
    /// An hour, in buckets of a minute.
    Hour,
    /// A day, in buckets of a quarter of an hour.
    #[default]
    Day,
    /// A week, in buckets of six hours.
    Week,
    /// Thirty days, in buckets of a day.
    Month,
}

impl ChartRange {
    /// All ranges, with their names.
    pub const ALL: [(&'static str, ChartRange); 4] = [
        ("1h", ChartRange::Hour),
        ("24h", ChartRange::Day),
        ("7d", ChartRange::Week),
        ("30d", ChartRange::Month),
    ];

    /// Returns the range with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(known, range)| (known == name).then_some(range))
    }

    /// Returns the span of the counters that are read, the width of a bucket and the number of buckets. Times are in seconds.
    pub(crate) const fn buckets(self) -> (i64, i64, i64) {
        match self {
            ChartRange::Hour => (SPANS[0], 60, 60),
            ChartRange::Day => (SPANS[1], 900, 96),
            ChartRange::Week => (SPANS[2], 21_600, 28),
            ChartRange::Month => (SPANS[3], 86_400, 30),
        }
    }
}

/// What each line of a chart stands for.
///
/// ```
/// use toolmend_journal::GroupBy;
/// assert_eq!(GroupBy::from_name("model"), Some(GroupBy::Model));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// An outcome. Clean calls are counted as well.
    Outcome,
    /// A model.
    Model,
    /// A tool.
    Tool,
    /// A kind of repair.
    Kind,
}

impl GroupBy {
    /// Returns the grouping with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = [
            ("outcome", GroupBy::Outcome),
            ("model", GroupBy::Model),
            ("tool", GroupBy::Tool),
            ("kind", GroupBy::Kind),
        ];
        known.into_iter().find_map(|(known, by)| (known == name).then_some(by))
    }
}

/// Counts over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// The start of the first bucket, in seconds of Unix time.
    pub start: i64,
    /// The width of a bucket, in seconds.
    pub step: i64,
    /// The number of calls in each bucket, of any outcome.
    pub calls: Vec<u64>,
    /// The lines, largest first. The smallest ones are added up in a line named `other`.
    pub lines: Vec<ChartLine>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChartLine {
    /// The outcome, model, tool or kind that the line stands for.
    pub name: String,
    /// The sum of all buckets.
    pub total: u64,
    /// The number of calls in each bucket.
    pub counts: Vec<u64>,
}

/// The calls of one tool by one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelToolCounts {
    /// The model.
    pub model: String,
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: u64,
    /// Calls that were mended.
    pub mended: u64,
    /// Calls that did not run.
    pub failed: u64,
    /// The most frequent kinds of repair, with the number of calls.
    pub kinds: Vec<(String, u64)>,
}

/// All names that occur in a journal, to choose a filter from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct KnownNames {
    /// API surfaces.
    pub surfaces: Vec<String>,
    /// Servers.
    pub upstreams: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Tools.
    pub tools: Vec<String>,
    /// Kinds of repairs.
    pub kinds: Vec<String>,
}

/// How much a journal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// The number of entries.
    pub entries: u64,
    /// An estimate of their size in bytes.
    pub bytes: u64,
}
