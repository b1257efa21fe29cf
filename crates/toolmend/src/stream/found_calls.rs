//! Calls that were found: their verdicts, and the events about them.
//!
//! This module asks the mender about each call and reports the answer. It never changes a verdict, with one exception:
//! a call whose arguments do not begin with what was already sent is refused.

use std::borrow::Cow;

use super::held_output::Assumption;
use super::live_arguments::LiveCall;
use super::{CallContext, Mode, Stream};
use crate::dialect::block::{Block, Frames, Reader};
use crate::dialect::custom::CustomTable;
use crate::dialect::input::{Input, Step};
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall};
use crate::dialect::table::{Form, NAME_REPEATED, Recognition, is_no_tool, recognised};
use crate::dialect::token::{self, Markup, TextKind, Word};
use crate::dialect::{inferred, section, tag};
use crate::intent::{Evidence, ToolChoice};
use crate::json::strict;
use crate::json::text::unquote;
use crate::mender::call_verdict::{self, CallSite};
use crate::syntax::Finish;
use crate::turn::{Call, Event, Source};
use crate::verdict::{Outcome, Reason};

impl Stream {
    /// After other calls, a call that cannot be read is still a call. It is reported unchanged.
    pub(super) fn emit_unreadable_call(&mut self, at: usize, name: String) -> bool {
        self.emit_truncated_call(
            at,
            name,
            Frames { markers: vec!["<function>".to_owned()], ..Frames::default() },
        );
        true
    }

    /// Whether the call that began here was truncated before anything of it was final. More text could have made it a
    /// call, and nothing shows that the model had finished.
    // Case: dialects/hermes_json/truncated-before-name
    pub(super) fn is_truncated_call(&self, at: usize, frames: &Frames) -> bool {
        let input = Input::new(&self.buffer, false, self.custom.table());
        let mut reader = Reader {
            input,
            judge: &self.judge,
            frames: frames.clone(),
            start: at,
            name: None,
            stopped: self.has_stopped(),
        };
        self.finished && self.finish != Finish::Stop && matches!(reader.read(at), Step::More)
    }

    /// Reports a call of which little more is known than that it began.
    pub(super) fn emit_truncated_call(&mut self, at: usize, name: String, frames: Frames) {
        let end = self.buffer.len();
        let name = if name.is_empty() { begun_name(&self.buffer[at..]).unwrap_or_default() } else { name };
        let call = RawCall {
            name,
            id: None,
            arguments: RawArguments::Fields(Vec::new()),
            at: at..end,
            ending: Ending::Cut,
            dialect: self.custom.table().row_of(&frames.markers, Form::Tagged),
            damaged: false,
            open: None,
        };
        self.accept_block(at, Block { end, frames, ..Block::one(call) }, Evidence::Marked);
    }

    /// Reads a call whose tag contains everything and has no end: its name, and the arguments as far as they go.
    // Case: dialects/attr_tag/truncated
    pub(super) fn read_truncated_tag(&mut self, at: usize) -> bool {
        let rest = &self.buffer[at..];
        let Some((word, attributes)) = tag::half(rest) else { return false };
        if !matches!(token::word(word), Some(Word::Frame | Word::Call)) {
            return false;
        }
        let value =
            |keys: &[&str]| attributes.iter().find(|(key, ..)| keys.contains(key)).map(|found| found.1);
        let Some(name) = value(&["name", "tool", "function"]).filter(|_| attributes.len() > 1) else {
            return false;
        };
        let place = |text: &str| {
            let from = at + text.as_ptr() as usize - rest.as_ptr() as usize;
            from..from + text.len()
        };
        let arguments = value(&["arguments", "args", "parameters", "input"]).map(place);
        let call = RawCall {
            name: name.to_owned(),
            id: None,
            arguments: arguments.map_or(RawArguments::Fields(Vec::new()), RawArguments::Text),
            at: at..self.buffer.len(),
            ending: Ending::Cut,
            dialect: recognised(Recognition::TruncatedTag),
            damaged: false,
            open: None,
        };
        self.accept_block(at, Block::one(call), Evidence::Marked);
        true
    }

