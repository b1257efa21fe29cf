//! Text in the position of a tag: JSON, or one argument without its tag.
//!
//! This module finds the end of such a body. It never parses the text.

use super::end::{GLANCE, LOOK, follows};
use super::{Progress, Reader, ambiguity, skip_gap};
use crate::dialect::input::Step;
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::raw_call::Ending;
use crate::dialect::token::{self, Markup, Word};
use crate::json::strict;

impl Reader<'_, '_> {
    /// Reads text in the position of a tag: the arguments as JSON, or the only argument without its tag.
    // Case: dialects/dsml_v4/json-body
    // Case: dialects/dsml_v4/json-free-body
    pub(super) fn read_text(&mut self, at: usize) -> Progress {
        if !self.fields.is_empty() {
            return Progress::No;
        }
        // JSON knows its own end, so tags inside its strings do not count.
        let extent = match self.input.byte(at) {
            Some(b'{') if self.input.stable_only => {
                return Progress::Text(at..self.input.text.len(), self.input.text.len(), Ending::Cut);
            }
            Some(b'{') => match json_extent::measure(self.input.text, at) {
                // Unless the quotes are strict, the brackets may be part of a text that continues.
                Extent::Whole(end) if self.text_follows(at, end) => Extent::Broken(at),
                extent => extent,
            },
            _ => Extent::Broken(at),
        };
        if extent == Extent::Open && !self.input.done {
            return Progress::More;
        }
        if let Extent::Whole(end) = extent {
            let close = skip_gap(self.input, end);
            if let Some(element) = &self.call.element {
                return self.end_json_in_element(at, end, close, element);
            }
            return self.end_json(at, end, close);
        }
        self.read_text_up_to_closer(at)
    }

    /// Ends an object in an element. The closing tag should be at `close`.
    fn end_json_in_element(&self, at: usize, end: usize, close: usize, element: &str) -> Progress {
        let rest = self.input.rest(close);
        match self.input.byte(close) {
            Some(b'<') => match self.input.tag(close) {
                Step::Got((tag, _)) if tag.close && tag.word == element => {
                    Progress::Text(at..end, close + tag.len, Ending::Complete)
                }
                Step::More => Progress::More,
                _ if self.input.done && token::is_half(rest, self.input.custom) => {
                    Progress::Text(at..end, self.input.text.len(), Ending::Unclosed)
                }
                _ => Progress::No,
            },
            Some(_) => Progress::No,
            None if self.input.done => Progress::Text(at..end, end, Ending::Unclosed),
            None => Progress::More,
        }
    }

    /// Ends an object in a call. The closing tag should be at `close`.
    fn end_json(&mut self, at: usize, end: usize, close: usize) -> Progress {
        match self.input.markup(close) {
            Step::More => Progress::More,
            Step::Got(Markup::Tag(tag, Word::Call)) if tag.close => {
                Progress::Text(at..end, close + tag.len, Ending::Complete)
            }
            // The closing tag lost its slash.
            // Case: dialects/functionary_v31/malformed
            Step::Got(Markup::Tag(tag, Word::Call)) if tag.is_bare() => {
                let after = skip_gap(self.input, close + tag.len);
                match self.input.byte(after) {
                    None if !self.input.done => Progress::More,
                    Some(b'{' | b'[') => Progress::Text(at..end, end, Ending::Complete),
                    Some(b'<') if self.input.rest(after).starts_with("<name") => {
                        Progress::Text(at..end, end, Ending::Complete)
                    }
                    _ => {
                        self.damaged = true;
                        Progress::Text(at..end, close + tag.len, Ending::Complete)
                    }
                }
            }
            // A second set of arguments.
            Step::Got(Markup::Tag(tag, Word::Arguments)) if !tag.close => {
                self.ambiguous = true;
                let second = skip_gap(self.input, close + tag.len);
                match json_extent::measure(self.input.text, second) {
                    Extent::Whole(after) => Progress::Text(at..end, after, Ending::Complete),
                    _ if !self.input.done => Progress::More,
                    _ => Progress::Text(at..end, second, Ending::Complete),
                }
            }
            // Whatever is before the closing tag belongs to the arguments and is judged with them.
            // Case: dialects/deepseek_v3/comment-behind-arguments
            Step::No if close < self.input.text.len() => match self.find_call_end(close) {
                Step::Got((tag, after)) => Progress::Text(at..tag, after, Ending::Complete),
                Step::More => Progress::More,
                Step::No => Progress::Text(at..end, end, Ending::Complete),
            },
            _ if close < self.input.text.len() => Progress::Text(at..end, end, Ending::Complete),
            _ if self.input.done => Progress::Text(at..end, end, Ending::Unclosed),
            _ => Progress::More,
        }
    }

