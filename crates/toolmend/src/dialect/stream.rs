//! The machine: text in any pieces, events out.
//!
//! It keeps what is not decided in a buffer and asks pure readers about it. A reader decides the same way however much text
//! follows, so pieces cannot change the result; they only change when something is told. Readers start over when more
//! text comes, as often as a budget linear in the input allows.

use super::block::{Area, Block, Reader};
use super::channel::{self, Route};
use super::inferred::{self, Rules};
use super::judge::{self, Found};
use super::raw::{Ending, Input, RawArguments, RawCall, Step};
use super::table::{self, Dialect, Form};
use super::token::{self, Header, Lane, Markup, Role, Word};
use super::xtml;
use crate::mender::Mender;
use crate::policy::Preset;
use crate::syntax::Finish;
use crate::turn::{Call, Event, Source, Turn, TurnOptions};
use crate::verdict::Outcome;

/// How many bytes of content are remembered to tell examples from calls.
const MEMORY: usize = 240;

/// Reads a model's output piece by piece.
///
/// ```
/// use toolmend::{Event, Finish, Mender, TurnOptions};
/// let mender = Mender::new(&serde_json::json!([{"name": "get_time", "parameters": {"type": "object"}}])).unwrap();
/// let mut stream = mender.stream(&TurnOptions::new());
/// let mut events = stream.push("One moment.\n<tool_");
/// events.extend(stream.push("call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>"));
/// events.extend(stream.finish(Finish::Stop));
/// assert_eq!(events[0], Event::Content("One moment.".to_owned()));
/// assert!(matches!(&events[3], Event::CallEnd { call, .. } if call.arguments() == Some("{}")));
/// ```
#[derive(Debug)]
pub struct Stream {
    mender: Mender,
    asked: Option<&'static Dialect>,
    /// The dialect that the model is known for.
    hinted: Option<&'static Dialect>,
    eager: bool,
    off: bool,
    /// Bytes that are no whole character yet.
    partial: Vec<u8>,
    buffer: String,
    /// Where the buffer begins in the output.
    offset: usize,
    /// What stands in the buffer before this place is content, reasoning or nothing, but no call.
    scanned: usize,
    /// The scanned place begins a line.
    line_start: bool,
    mode: Mode,
    lane: Lane,
    /// White space that is told only if text follows.
    space: String,
    /// White space is dropped until text comes.
    skip_space: bool,
    /// No text was told yet in this lane since it began.
    fresh: bool,
    /// The last of the content that was told.
    memory: String,
    in_fence: bool,
    /// The message is addressed to the user, so calls in it are only shown.
    addressed: bool,
    calls: usize,
    /// Calls inside reasoning that has not ended.
    thought: Vec<Call>,
    attempts: Attempts,
    finish: Finish,
    finished: bool,
    events: Vec<Event>,
}

/// What the next text is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    /// Content or reasoning, with markup in it.
    Text,
    /// Between the calls of one place for calls.
    Area(Area, Source),
    /// The body of a call whose message header was read.
    Body(String, Area),
    /// What only a tool can say, up to this closer.
    Answer(Option<&'static str>),
}

/// How often readers start over.
#[derive(Debug, Default)]
struct Attempts {
    received: usize,
    spent: usize,
    /// The length of the text at the last attempt that wanted more.
    waiting: Option<usize>,
}

impl Attempts {
    /// Whether to try again with this much text. `news`: something came that could end a call.
    fn allowed(&self, length: usize, done: bool, news: bool) -> bool {
        let Some(last) = self.waiting else { return true };
        done || length >= last + last / 4 + 64 || (news && self.spent < 4 * self.received + 4096)
    }

    fn exhausted(&self) -> bool {
        self.spent > 64 * self.received + (1 << 16)
    }
}

impl Mender {
    /// Takes a whole model output apart.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!([{
    ///     "name": "add",
    ///     "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
    /// }])).unwrap();
    /// let text = "Sure.\n<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>";
    /// let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
    /// assert_eq!(turn.content, "Sure.");
    /// assert_eq!(turn.calls[0].arguments(), Some(r#"{"a": 1}"#));
    /// ```
    pub fn turn(&self, text: &str, options: &TurnOptions, finish: Finish) -> Turn {
        let mut stream = self.stream(options);
        let mut turn = Turn::default();
        turn.extend(stream.push(text));
        turn.extend(stream.finish(finish));
        turn
    }

    /// Starts to read an output piece by piece.
    pub fn stream(&self, options: &TurnOptions) -> Stream {
        Stream::new(self.clone(), options)
    }
}

