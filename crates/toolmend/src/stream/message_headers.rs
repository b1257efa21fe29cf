//! Messages with a header, and results that only a tool can give.
//!
//! This module follows a header to the text, the reasoning or the call that it announces. The readers of headers are in
//! `dialect`.

use super::{CallContext, Mode, ResultBody, Stream};
use crate::dialect::block::{Block, Frames, Reader};
use crate::dialect::call_message::UNNAMED_CALL;
use crate::dialect::input::{Input, Step};
use crate::dialect::message_header::{self, Route};
use crate::dialect::raw_call::{Ending, RawArguments, RawCall};
use crate::dialect::section;
use crate::dialect::table::{BareHeader, Recognition, recognised};
use crate::dialect::token::{self, Header, Markup, Role, TextKind, Word};
use crate::intent::Evidence;

impl Stream {
    /// Reads an output that begins inside a header: ` to=f<|message|>` and `analysis…assistantfinal…`.
    pub(super) fn read_implied_header(&mut self, at: usize, done: bool) -> Step<()> {
        match self.read_implied_recipient(at, done) {
            Step::No => {}
            other => return other,
        }
        let rest = &self.buffer[at..];
        if !done && ("to=".starts_with(rest) || "thought\n".starts_with(rest)) {
            return Step::More;
        }
        // The label of a reasoning section whose marker was lost.
        if rest.starts_with("thought\n") {
            self.consume(at + "thought\n".len());
            self.scanned = 0;
            self.enter_text(TextKind::Reasoning);
            return Step::Got(());
        }
        if !rest.starts_with("to=") {
            return Step::No;
        }
        let known = |name: &str| self.mender.knows_tool(name);
        match message_header::read(Input::new(&self.buffer, done, self.custom.table()), at, &known) {
            Step::Got((Route::Other, _)) | Step::No => Step::No,
            Step::Got((route, end)) => {
                self.consume(end);
                self.scanned = 0;
                self.follow_route(route);
                Step::Got(())
            }
            Step::More => Step::More,
        }
    }

    /// Reads `f\n<|content|>` after a prompt that ends in `<|recipient|>`, `all\n` after one that ends in `>>>`, and a
    /// channel whose special tokens were stripped.
    // Case: dialects/functionary_v32/all-only
    fn read_implied_recipient(&mut self, at: usize, done: bool) -> Step<()> {
        const CONTENT: &str = "<|content|>";
        const ALL_LINE: &str = ">>>all\n";
        // More white space than that follows no header. It may arrive in many pieces, each of which asks again.
        const MAX_BLANKS: usize = 64;
        if self.may_begin_with(BareHeader::Channel) {
            match self.read_stripped_channel(at, at, done) {
                Step::No => {}
                other => return other,
            }
        }
        let rest = &self.buffer[at..];
        // Servers that put the end of the prompt back leave the whole header.
        // Case: dialects/functionary_v32/all-with-marker
        if rest.starts_with(ALL_LINE) && !self.mender.tools().is_empty() {
            self.consume(at + ALL_LINE.len());
            self.scanned = 0;
            self.enter_text(TextKind::Content);
            return Step::Got(());
        }
        if !done && ALL_LINE.starts_with(rest) {
            return Step::More;
        }
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        let (word, after) = (rest[..length].to_owned(), rest[length..].trim_start());
        if length == 0 || length > 64 || rest.len() - length - after.len() > MAX_BLANKS {
            return Step::No;
        }
        if self.may_begin_with(BareHeader::AllLine) && word == "all" && rest[length..].starts_with('\n') {
            self.consume(at + length + 1);
            self.scanned = 0;
            self.enter_text(TextKind::Content);
            return Step::Got(());
        }
        if after.starts_with(CONTENT) {
            self.consume(at + rest.len() - after.len() + CONTENT.len());
            self.scanned = 0;
            self.enter_recipient(word);
            return Step::Got(());
        }
        if !done && CONTENT.starts_with(after) { Step::More } else { Step::No }
    }

    /// Enters the text of a message. While the reasoning goes on around it, it is part of the reasoning.
    fn enter_message(&mut self, kind: TextKind) {
        if self.stays_in_reasoning() {
            self.note_interruption();
            self.line_start = true;
        } else {
            self.enter_text(kind);
        }
    }

    /// Enters a message for this recipient.
    fn enter_recipient(&mut self, name: String) {
        self.enter_message(TextKind::Content);
        if name != "all" {
            self.mode =
                Mode::Body(name, Frames { markers: vec!["<|recipient|>".to_owned()], ..Frames::default() });
        }
    }

    /// Whether the dialect of the output is known to leave this of a message header.
    fn may_begin_with(&self, header: BareHeader) -> bool {
        [self.requested, self.model_dialect].iter().flatten().any(|row| row.bare_header == header)
    }

