//! What is written down about one call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::values::Values;

/// The longest text that is stored. What is longer is cut, and said to be.
pub(crate) const LONGEST_TEXT: usize = 256 << 10;

/// Where a call came from and what became of it: what entries are counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Series {
    /// The surface of the request, for example `chat`.
    pub surface: Arc<str>,
    /// The server that answered.
    pub upstream: Arc<str>,
    /// The model that was asked for.
    pub model: Arc<str>,
    /// The declared tool, or the name as it was written where none is meant.
    pub tool: Arc<str>,
    /// `clean`, `mended`, `truncated` or `rejected`.
    pub outcome: Arc<str>,
}

/// A change that was made, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The kind of repair.
    pub kind: String,
    /// JSON pointer of the value in the mended arguments.
    pub path: String,
    /// The bytes of the text that were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(usize, usize)>,
}

/// One call that was not clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name and its time.
    pub id: Id,
    /// Where it came from and what became of it.
    #[serde(flatten)]
    pub series: Series,
    /// The name as the model wrote it, where that is not the tool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The notation of a call that stood in text; absent for calls that the server had recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Why it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it does not run, in a sentence; the place where it was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// JSON pointer of the place where it was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// How the turn ended: `stop`, `length` or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The changes.
    pub repairs: Vec<Change>,
    /// How much of the values is stored.
    pub values: Values,
    /// How long the texts were, in bytes.
    pub before_bytes: usize,
    /// How long what was sent is, in bytes; zero where nothing was.
    pub after_bytes: usize,
    /// Microseconds from the request to the verdict.
    pub micros: u64,
    /// The schema of the tool, as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Arc<str>>,
    /// What the model is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What the client got: the arguments, one line for each call where several came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Entry {
    /// An entry about a call of this series, at this moment, with nothing else known.
    pub fn new(series: Series) -> Self {
        Entry {
            id: Id::now(),
            series,
            called: None,
            dialect: None,
            reason: None,
            message: None,
            cut: None,
            finish: None,
            repairs: Vec::new(),
            values: Values::Whole,
            before_bytes: 0,
            after_bytes: 0,
            micros: 0,
            schema: None,
            feedback: None,
            before: None,
            after: None,
        }
    }

    /// Whether a text was too long to be stored as a whole.
    pub fn is_shortened(&self) -> bool {
        let longer = |text: &Option<String>, bytes| text.as_ref().is_some_and(|text| text.len() < bytes);
        longer(&self.before, self.before_bytes) || longer(&self.after, self.after_bytes)
    }

    /// About how many bytes it takes, its places in the indexes included.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.feedback, &self.before, &self.after, &self.message];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        400 + texts + self.repairs.iter().map(|change| change.path.len() + 120).sum::<usize>()
    }

    /// Cuts texts that are too long.
    pub(crate) fn shorten(&mut self) {
        let texts = [&mut self.before, &mut self.after, &mut self.feedback, &mut self.message];
        for text in texts.into_iter().flatten() {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        }
    }
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its name and its time.
    pub id: Id,
    /// When, in milliseconds of Unix time.
    pub millis: i64,
    /// Where it came from and what became of it.
    #[serde(flatten)]
    pub series: Series,
    /// The notation of a call that stood in text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Why it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kinds of its repairs, each once.
    pub kinds: Vec<String>,
    /// How long the text was, in bytes.
    pub before_bytes: usize,
    /// Microseconds from the request to the verdict.
    pub micros: u64,
}
