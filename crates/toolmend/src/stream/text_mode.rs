//! Content and reasoning, and the positions in them at which something else may begin.
//!
//! This module decides between text, markup and calls without a marker. It passes text on and leaves everything else to
//! its neighbours.

use super::Stream;
use super::candidate_scan::{ROLE, Scan, ScanResult, agrees};
use super::markup_action::MarkupAction;
use crate::dialect::inferred;
use crate::dialect::input::{Input, Step};
use crate::dialect::json_extent::{self, Extent};
use crate::dialect::tag;
use crate::dialect::token::{self, TextKind};
use crate::intent::ToolChoice;
use crate::json::strict;
use crate::turn::Event;

/// Undecided markup that is longer than this is not read again for every byte.
const LONG: usize = 256;

impl Stream {
    pub(super) fn advance_text(&mut self, done: bool) -> bool {
        if !self.looked_for_answer && self.look_for_answer(done) == Step::More {
            return false;
        }
        let found = self.scan(self.scanned).next(&self.buffer, self.scanned, self.line_start);
        let ScanResult::Candidate { at, line_start } = found else {
            self.hold(self.buffer.len());
            return false;
        };
        debug_assert_eq!(line_start, self.begins_line(at));
        if self.doubtful.contains(&(self.offset + at)) {
            return self.show_text(self.doubtful.end - self.offset);
        }
        if let Some(words) = self.reasoning_words {
            match self.read_reasoning_words(words, at, line_start, done) {
                Step::Got(()) => return true,
                Step::More => {
                    self.hold(at);
                    return false;
                }
                Step::No => {}
            }
        }
        let input = Input::new(&self.buffer, done, self.custom.table());
        match input.markup(at) {
            Step::More => {
                let at = self.hold(at);
                let length = self.buffer.len() - at;
                // A tag may contain a whole call. Short markup is not charged, so that small pieces cannot use up the
                // budget.
                if length > LONG {
                    self.attempts.charge(length);
                    self.wait_for_more(at);
                }
                false
            }
            Step::Got(markup) => {
                let begins_message = markup.begins_message();
                let markup_len = markup.len();
                let action = match self.choose_action(&markup, at, line_start) {
                    _ if self.shows_call && !begins_message => MarkupAction::Text,
                    action => action,
                };
                if matches!(action, MarkupAction::Header(..) | MarkupAction::Separator(_))
                    && let Some(decided) = self.leave_message_as_text(at, &action, markup_len, done)
                {
                    return decided;
                }
                match self.is_mentioned(&action, at, markup_len, done) {
                    Step::Got(()) if matches!(action, MarkupAction::Block) => self.read_block(at, true, done),
                    Step::Got(()) => {
                        self.mentions_reasoning |=
                            matches!(action, MarkupAction::Enter(TextKind::Reasoning, _));
                        if matches!(action, MarkupAction::Drop(_)) {
                            return self.show_text(at + markup_len);
                        }
                        self.unmarked_or_skip(at, done)
                    }
                    Step::More => {
                        self.hold(at);
                        false
                    }
                    Step::No => {
                        self.shows_call &= !begins_message;
                        self.apply_action(at, action, done)
                    }
                }
            }
            Step::No => self.read_unmarked(at, line_start, done),
        }
    }

    /// Looks for the answer in JSON that the request asked for. If the output begins with strict JSON, that is the answer,
    /// and nothing in it is a call.
    // Case: dialects/hermes_json/marker-in-the-answer
    fn look_for_answer(&mut self, done: bool) -> Step<()> {
        if self.text_kind != TextKind::Content {
            return Step::No;
        }
        let input = Input::new(&self.buffer, done, self.custom.table());
        let at = input.skip_whitespace(0);
        let length = self.buffer.len() - at;
        let more = match input.byte(at) {
            None => !done,
            Some(b'{' | b'[') => {
                if !self.attempts.may_retry(length, done) {
                    return Step::More;
                }
                self.attempts.charge(length);
                match json_extent::measure(input.text, at) {
                    Extent::Whole(end) if strict::check(&input.text[at..end], strict::MAX_DEPTH).is_ok() => {
                        self.scanned = self.scanned.max(end);
                        self.line_start = false;
                        false
                    }
                    Extent::Open => !done,
                    _ => false,
                }
            }
            Some(_) => false,
        };
        if more {
            self.wait_for_more(at);
            return Step::More;
        }
        self.looked_for_answer = true;
        Step::No
    }

    /// Whether the text so far is a single word.
    pub(super) fn is_lone_word(&self, at: usize) -> bool {
        // A word at the start of an output is not followed by that much white space, which arrives in many pieces.
        const MAX_BYTES: usize = 256;
        if at > MAX_BYTES {
            return false;
        }
        let word = self.buffer[..at].trim();
        let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        self.skip_space | self.fresh && !word.is_empty() && word.len() <= 64 && word.bytes().all(named)
    }

