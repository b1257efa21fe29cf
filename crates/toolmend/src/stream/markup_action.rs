//! What to do with markup in text.
//!
//! [`Stream::choose_action`] decides by the markup and its surroundings, and [`Stream::apply_action`] carries it out.

use super::{AnswerFrame, CallContext, Mode, ResultBody, Stream};
use crate::dialect::block::{Block, CallJudge, Frames, Reader};
use crate::dialect::input::Step;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::table::{INTERPRETER_CODE, Recognition, is_shown_to_user, recognised};
use crate::dialect::token::{self, Header, Markup, Role, TextKind, Word};
use crate::intent::{Evidence, ToolChoice};

impl Stream {
    /// Decides what to do with markup.
    pub(super) fn choose_action(&self, markup: &Markup<'_>, at: usize, line_start: bool) -> MarkupAction {
        let action = self.choose_any_action(markup, at, line_start);
        // Without calls, the markup of calls is text.
        // Case: dialects/hermes_json/no-calls-allowed
        let is_of_calls = match action {
            MarkupAction::Block | MarkupAction::Orphan(_) | MarkupAction::Answer(..) => true,
            MarkupAction::Drop(_) => markup.closes_calls(),
            _ => false,
        };
        let has_no_calls = match self.text_kind {
            TextKind::Content => self.request.choice == ToolChoice::None,
            TextKind::Reasoning => !self.reads_calls_in_reasoning || self.request.choice == ToolChoice::None,
        };
        if is_of_calls && has_no_calls {
            return MarkupAction::Text;
        }
        // Reasoning that is closed later shows everything in it, and the ends of messages do not end it.
        // Case: dialects/hostile/message-in-reasoning
        let is_message_end = matches!(markup, Markup::Token { role: Role::MessageEnd, .. });
        match action {
            MarkupAction::Leave(len) if is_message_end && self.stays_in_reasoning() => {
                MarkupAction::Drop(len)
            }
            MarkupAction::Leave(_) if is_message_end && self.is_known_to_be_closed() => MarkupAction::Text,
            MarkupAction::Drop(_) if self.is_known_to_be_closed() => MarkupAction::Text,
            _ => action,
        }
    }

    fn choose_any_action(&self, markup: &Markup<'_>, at: usize, line_start: bool) -> MarkupAction {
        let len = markup.len();
        // Markup in a fence that text follows is shown, not executed. Only the token that ends the output is none of it.
        // Case: dialects/hostile/example-in-fence
        if self.is_in_fence() {
            let ends_turn = matches!(
                markup,
                Markup::Token {
                    role: Role::Noise | Role::Tail | Role::Stop | Role::Turn | Role::MessageEnd,
                    ..
                }
            );
            return if ends_turn { MarkupAction::Tail(len) } else { MarkupAction::Text };
        }
        match markup {
            Markup::Token { role, spelling, .. } => {
                match role {
                    Role::Open(_) | Role::Maybe(_) => MarkupAction::Block,
                    Role::Begin(kind) => MarkupAction::Enter(*kind, len),
                    // Nothing was opened. What people can type is text then.
                    // Case: dialects/tool_calls_array/lone-final-response
                    Role::End if !self.has_open_section() && !self.is_first(at) => {
                        if spelling.starts_with('[') { MarkupAction::Text } else { MarkupAction::Drop(len) }
                    }
                    Role::Header(header) => MarkupAction::Header(*header, len),
                    Role::MessageEnd if *spelling == "<|message_sep|>" => MarkupAction::Separator(len),
                    Role::End | Role::MessageEnd => MarkupAction::Leave(len),
                    // Without a call it is no result, and the text talks about it.
                    // Case: dialects/hostile/result-without-call
                    Role::Result if self.calls > 0 || self.is_first(at) && spelling.starts_with('<') => {
                        MarkupAction::Answer(false, len)
                    }
                    Role::Part(_) | Role::OpenTag(_) | Role::CloseTag(_) => MarkupAction::Orphan(len),
                    Role::Turn if self.text_kind == TextKind::Content => MarkupAction::Turn(len),
                    Role::Tail | Role::Result | Role::Turn => MarkupAction::Tail(len),
                    Role::Hidden => MarkupAction::Hide(len),
                    Role::Close | Role::Message | Role::Noise | Role::Stop => MarkupAction::Drop(len),
                }
            }
            Markup::Tag(tag, word) => match (tag.close, word) {
                (false, Word::Think) if self.opens_reasoning(line_start, tag.word) => {
                    MarkupAction::Enter(TextKind::Reasoning, len)
                }
                // Before any text, it closes what the prompt opened.
                // Case: dialects/hostile/lone-closing-think
                (true, Word::Think) if self.text_kind == TextKind::Reasoning || self.is_first(at) => {
                    MarkupAction::Leave(len)
                }
                (true, Word::Think) if self.has_reasoned => MarkupAction::Drop(len),
                _ if self.addressed && is_shown_to_user(tag.space) => MarkupAction::Text,
                (false, Word::Frame | Word::Call | Word::Declarations) => MarkupAction::Block,
                (false, Word::Name) if line_start && tag.attributes.is_empty() => MarkupAction::Block,
                (false, Word::Result) if self.calls > 0 => MarkupAction::Answer(true, len),
                // Only white space comes between the reasoning and the frame of the answer.
                // Case: dialects/ernie45/answer
                (false, Word::Answer)
                    if self.answer == AnswerFrame::Next
                        && tag.is_bare()
                        && self.buffer[..at].trim().is_empty() =>
                {
                    MarkupAction::Frame(AnswerFrame::Inside, len)
                }
                (true, Word::Answer) if self.answer == AnswerFrame::Inside || self.is_after_call(at) => {
                    MarkupAction::Frame(AnswerFrame::Outside, len)
                }
                (true, Word::Call | Word::Parameter | Word::Value) if self.calls > 0 => {
                    MarkupAction::Drop(len)
                }
                // A marker that closes nothing is text.
                // Case: dialects/hostile/lone-closer-of-calls
                (true, Word::Frame) if tag.word.len() > 4 && self.closes_something() => {
                    MarkupAction::Drop(len)
                }
                _ => MarkupAction::Text,
            },
        }
    }