    /// Reads what is left of headers without their tokens: `assistantcommentary to=functions.f json{…}` and its
    /// relatives. The name of the channel is at `from`.
    // Case: dialects/harmony/malformed-no-tokens
    pub(super) fn read_stripped_channel(&mut self, at: usize, from: usize, done: bool) -> Step<()> {
        const CHANNELS: &[&str] = &["analysis", "commentary", "final"];
        let rest = &self.buffer[from..];
        if !done && CHANNELS.iter().any(|channel| channel.len() > rest.len() && channel.starts_with(rest)) {
            return Step::More;
        }
        let Some(channel) = CHANNELS.iter().find(|channel| rest.starts_with(**channel)) else {
            return Step::No;
        };
        let after = &rest[channel.len()..];
        let words = after.trim_start_matches(' ');
        let mut end = from + channel.len();
        let mut name = None;
        if !done && words.len() < 3 && "to=".starts_with(words) {
            return Step::More;
        }
        // At the start of an output the word may be an ordinary one. After the name of a channel, text follows without
        // a blank.
        let glued = from > at || after.starts_with(char::is_uppercase);
        if !glued && !words.starts_with("to=") {
            return Step::No;
        }
        if let Some(recipient) = words.strip_prefix("to=") {
            // After the name comes the kind of the body, then the body.
            let Some(brace) = recipient.find('{') else {
                return if done || recipient.len() > 128 { Step::No } else { Step::More };
            };
            let header = &recipient[..brace];
            let called = header.split_whitespace().next().unwrap_or("");
            name = Some(called.strip_prefix("functions.").unwrap_or(called).to_owned());
            end = self.buffer.len() - recipient.len() + brace;
        }
        self.flush_before(at);
        self.consume(end - at);
        self.scanned = 0;
        self.stripped = true;
        self.enter_text(if *channel == "analysis" && name.is_none() {
            TextKind::Reasoning
        } else {
            TextKind::Content
        });
        if let Some(name) = name {
            self.mode = Mode::Body(name, Frames::default());
        }
        Step::Got(())
    }

    pub(super) fn follow_route(&mut self, route: Route) {
        match route {
            Route::User => {
                self.enter_message(TextKind::Content);
                self.addressed = true;
            }
            Route::Content => self.enter_message(TextKind::Content),
            Route::Reasoning => self.enter_message(TextKind::Reasoning),
            Route::Call(name) => {
                self.enter_message(TextKind::Content);
                let frames = Frames { markers: vec!["<|message|>".to_owned()], ..Frames::default() };
                self.mode = Mode::Body(name, frames);
            }
            Route::Ignored => self.mode = Mode::ToolResult(ResultBody::default()),
            // What another speaker says was never entered.
            Route::Other => {}
        }
    }

    pub(super) fn read_header(&mut self, at: usize, header: Header, len: usize, done: bool) -> bool {
        let input = Input::new(&self.buffer, done, self.custom.table());
        match header {
            Header::Channel => {
                let known = |name: &str| self.mender.knows_tool(name);
                match message_header::read(input, at, &known) {
                    Step::Got((Route::Other, _)) => self.begin_turn_of_other(at),
                    Step::Got((route, end)) => {
                        self.flush_before(at);
                        self.consume(end - at);
                        self.scanned = 0;
                        self.follow_route(route);
                        true
                    }
                    Step::More => {
                        // Otherwise every byte would be another attempt.
                        self.attempts.charge(self.buffer.len() - at);
                        self.hold_and_wait(at)
                    }
                    Step::No => self.drop_token(at, len),
                }
            }
            Header::Element => self.read_section(at, len, done),
            Header::Recipient => self.read_recipient(at, len, done),
            Header::Author => self.read_author(at, len, done),
            Header::Label => self.read_label(at, len, done),
        }
    }

    /// Drops an opening marker. The marker that closes it is not text then.
    pub(super) fn drop_opener(&mut self, at: usize, len: usize) -> bool {
        self.dropped_openers += 1;
        self.drop_token(at, len)
    }

    pub(super) fn drop_token(&mut self, at: usize, len: usize) -> bool {
        self.note_removed(at..at + len);
        self.drop_frame(at, len)
    }

    /// Drops a marker that is part of a frame.
    pub(super) fn drop_frame(&mut self, at: usize, len: usize) -> bool {
        self.flush_before(at);
        self.consume(len);
        self.scanned = 0;
        self.note_interruption();
        true
    }

