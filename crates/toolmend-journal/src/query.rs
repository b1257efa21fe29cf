//! What can be asked.

use serde::Serialize;

use crate::entry::Summary;
use crate::id::Id;

/// The widths of the buckets that calls are counted in, in seconds.
pub(crate) const SPANS: [i64; 4] = [60, 900, 21_600, 86_400];

/// Which entries are wanted. Nothing asks for everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this surface.
    pub surface: Option<String>,
    /// Only by this server.
    pub upstream: Option<String>,
    /// Only by this model.
    pub model: Option<String>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<String>,
    /// Only with a repair of this kind.
    pub kind: Option<String>,
    /// Only from this moment on, in milliseconds of Unix time.
    pub since: Option<i64>,
    /// Only before this moment, in milliseconds of Unix time.
    pub until: Option<i64>,
}

/// A page of the list, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Its lines.
    pub entries: Vec<Summary>,
    /// Where the next page begins; none where this is the last.
    pub next: Option<Id>,
}

/// How far back a chart goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Range {
    /// An hour, by the minute.
    Hour,
    /// A day, by quarters of an hour.
    #[default]
    Day,
    /// A week, by six hours.
    Week,
    /// Thirty days, by the day.
    Month,
}

impl Range {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Range); 4] =
        [("1h", Range::Hour), ("24h", Range::Day), ("7d", Range::Week), ("30d", Range::Month)];

    /// The range of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find_map(|(known, range)| (known == name).then_some(range))
    }

    /// Which counters are read, the width of a bucket and the number of buckets; all in seconds.
    pub(crate) const fn buckets(self) -> (i64, i64, i64) {
        match self {
            Range::Hour => (SPANS[0], 60, 60),
            Range::Day => (SPANS[1], 900, 96),
            Range::Week => (SPANS[2], 21_600, 28),
            Range::Month => (SPANS[3], 86_400, 30),
        }
    }
}

/// What the lines of a chart stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Outcomes; clean calls are counted too.
    Outcome,
    /// Models.
    Model,
    /// Tools.
    Tool,
    /// Kinds of repairs.
    Kind,
}

impl By {
    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = [("outcome", By::Outcome), ("model", By::Model), ("tool", By::Tool), ("kind", By::Kind)];
        known.into_iter().find_map(|(known, by)| (known == name).then_some(by))
    }
}

/// Counts over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// When the first bucket begins, in seconds of Unix time.
    pub start: i64,
    /// How long a bucket is, in seconds.
    pub step: i64,
    /// All calls of each bucket, whatever became of them.
    pub calls: Vec<u64>,
    /// The lines, the largest first. What is too small for a line of its own stands under `other`.
    pub lines: Vec<Line>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it stands for.
    pub name: String,
    /// All of it.
    pub total: u64,
    /// How many in each bucket.
    pub counts: Vec<u64>,
}

/// A model and a tool that do not get along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The model.
    pub model: String,
    /// The tool.
    pub tool: String,
    /// All calls.
    pub calls: u64,
    /// Calls that were mended.
    pub mended: u64,
    /// Calls that did not run.
    pub failed: u64,
    /// The most frequent repairs.
    pub kinds: Vec<(String, u64)>,
}

/// The names that there are, for choosing among them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Names {
    /// Surfaces.
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

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Held {
    /// Entries.
    pub entries: u64,
    /// About how many bytes they take.
    pub bytes: u64,
}