    /// Reads text up to the tag that closes the call.
    fn read_text_up_to_closer(&mut self, at: usize) -> Progress {
        let own = self.call.element.as_ref().map(|word| format!("</{word}>"));
        let mut from = at;
        while let Some(offset) = self.input.rest(from).find('<') {
            let tag_at = from + offset;
            let markup = self.input.markup(tag_at);
            self.known.pay(if matches!(markup, Step::No) { GLANCE } else { LOOK });
            match markup {
                Step::More => return Progress::More,
                Step::Got(markup) if markup.closes() => {
                    match follows(self.input, tag_at + markup.len(), None) {
                        Step::Got(()) => {
                            let call = matches!(&markup, Markup::Tag(_, Word::Call));
                            let end = if call { tag_at + markup.len() } else { tag_at };
                            let text = &self.input.text[at..tag_at];
                            self.ambiguous |=
                                !text.starts_with('{') && ambiguity::holds_arguments(text, self.input.custom);
                            return Progress::Text(at..tag_at, end, Ending::Complete);
                        }
                        Step::More => return Progress::More,
                        Step::No => from = tag_at + 1,
                    }
                }
                // A call is opened inside text that has not ended: an example, or a lost closing tag.
                Step::Got(markup) if markup.opens() && self.input.byte(at) == Some(b'{') => {
                    return Progress::Text(at..tag_at, tag_at, Ending::Open);
                }
                _ => {
                    if let Some(own) = own.as_ref().filter(|own| self.input.rest(tag_at).starts_with(*own)) {
                        return Progress::Text(at..tag_at, tag_at + own.len(), Ending::Complete);
                    }
                    from = tag_at + 1;
                }
            }
        }
        if !self.input.done {
            return Progress::More;
        }
        if self.input.byte(at) == Some(b'{') {
            return Progress::Text(at..self.input.text.len(), self.input.text.len(), Ending::Open);
        }
        Progress::No
    }

    /// Whether text follows directly after an object that is not strict.
    fn text_follows(&self, at: usize, end: usize) -> bool {
        let next = self.input.rest(end).chars().next();
        next.is_some_and(|ch| ch != '<' && !ch.is_whitespace())
            && strict::check(&self.input.text[at..end], strict::MAX_DEPTH).is_err()
    }

    /// Finds the tag that closes the call, if nothing else begins before it.
    fn find_call_end(&self, from: usize) -> Step<(usize, usize)> {
        const REACH: usize = 2048;
        let mut at = from;
        while let Some(offset) = self.input.rest(at).find('<') {
            at += offset;
            if at > from + REACH {
                return Step::No;
            }
            match self.input.markup(at) {
                Step::More => return Step::More,
                Step::Got(Markup::Tag(tag, Word::Call)) if tag.close => return Step::Got((at, at + tag.len)),
                Step::Got(markup) if markup.opens() || markup.closes() => return Step::No,
                _ => at += 1,
            }
        }
        let more = !self.input.done && self.input.text.len() <= from + REACH;
        if more { Step::More } else { Step::No }
    }
}