    /// Reads `<|open|>think<|sep|>`.
    pub(super) fn read_section(&mut self, at: usize, len: usize, done: bool) -> bool {
        let input = Input::new(&self.buffer, done, self.custom.table());
        let section = match section::read_section(input, at) {
            Step::Got(section) => section,
            Step::More => {
                self.hold(at);
                return false;
            }
            Step::No => return self.drop_token(at, len),
        };
        let (close, word, end) = (section.close, section.word.to_owned(), section.end);
        if word == "call" && !close {
            if !self.attempts.may_retry(self.buffer.len() - at, done) {
                self.hold(at);
                self.continue_open_string();
                return false;
            }
            let (answer, spent) = self.read_in_windows(at, done, |input| section::read_call(input, at));
            self.attempts.pay(spent);
            return match answer {
                Step::Got(call) => {
                    let frames = Frames { markers: vec!["<|open|>".to_owned()], ..Frames::default() };
                    self.context = CallContext::Section;
                    self.accept_block(at, Block { frames, ..Block::one(call) }, Evidence::Marked);
                    self.leave_area()
                }
                Step::More => {
                    let at = self.hold(at);
                    self.wait_for_more(at);
                    self.context = CallContext::Section;
                    self.send_stable_arguments(at);
                    false
                }
                Step::No if self.refuse_begun_call_in(at, CallContext::Section) => self.leave_area(),
                Step::No => self.drop_token(at, len),
            };
        }
        let is_reasoning = word == "think";
        if is_reasoning && close && self.text_kind == TextKind::Reasoning && self.note_closed_reasoning() {
            return true;
        }
        self.flush_before(at);
        self.consume(end - at);
        self.scanned = 0;
        if is_reasoning && !close {
            self.enter_text(TextKind::Reasoning);
            self.is_reasoning_enclosed = true;
        } else if is_reasoning {
            self.enter_text(TextKind::Content);
        } else {
            self.enter_message(TextKind::Content);
        }
        true
    }

    /// Reads `<|from|>assistant\n<|recipient|>f\n<|content|>`.
    pub(super) fn read_recipient(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let Some(length) = rest.find("<|") else {
            if !done {
                self.hold(at);
                return false;
            }
            return self.drop_token(at, len);
        };
        // A header is one line, and a token follows it. Anything else is text.
        let word = rest[..length].trim().to_owned();
        if word.contains(['\n', ' ']) {
            return self.drop_token(at, len);
        }
        let recipient = self.buffer[at..].starts_with("<|recipient|>");
        if !recipient && !matches!(word.as_str(), "assistant" | "") {
            return self.begin_turn_of_other(at);
        }
        self.flush_before(at);
        self.consume(len + length);
        self.scanned = 0;
        self.note_interruption();
        if recipient {
            self.enter_recipient(word);
        } else {
            self.enter_message(TextKind::Content);
        }
        true
    }

    /// Reads `<|message_model|>f<|content_invoke_tool_json|>`. The author is repeated in the body.
    pub(super) fn read_author(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let word = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        if !done && "<|".starts_with(&rest[word..]) {
            self.hold(at);
            return false;
        }
        let length = if rest[word..].starts_with("<|") { word } else { 0 };
        self.flush_before(at);
        self.consume(len + length);
        self.scanned = 0;
        self.enter_message(TextKind::Content);
        true
    }

    /// Reads `<|channel>thought\n…<channel|>`.
    pub(super) fn read_label(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if word == rest.len() && !done {
            self.hold(at);
            return false;
        }
        // Without a label the token leaked.
        let known = matches!(&rest[..word], "thought" | "thoughts" | "thinking" | "analysis" | "think");
        let labelled = word > 0 && word < 24 && (known || rest[word..].starts_with('\n'));
        self.flush_before(at);
        self.consume(len + if labelled { word } else { 0 });
        self.scanned = 0;
        self.enter_message(if labelled { TextKind::Reasoning } else { TextKind::Content });
        true
    }

    /// Reads `<|message_sep|>\n\nfunction call<|role_sep|>`.
    pub(super) fn read_separator(&mut self, at: usize, len: usize, done: bool) -> bool {
        const ROLE: &str = UNNAMED_CALL;
        let rest = &self.buffer[at + len..];
        let trimmed = rest.trim_start();
        if !done && ROLE.starts_with(trimmed) {
            self.hold(at);
            return false;
        }
        let call = trimmed.starts_with(ROLE);
        let length = rest.len() - trimmed.len() + ROLE.len();
        self.flush_before(at);
        self.consume(if call { len + length } else { len });
        self.scanned = 0;
        self.enter_message(TextKind::Content);
        if call {
            self.mode =
                Mode::Body(String::new(), Frames { markers: vec![ROLE.to_owned()], ..Frames::default() });
        }
        true
    }

