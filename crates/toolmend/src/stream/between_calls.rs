//! What may come between the calls of one frame: separators, closing markers, and the next call.
//!
//! Anything else ends the frame, and text continues.

use super::{CallContext, Mode, Stream, turns_of_others};
use crate::dialect::block::{Frames, Reader};
use crate::dialect::inferred;
use crate::dialect::input::{Input, Step};
use crate::dialect::python;
use crate::dialect::raw_call::Ending;
use crate::dialect::table;
use crate::dialect::token::{self, Markup, Role, Word};
use crate::intent::Evidence;

impl Stream {
    pub(super) fn advance_between_calls(&mut self, done: bool) -> bool {
        let Mode::BetweenCalls(frames, evidence) = self.mode.clone() else { return false };
        let is_reported = evidence.rung().is_reported;
        let input = Input::new(&self.buffer, done, self.custom.table());
        let at = input.skip_whitespace(0);
        let rest = input.rest(at);
        if rest.is_empty() {
            if done {
                self.consume(at);
            }
            return false;
        }
        // The marker that closes the calls was cut.
        // Case: dialects/hermes_json/closer-cut
        if done && rest.starts_with("</") && token::is_half(rest.trim_end(), self.custom.table()) {
            self.note_removed(at..self.buffer.len());
            self.consume(self.buffer.len());
            return false;
        }
        if evidence != Evidence::Marked {
            match turns_of_others::is_observation(rest, done) {
                Step::Got(()) => {
                    self.leave_area();
                    return self.begin_turn_of_other(at);
                }
                Step::More => return false,
                Step::No => {}
            }
        }
        match token::read(rest, done, self.custom.table()) {
            Step::More => return false,
            Step::Got(markup) => match Self::is_framing(&markup) {
                Some(len) => {
                    let (closes, closes_calls) = (markup.closes(), markup.closes_calls());
                    if closes {
                        self.note_closed_call();
                    }
                    if closes_calls {
                        self.mode = Mode::BetweenCalls(Frames { closed: true, ..frames }, evidence);
                    }
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
            b']' if frames.brackets > 0 => {
                self.consume(at + 1);
                self.mode = Mode::BetweenCalls(Frames { brackets: frames.brackets - 1, ..frames }, evidence);
                true
            }
            // An empty object after a call means nothing.
            b'{' if rest.starts_with("{}") && is_reported => {
                self.consume(at + 2);
                true
            }
            b'{' if rest == "{" && !done => false,
            b'}' | b']' | b')' if rest.len() > 1 || done => {
                // One bracket too many before a closing marker or the end is dropped. Before text it is text.
                // Case: dialects/hermes_json/malformed-extra-brace
                let next = input.skip_whitespace(at + 1);
                let after = input.rest(next);
                if after.is_empty() && !done {
                    return false;
                }
                let markup = match token::read(after, done, self.custom.table()) {
                    Step::More => return false,
                    Step::Got(_) => true,
                    Step::No => false,
                };
                if after.is_empty() || markup || after.starts_with(['}', ']', ')', ',', '`']) {
                    self.consume(at + 1);
                    return true;
                }
                self.leave_area()
            }
            b'}' | b']' | b')' => false,
            b'`' | b'~' if frames.fence => {
                let mark = rest.chars().next().unwrap_or('`');
                let width = rest.chars().take_while(|&ch| ch == mark).count();
                if width == rest.len() && !done {
                    return false;
                }
                self.consume(at + width);
                self.mode = Mode::BetweenCalls(Frames { fence: false, ..frames }, evidence);
                true
            }
            _ => self.next_call(at, frames, evidence, done),
        }
    }

    /// Whether a comma or semicolon separates calls. `None` if nothing has arrived after it.
    pub(super) fn separates(&self, at: usize, done: bool) -> Option<bool> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let next = input.skip_whitespace(at + 1);
        match input.byte(next) {
            None => done.then_some(false),
            Some(b'{' | b'[' | b'<' | b']') => Some(true),
            Some(_) => match python::read_head(input, next) {
                Step::Got(_) => Some(true),
                Step::More => None,
                Step::No => Some(false),
            },
        }
    }

    /// The length of markup between calls, if it means nothing there.
    fn is_framing(markup: &Markup<'_>) -> Option<usize> {
        let nothing = match markup {
            // Another message may follow, and it may be a call, or the turn of another speaker.
            Markup::Token { spelling: "<|message_sep|>", .. } | Markup::Token { role: Role::Turn, .. } => {
                return None;
            }
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

    /// Reads the next call without its own marker, inside the same frames.
    // Case: dialects/hermes_json/array-of-calls
    pub(super) fn next_call(&mut self, at: usize, frames: Frames, evidence: Evidence, done: bool) -> bool {
        let is_reported = evidence.rung().is_reported;
        let input = Input::new(&self.buffer, done, self.custom.table());
        let rest = input.rest(at);
        // The next call of the frame begins with its server.
        // Case: dialects/use_mcp_tool/parallel
        let server = table::server_element(&frames.markers).map(|word| format!("<{word}>"));
        let names_server = server.as_ref().is_some_and(|tag| rest.starts_with(tag.as_str()));
        if !names_server && !done && server.is_some_and(|tag| tag.starts_with(rest)) {
            return false;
        }
        let begins_with_word = frames.begins_with_word(input, at);
        if begins_with_word == Step::More {
            return false;
        }
        let starts = names_server
            || rest.starts_with(['{', '[', '`'])
            || begins_with_word == Step::Got(())
            || matches!(python::read_head(input, at), Step::Got((name, _)) if self.mender.knows_tool(&name) || frames.brackets > 0 || !frames.markers.is_empty());
        if !starts {
            if matches!(python::read_head(input, at), Step::More)
                && rest.len() < 96
                && (frames.brackets > 0
                    || !frames.markers.is_empty()
                    || self.mender.begins_name(rest.trim_end()))
            {
                return false;
            }
            return self.leave_area();
        }
        // A call without a marker must pass the same test as the first one.
        // Case: dialects/hostile/code-after-a-call
        // Case: dialects/hostile/object-after-a-call
        let is_unframed = frames.markers.is_empty() && frames.brackets == 0 && !frames.fence;
        if frames.closed && !names_server || !is_reported && is_unframed {
            return self.leave_area();
        }
        if self.is_exhausted() {
            return self.leave_area();
        }
        if !self.attempts.may_retry(self.buffer.len() - at, done) {
            self.continue_open_string();
            return false;
        }
        let (answer, spent) = self.read_in_windows(at, done, |input| {
            let (judge, frames, stopped) = (&self.judge, frames.clone(), self.has_stopped());
            Reader { input, judge, frames, start: at, name: None, stopped }.read(at)
        });
        self.attempts.pay(spent);
        let brackets = frames.brackets;
        let before = frames;
        match answer {
            Step::Got(block) if !self.must_wait(&block, done) => {
                if !evidence.rung().among_words
                    && block.calls.iter().all(|call| call.ending == Ending::Complete)
                {
                    let input = Input::new(&self.buffer, done, self.custom.table());
                    match inferred::ends_sequence(input, block.end, self.inference_rules(at)) {
                        Step::Got(()) => {}
                        Step::More => {
                            self.wait_for_more(at);
                            return false;
                        }
                        Step::No => return self.pass_over(at),
                    }
                }
                self.context = CallContext::Framed(before, None);
                if evidence == Evidence::Marked {
                    self.accept_block(at, block, evidence);
                    true
                } else {
                    self.accept_unmarked(at, block, evidence)
                }
            }
            Step::Got(_) | Step::More => {
                self.wait_for_more(at);
                if is_reported {
                    self.context = CallContext::Framed(before, None);
                    self.send_stable_arguments(at);
                }
                false
            }
            Step::No if is_reported && self.is_truncated_call(at, &before) => {
                self.emit_truncated_call(at, String::new(), before);
                true
            }
            Step::No if is_reported && self.refuse_begun_call_in(at, CallContext::Framed(before, None)) => {
                true
            }
            // A list with something else in it is no list of calls.
            // Case: dialects/hostile/transcript
            Step::No if !is_reported && brackets > 0 => self.pass_over(at),
            Step::No => self.leave_area(),
        }
    }
}
