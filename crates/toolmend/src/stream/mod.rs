//! The machine: text in any pieces, events out.
//!
//! It keeps what is not decided in a buffer and asks pure readers about it. A reader decides the same way however much text
//! follows, so pieces cannot change the result; they only change when something is told. Readers start over when more
//! text comes, as often as a budget linear in the input allows.

mod attempts;
mod between_calls;
mod buffer;
mod candidate_scan;
mod custom_check;
mod found_calls;
mod live_arguments;
mod markup_action;
mod message_headers;
mod recent_text;
mod shown_calls;
mod stable_prefix;
mod text_mode;
mod text_pieces;
mod unreadable_frames;

use self::attempts::{Attempts, Waiting};
use self::buffer::Buffer;
use self::live_arguments::LiveCall;
use self::recent_text::RecentText;
use self::shown_calls::ShownCalls;
use crate::dialect::CustomDialects;
use crate::dialect::block::Frames;
use crate::dialect::input::{Input, Step};
use crate::dialect::table::Dialect;
use crate::dialect::token::TextKind;
use crate::mender::Mender;
use crate::policy::Preset;
use crate::syntax::Finish;
use crate::turn::{Call, Delivery, Event, Listener, Source, Turn, TurnOptions};

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
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one output")]
pub struct Stream {
    mender: Mender,
    /// The user's own dialects.
    custom: CustomDialects,
    requested: Option<&'static Dialect>,
    /// The dialect that the model is known for.
    model_dialect: Option<&'static Dialect>,
    eager: bool,
    off: bool,
    /// Bytes that are no whole character yet.
    partial: Vec<u8>,
    buffer: Buffer,
    /// Where the buffer begins in the output.
    offset: usize,
    /// What stands in the buffer before this place is content, reasoning or nothing, but no call.
    scanned: usize,
    /// The scanned place begins a line.
    line_start: bool,
    mode: Mode,
    context: CallContext,
    text_kind: TextKind,
    /// White space that is told only if text follows.
    space: String,
    /// White space after something that is no text.
    gap: String,
    /// White space is dropped until text comes.
    skip_space: bool,
    /// No text was told yet in this kind since it began.
    fresh: bool,
    /// The character before the buffer, where it is text.
    last: Option<char>,
    /// The last of the content that was told.
    recent: RecentText,
    in_fence: bool,
    /// Whether the content stands in a frame of its own.
    answer: AnswerFrame,
    /// Special tokens were stripped, so that channels are named by bare words.
    stripped: bool,
    /// The message is addressed to the user, so calls in it are only shown.
    addressed: bool,
    /// Frames that the text only talks about and has not closed.
    mentioned: usize,
    calls: usize,
    /// Calls inside reasoning that has not ended.
    reasoning_calls: Vec<Call>,
    shown: ShownCalls,
    attempts: Attempts,
    delivery: Delivery,
    live: LiveCall,
    finish: Finish,
    finished: bool,
    /// Nothing is pending but text: what is asked of most pieces first, so it is kept and not worked out.
    is_plain_text: bool,
    events: Vec<Event>,
}

/// Bytes that calls, their frames and their values end in.
const ENDERS: &[u8] = b">}])`\n|";

/// What the next text is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    /// Content or reasoning, with markup in it.
    Text,
    /// Between the calls of one place for calls.
    BetweenCalls(Frames, Source),
    /// The body of a call whose message header was read.
    Body(String, Frames),
    /// What only a tool can say, up to the tag that closes it or to the next markup that begins something.
    ToolResult(bool),
}

/// Some families put the answer after their reasoning into tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFrame {
    Outside,
    /// The reasoning has just ended: the frame may begin here.
    Next,
    Inside,
}