impl Stream {
    fn new(mender: Mender, options: &TurnOptions) -> Self {
        let mut events = Vec::new();
        let name = options.dialect.as_deref().filter(|name| *name != "auto");
        let asked = name.and_then(table::by_name);
        if let (Some(name), None) = (name, asked) {
            events.push(Event::Note(format!(
                "there is no dialect {name:?}; everything is found out from the output"
            )));
        }
        let preset = mender.preset();
        let hinted = options.model.as_deref().and_then(super::models::dialect_of).and_then(table::by_name);
        // One family's prompt always opens a section.
        let opened = options.reasoning_open || hinted.is_some_and(|row| row.name == "kimi_k3");
        Stream {
            mender,
            asked,
            hinted,
            eager: preset == Preset::Eager,
            off: preset == Preset::Off,
            partial: Vec::new(),
            buffer: String::new(),
            offset: 0,
            scanned: 0,
            line_start: true,
            mode: Mode::Text,
            lane: if opened { Lane::Reasoning } else { Lane::Content },
            space: String::new(),
            skip_space: opened,
            fresh: true,
            memory: String::new(),
            in_fence: false,
            addressed: false,
            calls: 0,
            thought: Vec::new(),
            attempts: Attempts::default(),
            finish: Finish::Unknown,
            finished: false,
            events,
        }
    }

    /// Takes the next piece, cut anywhere. Bytes that are no UTF-8 become replacement characters.
    pub fn push(&mut self, piece: impl AsRef<[u8]>) -> Vec<Event> {
        if !self.finished {
            self.append(piece.as_ref());
            self.advance(false);
        }
        std::mem::take(&mut self.events)
    }

    /// Ends the output. Everything that was held is told; pushing afterwards does nothing.
    pub fn finish(&mut self, finish: Finish) -> Vec<Event> {
        if !self.finished {
            self.finished = true;
            self.finish = finish;
            if !self.partial.is_empty() {
                self.partial.clear();
                self.buffer.push('\u{FFFD}');
            }
            self.advance(true);
            self.close();
        }
        std::mem::take(&mut self.events)
    }

