//! Lines that open or close a code fence.
//!
//! What is in a fence is shown, whatever dialect it is written in. Fences are those of Markdown: at least three backticks
//! or tildes, and a fence ends at a line with as many of them or more and no label.

use super::Stream;
use crate::dialect::custom::CustomTable;
use crate::dialect::input::Step;
use crate::dialect::token::{self, Markup, Role, TextKind};

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    width: usize,
}

/// A label is not longer than this. What is longer may contain anything.
const MAX_LABEL: usize = 96;

impl Stream {
    /// Whether text is inside a fence here.
    pub(super) fn is_in_fence(&self) -> bool {
        self.fence.is_some() && self.text_kind == TextKind::Content
    }

    /// Whether more text decides if this line opens or closes a fence. What is in a fence must not depend on pieces.
    pub(super) fn is_half_fence(&self, at: usize, done: bool) -> bool {
        self.text_kind == TextKind::Content && read(&self.buffer[at..], self.fence, done) == Step::More
    }

    /// Notes the fence that this line opens or closes.
    pub(super) fn note_fence(&mut self, at: usize) {
        if self.text_kind == TextKind::Content
            && let Step::Got(fence) = read(&self.buffer[at..], self.fence, true)
        {
            self.fence = fence;
        }
    }
}

/// The fence that is open after a line that begins like this, if the line opens or closes one.
// Case: dialects/hostile/fence-in-a-fence
fn read(line: &str, open: Option<Fence>, done: bool) -> Step<Option<Fence>> {
    let Some(mark) = line.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return Step::No };
    let after = line.trim_start_matches(mark);
    let width = line.len() - after.len();
    if after.is_empty() && !done {
        return Step::More;
    }
    if width < 3 {
        return Step::No;
    }
    if let Some(fence) = open {
        if fence.mark != mark || width < fence.width {
            return Step::No;
        }
        // Nothing but the token that ends the turn may follow in the line.
        let rest = after.trim_start_matches([' ', '\t', '\r']);
        return match rest.chars().next() {
            Some('\n') => Step::Got(None),
            None if done => Step::Got(None),
            None => Step::More,
            Some(_) => match token::read(rest, done, CustomTable::empty()) {
                Step::Got(Markup::Token {
                    role: Role::Noise | Role::Stop | Role::Turn | Role::MessageEnd,
                    ..
                }) => Step::Got(None),
                Step::More => Step::More,
                _ => Step::No,
            },
        };
    }
    // Code between backticks in one line is not a fence.
    let opened = Step::Got(Some(Fence { mark, width }));
    match after.find(['\n', '`']).filter(|&end| end <= MAX_LABEL) {
        Some(end) if mark == '`' && after[end..].starts_with('`') => Step::No,
        None if after.len() <= MAX_LABEL && !done => Step::More,
        Some(_) | None => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_known_by_their_lines() {
        let open = |mark, width| Step::Got(Some(Fence { mark, width }));
        for (line, before, expected) in [
            ("```\na", None, open('`', 3)),
            ("~~~~text\n", None, open('~', 4)),
            ("```f(a=1)```\n", None, Step::No),
            ("``a``", None, Step::No),
            ("```", None, Step::More),
            ("```js", None, Step::More),
            ("```\n", Some(Fence { mark: '`', width: 4 }), Step::No),
            ("````\n", Some(Fence { mark: '`', width: 3 }), Step::Got(None)),
            ("~~~\n", Some(Fence { mark: '`', width: 3 }), Step::No),
            ("```js\n", Some(Fence { mark: '`', width: 3 }), Step::No),
            ("```<|im_end|>", Some(Fence { mark: '`', width: 3 }), Step::Got(None)),
        ] {
            assert_eq!(read(line, before, false), expected, "{line:?}");
        }
        assert_eq!(read("```", None, true), open('`', 3));
    }
}
