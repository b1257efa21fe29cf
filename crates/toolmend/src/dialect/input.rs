//! What every reader gets and what every reader answers: [`Input`] and [`Step`].
//!
//! This module has no knowledge of any notation, and it never changes text.

use super::custom::CustomTable;
use super::tag::Tag;
use super::token::{self, Markup, Word};

/// The answer of a reader to the text in front of it.
///
/// `Got` and `No` are final: the reader would answer the same however the text continued. This makes the result
/// independent of how the output was split into pieces. If more text could change the answer, a reader says `More`. It
/// never says `More` once the output is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<T> {
    /// The answer depends on text that has not arrived.
    More,
    /// The text is something else.
    No,
    /// The text was read.
    Got(T),
}

impl<T> Step<T> {
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Step<U> {
        match self {
            Step::Got(value) => Step::Got(make(value)),
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }

    pub(crate) fn and_then<U>(self, read: impl FnOnce(T) -> Step<U>) -> Step<U> {
        match self {
            Step::Got(value) => read(value),
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }
}

/// The text that a reader works on, and whether more may come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'t> {
    pub(crate) text: &'t str,
    /// The output is complete.
    pub(crate) done: bool,
    /// The user's custom dialects.
    pub(crate) custom: &'t CustomTable,
    /// Report only what no further text can change. A reader that would answer `More` answers with a call that is cut
    /// off here.
    pub(crate) stable_only: bool,
}

impl<'t> Input<'t> {
    pub(crate) fn new(text: &'t str, done: bool, custom: &'t CustomTable) -> Self {
        Input { text, done, custom, stable_only: false }
    }

    /// The input for what is already final in a call that has not ended.
    pub(crate) fn stable_only(text: &'t str, custom: &'t CustomTable) -> Self {
        Input { text, done: false, custom, stable_only: true }
    }

    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    /// The markup at this position.
    pub(crate) fn markup(&self, at: usize) -> Step<Markup<'t>> {
        token::read(self.rest(at), self.done, self.custom)
    }

    /// The tag at this position, and the meaning of its word if it has one.
    pub(crate) fn tag(&self, at: usize) -> Step<(Tag<'t>, Option<Word>)> {
        token::read_tag(self.rest(at), self.done, self.custom)
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The first byte from `at` on that is not white space.
    pub(crate) fn skip_whitespace(&self, at: usize) -> usize {
        self.text.len() - self.rest(at).trim_start().len()
    }
}
