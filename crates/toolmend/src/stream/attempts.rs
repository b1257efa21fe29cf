//! How often readers may start over, and how much they may read.

use crate::dialect::custom::CustomTable;
use crate::dialect::input::Input;

/// How often readers start over, and how much they read.
///
/// A reader gets a little of the text first, then four times as much, until it can decide: what it decides does not depend
/// on what follows. So what it reads is charged and not what there is, and many calls in one text stay cheap.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    pub(super) received: usize,
    pub(super) spent: usize,
    /// The last attempt wanted more.
    pub(super) waiting: Option<Waiting>,
    /// Something came since that could end a call.
    pub(super) may_have_ended: bool,
}

/// A place that is not decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// How much was read of it.
    pub(super) length: usize,
    /// How much was in the buffer.
    pub(super) buffered: usize,
}

impl Attempts {
    /// Whether to try again with this much text.
    pub(super) fn may_retry(&self, length: usize, done: bool) -> bool {
        // A few words cost nothing, and nobody should wait for them.
        const SHORT: usize = 64;
        let Some(Waiting { length: last, .. }) = self.waiting else { return true };
        let grown = length <= SHORT || length >= last + last / 4 + SHORT;
        done || grown || (self.may_have_ended && self.spent < 4 * self.received + 4096)
    }

    /// Whether nothing came that is worth another attempt, with this much in the buffer.
    pub(super) fn should_rest(&self, buffered: usize) -> bool {
        self.waiting.is_some_and(|last| !self.may_retry(last.length + buffered - last.buffered, false))
            && !self.is_exhausted()
    }

    /// Whether something came since the last attempt, which wanted more.
    pub(super) fn has_new_text(&self, buffered: usize) -> bool {
        self.waiting.is_some_and(|last| last.buffered < buffered)
    }

    /// The parts of a text from `at` on that are tried one after another, up to the whole.
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
        self.spent > 64 * self.received + (1 << 16)
    }
}
