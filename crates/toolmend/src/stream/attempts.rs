//! The budget of readers: how often they may start over, and how much they may read.
//!
//! It keeps the work on an output linear in its length. It never decides what text means.

use crate::dialect::custom::CustomTable;
use crate::dialect::input::Input;

/// How often readers start over, and how much they read.
///
/// A reader first gets a little of the text, then four times as much, until it can decide. Its decision does not depend
/// on what follows, so it is charged for what it read and not for what is there. A thousand calls in one text therefore
/// stay linear. While a call is open, readers rest until a byte arrives that could end it, or a quarter more text.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts {
    pub(super) received: usize,
    pub(super) spent: usize,
    /// The same, and what it costs to begin an attempt. Only when readers try again depends on it.
    pub(super) effort: usize,
    /// The last attempt needed more text.
    pub(super) waiting: Option<Waiting>,
    /// A byte that could end a call arrived since the last attempt.
    pub(super) may_have_ended: bool,
}

/// What an attempt cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// The bytes that were read.
    pub(super) read: usize,
    /// The questions that were asked, which have a budget of their own. An output in small pieces would use it up if every
    /// piece were another attempt.
    pub(super) asked: usize,
}

/// A position that is not decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// How much of it was read.
    pub(super) length: usize,
    /// How much was in the buffer then.
    pub(super) buffered: usize,
}

/// What it costs to begin an attempt, in bytes that a reader could read meanwhile.
const START: usize = 48;

impl Attempts {
    /// Pays for an attempt that read this much.
    pub(super) fn charge(&mut self, read: usize) {
        self.spent += read;
        self.effort += START + read;
    }

    /// Pays for an attempt that read and asked this much.
    pub(super) fn pay(&mut self, cost: Cost) {
        self.charge(cost.read);
        self.effort += cost.asked;
    }

    /// Whether to try again with this much text.
    pub(super) fn may_retry(&self, length: usize, done: bool) -> bool {
        // A few words cost nothing, and they should not be delayed.
        const SHORT: usize = 64;
        let Some(Waiting { length: last, .. }) = self.waiting else { return true };
        let grown = length >= last + last / 4 + SHORT;
        let is_short = length <= SHORT && self.effort < 4 * self.received + (1 << 14);
        let ended = self.may_have_ended
            && self.spent < 4 * self.received + 4096
            && self.effort < 8 * self.received + (1 << 15);
        done || grown || is_short || ended
    }

    /// Whether nothing arrived that is worth another attempt, with this much text in the buffer.
    pub(super) fn should_rest(&self, buffered: usize) -> bool {
        self.waiting.is_some_and(|last| !self.may_retry(last.length + buffered - last.buffered, false))
            && !self.is_exhausted()
    }

    /// Whether text arrived since the last attempt, which needed more.
    pub(super) fn has_new_text(&self, buffered: usize) -> bool {
        self.waiting.is_some_and(|last| last.buffered < buffered)
    }

    /// The growing windows of a text from `at` on that readers try one after another, up to the whole text.
    pub(super) fn windows<'t>(
        &self,
        text: &'t str,
        at: usize,
        done: bool,
        custom: &'t CustomTable,
    ) -> impl Iterator<Item = Input<'t>> + use<'t> {
        const FIRST: usize = 512;
        let mut size = self.waiting.map_or(FIRST, |last| (2 * last.length).max(FIRST));
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let mut end = at + size;
            while end < text.len() && !text.is_char_boundary(end) {
                end += 1;
            }
            size *= 4;
            if end < text.len() {
                return Some(Input::new(&text[..end], false, custom));
            }
            ended = true;
            Some(Input::new(text, done, custom))
        })
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.spent > 16 * self.received + (1 << 16)
    }
}