    /// Reads the body of a message that is a call.
    pub(super) fn advance_body(&mut self, done: bool) -> bool {
        if !self.attempts.may_retry(self.buffer.len(), done) {
            self.continue_open_string();
            return false;
        }
        let Mode::Body(name, frames) = self.mode.clone() else { return false };
        let input = Input::new(&self.buffer, done, self.custom.table());
        let named = (!name.is_empty()).then(|| name.clone());
        let at = input.skip_whitespace(0);
        // A frame inside the message names the call itself.
        let names_itself = match input.markup(at) {
            Step::More => return false,
            Step::Got(markup) => markup.opens(),
            Step::No => false,
        };
        let (answer, spent) = self.read_in_windows(0, done, |input| {
            let (judge, frames, stopped) = (&self.judge, frames.clone(), self.has_stopped());
            let name = if names_itself { None } else { named.clone() };
            Reader { input, judge, frames, start: 0, name, stopped }.read(0)
        });
        self.attempts.pay(spent);
        match answer {
            Step::Got(block) if !self.must_wait(&block, done) => {
                self.context = CallContext::Framed(frames, if names_itself { None } else { named });
                self.accept_block(0, block, Evidence::Marked);
                true
            }
            Step::Got(_) | Step::More => {
                self.wait_for_more(0);
                self.context = CallContext::Framed(frames, if names_itself { None } else { named });
                self.send_stable_arguments(0);
                false
            }
            Step::No => {
                self.context = CallContext::Framed(frames, if names_itself { None } else { named.clone() });
                self.read_plain_body(named, done)
            }
        }
    }

    /// Reads a message for a tool that is neither JSON nor tags: code, or words.
    pub(super) fn read_plain_body(&mut self, name: Option<String>, done: bool) -> bool {
        let end = [
            "<|call|>",
            "<|end|>",
            "<|return|>",
            "<|start|>",
            "<|eom|>",
            "<|eot|>",
            "<|channel|>",
            "<|from|>",
        ]
        .iter()
        .filter_map(|mark| self.buffer.find(mark))
        .min();
        let Some(length) = end.or_else(|| done.then_some(self.buffer.len())) else { return false };
        let Some(name) = name else { return self.leave_area() };
        let call = RawCall {
            name,
            id: None,
            arguments: RawArguments::Text(0..self.buffer[..length].trim_end().len()),
            at: 0..length,
            ending: if end.is_some() { Ending::Complete } else { Ending::Open },
            dialect: recognised(Recognition::PlainMessage),
            damaged: false,
            open: None,
        };
        self.accept_block(0, Block { end: length, ..Block::one(call) }, Evidence::Marked);
        true
    }

    /// Drops the result of a tool, up to its closing marker or the next markup that begins something. What the model writes
    /// after a result that it invented rests on it, so nothing in there is a call.
    // Case: dialects/hostile/invented-result
    // Case: dialects/hostile/call-after-invented-result
    pub(super) fn advance_tool_result(&mut self, done: bool) -> bool {
        let Mode::ToolResult(body) = self.mode else { return false };
        let mut at = 0;
        while let Some(offset) = self.buffer[at..].find('<') {
            let mark = at + offset;
            at = mark + 1;
            match token::read(&self.buffer[mark..], done, self.custom.table()) {
                Step::More => {
                    self.remove_result(mark);
                    return false;
                }
                Step::Got(markup) => {
                    let ends = match (&markup, body.is_token) {
                        (Markup::Tag(tag, Word::Result), false) => tag.close,
                        (Markup::Token { role: Role::MessageEnd, .. }, _) => true,
                        (
                            Markup::Token { role: Role::Open(_) | Role::Begin(_) | Role::Header(_), .. },
                            true,
                        ) => {
                            self.remove_result(mark);
                            return self.leave_tool_result();
                        }
                        _ => false,
                    };
                    if ends {
                        let len = markup.len();
                        self.remove_result(mark);
                        self.remove_front(len);
                        self.note_interruption();
                        return self.leave_tool_result();
                    }
                }
                Step::No => {}
            }
        }
        self.remove_result(self.buffer.len());
        false
    }

    /// Removes the first bytes of the buffer, which are part of a result.
    fn remove_result(&mut self, length: usize) {
        let has_text = !self.buffer[..length].trim().is_empty();
        if let Mode::ToolResult(body) = &mut self.mode {
            body.has_text |= has_text;
        }
        self.remove_front(length);
    }

    fn leave_tool_result(&mut self) -> bool {
        match self.mode {
            Mode::ToolResult(ResultBody { is_invented: true, has_text: true, .. }) => {
                self.enter_turn_of_other();
                true
            }
            _ => self.leave_area(),
        }
    }

    /// Removes the first bytes of the buffer from the text.
    fn remove_front(&mut self, length: usize) {
        self.note_removed(0..length);
        self.consume(length);
    }
}
