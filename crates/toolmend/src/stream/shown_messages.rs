//! Messages that are calls, where the text only shows them, the model only thinks of them, or the request allows none.
//!
//! What a header begins is decided before the header is followed. So the rules for calls behind other markers hold for
//! messages, too.

use super::Stream;
use super::held_output::Assumption;
use super::markup_action::MarkupAction;
use crate::dialect::block::{Block, Frames, Reader};
use crate::dialect::call_message::{self, CallMessage};
use crate::dialect::input::{Input, Step};
use crate::dialect::section;
use crate::dialect::token::{self, Header, Markup, Role, TextKind};
use crate::intent::ToolChoice;

impl Stream {
    /// Decides whether the message whose header is at `at` is text. Returns the answer of the machine if it is, or if more
    /// text decides.
    pub(super) fn leave_message_as_text(
        &mut self,
        at: usize,
        action: &MarkupAction,
        len: usize,
        done: bool,
    ) -> Option<bool> {
        if self.request.choice == ToolChoice::None || self.is_enclosed_reasoning() {
            match self.begins_call(at, done) {
                Step::More => return Some(self.wait_for_header(at)),
                Step::Got(()) if self.request.choice == ToolChoice::None => return Some(self.show_call(at)),
                // Case: dialects/hostile/message-in-reasoning
                Step::Got(()) if self.reads_calls_in_reasoning => {
                    // What comes before the message is reported in any case.
                    if at > 0 {
                        self.flush_before(at);
                        self.scanned = 0;
                        return Some(true);
                    }
                    self.hold_output(Assumption::CallsInReasoning);
                }
                Step::Got(()) => return Some(self.skip_candidate(at)),
                Step::No if self.shows_calls_in_reasoning() && !self.begins_section(at) => {
                    return Some(self.skip_candidate(at));
                }
                Step::No => {}
            }
        }
        match self.shown_message(at, action, len, done) {
            Step::Got(end) => return Some(self.show_text(end)),
            Step::More => return Some(self.wait_for_header(at)),
            Step::No => {}
        }
        if !matches!(action, MarkupAction::Header(..)) {
            return None;
        }
        match self.message_in_sentence(at, len, done) {
            Step::Got(end) => Some(self.show_text(end)),
            Step::More => {
                self.hold(at);
                Some(false)
            }
            Step::No => None,
        }
    }

    fn wait_for_header(&mut self, at: usize) -> bool {
        // Otherwise every byte would be another attempt.
        self.attempts.charge(self.buffer.len() - at);
        self.hold_and_wait(at)
    }

    /// Leaves the message that begins here as text, because the request allows no calls.
    // Case: dialects/functionary_v2/no-calls-allowed
    // Case: dialects/kimi_k3/no-calls-allowed
    // Case: dialects/harmony/no-calls-allowed
    // Case: dialects/gigachat3/no-calls-allowed
    fn show_call(&mut self, at: usize) -> bool {
        self.shows_call = true;
        self.skip_candidate(at)
    }

    /// Whether the text is reasoning that only its own marker ends, and no header.
    pub(super) fn is_enclosed_reasoning(&self) -> bool {
        self.text_kind == TextKind::Reasoning && self.is_reasoning_enclosed
    }

    /// Whether the reasoning goes on after calls that the model only thinks of.
    pub(super) fn shows_calls_in_reasoning(&self) -> bool {
        self.is_enclosed_reasoning() && !self.reads_calls_in_reasoning
    }

    /// Whether the reasoning goes on unless it is never closed.
    pub(super) fn stays_in_reasoning(&self) -> bool {
        self.is_enclosed_reasoning() && self.assumes(Assumption::CallsInReasoning)
    }

    /// Whether it is known that the reasoning is closed later.
    pub(super) fn is_known_to_be_closed(&self) -> bool {
        self.shows_calls_in_reasoning() && !self.assumes(Assumption::OpenReasoning)
    }

    fn begins_section(&self, at: usize) -> bool {
        matches!(
            token::read(&self.buffer[at..], true, self.custom.table()),
            Step::Got(Markup::Token { role: Role::Header(Header::Element), .. })
        )
    }

    /// Whether a message that is a call begins here.
    pub(super) fn begins_call(&self, at: usize, done: bool) -> Step<()> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        self.read_call_message(input, at).map(|_| ())
    }

    fn read_call_message(&self, input: Input<'_>, at: usize) -> Step<CallMessage> {
        call_message::read(input, at, &|name| self.mender.knows_tool(name))
    }

    /// Reads the header at `at` and the call after it.
    pub(super) fn read_message(&self, input: Input<'_>, at: usize) -> Step<Block> {
        match self.read_call_message(input, at) {
            Step::Got(CallMessage::Body(name, body)) => {
                let (judge, stopped) = (&self.judge, self.has_stopped());
                Reader { input, judge, frames: Frames::default(), start: at, name, stopped }.read(body)
            }
            Step::Got(CallMessage::Section(from)) => {
                let from = match section::read_section(input, from) {
                    Step::Got(section) if section.word == "tools" && !section.close => {
                        input.skip_whitespace(section.end)
                    }
                    _ => from,
                };
                if from >= input.text.len() && !input.done {
                    return Step::More;
                }
                section::read_call(input, from).map(Block::one)
            }
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }

    /// The end of the messages that begin here, if they are calls that the text only shows.
    // Case: dialects/functionary_v2/in-a-sentence
    // Case: dialects/kimi_k3/in-a-sentence
    // Case: dialects/kimi_k3/in-inline-code
    // Case: dialects/harmony/marked-example
    fn shown_message(&mut self, at: usize, action: &MarkupAction, len: usize, done: bool) -> Step<usize> {
        if self.text_kind != TextKind::Content || self.is_exhausted() {
            return Step::No;
        }
        let is_shown = match self.is_mentioned(action, at, len, done) {
            Step::More => return Step::More,
            answer => answer == Step::Got(()) || self.is_labelled_example(at),
        };
        if !is_shown && (self.is_asked_at(at) || !self.may_be_in_sentence(at)) {
            return Step::No;
        }
        if !self.attempts.may_retry(self.buffer.len() - at, done) {
            return Step::More;
        }
        let (answer, spent) = self.read_in_windows(at, done, |input| self.read_message(input, at));
        self.attempts.pay(spent);
        match answer {
            Step::Got(block) if is_shown => self.calls_end(&block, done),
            Step::Got(block) => {
                self.sentence_continues(at, &block, done).and_then(|()| self.calls_end(&block, done))
            }
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }
}
