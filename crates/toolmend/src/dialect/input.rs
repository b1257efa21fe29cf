//! What every reader gets and what every reader answers.

use super::custom::CustomTable;
use super::token::{self, Markup};

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

impl<T> Step<T> {
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U) -> Step<U> {
        match self {
            Step::Got(value) => Step::Got(make(value)),
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }
}

/// The text of a call's body, and whether more may come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'t> {
    pub(crate) text: &'t str,
    /// The output is complete.
    pub(crate) done: bool,
    /// The user's own dialects.
    pub(crate) custom: &'t CustomTable,
    /// Where more text could change the answer, answer what is certain already, as a call that was cut there.
    pub(crate) stable_only: bool,
}

impl<'t> Input<'t> {
    pub(crate) fn new(text: &'t str, done: bool, custom: &'t CustomTable) -> Self {
        Input { text, done, custom, stable_only: false }
    }

    /// For a look at what is certain of a call that has not ended.
    pub(crate) fn stable_only(text: &'t str, custom: &'t CustomTable) -> Self {
        Input { text, done: false, custom, stable_only: true }
    }

    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    /// The markup at this place.
    pub(crate) fn markup(&self, at: usize) -> Step<Markup<'t>> {
        token::read(self.rest(at), self.done, self.custom)
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The first byte from `at` on that is no white space.
    pub(crate) fn skip_white(&self, at: usize) -> usize {
        self.text.len() - self.rest(at).trim_start().len()
    }
}
