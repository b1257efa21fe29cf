//! Calls as the model wrote them.

use std::ops::Range;

use super::table::Dialect;
use crate::verdict::Reason;

/// Whether the model finished the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything that belongs to the call is there.
    Complete,
    /// Everything is there but the marker that closes the call.
    Unclosed,
    /// All values are complete, but nothing says that no more were to come.
    Open,
    /// It stops inside a value.
    Cut,
}

/// One call as it stands in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawCall {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) arguments: RawArguments,
    /// Where the call stands, in the text that its reader was given.
    pub(crate) at: Range<usize>,
    pub(crate) ending: Ending,
    pub(crate) dialect: &'static Dialect,
    /// Markup of the call was missing or misspelt.
    pub(crate) damaged: bool,
    /// The argument whose value has begun and not ended.
    pub(crate) open: Option<OpenArgument>,
}

/// An argument in tags of its own whose value has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenArgument {
    pub(crate) key: String,
    /// Where the value begins.
    pub(crate) at: usize,
    /// Every line break is the value's own.
    pub(crate) verbatim: bool,
}

/// The arguments of a call in the notation of its dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawArguments {
    /// JSON text, or what should be.
    Text(Range<usize>),
    /// The same, after a notation around it was taken off. The range is where it came from.
    Decoded(String, Range<usize>),
    /// Keys and values, each in its own markup.
    Fields(Vec<Field>),
    /// Something stands where a call should stand, and nobody may run it; this says why.
    Refused(Reason, &'static str),
}

/// One argument in its own markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: RawValue,
    /// Where the value stands, in the text that the reader was given.
    pub(crate) at: Range<usize>,
}

/// A value, with as much of its type as the notation tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// Text without a type: only the schema knows what it is.
    Untyped(String),
    /// The same, where the line breaks at its ends are no part of the notation.
    Verbatim(String),
    /// A string, and nothing else.
    String(String),
    /// JSON text, as the notation says.
    Json(String),
}

impl RawValue {
    /// The text of the value.
    pub(crate) fn text(&self) -> &str {
        let (RawValue::Untyped(text)
        | RawValue::Verbatim(text)
        | RawValue::String(text)
        | RawValue::Json(text)) = self;
        text
    }
}
