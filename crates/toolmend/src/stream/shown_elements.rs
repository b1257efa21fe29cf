//! Elements whose content is shown and not meant: comments, preformatted text, quotations, results of tools.
//!
//! Everything between their tags is text, in every dialect. Results of tools are text only if no call came before them.

use super::Stream;
use crate::dialect::input::Step;
use crate::dialect::token::{self, Markup, TextKind, Word};
use crate::syntax::Finish;
use crate::text_parts::first_part;

/// The beginnings of such elements, and how they end.
const ELEMENTS: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<blockquote", "</blockquote>"),
    ("<example", "</example>"),
    ("<details", "</details>"),
];

/// How far away the end may be. Text is not held back for longer.
const REACH: usize = 4096;

/// Whether such an element may begin here, as far as the text goes.
pub(super) fn may_begin(text: &str) -> bool {
    ELEMENTS.iter().any(|(start, _)| {
        let length = start.len().min(text.len());
        start.as_bytes()[..length] == text.as_bytes()[..length]
    })
}

impl Stream {
    /// The end of the shown element at this position.
    // Case: dialects/hostile/calls-in-shown-elements
    pub(super) fn shown_element(&mut self, at: usize, done: bool) -> Step<usize> {
        let rest = &self.buffer[at..];
        if self.text_kind != TextKind::Content || self.request.demands_call() || self.is_in_fence() {
            return Step::No;
        }
        let begun = ELEMENTS.iter().find(|(start, _)| rest.starts_with(start));
        let end = match begun {
            Some((start, _)) if *start != "<!--" && !self.ends_word(at + start.len(), done) => {
                return Step::No;
            }
            Some((_, end)) => (*end).to_owned(),
            None if rest.len() < "<blockquote".len() && may_begin(rest) && !done => return Step::More,
            None => match token::read(rest, done, self.custom.table()) {
                Step::Got(Markup::Tag(tag, Word::Result)) if !tag.close => format!("</{}>", tag.word),
                _ => return Step::No,
            },
        };
        let whole = self.buffer.len();
        let near = at + first_part(rest, REACH).len();
        match self.next_marks.find(&end, &self.buffer, self.offset, at..near) {
            Some(from) => Step::Got(from + end.len()),
            // Its end was truncated.
            None if done && self.finish != Finish::Stop && near == whole => Step::Got(whole),
            None if done || near < whole => Step::No,
            None => Step::More,
        }
    }

    /// Whether the word of a tag ends here.
    fn ends_word(&self, at: usize, done: bool) -> bool {
        match self.buffer[at..].chars().next() {
            None => !done,
            Some(next) => next == '>' || next.is_whitespace(),
        }
    }
}
