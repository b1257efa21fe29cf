//! Entries: what is stored about one call.
//!
//! This module holds data only. It never looks at a database, and the masking decides what must be removed from an
//! entry before it is stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::Id;

/// The longest text that is stored, in bytes. Longer texts are shortened, and [`Entry::is_shortened`] says so.
pub(crate) const MAX_TEXT_BYTES: usize = 256 << 10;
/// The longest id or name that is stored, in bytes. Servers and models choose them.
const MAX_ID_BYTES: usize = 1 << 10;
/// Longer schemas, in bytes, count as part of every entry that waits with them.
const MAX_UNCOUNTED_SCHEMA: usize = 4 << 10;

/// What calls are counted by: where a call came from, and its outcome.
///
/// There are few different series, however many entries there are. The store gives each one a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Series {
    /// The API surface of the request, for example `chat`.
    pub surface: Arc<str>,
    /// The server that answered.
    pub upstream: Arc<str>,
    /// The requested model.
    pub model: Arc<str>,
    /// The declared tool, or the name that the model wrote if it matches no tool.
    pub tool: Arc<str>,
    /// `clean`, `mended`, `truncated` or `rejected`.
    pub outcome: Arc<str>,
}

/// How much of the arguments is stored.
///
/// ```
/// use toolmend_journal::StoredValues;
/// assert_eq!(StoredValues::default().name(), "whole");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredValues {
    /// Everything.
    #[default]
    Whole,
    /// The shape only: letters become `x` and digits become `0`, except in keys that the tool declares.
    Masked,
    /// Nothing.
    None,
}

impl StoredValues {
    /// Returns the name that is used in JSON and in settings.
    pub const fn name(self) -> &'static str {
        match self {
            StoredValues::Whole => "whole",
            StoredValues::Masked => "masked",
            StoredValues::None => "none",
        }
    }

    /// Returns the value with this name, or [`StoredValues::None`] if there is no such name.
    pub(crate) fn from_name(name: &str) -> Self {
        let known = [StoredValues::Whole, StoredValues::Masked];
        known.into_iter().find(|known| known.name() == name).unwrap_or(StoredValues::None)
    }
}

/// A repair, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairRecord {
    /// The kind of repair.
    pub kind: String,
    /// JSON pointer to the value in the mended arguments.
    pub path: String,
    /// The byte range of the original text that was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(usize, usize)>,
}

/// One call that was not clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The id, which also holds the time.
    pub id: Id,
    /// Where the call came from, and its outcome.
    #[serde(flatten)]
    pub series: Series,
    /// The id of the call, as the client or the server knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The name that the model wrote, if it differs from the name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The dialect of a call that was found in text. `None` if the server had recognised the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The name of the reason why the call does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// JSON pointer to the value at which a truncated call ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// How the turn ended: `stop` or `length`. `None` if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The repairs.
    pub repairs: Vec<RepairRecord>,
    /// How much of the values is stored.
    pub values: StoredValues,
    /// The length of what the model wrote, in bytes, also if it is not stored.
    pub before_bytes: usize,
    /// The length of what was sent to the client, in bytes. Zero if nothing was sent.
    pub after_bytes: usize,
    /// Microseconds from the request to the verdict.
    pub micros: u64,
    /// The schema of the tool, as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Arc<str>>,
    /// The feedback for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The arguments that were sent to the client. If one text held several calls, there is one line for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Entry {
    /// An entry about a call of this series that happens now. All other fields are empty.
    ///
    /// ```
    /// use toolmend_journal::{Entry, Series};
    /// let series = Series {
    ///     surface: "chat".into(),
    ///     upstream: "http://127.0.0.1:8080".into(),
    ///     model: "qwen3".into(),
    ///     tool: "read_file".into(),
    ///     outcome: "mended".into(),
    /// };
    /// let entry = Entry { before: Some("{path: 1}".into()), before_bytes: 9, ..Entry::new(series) };
    /// assert!(!entry.is_shortened());
    /// ```
    pub fn new(series: Series) -> Self {
        Entry {
            id: Id::now(),
            series,
            call_id: None,
            called: None,
            dialect: None,
            reason: None,
            message: None,
            cut: None,
            finish: None,
            repairs: Vec::new(),
            values: StoredValues::Whole,
            before_bytes: 0,
            after_bytes: 0,
            micros: 0,
            schema: None,
            feedback: None,
            before: None,
            after: None,
        }
    }

    /// Whether a text was too long to be stored in full.
    pub fn is_shortened(&self) -> bool {
        let longer = |text: &Option<String>, bytes| text.as_ref().is_some_and(|text| text.len() < bytes);
        longer(&self.before, self.before_bytes) || longer(&self.after, self.after_bytes)
    }

    /// Estimates how many bytes the entry takes up in the database, including its index entries.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.feedback, &self.before, &self.after, &self.message];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        400 + texts + self.repairs.iter().map(|repair| repair.path.len() + 120).sum::<usize>()
    }

    /// Returns how many bytes the entry takes up while it waits. Short schemas are shared by many entries, and are not counted.
    pub(crate) fn memory(&self) -> usize {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.len());
        self.size() + if schema > MAX_UNCOUNTED_SCHEMA { schema } else { 0 }
    }

    /// Shortens texts that are too long, and leaves out a schema that is.
    pub(crate) fn shorten_texts(&mut self) {
        let texts = [&mut self.before, &mut self.after, &mut self.feedback, &mut self.message];
        let ids = [&mut self.call_id, &mut self.called, &mut self.cut];
        let shorten = |text: &mut String, limit| text.truncate(text.floor_char_boundary(limit));
        texts.into_iter().flatten().for_each(|text| shorten(text, MAX_TEXT_BYTES));
        ids.into_iter().flatten().for_each(|text| shorten(text, MAX_ID_BYTES));
        self.schema = self.schema.take().filter(|schema| schema.len() <= MAX_TEXT_BYTES);
    }
}

/// One line of the list of entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntrySummary {
    /// The id, which also holds the time.
    pub id: Id,
    /// The time, in milliseconds of Unix time.
    pub millis: i64,
    /// Where the call came from, and its outcome.
    #[serde(flatten)]
    pub series: Series,
    /// The dialect of a call that was found in text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The name of the reason why the call does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kinds of its repairs, each one once.
    pub kinds: Vec<String>,
    /// The length of what the model wrote, in bytes.
    pub before_bytes: usize,
    /// Microseconds from the request to the verdict.
    pub micros: u64,
}
