//! Calls as the model wrote them, before anybody asked which tool is meant or what its schema says.

use std::ops::Range;

use super::own::Own;
use super::token::{self, Markup};
use crate::verdict::Reason;

/// What a reader makes of the text in front of it.
///
/// A reader that answers `Got` or `No` would answer the same however the text went on: that is what makes the result
/// independent of how the output was cut into pieces. Where more text could change the answer it says `More`, and it
/// never says `More` once the output is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<T> {
    /// The answer depends on text that is not there yet.
    More,
    /// This is something else.
    No,
    /// Read.
    Got(T),
}

/// The text of a call's body, and whether more may come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'t> {
    pub(crate) text: &'t str,
    /// The output is complete.
    pub(crate) done: bool,
    /// The user's own dialects.
    pub(crate) own: &'t Own,
    /// Where more text could change the answer, answer what is certain already, as a call that was cut there.
    pub(crate) certain: bool,
}

impl<'t> Input<'t> {
    pub(crate) fn new(text: &'t str, done: bool, own: &'t Own) -> Self {
        Input { text, done, own, certain: false }
    }

    /// For a look at what is certain of a call that has not ended.
    pub(crate) fn so_far(text: &'t str, own: &'t Own) -> Self {
        Input { text, done: false, own, certain: true }
    }

    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    /// The markup at this place.
    pub(crate) fn markup(&self, at: usize) -> Step<Markup<'t>> {
        token::read(self.rest(at), self.done, self.own)
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The first byte from `at` on that is no white space.
    pub(crate) fn skip_white(&self, at: usize) -> usize {
        self.text.len() - self.rest(at).trim_start().len()
    }
}

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
    pub(crate) dialect: &'static str,
    /// Markup of the call was missing or misspelt.
    pub(crate) damaged: bool,
    /// The argument whose value has begun and not ended.
    pub(crate) open: Option<Begun>,
}

/// An argument in tags of its own whose value has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begun {
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
    pub(crate) value: Written,
    /// Where the value stands, in the text that the reader was given.
    pub(crate) at: Range<usize>,
}

/// A value, with as much of its type as the notation tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// Text without a type: only the schema knows what it is.
    Untyped(String),
    /// The same, where the line breaks at its ends are no part of the notation.
    Verbatim(String),
    /// A string, and nothing else.
    String(String),
    /// JSON text, as the notation says.
    Json(String),
}

impl Written {
    /// The text of the value.
    pub(crate) fn text(&self) -> &str {
        let (Written::Untyped(text) | Written::Verbatim(text) | Written::String(text) | Written::Json(text)) =
            self;
        text
    }
}