    /// Accepts the calls of a block, which were read up to its end.
    pub(super) fn accept_block(&mut self, at: usize, block: Block, evidence: Evidence) {
        let mut made = self.judge_block(at, &block, evidence);
        self.refuse_repetition(at, &block, &mut made);
        self.refuse_alternatives(at, &mut made);
        let last = self.last_call_of(&block, &made);
        self.emit_block(at, block, made, evidence);
        self.last_call = last;
    }

    /// The verdicts on the calls of a block.
    pub(super) fn judge_block(&self, at: usize, block: &Block, evidence: Evidence) -> Vec<Call> {
        let unclosed = self.is_unclosed(block, evidence);
        let mut made = Vec::new();
        let last = block.calls.len().saturating_sub(1);
        for (index, call) in block.calls.iter().enumerate() {
            if is_no_tool(&call.name) && !self.mender.knows_tool(&call.name) {
                continue;
            }
            // Another call follows those before the last, so they have ended.
            let is_open = unclosed && index == last;
            let mut call = Cow::Borrowed(call);
            if is_open && call.ending == Ending::Complete && !self.has_closing_tag(&call) {
                call.to_mut().ending = Ending::Unclosed;
            } else if index == last && evidence == Evidence::Marked && self.is_interrupted(block, &call) {
                let why = "other text follows where the closing marker of the call should be";
                call.to_mut().arguments = RawArguments::Refused(Reason::Ambiguous, why);
            }
            let known = self.stable_fields(at, &call);
            made.extend(self.judge_call(&call, Source::of(evidence), &known));
        }
        made
    }

    /// Reports the calls of a block.
    pub(super) fn emit_block(&mut self, at: usize, block: Block, made: Vec<Call>, evidence: Evidence) {
        let Block { end, frames, content, .. } = block;
        // The author before one marker is repeated in the body.
        let authored = NAME_REPEATED.contains_any(&frames.markers);
        if authored && self.is_lone_word(at) {
            self.consume(at);
        } else {
            self.flush_before(at);
        }
        // If this was assumed and was wrong, it is not assumed again.
        if self.text_kind == TextKind::Reasoning && self.reads_calls_in_reasoning && !made.is_empty() {
            self.hold_output(Assumption::CallsInReasoning);
        }
        if let Some(text) = content {
            self.emit_text(self.text_kind, text);
            self.fresh = false;
        } else if evidence == Evidence::Marked && !made.is_empty() {
            self.send_all_stable_arguments(0, end - at);
        }
        self.emit_calls(made, end - at, frames, evidence);
    }

    /// Whether the output ends where the closing marker of the call should be, or was truncated where text could still
    /// have shown that the call was an example.
    // Case: dialects/hermes_json/missing-closer-stop
    pub(super) fn is_unclosed(&self, block: &Block, evidence: Evidence) -> bool {
        let shown = evidence != Evidence::Marked && self.finish == Finish::Length;
        let needs_closer = needs_closer(&block.frames, self.custom.table());
        let ends = self.only_fence_follows(block.end) && (needs_closer || shown);
        self.finished && (ends || block.lost_opener && self.finish == Finish::Length)
    }

    /// Whether other text is where the closing marker of the call should be. What looked like the end of the call may be
    /// part of a value then, or the text part of the call.
    // Case: dialects/hermes_json/words-in-the-frame
    // Case: dialects/gemma4/brace-in-bare-value-unclosed
    fn is_interrupted(&self, block: &Block, call: &RawCall) -> bool {
        self.lacks_closer(block, call) && self.text_follows(block, self.finished) == Step::Got(())
    }

    /// Whether the marker that closes this call comes after the block, if at all.
    pub(super) fn lacks_closer(&self, block: &Block, call: &RawCall) -> bool {
        needs_closer(&block.frames, self.custom.table()) && !self.has_closing_tag(call)
    }