    /// Whether only white space is between the last call and this position.
    fn is_after_call(&self, at: usize) -> bool {
        self.calls > 0 && self.skip_space && self.buffer[..at].trim().is_empty()
    }

    /// Whether there is something that the end of a section can end: a section that was opened, reasoning, or a message.
    fn has_open_section(&self) -> bool {
        self.is_in_section || self.has_reasoned || self.text_kind == TextKind::Reasoning
    }

    /// Whether a closing marker may belong to a call, or to an opening marker that was dropped.
    fn closes_something(&self) -> bool {
        self.calls > 0 || self.dropped_openers > 0
    }

    /// Whether this tag opens reasoning. `think` does so anywhere. Other words for it are ordinary words unless a line
    /// begins with them.
    // Case: dialects/hostile/thought-after-a-sentence
    pub(super) fn opens_reasoning(&self, line_start: bool, word: &str) -> bool {
        let is_own_word = self.reasoning_words.is_some_and(|words| words.tags.contains(&word));
        word.eq_ignore_ascii_case("think")
            || line_start
            || is_own_word
            || self.text_kind == TextKind::Reasoning
    }

    pub(super) fn apply_action(&mut self, at: usize, act: MarkupAction, done: bool) -> bool {
        match act {
            MarkupAction::Text => self.unmarked_or_skip(at, done),
            MarkupAction::Block => self.read_block(at, false, done),
            MarkupAction::Enter(kind, len) => {
                if kind == TextKind::Reasoning && self.note_opened_reasoning() {
                    return true;
                }
                self.flush_before(at);
                self.consume(len);
                self.enter_text(kind);
                self.is_reasoning_enclosed = kind == TextKind::Reasoning;
                self.is_in_section = true;
                self.scanned = 0;
                true
            }
            MarkupAction::Leave(len) => {
                if self.text_kind == TextKind::Reasoning && self.note_closed_reasoning() {
                    return true;
                }
                self.flush_before(at);
                self.consume(len);
                if !self.eager {
                    self.drop_reasoning_calls();
                }
                self.enter_text(TextKind::Content);
                self.scanned = 0;
                true
            }
            MarkupAction::Header(header, len) => self.read_header(at, header, len, done),
            MarkupAction::Separator(len) => self.read_separator(at, len, done),
            MarkupAction::Answer(tagged, len) => {
                self.note_removed(at..at + len);
                self.flush_before(at);
                self.consume(len);
                self.note_interruption();
                self.mode =
                    Mode::ToolResult(ResultBody { is_token: !tagged, is_invented: true, has_text: false });
                true
            }
            MarkupAction::Turn(len) => match self.ends_output(at + len, done) {
                Step::Got(()) => self.drop_token(at, len),
                Step::More => {
                    self.hold(at);
                    false
                }
                Step::No => self.begin_turn_of_other(at),
            },
            MarkupAction::Orphan(len) if self.buffer[at..].starts_with('<') => self.drop_token(at, len),
            MarkupAction::Orphan(_) => self.skip_candidate(at),
            MarkupAction::Tail(len) => match self.ends_output(at + len, done) {
                Step::Got(()) => self.drop_token(at, len),
                Step::More => {
                    self.hold(at);
                    false
                }
                Step::No => self.skip_candidate(at),
            },
            MarkupAction::Frame(answer, len) => {
                self.drop_frame(at, len);
                self.answer = answer;
                true
            }
            MarkupAction::Drop(len) => self.drop_token(at, len),
            MarkupAction::Hide(len) => self.hide_token(at, len),
        }
    }