/// How the last call was read.
#[derive(Debug, Clone)]
enum CallContext {
    /// Inside these frames, and by this name where a header gave it.
    Framed(Frames, Option<String>),
    Section,
    Inferred,
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
        stream.attempts.received = text.len();
        stream.buffer.push_str(text);
        stream.advance(false);
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
        let custom = mender.dialects().clone();
        let requested = name.and_then(|name| custom.table().by_name(name));
        if let (Some(name), None) = (name, requested) {
            events.push(Event::Note(format!(
                "there is no dialect {name:?}; everything is found out from the output"
            )));
        }
        let preset = mender.preset();
        let model_dialect = options.model.as_deref().and_then(|id| custom.table().of_model(id));
        // One family's prompt always opens a section. Elsewhere an id cannot tell: prompts that open the reasoning, prompts
        // that do not and servers that split it off share their ids, and a wrong guess hides the whole answer.
        let opened = options.reasoning_open || model_dialect.is_some_and(|row| row.prompt_opens_reasoning);
        Stream {
            mender,
            custom,
            requested,
            model_dialect,
            eager: preset == Preset::Eager,
            off: preset == Preset::Off,
            partial: Vec::new(),
            buffer: Buffer::default(),
            offset: 0,
            scanned: 0,
            line_start: true,
            mode: Mode::Text,
            context: CallContext::Inferred,
            text_kind: if opened { TextKind::Reasoning } else { TextKind::Content },
            space: String::new(),
            gap: String::new(),
            skip_space: opened,
            fresh: true,
            last: None,
            recent: RecentText::default(),
            in_fence: false,
            answer: AnswerFrame::Outside,
            stripped: false,
            addressed: false,
            mentioned: 0,
            calls: 0,
            reasoning_calls: Vec::new(),
            shown: ShownCalls::default(),
            attempts: Attempts::default(),
            delivery: options.delivery,
            live: LiveCall::default(),
            finish: Finish::Unknown,
            finished: false,
            is_plain_text: false,
            events,
        }
    }

    /// Takes the next piece, cut anywhere. Bytes that are no UTF-8 become replacement characters.
    pub fn push(&mut self, piece: impl AsRef<[u8]>) -> Vec<Event> {
        let mut events = Vec::new();
        self.push_to(piece, &mut events);
        events
    }

    /// The same for a listener, so that nothing is made for a piece that is only text. Most pieces of most outputs are.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, Turn, TurnOptions};
    /// let mut stream = Mender::new(&serde_json::json!([])).unwrap().stream(&TurnOptions::new());
    /// let mut turn = Turn::default();
    /// for piece in ["Once ", "upon a", " time"] {
    ///     stream.push_to(piece, &mut turn);
    /// }
    /// turn.extend(stream.finish(Finish::Stop));
    /// assert_eq!(turn.content, "Once upon a time");
    /// ```
    pub fn push_to(&mut self, piece: impl AsRef<[u8]>, listener: &mut impl Listener) {
        let piece = piece.as_ref();
        if self.finished {
            return;
        }
        // Elsewhere the piece may go on with half a character, so it is read there.
        if self.is_plain_text
            && let Ok(text) = std::str::from_utf8(piece)
        {
            if self.pass_text(text, listener) {
                return;
            }
        } else {
            self.append(piece);
        }
        self.advance(false);
        self.hand_events_to(listener);
        self.is_plain_text = self.expects_plain_text();
    }

    fn hand_events_to(&mut self, listener: &mut impl Listener) {
        for event in self.events.drain(..) {
            listener.event(event);
        }
    }

    /// Ends the output. Everything that was held is told; pushing afterwards does nothing.
    pub fn finish(&mut self, finish: Finish) -> Vec<Event> {
        if !self.finished {
            // What came since the last attempt is read as text that may go on first, as it is where all comes at once: what
            // is no call then is no call that was cut off either.
            if self.attempts.has_new_text(self.buffer.len()) {
                self.attempts.waiting = None;
                self.advance(false);
            }
            self.finished = true;
            self.is_plain_text = false;
            self.finish = finish;
            if !self.partial.is_empty() {
                self.partial.clear();
                self.buffer.push('\u{FFFD}');
            }
            self.advance(true);
            self.close_output();
        }
        std::mem::take(&mut self.events)
    }

    /// Notes whether a piece may end what is not decided.
    fn note_piece(&mut self, piece: &[u8]) {
        // A marker of the user's own may end in anything, and live delivery goes on from one string to the next.
        self.attempts.may_have_ended |= piece.iter().any(|byte| ENDERS.contains(byte))
            || self.delivery == Delivery::Live
            || !self.custom.table().tokens.is_empty();
    }

    fn append(&mut self, piece: &[u8]) {
        self.attempts.received += piece.len();
        self.note_piece(piece);
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
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.buffer.push_str(&String::from_utf8_lossy(valid));
                    match error.error_len() {
                        None => {
                            left = after.to_vec();
                            break;
                        }
                        Some(length) => {
                            self.buffer.push('\u{FFFD}');
                            rest = &after[length..];
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
            let text = self.buffer.take_front(self.buffer.len());
            self.emit_text(TextKind::Content, text);
            return;
        }
        if !done && self.attempts.should_rest(self.buffer.len()) {
            return self.continue_open_string();
        }
        loop {
            let before = (self.offset, self.scanned, std::mem::discriminant(&self.mode));
            let on = match &self.mode {
                Mode::Text => self.advance_text(done),
                Mode::BetweenCalls(..) => self.advance_between_calls(done),
                Mode::Body(..) => self.advance_body(done),
                Mode::ToolResult(_) => self.advance_tool_result(done),
            };
            if !on || before == (self.offset, self.scanned, std::mem::discriminant(&self.mode)) {
                break;
            }
        }
    }

    /// The first answer of a reader to a growing part of the text, and what that cost.
    fn read_in_windows<T>(
        &self,
        at: usize,
        done: bool,
        read: impl Fn(Input<'_>) -> Step<T>,
    ) -> (Step<T>, usize) {
        let mut spent = 0;
        for input in self.attempts.windows(&self.buffer, at, done, self.custom.table()) {
            spent += input.text.len() - at;
            match read(input) {
                Step::More => {}
                answer => return (answer, spent),
            }
        }
        (Step::More, spent)
    }

    /// What begins at this place cannot be decided before more comes.
    fn wait_for_more(&mut self, at: usize) {
        let buffered = self.buffer.len();
        self.attempts.waiting = Some(Waiting { length: buffered - at, buffered });
        // After what may be the end, anything decides.
        self.attempts.may_have_ended =
            self.buffer.trim_end().ends_with(|ch| u8::try_from(ch).is_ok_and(|ch| ENDERS.contains(&ch)));
    }

    /// The end of the output: white space at its end belongs to a text that nothing interrupted.
    fn close_output(&mut self) {
        self.settle_reasoning_calls();
        if !self.skip_space && !self.space.is_empty() {
            let space = std::mem::take(&mut self.space);
            self.emit_text(self.text_kind, space);
        }
    }

    /// Calls inside reasoning are made where it was never closed and the model had finished: then it was no reasoning. The
    /// eager policy makes them wherever nothing else was called.
    fn settle_reasoning_calls(&mut self) {
        let open = self.text_kind == TextKind::Reasoning && self.has_stopped();
        let eager = self.eager && self.calls == 0 && self.finish != Finish::Length;
        if open || eager {
            for call in std::mem::take(&mut self.reasoning_calls) {
                self.emit_call(call);
            }
        }
        self.drop_reasoning_calls();
    }

    /// What was only thought of is not done.
    fn drop_reasoning_calls(&mut self) {
        let count = std::mem::take(&mut self.reasoning_calls).len();
        if count > 0 {
            self.events.push(Event::Note(format!("{count} call(s) inside the reasoning were not made")));
        }
    }

    /// Whether the output is complete and the model ended it by itself.
    fn has_stopped(&self) -> bool {
        self.finished && self.finish == Finish::Stop
    }

    /// Drops the first bytes of the buffer.
    fn consume(&mut self, length: usize) {
        self.buffer.drop_front(length);
        self.consumed(length);
    }

    fn consumed(&mut self, length: usize) {
        self.offset += length;
        self.scanned = self.scanned.saturating_sub(length);
        self.attempts.waiting = None;
    }

    /// Tells the first bytes of the buffer as text of the kind, and holds white space at their end.
    fn flush(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let mut text = self.buffer.take_front(length);
        self.consumed(length);
        self.last = text.chars().next_back();
        let visible = text.trim_end();
        if !self.skip_space && !visible.is_empty() && self.space.is_empty() {
            self.space.push_str(&text[visible.len()..]);
            text.truncate(visible.len());
            self.note_text();
            return self.emit_text(self.text_kind, text);
        }
        let mut body = visible;
        if self.skip_space {
            body = visible.trim_start();
            let gap = if body.is_empty() { text.as_str() } else { &visible[..visible.len() - body.len()] };
            self.gap.push_str(gap);
        }
        if body.is_empty() {
            if !self.skip_space {
                self.space.push_str(&text);
            }
            return;
        }
        let mut out = std::mem::take(&mut self.space);
        let gap = std::mem::take(&mut self.gap);
        if self.fresh && self.skip_space {
            out.clear();
        } else if !out.is_empty() && !out.contains('\n') && !gap.contains('\n') {
            // On one line the blanks on both sides are text; line breaks around a call are framing.
            out.push_str(&gap);
        }
        out.push_str(body);
        self.space.push_str(&text[visible.len()..]);
        self.note_text();
        self.emit_text(self.text_kind, out);
    }

    /// Text was told in this kind.
    fn note_text(&mut self) {
        self.gap.clear();
        self.skip_space = false;
        self.fresh = false;
        if self.answer == AnswerFrame::Next {
            self.answer = AnswerFrame::Outside;
        }
    }

    fn emit_text(&mut self, kind: TextKind, text: String) {
        if text.is_empty() {
            return;
        }
        if kind == TextKind::Content {
            self.recent.push(&text);
        }
        match (self.events.last_mut(), kind) {
            (Some(Event::Content(last)), TextKind::Content)
            | (Some(Event::Reasoning(last)), TextKind::Reasoning) => {
                last.push_str(&text);
            }
            (_, TextKind::Content) => self.events.push(Event::Content(text)),
            (_, TextKind::Reasoning) => self.events.push(Event::Reasoning(text)),
        }
    }

    /// Something that is no text stands here: white space around it is framing.
    fn note_interruption(&mut self) {
        self.last = None;
        self.gap.clear();
        self.skip_space = true;
    }

    fn enter_text(&mut self, kind: TextKind) {
        self.addressed = false;
        if self.text_kind == TextKind::Reasoning && kind == TextKind::Content {
            self.answer = AnswerFrame::Next;
        }
        if self.text_kind != kind {
            self.space.clear();
            self.fresh = true;
        }
        self.text_kind = kind;
        self.note_interruption();
        self.line_start = true;
    }
}