    /// Whether text follows the calls of a block, and neither markup nor another call.
    fn text_follows(&self, block: &Block, done: bool) -> Step<()> {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let at = input.skip_whitespace(block.end);
        let rest = input.rest(at);
        let Some(first) = rest.chars().next() else { return if done { Step::No } else { Step::More } };
        match input.markup(at) {
            Step::More => return Step::More,
            Step::Got(_) => return Step::No,
            Step::No => {}
        }
        // Another member of the object that seemed to have ended.
        // Case: dialects/use_mcp_tool/extra-brace
        if first == ',' && block.frames.brackets == 0 && !block.frames.fence {
            match rest[1..].trim_start().chars().next() {
                Some('"') => return Step::Got(()),
                None if !done => return Step::More,
                None if self.finish != Finish::Stop => return Step::Got(()),
                _ => {}
            }
        }
        // A value without delimiters may contain anything but the word that begins a call. Otherwise only words and elements
        // are text, and marks are framing.
        // Case: dialects/qwen_agent/code-beside-the-call
        let is_element = rest.strip_prefix('<').is_some_and(|tag| tag.starts_with(char::is_alphabetic));
        let is_open =
            block.calls.last().is_some_and(|call| call.ending == Ending::Open || call.ends_in_bare_value());
        let begins_call = match (is_open, first.is_alphanumeric()) {
            (false, false) => return if is_element { Step::Got(()) } else { Step::No },
            (false, true) => block.frames.begins_bare_call(input, at),
            (true, _) => block.frames.begins_with_word(input, at),
        };
        match begins_call {
            Step::Got(()) => Step::No,
            Step::More => Step::More,
            Step::No => Step::Got(()),
        }
    }

    /// Whether the call has its own closing tag, so that only the frame around it is open.
    // Case: dialects/qwen3_xml/only-the-frame-is-open
    fn has_closing_tag(&self, call: &RawCall) -> bool {
        let text = &self.buffer[call.at.clone()];
        let custom = self.custom.table();
        text.rfind('<').is_some_and(|open| match token::read(&text[open..], true, custom) {
            Step::Got(Markup::Tag(tag, Word::Call)) => tag.close && open + tag.len == text.len(),
            _ => false,
        })
    }

    /// Whether at most the rest of a fence follows this position, or the first byte of a marker.
    pub(super) fn only_fence_follows(&self, end: usize) -> bool {
        let rest = self.buffer[end..].trim_matches(|ch: char| ch.is_whitespace() || ch == '`');
        matches!(rest, "" | "<")
    }

    /// Whether to wait for what follows a call: its closing marker shows that it was not truncated.
    pub(super) fn must_wait(&self, block: &Block, done: bool) -> bool {
        !done
            && needs_closer(&block.frames, self.custom.table())
            && !block.calls.is_empty()
            && (self.only_fence_follows(block.end) || self.text_follows(block, done) == Step::More)
    }

    pub(super) fn emit_calls(&mut self, made: Vec<Call>, length: usize, frames: Frames, evidence: Evidence) {
        for call in made {
            if self.text_kind == TextKind::Reasoning {
                self.reasoning_calls.push(call);
                self.reasons_after_call = false;
            } else {
                self.emit_call(call);
            }
        }
        self.consume(length);
        self.scanned = 0;
        self.note_interruption();
        self.text_after_call.clear();
        self.mode = Mode::BetweenCalls(frames, evidence);
    }

    /// The arguments of a call that may be truncated that no further text could change.
    fn stable_fields(&self, at: usize, call: &RawCall) -> Vec<Field> {
        if call.ending == Ending::Complete || !matches!(call.arguments, RawArguments::Fields(_)) {
            return Vec::new();
        }
        match self.stable_call(at) {
            Some(RawCall { arguments: RawArguments::Fields(fields), .. }) => fields,
            _ => Vec::new(),
        }
    }

    /// What is final of the call at this position, read in the context of the last call.
    pub(super) fn stable_call(&self, at: usize) -> Option<RawCall> {
        self.stable_call_up_to(at, self.buffer.len())
    }

    /// The same, for a call that reaches at most to `end`.
    pub(super) fn stable_call_up_to(&self, at: usize, end: usize) -> Option<RawCall> {
        self.stable_block_up_to(at, end)?.calls.pop()
    }