    /// Removes markup from text that goes on after it.
    pub(super) fn hide_token(&mut self, at: usize, len: usize) -> bool {
        self.note_removed(at..at + len);
        self.flush_before(at);
        self.consume(len);
        self.scanned = 0;
        true
    }

    /// Whether nothing but tokens that mean nothing follows, or the turn of another speaker. A run of such tokens is read once.
    fn ends_output(&mut self, from: usize, done: bool) -> Step<()> {
        let known = self.last_tokens.contains(&(self.offset + from));
        let start = if known { self.last_tokens.start } else { self.offset + from };
        let mut at = if known { self.last_tokens.end - self.offset } else { from };
        let answer = loop {
            let rest = self.buffer[at..].trim_start();
            if rest.is_empty() {
                break if done { Step::Got(()) } else { Step::More };
            }
            let token_at = self.buffer.len() - rest.len();
            match token::read(rest, done, self.custom.table()) {
                Step::More => break Step::More,
                Step::Got(Markup::Token { role: Role::Stop | Role::Turn, .. }) if !self.is_in_fence() => {
                    break Step::Got(());
                }
                Step::Got(Markup::Token {
                    role: Role::Tail | Role::Noise | Role::MessageEnd | Role::Stop | Role::Turn,
                    len,
                    ..
                }) => at = token_at + len,
                _ => break Step::No,
            }
        };
        self.attempts.charge(self.offset + at - if known { self.last_tokens.end } else { start });
        self.last_tokens = start..self.offset + at;
        answer
    }

    pub(super) fn unmarked_or_skip(&mut self, at: usize, done: bool) -> bool {
        self.read_unmarked(at, self.begins_line(at), done)
    }

    /// The end of a marker that the text only talks about: there are words on both sides of it. For a marker that people can
    /// type, they need not be those of one sentence.
    // Case: dialects/hostile/marker-in-prose
    // Case: dialects/vcp/in-a-sentence
    fn mentioned_marker_end(&self, at: usize, done: bool) -> Step<usize> {
        let before = self.buffer[..at].chars().next_back().or(self.last);
        let is_typed = self.buffer[at..].starts_with('[');
        // Of reasoning, only the last character is kept.
        // Case: dialects/hostile/marker-in-a-thought
        let is_in_sentence = || self.text_kind == TextKind::Reasoning || self.may_be_in_sentence(at);
        if before != Some(' ') || !is_typed && !is_in_sentence() {
            return Step::No;
        }
        let Step::Got(markup) = token::read(&self.buffer[at..], done, self.custom.table()) else {
            return Step::No;
        };
        let rest = &self.buffer[at + markup.len()..];
        let words = rest.trim_start_matches(' ');
        let length = words.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let word = &words[..length];
        match words.as_bytes().get(length) {
            None if !done && length <= 64 => Step::More,
            _ if words.len() == rest.len() || length == 0 || self.mender.knows_tool(word) => Step::No,
            Some(b'{' | b'[' | b'(') => Step::No,
            None if done && self.mender.may_begin_tool_name(word) => Step::No,
            _ => Step::Got(at + markup.len()),
        }
    }