    fn append(&mut self, piece: &[u8]) {
        self.attempts.received += piece.len();
        let mut bytes = std::mem::take(&mut self.partial);
        let mut rest: &[u8] = if bytes.is_empty() {
            piece
        } else {
            bytes.extend_from_slice(piece);
            &bytes
        };
        let mut left = Vec::new();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.buffer.push_str(text);
                    break;
                }
                Err(error) => {
                    let (valid, behind) = rest.split_at(error.valid_up_to());
                    self.buffer.push_str(&String::from_utf8_lossy(valid));
                    match error.error_len() {
                        None => {
                            left = behind.to_vec();
                            break;
                        }
                        Some(length) => {
                            self.buffer.push('\u{FFFD}');
                            rest = &behind[length..];
                        }
                    }
                }
            }
        }
        self.partial = left;
    }

    /// Decides everything that can be decided.
    fn advance(&mut self, done: bool) {
        if self.off {
            let text = std::mem::take(&mut self.buffer);
            self.tell(Lane::Content, text);
            return;
        }
        loop {
            let before = (self.offset, self.scanned, self.mode.clone());
            let on = match &self.mode {
                Mode::Text => self.text(done),
                Mode::Area(..) => self.area(done),
                Mode::Body(..) => self.body(done),
                Mode::Answer(_) => self.answer(done),
            };
            if !on || before == (self.offset, self.scanned, self.mode.clone()) {
                break;
            }
        }
    }

    /// The end of the output: white space at its end belongs to a text that nothing interrupted.
    fn close(&mut self) {
        for call in std::mem::take(&mut self.thought) {
            self.tell_call(call);
        }
        if !self.skip_space && !self.space.is_empty() {
            let space = std::mem::take(&mut self.space);
            self.tell(self.lane, space);
        }
    }

    /// Drops the first bytes of the buffer.
    fn consume(&mut self, length: usize) {
        self.offset += length;
        self.buffer.drain(..length);
        self.scanned = self.scanned.saturating_sub(length);
        self.attempts.waiting = None;
    }

    /// Tells the first bytes of the buffer as text of the lane, and holds white space at their end.
    fn flush(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let text: String = self.buffer[..length].to_owned();
        self.consume(length);
        let visible = text.trim_end();
        let body = if self.skip_space {
            let body = visible.trim_start();
            let gap = &visible[..visible.len() - body.len()];
            // On one line the blanks on both sides are text; line breaks around a call are framing.
            let one_line =
                !self.fresh && !self.space.is_empty() && !self.space.contains('\n') && !gap.contains('\n');
            if one_line { visible } else { body }
        } else {
            visible
        };
        if body.is_empty() {
            if !self.skip_space {
                self.space.push_str(&text);
            }
            return;
        }
        let mut out = std::mem::take(&mut self.space);
        if self.fresh && self.skip_space {
            out.clear();
        }
        out.push_str(body);
        self.space.push_str(&text[visible.len()..]);
        self.skip_space = false;
        self.fresh = false;
        self.tell(self.lane, out);
    }

    fn tell(&mut self, lane: Lane, text: String) {
        if text.is_empty() {
            return;
        }
        if lane == Lane::Content {
            self.remember(&text);
        }
        match (self.events.last_mut(), lane) {
            (Some(Event::Content(last)), Lane::Content) | (Some(Event::Reasoning(last)), Lane::Reasoning) => {
                last.push_str(&text);
            }
            (_, Lane::Content) => self.events.push(Event::Content(text)),
            (_, Lane::Reasoning) => self.events.push(Event::Reasoning(text)),
        }
    }

    fn remember(&mut self, text: &str) {
        self.memory.push_str(text);
        if self.memory.len() > 2 * MEMORY {
            let mut cut = self.memory.len() - MEMORY;
            while !self.memory.is_char_boundary(cut) {
                cut += 1;
            }
            self.memory.drain(..cut);
        }
    }

    /// Something that is no text stands here: white space around it is framing.
    fn interrupt(&mut self) {
        self.skip_space = true;
    }

    fn enter(&mut self, lane: Lane) {
        self.addressed = false;
        if self.lane != lane {
            self.space.clear();
            self.fresh = true;
        }
        self.lane = lane;
        self.interrupt();
        self.line_start = true;
    }

    // Text.

    fn text(&mut self, done: bool) -> bool {
        let Some(at) = self.next_mark() else {
            self.hold(self.buffer.len());
            return false;
        };
        let input = Input { text: &self.buffer, done };
        let line_start = self.begins_line(at);
        match token::read(input.rest(at), done) {
            Step::More => {
                self.hold(at);
                false
            }
            Step::Got(markup) => {
                let act = self.act(&markup, at, line_start);
                self.markup(at, act, done)
            }
            Step::No => self.unmarked(at, line_start, done),
        }
    }

    /// Whether nothing but one word stands before this place since the text began.
    fn is_word(&self, at: usize) -> bool {
        let word = self.buffer[..at].trim();
        let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        self.skip_space | self.fresh && !word.is_empty() && word.len() <= 64 && word.bytes().all(named)
    }

    /// Tells what stands before a place that is not decided.
    fn hold(&mut self, at: usize) {
        // One word at the start may be the name in front of a marker.
        if !self.finished && self.is_word(at) {
            return;
        }
        self.line_start = self.begins_line(at);
        self.flush(at);
        self.scanned = 0;
    }

    /// Whether only blanks stand before this place in its line.
    fn begins_line(&self, at: usize) -> bool {
        let before = &self.buffer[self.scanned.min(at)..at];
        let blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match before.rsplit_once('\n') {
            Some((_, line)) => blank(line),
            None => self.line_start && blank(before),
        }
    }

    /// The next place where something other than text may begin.
    fn next_mark(&mut self) -> Option<usize> {
        let bytes = self.buffer.as_bytes();
        let mut at = self.scanned;
        let form = self.asked.map(|row| row.form);
        let anywhere = form == Some(Form::Json);
        if self.line_start && at < bytes.len() {
            let first = self.buffer.len() - self.buffer[at..].trim_start_matches([' ', '\t', '\r']).len();
            if first < bytes.len() && bytes[first] != b'\n' {
                return Some(first);
            }
            if first >= bytes.len() {
                return None;
            }
            at = first;
        }
        while at < bytes.len() {
            match bytes[at] {
                b'<' | b'[' | b']' | 0xE2 => return Some(at),
                b'{' if anywhere => return Some(at),
                b'>' if b">>>".starts_with(&bytes[at..bytes.len().min(at + 3)]) => return Some(at),
                b'f' if is_functools(bytes, at) => return Some(at),
                b'\n' => {
                    let rest = &self.buffer[at + 1..];
                    let first = self.buffer.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
                    if first >= bytes.len() {
                        return None;
                    }
                    if bytes[first] != b'\n' {
                        return Some(first);
                    }
                    at = first;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Goes on behind a mark that turned out to be text.
    fn skip_mark(&mut self, at: usize) -> bool {
        let rest = &self.buffer[at..];
        if self.lane == Lane::Content && self.begins_line(at) && rest.starts_with("```") {
            self.in_fence = !self.in_fence;
        }
        let width = rest.chars().next().map_or(1, char::len_utf8);
        self.scanned = at + width;
        self.line_start = false;
        true
    }

    /// Text without a marker, at a place where a call may begin.
    fn unmarked(&mut self, at: usize, line_start: bool, done: bool) -> bool {
        if done && token::is_half(&self.buffer[at..]) {
            self.events.push(Event::Note("the output ends inside a marker".to_owned()));
            return self.drop_token(at, self.buffer.len() - at);
        }
        let inferrable = self.lane == Lane::Content
            && !self.in_fence
            && (!self.mender.tools().is_empty() || self.asked.is_some());
        let first = self.buffer[..at].trim().is_empty() && self.fresh;
        // Some families' prompts end inside a header.
        if first && line_start {
            match self.implied_header(at, done) {
                Step::Got(()) => return true,
                Step::More => {
                    self.hold(at);
                    return false;
                }
                Step::No => {}
            }
        }
        let anywhere = match self.buffer.as_bytes()[at] {
            b'{' => self.asked.is_some(),
            b'[' => self.asked.is_some_and(|row| row.form == Form::Python),
            _ => false,
        };
        let marked = line_start || anywhere || self.buffer.as_bytes()[at] == b'>';
        if !inferrable || !marked {
            return self.skip_mark(at);
        }
        if !self.attempts.allowed(self.buffer.len() - at, done, true) || self.attempts.exhausted() {
            if self.attempts.exhausted() {
                return self.skip_mark(at);
            }
            self.hold(at);
            return false;
        }
        self.attempts.spent += self.buffer.len() - at;
        let rules = Rules {
            judge: &self.mender,
            eager: self.eager,
            asked: self.asked.map(|row| row.form),
            hinted: self.hinted.map(|row| row.form),
            first,
            example: self.announces_example(at),
        };
        match inferred::read(Input { text: &self.buffer, done }, at, rules) {
            Step::Got(block) => {
                let source = if self.asked.is_some() { Source::Explicit } else { Source::Inferred };
                self.found(at, block.calls, block.end, block.area, source);
                true
            }
            Step::More => {
                let waiting = self.buffer.len() - at;
                self.hold(at);
                self.attempts.waiting = Some(waiting);
                false
            }
            Step::No => self.skip_mark(at),
        }
    }

    /// Whether the words before announce that what follows is only shown.
    fn announces_example(&self, at: usize) -> bool {
        const WORDS: &[&str] = &[
            "example",
            "for instance",
            "e.g.",
            "例如",
            "示例",
            "such as",
            "sample",
            "would look",
            "looks like",
        ];
        let before = format!("{}{}", self.memory, &self.buffer[..at]).to_lowercase();
        let mut from = before.len().saturating_sub(MEMORY);
        while !before.is_char_boundary(from) {
            from += 1;
        }
        let tail = before[from..].trim_end();
        let paragraph = tail.rsplit("\n\n").next().unwrap_or(tail);
        WORDS.iter().any(|word| paragraph.contains(word))
    }

    /// ` to=f<|message|>` and `analysis…assistantfinal…`: the output begins inside a header.
    fn implied_header(&mut self, at: usize, done: bool) -> Step<()> {
        let rest = &self.buffer[at..];
        if !done && ("to=".starts_with(rest) || "thought\n".starts_with(rest)) {
            return Step::More;
        }
        // The label of a reasoning section whose marker was lost.
        if rest.starts_with("thought\n") {
            self.consume(at + "thought\n".len());
            self.scanned = 0;
            self.enter(Lane::Reasoning);
            return Step::Got(());
        }
        if !rest.starts_with("to=") {
            return Step::No;
        }
        let known = |name: &str| self.mender.knows(name);
        match channel::read(Input { text: &self.buffer, done }, at, &known) {
            Step::Got((route, end)) => {
                self.consume(end);
                self.scanned = 0;
                self.route(route);
                Step::Got(())
            }
            Step::More => Step::More,
            Step::No => Step::No,
        }
    }

    fn route(&mut self, route: Route) {
        match route {
            Route::User => {
                self.enter(Lane::Content);
                self.addressed = true;
            }
            Route::Content => self.enter(Lane::Content),
            Route::Reasoning => self.enter(Lane::Reasoning),
            Route::Call(name) => {
                self.enter(Lane::Content);
                let area = Area { seen: vec!["<|message|>".to_owned()], ..Area::default() };
                self.mode = Mode::Body(name, area);
            }
            Route::Ignored => self.mode = Mode::Answer(Some("<|message|>")),
        }
    }

    // Markup.

    /// What to do about markup.
    fn act(&self, markup: &Markup<'_>, at: usize, line_start: bool) -> Act {
        let len = markup.len();
        match markup {
            Markup::Token { role, spelling, .. } => match role {
                Role::Open(_) | Role::Maybe(_) => Act::Block,
                Role::Begin(lane) => Act::Enter(*lane, len),
                Role::End => Act::Leave(len),
                Role::Header(header) => Act::Header(*header, len),
                Role::MessageEnd if *spelling == "<|message_sep|>" => Act::Separator(len),
                Role::MessageEnd => Act::Leave(len),
                Role::Result => Act::Answer(None, len),
                Role::Part(_) => Act::Orphan,
                Role::Tail => Act::Tail(len),
                Role::Close | Role::Message | Role::Noise | Role::Stop => Act::Drop(len),
            },
            Markup::Tag(tag, word) => match (tag.close, word) {
                (false, Word::Think) if self.opens_reasoning(at, line_start, tag.word) => {
                    Act::Enter(Lane::Reasoning, len)
                }
                (true, Word::Think) if self.lane == Lane::Reasoning || tag.word == "think" => Act::Leave(len),
                _ if self.addressed && tag.space == "atem" => Act::Text,
                (false, Word::Frame | Word::Call | Word::Declarations) => Act::Block,
                (false, Word::Name) if line_start && tag.attributes.is_empty() => Act::Block,
                (false, Word::Result) => Act::Answer(Some(closer_of(tag.word)), len),
                (true, Word::Frame | Word::Call | Word::Parameter | Word::Value) if self.calls > 0 => {
                    Act::Drop(len)
                }
                _ => Act::Text,
            },
        }
    }

    /// Whether the place stands in quotes, so that the text only talks about it.
    fn is_quoted(&self, at: usize) -> bool {
        self.buffer[..at].ends_with(['`', '"', '\''])
    }

    /// Reasoning may begin anywhere in one family's tag; others' words are ordinary words unless a line begins with them.
    fn opens_reasoning(&self, _at: usize, line_start: bool, word: &str) -> bool {
        self.lane == Lane::Content && (word.eq_ignore_ascii_case("think") || line_start && self.fresh)
            || self.lane == Lane::Reasoning
    }

    fn markup(&mut self, at: usize, act: Act, done: bool) -> bool {
        match act {
            Act::Text => self.unmarked_or_skip(at, done),
            Act::Block => self.block(at, done),
            Act::Enter(lane, len) => {
                self.flush(at);
                self.consume(len);
                self.enter(lane);
                self.scanned = 0;
                true
            }
            Act::Leave(len) => {
                self.flush(at);
                self.consume(len);
                if self.lane == Lane::Reasoning && !self.thought.is_empty() {
                    let count = self.thought.len();
                    self.thought.clear();
                    self.events
                        .push(Event::Note(format!("{count} call(s) inside the reasoning were not made")));
                }
                self.enter(Lane::Content);
                self.scanned = 0;
                true
            }
            Act::Header(header, len) => self.header(at, header, len, done),
            Act::Separator(len) => self.separator(at, len, done),
            Act::Answer(closer, len) => {
                self.flush(at);
                self.consume(len);
                self.interrupt();
                self.mode = Mode::Answer(closer);
                true
            }
            Act::Orphan => self.skip_mark(at),
            Act::Tail(len) => {
                let rest = self.buffer[at + len..].trim_start();
                if rest.is_empty() && !done {
                    self.hold(at);
                    return false;
                }
                let more = matches!(
                    token::read(rest, done),
                    Step::Got(Markup::Token { role: Role::Tail | Role::Noise | Role::Stop, .. })
                );
                if rest.is_empty() || more { self.drop_token(at, len) } else { self.skip_mark(at) }
            }
            Act::Drop(len) => {
                self.flush(at);
                self.consume(len);
                self.scanned = 0;
                self.interrupt();
                true
            }
        }
    }

    fn unmarked_or_skip(&mut self, at: usize, done: bool) -> bool {
        self.unmarked(at, self.begins_line(at), done)
    }

    /// A place for calls begins here, or words that look like it.
    fn block(&mut self, at: usize, done: bool) -> bool {
        if self.attempts.exhausted() {
            return self.skip_mark(at);
        }
        let news = self.buffer.ends_with(['>', '}', ']', ')', '`', '\n', '|']) || !done;
        if !self.attempts.allowed(self.buffer.len() - at, done, news) {
            self.hold(at);
            return false;
        }
        self.attempts.spent += self.buffer.len() - at;
        let mut reader = Reader {
            input: Input { text: &self.buffer, done },
            judge: &self.mender,
            area: Area::default(),
            start: at,
            name: None,
            stopped: self.finish == Finish::Stop,
        };
        match reader.read(at) {
            Step::Got(block) if !self.waits(&block, done) => {
                self.found(at, block.calls, block.end, block.area, Source::Explicit);
                true
            }
            Step::Got(_) | Step::More => {
                let waiting = self.buffer.len() - at;
                self.hold(at);
                self.attempts.waiting = Some(waiting);
                false
            }
            Step::No if self.is_cut(at, &Area::default()) => {
                self.cut(at, String::new(), Area::default());
                true
            }
            Step::No => match token::read(&self.buffer[at..], done) {
                // A special token is markup even where nothing follows that it could open.
                Step::Got(Markup::Token { role: Role::Open(_), len, .. }) => self.drop_token(at, len),
                Step::Got(Markup::Tag(tag, Word::Call)) if done && self.calls > 0 && tag.name().is_some() => {
                    let name = tag.name().unwrap_or_default().to_owned();
                    self.wreck(at, name)
                }
                _ => self.unmarked_or_skip(at, done),
            },
        }
    }

    /// After other calls, a call that nobody can read is still a call: it goes back as it is.
    fn wreck(&mut self, at: usize, name: String) -> bool {
        self.cut(at, name, Area { seen: vec!["<function>".to_owned()], ..Area::default() });
        true
    }

    /// Whether a call that began here was cut off before anything of it was certain: with more text behind it could have
    /// become one, and nothing says that the model had finished.
    fn is_cut(&self, at: usize, area: &Area) -> bool {
        let input = Input { text: &self.buffer, done: false };
        let mut reader = Reader {
            input,
            judge: &self.mender,
            area: area.clone(),
            start: at,
            name: None,
            stopped: self.finish == Finish::Stop,
        };
        self.finished && self.finish != Finish::Stop && matches!(reader.read(at), Step::More)
    }

    /// Tells of a call of which little more is known than that it was begun.
    fn cut(&mut self, at: usize, name: String, area: Area) {
        let end = self.buffer.len();
        let call = RawCall {
            name,
            id: None,
            arguments: RawArguments::Fields(Vec::new()),
            at: at..end,
            ending: Ending::Cut,
            dialect: table::name_of(&area.seen, Form::Tagged),
            damaged: false,
        };
        self.found(at, vec![call], end, area, Source::Explicit);
    }

    /// Calls were read up to `end`.
    fn found(&mut self, at: usize, calls: Vec<RawCall>, end: usize, area: Area, source: Source) {
        let mut made = Vec::new();
        let unclosed = self.is_unclosed(end, &area);
        for mut call in calls {
            if unclosed && call.ending == Ending::Complete {
                call.ending = Ending::Unclosed;
            }
            made.extend(self.judged(call, source));
        }
        // The author in front of one marker is said again in the body.
        if self.is_word(at) && area.seen.iter().any(|seen| seen == "<|content_invoke_tool_json|>") {
            self.consume(at);
            return self.told(made, end - at, area, source);
        }
        self.flush(at);
        self.told(made, end - at, area, source);
    }

    /// Whether the output ends where the closer of the call should be.
    fn is_unclosed(&self, end: usize, area: &Area) -> bool {
        self.finished && self.is_bare(end) && needs_closer(area)
    }

    /// Whether nothing but the rest of a fence stands behind this place.
    fn is_bare(&self, end: usize) -> bool {
        self.buffer[end..].trim_matches(|ch: char| ch.is_whitespace() || ch == '`').is_empty()
    }

    /// Whether to wait for what stands behind a call: its closer tells that it was not cut off.
    fn waits(&self, block: &Block, done: bool) -> bool {
        !done && self.is_bare(block.end) && needs_closer(&block.area) && !block.calls.is_empty()
    }

    fn told(&mut self, made: Vec<Call>, length: usize, area: Area, source: Source) {
        for call in made {
            if self.lane == Lane::Reasoning {
                self.thought.push(call);
            } else {
                self.tell_call(call);
            }
        }
        self.consume(length);
        self.scanned = 0;
        self.interrupt();
        self.mode = Mode::Area(area, source);
    }

    fn judged(&self, call: RawCall, source: Source) -> Vec<Call> {
        let found = Found { text: &self.buffer, offset: self.offset, source, finish: self.finish };
        judge::judge(&self.mender, call, found)
    }

    fn tell_call(&mut self, call: Call) {
        let index = self.calls;
        self.calls += 1;
        if self.mender.knows_tools() && !self.mender.knows(&call.name) {
            self.events.push(Event::Note(format!("no declared tool is called {:?}", call.name)));
        }
        match call.outcome() {
            Outcome::Clean | Outcome::Mended => {
                let text = call.arguments().unwrap_or("{}").to_owned();
                self.events.push(Event::CallStart { index, name: call.name.clone(), id: call.id.clone() });
                self.events.push(Event::ArgumentsDelta { index, text });
                self.events.push(Event::CallEnd { index, call: Box::new(call) });
            }
            Outcome::Truncated => self.events.push(Event::CallCut { index, call: Box::new(call) }),
            Outcome::Rejected => self.events.push(Event::CallRejected { index, call: Box::new(call) }),
        }
    }

    // Between calls.

    fn area(&mut self, done: bool) -> bool {
        let Mode::Area(area, source) = self.mode.clone() else { return false };
        let input = Input { text: &self.buffer, done };
        let at = input.skip_white(0);
        let rest = input.rest(at);
        if rest.is_empty() {
            if done {
                self.consume(at);
            }
            return false;
        }
        match token::read(rest, done) {
            Step::More => return false,
            Step::Got(markup) => return self.area_markup(at, &self.area_act(&markup), area, source, done),
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
                self.mode = Mode::Area(Area { brackets: area.brackets - 1, ..area }, source);
                true
            }
            b'}' | b']' | b')' if rest.len() > 1 || done => {
                // One bracket too many before a closer or the end; before text it is text.
                let next = input.skip_white(at + 1);
                let behind = input.rest(next);
                if behind.is_empty() && !done {
                    return false;
                }
                if behind.is_empty()
                    || matches!(token::read(behind, done), Step::Got(_))
                    || behind.starts_with(['}', ']', ')', ',', '`'])
                {
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
                self.mode = Mode::Area(Area { fence: false, ..area }, source);
                true
            }
            _ => self.next_call(at, area, source, done),
        }
    }

    /// Whether a comma or semicolon separates calls; not known yet where nothing follows.
    fn separates(&self, at: usize, done: bool) -> Option<bool> {
        let input = Input { text: &self.buffer, done };
        let next = input.skip_white(at + 1);
        match input.byte(next) {
            None => done.then_some(false),
            Some(b'{' | b'[' | b'<' | b']') => Some(true),
            Some(_) => match super::python::head(input, next) {
                Step::Got(_) => Some(true),
                Step::More => None,
                Step::No => Some(false),
            },
        }
    }

    fn area_act(&self, markup: &Markup<'_>) -> AreaAct {
        let len = markup.len();
        if markup.closes() {
            return AreaAct::Drop(len);
        }
        match markup {
            Markup::Token { role: Role::Noise, .. } => AreaAct::Drop(len),
            Markup::Token { role: Role::Message | Role::Part(_), .. } => AreaAct::Drop(len),
            Markup::Tag(tag, Word::Parameter | Word::Value | Word::Key | Word::Arguments | Word::Name)
                if tag.close =>
            {
                AreaAct::Drop(len)
            }
            _ => AreaAct::Leave,
        }
    }

    fn area_markup(&mut self, at: usize, act: &AreaAct, area: Area, source: Source, done: bool) -> bool {
        let _ = (area, source, done);
        match act {
            AreaAct::Drop(len) => {
                self.consume(at + len);
                true
            }
            AreaAct::Leave => self.leave_area(),
        }
    }

    fn leave_area(&mut self) -> bool {
        self.mode = Mode::Text;
        self.scanned = 0;
        self.line_start = true;
        true
    }

    /// The next call without a marker of its own, inside the same frames.
    fn next_call(&mut self, at: usize, area: Area, source: Source, done: bool) -> bool {
        let input = Input { text: &self.buffer, done };
        let rest = input.rest(at);
        let gemma =
            area.seen.iter().any(|seen| matches!(seen.as_str(), "<|tool_call>" | "<start_function_call>"));
        if gemma && !done && "call:".starts_with(rest) {
            return false;
        }
        let starts = rest.starts_with(['{', '[', '`'])
            || gemma && rest.starts_with("call:")
            || matches!(super::python::head(input, at), Step::Got((name, _)) if self.mender.knows(&name) || area.brackets > 0 || !area.seen.is_empty());
        if !starts {
            if matches!(super::python::head(input, at), Step::More)
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
        if !self.attempts.allowed(self.buffer.len() - at, done, true) {
            return false;
        }
        self.attempts.spent += self.buffer.len() - at;
        let before = area.clone();
        let mut reader = Reader {
            input,
            judge: &self.mender,
            area,
            start: at,
            name: None,
            stopped: self.finish == Finish::Stop,
        };
        match reader.read(at) {
            Step::Got(block) if !self.waits(&block, done) => {
                self.found(at, block.calls, block.end, block.area, source);
                true
            }
            Step::Got(_) | Step::More => {
                self.attempts.waiting = Some(self.buffer.len() - at);
                false
            }
            Step::No if source == Source::Explicit && self.is_cut(at, &before) => {
                self.cut(at, String::new(), before);
                true
            }
            Step::No => self.leave_area(),
        }
    }

    // Messages.

    fn header(&mut self, at: usize, header: Header, len: usize, done: bool) -> bool {
        let input = Input { text: &self.buffer, done };
        match header {
            Header::Channel => {
                let known = |name: &str| self.mender.knows(name);
                match channel::read(input, at, &known) {
                    Step::Got((route, end)) => {
                        self.flush(at);
                        self.consume(end - at);
                        self.scanned = 0;
                        self.route(route);
                        true
                    }
                    Step::More => {
                        self.hold(at);
                        false
                    }
                    Step::No => self.drop_token(at, len),
                }
            }
            Header::Element => self.section(at, len, done),
            Header::Recipient => self.recipient(at, len, done),
            Header::Author => self.author(at, len, done),
            Header::Label => self.label(at, len, done),
        }
    }

    fn drop_token(&mut self, at: usize, len: usize) -> bool {
        self.flush(at);
        self.consume(len);
        self.scanned = 0;
        self.interrupt();
        true
    }

    /// `<|open|>think<|sep|>`
    fn section(&mut self, at: usize, len: usize, done: bool) -> bool {
        let input = Input { text: &self.buffer, done };
        let section = match channel::section(input, at) {
            Step::Got(section) => section,
            Step::More => {
                self.hold(at);
                return false;
            }
            Step::No => return self.drop_token(at, len),
        };
        let (close, word, end) = (section.close, section.word.to_owned(), section.end);
        if word == "call" && !close {
            return match xtml::call(input, at) {
                Step::Got(call) => {
                    let end = call.at.end;
                    self.found(
                        at,
                        vec![call],
                        end,
                        Area { seen: vec!["<|open|>".to_owned()], ..Area::default() },
                        Source::Explicit,
                    );
                    self.leave_area()
                }
                Step::More => {
                    self.hold(at);
                    false
                }
                Step::No => self.drop_token(at, len),
            };
        }
        self.flush(at);
        self.consume(end - at);
        self.scanned = 0;
        self.enter(if word == "think" && !close { Lane::Reasoning } else { Lane::Content });
        true
    }

    /// `<|from|>assistant\n<|recipient|>f\n<|content|>`
    fn recipient(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let Some(length) = rest.find("<|") else {
            if !done {
                self.hold(at);
                return false;
            }
            return self.drop_token(at, len);
        };
        let word = rest[..length].trim().to_owned();
        let recipient = self.buffer[at..].starts_with("<|recipient|>");
        self.flush(at);
        self.consume(len + length);
        self.scanned = 0;
        self.interrupt();
        if recipient && word != "all" {
            self.mode = Mode::Body(word, Area { seen: vec!["<|recipient|>".to_owned()], ..Area::default() });
        } else {
            self.enter(Lane::Content);
        }
        true
    }

    /// `<|message_model|>f<|content_invoke_tool_json|>`: the author is repeated in the body.
    fn author(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let word = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        if word == rest.len() && !done {
            self.hold(at);
            return false;
        }
        let length = if rest[word..].starts_with("<|") { word } else { 0 };
        self.flush(at);
        self.consume(len + length);
        self.scanned = 0;
        self.enter(Lane::Content);
        true
    }

    /// `<|channel>thought\n…<channel|>`
    fn label(&mut self, at: usize, len: usize, done: bool) -> bool {
        let rest = &self.buffer[at + len..];
        let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        if word == rest.len() && !done {
            self.hold(at);
            return false;
        }
        // Without a label it is a leak.
        let known = matches!(&rest[..word], "thought" | "thoughts" | "thinking" | "analysis" | "think");
        let labelled = word > 0 && word < 24 && (known || rest[word..].starts_with('\n'));
        self.flush(at);
        self.consume(len + if labelled { word } else { 0 });
        self.scanned = 0;
        self.enter(if labelled { Lane::Reasoning } else { Lane::Content });
        true
    }

    /// `<|message_sep|>\n\nfunction call<|role_sep|>`
    fn separator(&mut self, at: usize, len: usize, done: bool) -> bool {
        const ROLE: &str = "function call<|role_sep|>";
        let rest = &self.buffer[at + len..];
        let trimmed = rest.trim_start();
        if !done && ROLE.starts_with(trimmed) {
            self.hold(at);
            return false;
        }
        let call = trimmed.starts_with(ROLE);
        let length = rest.len() - trimmed.len() + ROLE.len();
        self.flush(at);
        self.consume(if call { len + length } else { len });
        self.scanned = 0;
        self.enter(Lane::Content);
        if call {
            self.mode = Mode::Body(String::new(), Area { seen: vec![ROLE.to_owned()], ..Area::default() });
        }
        true
    }

    /// The body of a message that is a call.
    fn body(&mut self, done: bool) -> bool {
        let Mode::Body(name, area) = self.mode.clone() else { return false };
        if !self.attempts.allowed(self.buffer.len(), done, true) {
            return false;
        }
        self.attempts.spent += self.buffer.len();
        let input = Input { text: &self.buffer, done };
        let named = (!name.is_empty()).then(|| name.clone());
        let at = input.skip_white(0);
        // A frame inside the message names the call itself.
        let framed = match token::read(input.rest(at), done) {
            Step::More => return false,
            Step::Got(markup) => markup.opens(),
            Step::No => false,
        };
        let mut reader = Reader {
            input,
            judge: &self.mender,
            area,
            start: 0,
            name: if framed { None } else { named.clone() },
            stopped: self.finish == Finish::Stop,
        };
        match reader.read(0) {
            Step::Got(block) if !self.waits(&block, done) => {
                self.found(0, block.calls, block.end, block.area, Source::Explicit);
                true
            }
            Step::Got(_) | Step::More => {
                self.attempts.waiting = Some(self.buffer.len());
                false
            }
            Step::No => self.odd_body(named, done),
        }
    }

    /// A message for a tool that is neither JSON nor tags: code, or words.
    fn odd_body(&mut self, name: Option<String>, done: bool) -> bool {
        let end = ["<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|eom|>", "<|eot|>", "<|channel|>"]
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
            dialect: "harmony",
            damaged: false,
        };
        self.found(0, vec![call], length, Area::default(), Source::Explicit);
        true
    }

    /// What only a tool can say is dropped, up to its closer or the next markup that begins something.
    fn answer(&mut self, done: bool) -> bool {
        let Mode::Answer(closer) = self.mode else { return false };
        let mut at = 0;
        while let Some(offset) = self.buffer[at..].find('<') {
            let mark = at + offset;
            at = mark + 1;
            match token::read(&self.buffer[mark..], done) {
                Step::More => {
                    self.consume(mark);
                    return false;
                }
                Step::Got(markup) => {
                    let ends = match (&markup, closer) {
                        (Markup::Tag(tag, Word::Result), Some(_)) => tag.close,
                        (Markup::Token { role: Role::MessageEnd, .. }, _) => true,
                        (
                            Markup::Token { role: Role::Open(_) | Role::Begin(_) | Role::Header(_), .. },
                            None,
                        ) => {
                            self.consume(mark);
                            return self.leave_area();
                        }
                        _ => false,
                    };
                    if ends {
                        let len = markup.len();
                        self.consume(mark + len);
                        self.interrupt();
                        return self.leave_area();
                    }
                }
                Step::No => {}
            }
        }
        let length = self.buffer.len();
        self.consume(length);
        false
    }
}

/// Whether the marker that looks like a word may begin here.
fn is_functools(bytes: &[u8], at: usize) -> bool {
    const MARK: &[u8] = b"functools[";
    let rest = &bytes[at..bytes.len().min(at + MARK.len())];
    MARK.starts_with(rest) && (at == 0 || bytes[at - 1].is_ascii_whitespace())
}

/// Whether the frames around a call are always closed.
fn needs_closer(area: &Area) -> bool {
    area.seen.iter().any(|seen| table::is_closed(seen)) || area.seen.is_empty() && area.brackets > 0
}

fn closer_of(word: &str) -> &'static str {
    if word.contains("function") { "function" } else { "tool" }
}

/// What to do about markup in a text.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// It is text.
    Text,
    /// A place for calls.
    Block,
    Enter(Lane, usize),
    Leave(usize),
    Header(Header, usize),
    Separator(usize),
    Answer(Option<&'static str>, usize),
    /// Part of a call whose beginning is missing.
    Orphan,
    /// Means nothing where the output ends behind it.
    Tail(usize),
    Drop(usize),
}

/// What to do about markup between calls.
enum AreaAct {
    Drop(usize),
    Leave,
}