    /// The calls that begin at this position.
    pub(super) fn stable_block_up_to(&self, at: usize, end: usize) -> Option<Block> {
        self.judge.pay(end - at);
        let input = Input::stable_only(&self.buffer[..end], self.custom.table());
        let block = match &self.context {
            CallContext::Framed(frames, name) => {
                let (frames, name) = (frames.clone(), name.clone());
                Reader { input, judge: &self.judge, frames, start: at, name, stopped: false }.read(at)
            }
            CallContext::Section => section::read_call(input, at).map(Block::one),
            CallContext::Inferred => {
                inferred::read(input, at, self.inference_rules(at)).map(inferred::Found::into_block)
            }
        };
        match block {
            Step::Got(block) => Some(block),
            _ => None,
        }
    }

    pub(super) fn judge_call(&self, call: &RawCall, source: Source, known: &[Field]) -> Vec<Call> {
        let found = CallSite { text: &self.buffer, offset: self.offset, source, finish: self.finish, known };
        call_verdict::judge(&self.mender, call, found)
    }

    /// The call as the request allows it. If it asked for one call at most, only the first may run.
    // Case: dialects/hermes_json/one-call-at-most
    fn within_request(&mut self, call: Call) -> Call {
        if let ToolChoice::Tool(name) = &self.request.choice
            && call.name != *name
        {
            self.events.push(Event::Note(format!(
                "the request asked for a call of {name:?}, and the model calls {:?}",
                call.name
            )));
        }
        if !self.request.single_call || self.running_calls == 0 || !call.outcome().runs() {
            return call;
        }
        let why = "the request allows only one call, and another one came before it";
        let verdict = self.mender.refused_verdict(&call.name, &call.raw, Reason::Policy, why).into_owned();
        Call { verdict, ..call }
    }

    pub(super) fn emit_call(&mut self, call: Call) {
        let call = self.within_request(call);
        let index = self.calls;
        self.calls += 1;
        self.running_calls += usize::from(call.outcome().runs());
        if self.mender.has_named_tools() && !self.mender.knows_tool(&call.name) {
            self.events.push(Event::Note(format!("no declared tool is called {:?}", call.name)));
        }
        let started = self.has_started();
        if !call.outcome().runs() {
            self.live = LiveCall::default();
        }
        match call.outcome() {
            Outcome::Clean | Outcome::Mended => {
                let Some(rest) = self.take_unsent_arguments(&call).map(str::to_owned) else {
                    // What was sent cannot be taken back, so the call does not run.
                    let why = "the final arguments do not begin with the part that was already sent";
                    let verdict =
                        self.mender.refused_verdict(&call.name, &call.raw, Reason::Syntax, why).into_owned();
                    self.events.push(Event::CallRejected { index, call: Box::new(Call { verdict, ..call }) });
                    return;
                };
                if !started {
                    self.events.push(Event::CallStart {
                        index,
                        name: call.name.clone(),
                        id: call.id.clone(),
                    });
                }
                self.events.push(Event::ArgumentsDelta { index, text: rest });
                self.events.push(Event::CallEnd { index, call: Box::new(call) });
            }
            Outcome::Truncated => self.events.push(Event::CallCut { index, call: Box::new(call) }),
            Outcome::Rejected => self.events.push(Event::CallRejected { index, call: Box::new(call) }),
        }
    }
}

/// Whether the frames around a call are always closed.
fn needs_closer(frames: &Frames, custom: &CustomTable) -> bool {
    frames.markers.iter().any(|seen| custom.is_closed(seen))
        || frames.markers.is_empty() && frames.brackets > 0
}

/// The name of a call in JSON that was cut off before its arguments, if the name itself is complete.
// Case: dialects/hermes_json/truncated-after-name
fn begun_name(text: &str) -> Option<String> {
    let (_, object) = text.split_once('{')?;
    let value = object.trim_start().strip_prefix("\"name\"")?.trim_start().strip_prefix(':')?.trim_start();
    // Case: dialects/hermes_json/name-after-another-quote
    let end = strict::check_string(value.as_bytes(), 0).ok().filter(|_| value.starts_with('"'))?;
    Some(unquote(&value[..end]).into_owned())
}