    /// Reports the text before a position that is not decided. Returns where that position is now.
    pub(super) fn hold(&mut self, at: usize) -> usize {
        // One word at the start may be the name before a marker.
        if !self.finished && self.is_lone_word(at) {
            return at;
        }
        let undecided = self.buffer.len() - at;
        self.flush_before(at);
        self.scanned = 0;
        self.buffer.len() - undecided
    }

    /// Reports the text before a position, and waits for more text before deciding what begins there.
    pub(super) fn hold_and_wait(&mut self, at: usize) -> bool {
        let at = self.hold(at);
        self.wait_for_more(at);
        false
    }

    /// Reports the text before a position, and notes whether that position begins a line.
    pub(super) fn flush_before(&mut self, at: usize) {
        self.line_start = self.begins_line(at);
        self.flush(at);
    }

    /// Whether only blanks come before this position in its line.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let before = &self.buffer[self.scanned.min(at)..at];
        let blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match before.rsplit_once('\n') {
            Some((_, line)) => blank(line),
            None => self.line_start && blank(before),
        }
    }

    /// The search for the next candidate, from `at` on.
    pub(super) fn scan(&self, at: usize) -> Scan<'_> {
        Scan {
            mender: &self.mender,
            custom: self.custom.table(),
            requested_form: self.requested.map(|row| row.form),
            // Before any text was reported, the first line may be a header.
            quick: self.requested.is_none()
                && !self.eager
                && !self.stripped
                && !self.is_first(at)
                && !self.waits_for_words(),
            stripped: self.stripped,
            last: self.last,
        }
    }

    /// Continues after a candidate that turned out to be text.
    pub(super) fn skip_candidate(&mut self, at: usize) -> bool {
        if self.begins_line(at) {
            self.note_fence(at);
        }
        let width = self.buffer[at..].chars().next().map_or(1, char::len_utf8);
        self.scanned = at + width;
        self.line_start = false;
        true
    }

    /// Reads text without a marker at a position where a call may begin.
    pub(super) fn read_unmarked(&mut self, at: usize, line_start: bool, done: bool) -> bool {
        if done && !self.has_stopped() && token::is_half(&self.buffer[at..], self.custom.table()) {
            self.events.push(Event::Note("the output ends inside a marker".to_owned()));
            return self.drop_token(at, self.buffer.len() - at);
        }
        if done && !self.has_stopped() && self.read_truncated_tag(at) {
            return true;
        }
        if self.buffer[at..].starts_with('<') {
            match self.shown_element(at, done) {
                Step::Got(end) => return self.show_text(end),
                Step::More => return self.hold_and_wait(at),
                Step::No => {}
            }
        }
        let decoration = tag::decoration(&self.buffer[at..], self.custom.table());
        let is_markup =
            !self.is_in_fence() && self.request.choice != ToolChoice::None && !self.is_known_to_be_closed();
        if let Some((space, length)) = decoration.filter(|_| is_markup) {
            let tag_length = tag::end_in_line(&self.buffer[at..]).unwrap_or(length);
            return match self.is_in_words(at, tag_length, done) {
                Step::Got(()) => self.skip_candidate(at),
                Step::More => {
                    self.hold(at);
                    false
                }
                Step::No => self.refuse_decorated_tags(at, space, length, done),
            };
        }
        if line_start && !done && self.is_half_fence(at, done) {
            self.attempts.charge(self.buffer.len() - at);
            return self.hold_and_wait(at);
        }
        if self.stripped && agrees(ROLE, &self.buffer[at..]) {
            let half = self.buffer.len() - at < ROLE.len();
            let found = match (half, done) {
                (false, _) => self.read_stripped_channel(at, at + ROLE.len(), done),
                (true, false) => Step::More,
                (true, true) => Step::No,
            };
            match found {
                Step::Got(()) => return true,
                Step::More => {
                    self.hold(at);
                    return false;
                }
                Step::No => {}
            }
        }
        let first = self.is_first(at);
        // Some families' prompts end inside a header.
        if first && line_start {
            match self.read_implied_header(at, done) {
                Step::Got(()) => return true,
                Step::More => {
                    self.hold(at);
                    return false;
                }
                Step::No => {}
            }
        }
        if !self.may_infer(at)
            || self.is_statement_in_fence(at)
            || !(line_start || self.may_infer_inside_line(at))
        {
            return self.skip_candidate(at);
        }
        if !self.attempts.may_retry(self.buffer.len() - at, done) || self.is_exhausted() {
            if self.is_exhausted() {
                return self.skip_candidate(at);
            }
            self.hold(at);
            return false;
        }
        let rules = self.inference_rules(at);
        let (answer, spent) = self.read_in_windows(at, done, |input| inferred::read(input, at, rules));
        self.attempts.pay(spent);
        match answer {
            Step::Got(found) => self.accept_found(at, found),
            Step::More => self.hold_and_wait(at),
            Step::No => self.skip_candidate(at),
        }
    }

    /// Whether only white space comes before this position.
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.fresh && self.buffer[..at].trim().is_empty()
    }
}