    /// Reads a frame for calls, or text that looks like one. If it is only shown, all of it is text.
    pub(super) fn read_block(&mut self, at: usize, is_shown: bool, done: bool) -> bool {
        if self.is_exhausted() {
            return self.skip_candidate(at);
        }
        match self.mentioned_marker_end(at, done) {
            Step::Got(end) => return self.show_text(end),
            Step::More => {
                self.hold(at);
                return false;
            }
            Step::No => {}
        }
        if !self.attempts.may_retry(self.buffer.len() - at, done) {
            self.hold(at);
            self.continue_open_string();
            return false;
        }
        let (answer, spent) = self.read_in_windows(at, done, |input| {
            let (judge, frames, stopped) = (&self.judge, Frames::default(), self.has_stopped());
            Reader { input, judge, frames, start: at, name: None, stopped }.read(at)
        });
        self.attempts.pay(spent);
        match answer {
            Step::Got(block) if is_shown => self.show_calls(at, &block, done),
            Step::More if is_shown => self.hold_and_wait(at),
            Step::No if is_shown => self.unmarked_or_skip(at, done),
            Step::Got(block) if !self.must_wait(&block, done) => {
                if !block.calls.is_empty() && self.is_labelled_example(at) {
                    return self.show_calls(at, &block, done);
                }
                let asked = self.judge.work();
                match self.shows_call(at, &block, done) {
                    Step::Got(()) => return self.show_calls(at, &block, done),
                    Step::More => {
                        // What follows was read as well, and it will be read again.
                        self.attempts.effort += self.judge.work() - asked;
                        return self.hold_and_wait(at);
                    }
                    Step::No => {}
                }
                if self.leaves_shown_calls(&block.calls) {
                    return true;
                }
                self.context = CallContext::Framed(Frames::default(), None);
                self.accept_block(at, block, Evidence::Marked);
                true
            }
            Step::Got(_) | Step::More => {
                let is_example =
                    (self.delivers_live() || self.previews.is_on()) && self.is_labelled_example(at);
                let at = self.hold(at);
                self.wait_for_more(at);
                self.context = CallContext::Framed(Frames::default(), None);
                if !is_example {
                    self.send_stable_arguments(at);
                }
                false
            }
            Step::No if self.is_mentioned_opener(at, done) == Step::Got(()) => self.skip_candidate(at),
            Step::No if self.is_mentioned_opener(at, done) == Step::More => {
                self.hold(at);
                false
            }
            Step::No if self.is_truncated_call(at, &Frames::default()) => {
                self.emit_truncated_call(at, String::new(), Frames::default());
                true
            }
            Step::No if self.refuse_begun_call_in(at, CallContext::Framed(Frames::default(), None)) => true,
            Step::No => {
                if let Some(decided) = self.refuse_unreadable_frame(at, done) {
                    return decided;
                }
                self.reject_block(at, done)
            }
        }
    }

    /// Handles what looked like a frame for calls and is not.
    fn reject_block(&mut self, at: usize, done: bool) -> bool {
        match token::read(&self.buffer[at..], done, self.custom.table()) {
            Step::Got(Markup::Token { spelling, len, .. })
                if INTERPRETER_CODE.contains(spelling) && self.judge.interpreter().is_some() =>
            {
                self.read_interpreter_code(at, len, done)
            }
            // A special token is markup even if it opens nothing.
            // Case: dialects/hostile/lone-opener
            Step::Got(Markup::Token { role: Role::Open(_), len, .. }) => self.drop_opener(at, len),
            Step::Got(Markup::Tag(tag, Word::Call)) if done && self.calls > 0 && tag.name().is_some() => {
                let name = tag.name().unwrap_or_default().to_owned();
                self.emit_unreadable_call(at, name)
            }
            _ => self.unmarked_or_skip(at, done),
        }
    }
}

impl Stream {
    /// Reads code after its marker, up to the end of the turn.
    // Case: dialects/llama_builtin/code
    fn read_interpreter_code(&mut self, at: usize, len: usize, done: bool) -> bool {
        let Some((name, key)) = self.judge.interpreter() else { return self.drop_token(at, len) };
        let from = at + len;
        let end = ["<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>"]
            .iter()
            .filter_map(|mark| self.buffer[from..].find(mark))
            .min();
        let Some(length) = end.or_else(|| done.then_some(self.buffer.len() - from)) else {
            self.hold(at);
            return false;
        };
        let place = from..from + length;
        let value = RawValue::String(self.buffer[place.clone()].to_owned());
        let call = RawCall {
            name,
            id: None,
            arguments: RawArguments::Fields(vec![Field { key, value, at: place.clone() }]),
            at: at..place.end,
            ending: if end.is_some() { Ending::Complete } else { Ending::Open },
            dialect: recognised(Recognition::InterpreterCode),
            damaged: false,
            open: None,
        };
        self.accept_block(at, Block::one(call), Evidence::Marked);
        true
    }
}

/// What to do with markup in text.
#[derive(Debug, Clone, Copy)]
pub(super) enum MarkupAction {
    /// Treat it as text.
    Text,
    /// Read a frame for calls.
    Block,
    Enter(TextKind, usize),
    Leave(usize),
    Header(Header, usize),
    Separator(usize),
    /// Skip the result of a tool. Whether a tag closes it.
    Answer(bool, usize),
    /// Part of a call whose beginning is missing. A special token is dropped; a word in brackets may be text.
    Orphan(usize),
    /// Drop it if the output ends after it.
    Tail(usize),
    /// The same. Otherwise it begins the turn of another speaker.
    Turn(usize),
    /// A frame around the answer.
    Frame(AnswerFrame, usize),
    Drop(usize),
    /// The same, and the text around it is continuous.
    Hide(usize),
}
