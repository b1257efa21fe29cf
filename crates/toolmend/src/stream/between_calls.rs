//! Between the calls of one place for calls.

use super::{CallContext, Mode, Stream};
use crate::dialect::block::{Frames, Reader};
use crate::dialect::input::{Input, Step};
use crate::dialect::python;
use crate::dialect::token::{self, Markup, Role, Word};
use crate::turn::Source;

impl Stream {
    pub(super) fn area(&mut self, done: bool) -> bool {
        let Mode::Frames(area, source) = self.mode.clone() else { return false };
        let input = Input::new(&self.buffer, done, self.custom.table());
        let at = input.skip_white(0);
        let rest = input.rest(at);
        if rest.is_empty() {
            if done {
                self.consume(at);
            }
            return false;
        }
        match token::read(rest, done, self.custom.table()) {
            Step::More => return false,
            Step::Got(markup) => match Self::is_framing(&markup) {
                Some(len) => {
                    self.consume(at + len);
                    return true;
                }
                None => return self.leave_area(),
            },
            Step::No => {}
        }
        match rest.as_bytes()[0] {
            b',' | b';' if self.separates(at, done) != Some(false) => {
                if self.separates(at, done).is_none() {
                    return false;
                }
                self.consume(at + 1);
                true
            }
            b']' if area.brackets > 0 => {
                self.consume(at + 1);
                self.mode = Mode::Frames(Frames { brackets: area.brackets - 1, ..area }, source);
                true
            }
            // An empty object behind a call is nothing.
            b'{' if rest.starts_with("{}") && source == Source::Explicit => {
                self.consume(at + 2);
                true
            }
            b'{' if rest == "{" && !done => false,
            b'}' | b']' | b')' if rest.len() > 1 || done => {
                // One bracket too many before a closer or the end; before text it is text.
                let next = input.skip_white(at + 1);
                let behind = input.rest(next);
                if behind.is_empty() && !done {
                    return false;
                }
                let markup = match token::read(behind, done, self.custom.table()) {
                    Step::More => return false,
                    Step::Got(_) => true,
                    Step::No => false,
                };
                if behind.is_empty() || markup || behind.starts_with(['}', ']', ')', ',', '`']) {
                    self.consume(at + 1);
                    return true;
                }
                self.leave_area()
            }
            b'}' | b']' | b')' => false,
            b'`' | b'~' if area.fence => {
                let mark = rest.chars().next().unwrap_or('`');
                let width = rest.chars().take_while(|&ch| ch == mark).count();
                if width == rest.len() && !done {
                    return false;
                }
                self.consume(at + width);
                self.mode = Mode::Frames(Frames { fence: false, ..area }, source);
                true
            }
            _ => self.next_call(at, area, source, done),
        }
    }

    /// Whether a comma or semicolon separates calls; not known yet where nothing follows.
    pub(super) fn separates(&self, at: usize, done: bool) -> Option<bool> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let next = input.skip_white(at + 1);
        match input.byte(next) {
            None => done.then_some(false),
            Some(b'{' | b'[' | b'<' | b']') => Some(true),
            Some(_) => match python::head(input, next) {
                Step::Got(_) => Some(true),
                Step::More => None,
                Step::No => Some(false),
            },
        }
    }

    /// Whether markup between calls means nothing, and how long it is.
    fn is_framing(markup: &Markup<'_>) -> Option<usize> {
        let nothing = match markup {
            // Another message may follow, and it may be a call.
            Markup::Token { spelling: "<|message_sep|>", .. } => return None,
            Markup::Token { role, .. } => matches!(role, Role::Noise | Role::Message | Role::Part(_)),
            Markup::Tag(tag, word) => {
                tag.close
                    && matches!(
                        word,
                        Word::Parameter | Word::Value | Word::Key | Word::Arguments | Word::Name
                    )
            }
        };
        (nothing || markup.closes()).then(|| markup.len())
    }

    pub(super) fn leave_area(&mut self) -> bool {
        self.mode = Mode::Text;
        self.scanned = 0;
        self.line_start = true;
        true
    }

    /// The next call without a marker of its own, inside the same frames.
    pub(super) fn next_call(&mut self, at: usize, area: Frames, source: Source, done: bool) -> bool {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let rest = input.rest(at);
        let gemma = area.is_gemma();
        if gemma && !done && "call:".starts_with(rest) {
            return false;
        }
        let starts = rest.starts_with(['{', '[', '`'])
            || gemma && rest.starts_with("call:")
            || matches!(python::head(input, at), Step::Got((name, _)) if self.mender.knows(&name) || area.brackets > 0 || !area.seen.is_empty());
        if !starts {
            if matches!(python::head(input, at), Step::More)
                && rest.len() < 96
                && (area.brackets > 0 || !area.seen.is_empty())
            {
                return false;
            }
            return self.leave_area();
        }
        if source == Source::Inferred && area.seen.is_empty() && area.brackets == 0 && !area.fence {
            // Every call without a marker has to stand the same test.
            self.mode = Mode::Text;
            self.scanned = 0;
            self.line_start = true;
            return true;
        }
        if self.attempts.exhausted() {
            return self.leave_area();
        }
        if !self.attempts.allowed(self.buffer.len() - at, done) {
            self.flow_on();
            return false;
        }
        let (answer, spent) = self.first_answer(at, done, |input| {
            let (judge, area, stopped) = (&self.mender, area.clone(), self.has_stopped());
            Reader { input, judge, area, start: at, name: None, stopped }.read(at)
        });
        self.attempts.spent += spent;
        let before = area;
        match answer {
            Step::Got(block) if !self.waits(&block, done) => {
                self.way = CallContext::Framed(before, None);
                self.found(at, block, source);
                true
            }
            Step::Got(_) | Step::More => {
                self.wait(at);
                if source == Source::Explicit {
                    self.way = CallContext::Framed(before, None);
                    self.flow(at);
                }
                false
            }
            Step::No if source == Source::Explicit && self.is_cut(at, &before) => {
                self.cut(at, String::new(), before);
                true
            }
            Step::No if source == Source::Explicit && self.refuses(at, CallContext::Framed(before, None)) => {
                true
            }
            Step::No => self.leave_area(),
        }
    }
}
