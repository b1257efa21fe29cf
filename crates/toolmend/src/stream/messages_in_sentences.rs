//! Messages with a header in the middle of a sentence.
//!
//! A header begins a message, whatever comes before it. If the words before it go on after the token that ends the message,
//! the text only talks about it.

use super::Stream;
use super::text_before::continues_sentence;
use crate::dialect::input::Step;
use crate::dialect::token::{self, TextKind};
use crate::syntax::Finish;
use crate::text_parts::first_part;

/// How far away the end of such a message may be.
const REACH: usize = 4096;

/// Tokens that end a message.
const ENDS: &[&str] = &["<|call|>", "<|end|>", "<|return|>"];

impl Stream {
    /// The end of the message whose header is at `at`, if it is part of a sentence.
    // Case: dialects/harmony/in-a-sentence
    pub(super) fn message_in_sentence(&mut self, at: usize, len: usize, done: bool) -> Step<usize> {
        if self.text_kind != TextKind::Content || self.is_asked_at(at) || !self.may_be_in_sentence(at) {
            return Step::No;
        }
        let (from, whole) = (at + len, self.buffer.len());
        let near = from + first_part(&self.buffer[from..], REACH).len();
        let ends = ENDS.iter().filter_map(|mark| {
            let found = self.next_marks.find(mark, &self.buffer, self.offset, from..near)?;
            Some(found + mark.len())
        });
        let end = ends.min();
        // If the output was truncated here, the words that show it may be missing.
        let is_truncated = done && self.finish == Finish::Length;
        let Some(end) = end else {
            return match done || near < whole {
                true if is_truncated && near == whole => Step::Got(whole),
                true => Step::No,
                false => Step::More,
            };
        };
        if is_truncated && self.buffer[end..].trim().is_empty() {
            return Step::Got(end);
        }
        let is_word = |first: char| first.is_alphabetic() && !first.is_uppercase();
        continues_sentence(&self.buffer[end..], done, is_word).map(|()| end)
    }

    /// Whether a part of a call was closed right before this position, so that the call itself is still open.
    pub(super) fn ends_in_part(&self, end: usize) -> bool {
        let text = &self.buffer[..end];
        let last = text.rfind('<').map(|open| token::read(&text[open..], true, self.custom.table()));
        matches!(last, Some(Step::Got(markup)) if markup.closes_part())
    }
}

/// Whether a text is the first half of a closing tag.
pub(super) fn is_half_closer(text: &str) -> bool {
    let text = text.trim_start();
    text == "<" || text.starts_with("</") && !text.contains('>')
}
