//! Looks at the text that pay for themselves.
//!
//! The rules use these methods for everything whose length depends on the text. What would be searched again and again is
//! found once for the whole text ([`Comments`]).

use std::cell::OnceCell;

use super::reader::Reader;
use super::token;
use crate::repair::RepairKind;

/// Where the block comments of a text begin and end. Each list is made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Comments {
    openers: OnceCell<Vec<usize>>,
    closers: OnceCell<Vec<usize>>,
}

impl Reader<'_> {
    /// Pays for work; false when no fuel is left.
    #[inline]
    pub(super) fn spend_fuel(&self, work: usize) -> bool {
        self.fuel.spend(work)
    }

    /// The position after the bare word at `at`.
    #[inline]
    pub(super) fn word_end(&self, at: usize) -> usize {
        let end = token::word_end(self.bytes, at);
        self.spend_fuel(end - at);
        end
    }

    /// The position after the bare word at `at`, if it is no longer than `most` bytes.
    #[inline]
    pub(super) fn word_end_within(&self, at: usize, most: usize) -> Option<usize> {
        // A character may begin within the limit and end after it.
        let window = &self.bytes[..self.bytes.len().min(at.saturating_add(most + 4))];
        let end = token::word_end(window, at);
        self.spend_fuel(end - at);
        (end - at <= most).then_some(end)
    }

    /// One piece of trivia, see [`token::trivia_at`].
    #[inline]
    pub(super) fn trivia_at(&self, at: usize) -> Option<(usize, Option<RepairKind>)> {
        if matches!(self.bytes.get(at..at + 2), Some(b"/*")) {
            return Some((self.comment_end(at)?, Some(RepairKind::CommentRemoved)));
        }
        let found = token::trivia_at(self.bytes, at, 0);
        self.spend_fuel(found.map_or(0, |(end, _)| end - at));
        found
    }

    /// The position after the block comment that starts at `at`.
    fn comment_end(&self, at: usize) -> Option<usize> {
        let closers = self.comments.closers.get_or_init(|| self.find_all(b"*/"));
        self.spend_fuel(1);
        let next = closers.partition_point(|&closer| closer < at + 2);
        closers.get(next).map(|closer| closer + 2)
    }

    /// The last `/*` in this range.
    pub(super) fn last_comment_start(&self, range: std::ops::Range<usize>) -> Option<usize> {
        let openers = self.comments.openers.get_or_init(|| self.find_all(b"/*"));
        self.spend_fuel(1);
        let before = openers.partition_point(|&opener| opener + 2 <= range.end);
        before.checked_sub(1).map(|last| openers[last]).filter(|last| *last >= range.start)
    }

    fn find_all(&self, mark: &[u8]) -> Vec<usize> {
        self.spend_fuel(self.bytes.len());
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(offset) = memchr::memmem::find(&self.bytes[from..], mark) {
            found.push(from + offset);
            from += offset + 1;
        }
        found
    }
}
