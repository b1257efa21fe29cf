//! Calls as the model wrote them, before their tool and its schema are known.
//!
//! These types hold what readers found. They never resolve a name and never validate a value.

use std::ops::Range;

use super::table::Dialect;
use crate::verdict::Reason;

/// How far the model got with the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The call is complete.
    Complete,
    /// Only the marker that closes the call is missing.
    Unclosed,
    /// All values are complete, but more of them could have followed.
    Open,
    /// The text stops inside a value.
    Cut,
}

/// One call in the notation of its dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawCall {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) arguments: RawArguments,
    /// The position of the call in the text that the reader was given.
    pub(crate) at: Range<usize>,
    pub(crate) ending: Ending,
    pub(crate) dialect: &'static Dialect,
    /// Markup of the call was missing or misspelt, and the reader worked around it.
    pub(crate) damaged: bool,
    /// The argument whose value has begun but not ended.
    pub(crate) open: Option<OpenArgument>,
}

impl RawCall {
    /// Whether its last value has no marks of its own, so that only what follows shows where it ends.
    pub(crate) fn ends_in_bare_value(&self) -> bool {
        let RawArguments::Fields(fields) = &self.arguments else { return false };
        matches!(fields.last(), Some(Field { value: RawValue::Untyped(_), .. }))
    }
}

/// An argument in its own tags whose value has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenArgument {
    pub(crate) key: String,
    /// Where the value begins.
    pub(crate) at: usize,
    /// Every line break belongs to the value.
    pub(crate) verbatim: bool,
}

/// The arguments of a call in the notation of its dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawArguments {
    /// JSON text, or text that should be JSON.
    Text(Range<usize>),
    /// The same, decoded from another notation. The range is where it was in the output.
    Decoded(String, Range<usize>),
    /// Keys and values, each in its own markup.
    Fields(Vec<Field>),
    /// The call must not run, for this reason. There is text at the position of a call, but no reader can make a call
    /// of it.
    Refused(Reason, &'static str),
}

/// One argument in its own markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: RawValue,
    /// The position of the value in the text that the reader was given.
    pub(crate) at: Range<usize>,
}

/// A value, with as much of its type as the notation shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// Text without a type. Only the schema says what it is.
    Untyped(String),
    /// The same, in a notation that adds no line breaks around values.
    Verbatim(String),
    /// A string.
    String(String),
    /// JSON text.
    Json(String),
    /// The notation leaves the value in doubt, for this reason, so the call must not run.
    Doubtful(&'static str),
}

impl RawValue {
    /// The text of the value.
    pub(crate) fn text(&self) -> &str {
        match self {
            RawValue::Untyped(text)
            | RawValue::Verbatim(text)
            | RawValue::String(text)
            | RawValue::Json(text) => text,
            RawValue::Doubtful(_) => "",
        }
    }
}
