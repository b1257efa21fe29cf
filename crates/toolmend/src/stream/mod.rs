//! The machine that splits model output: text in pieces of any size, events out.
//!
//! Text that is not decided yet waits in a buffer, and pure readers (`dialect`) are asked about it. One law makes this
//! work: **a reader's answer other than `More` would be the same however the text continued.** So the size of the
//! pieces cannot change the result, only when it is reported, and [`Mender::turn`] is one push and the end. Readers
//! start over when more text arrives, within a budget that is linear in the input (`attempts`).
//!
//! | module | decides |
//! |---|---|
//! | `text_pieces`, `candidate_scan` | which text can be passed on immediately |
//! | `text_mode`, `markup_action` | what to do where something other than text may begin |
//! | `message_headers` | what a message with a header is |
//! | `between_calls` | what may come between the calls of one frame |
//! | `found_calls` | how calls are reported |
//! | `repeated_call` | whether a call is only the last one again |
//! | `alternatives` | whether a call is only an alternative to the last one |
//! | `next_marks` | where an element or a message ends |
//! | `removed_text` | what is reported about markup that leaves the text |
//! | `text_before`, `fence_lines` | where the text talks about markup |
//! | `mentions`, `shown_calls` | which markup and which calls the text only talks about |
//! | `shown_elements` | which elements are shown as a whole |
//! | `shown_messages` | which messages that are calls are text |
//! | `messages_in_sentences` | which messages with a header the text only talks about |
//! | `turns_of_others` | what the model writes in the name of another speaker |
//! | `announcements`, `asking_first` | what the text before a call without a marker says about it |
//! | `refusing_words` | what the words right before a call with a marker say about it |
//! | `unmarked_calls`, `held_output` | whether text without a marker is a call |
//! | `unreadable_frames` | what happens to frames without a readable call |
//! | `reasoning_words` | where reasoning begins and ends for models that use words for it |
//! | `live_arguments`, `stable_prefix` | what is sent of a call before it ends |
//! | `custom_check` | whether a custom row is accepted |
//!
//! The machine never judges a call: [`Mender`] does. It never knows a dialect by name: rows have properties.
//!
//! # If families or servers disagree
//!
//! | situation | what happens | why |
//! |---|---|---|
//! | the same argument twice, with different values | refused | nothing says which was meant |
//! | an explicit call of an undeclared tool | kept, with a note | the client's error teaches the model |
//! | only the closing marker of the frame is missing at the end | the call runs with the finish reason `stop`; without a reason only if servers drop the marker of this family | nothing else tells a finished call from a truncated one |
//! | the end of the call itself is missing | the call runs only with the finish reason `stop` | more arguments could have followed |
//! | only the frame around a closed call is open | the call runs | its own closing tag shows that it is complete |
//! | `{"name": "f"}` after a marker | a call without arguments | the marker says that it is a call |
//! | a key that folds to a declared one | respelled | the same rule as for native calls |
//! | Python escapes in strings of Python's notation | read as Python reads them | the notation is Python |
//! | `null` for a string parameter in tags | the text `null` | tags have no types; a list of allowed strings is the exception |
//! | a call inside reasoning | not made, unless the reasoning is never closed, ends with the call, and the model stopped by itself | a thought is not an action; the preset `eager` makes it if nothing else was called |
//! | a call without a marker, with words after it | text, and so is every other call without a marker | it is an example; half a turn must not run |
//! | a call with a marker after words | made | models announce their calls |
//! | a call with a marker in a sentence that goes on after it | text | the sentence talks about it |
//! | a call with a marker in a fence, inline code, a quotation, indented code, a comment, `<pre>` | text, in every dialect | it is shown |
//! | the turn of a user, a tool or the system | text, and so is everything after it | the model's own turn ended before it |
//! | a call after a result that the model invented | text | it rests on what nobody said |
//! | the result of a tool before any call | text | nobody called a tool, so the text talks about results |
//! | a call without a marker, then a call with one | the first is text | the model's own form is the marked one |

mod alternatives;
mod announcements;
mod asking_first;
mod attempts;
mod between_calls;
mod buffer;
mod candidate_scan;
mod custom_check;
mod fence_lines;
mod found_calls;
#[cfg(test)]
mod growth_tests;
mod held_output;
mod live_arguments;
mod markup_action;
mod mentions;
mod message_headers;
mod messages_in_sentences;
mod next_marks;
mod paid_judge;
mod previews;
mod reasoning_words;
mod recent_text;
mod refusing_words;
mod removed_text;
mod repeated_call;
mod shown_calls;
mod shown_elements;
mod shown_messages;
mod stable_prefix;
mod text_before;
mod text_mode;
mod text_pieces;
mod turns_of_others;
mod unmarked_calls;
mod unreadable_frames;

use self::attempts::{Attempts, Cost, Waiting};
use self::buffer::Buffer;
use self::fence_lines::Fence;
use self::held_output::HeldOutput;
use self::live_arguments::LiveCall;
use self::next_marks::NextMarks;
use self::paid_judge::{PaidJudge, VerdictFuel};
use self::previews::Previews;
use self::recent_text::RecentText;
use self::repeated_call::LastCall;
use self::unreadable_frames::DecoratedTags;
use crate::dialect::CustomDialects;
use crate::dialect::block::Frames;
use crate::dialect::input::{Input, Step};
use crate::dialect::models::{self, ReasoningWords};
use crate::dialect::table::Dialect;
use crate::dialect::token::TextKind;
use crate::intent::{Calls, Evidence, RequestContext};
use crate::mender::Mender;
use crate::policy::Preset;
use crate::syntax::Finish;
use crate::turn::{Call, Delivery, Event, Listener, Turn, TurnOptions};

/// Reads a model's output piece by piece. Created by [`Mender::stream`].
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
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one output")]
pub struct Stream {
    mender: Mender,
    /// What its verdicts may spend.
    verdict_fuel: VerdictFuel,
    /// The mender as readers ask it.
    judge: PaidJudge,
    /// The user's custom dialects.
    custom: CustomDialects,
    requested: Option<&'static Dialect>,
    /// The dialect that the model is known for.
    model_dialect: Option<&'static Dialect>,
    eager: bool,
    off: bool,
    /// What the request says about calls.
    request: RequestContext,
    /// The weakest evidence that counts.
    lowest: Calls,
    inference: Inference,
    /// Calls in reasoning may be meant.
    reads_calls_in_reasoning: bool,
    /// Output whose meaning is not known.
    held: Option<Box<HeldOutput>>,
    /// The first bytes of a character that is not complete.
    partial: Vec<u8>,
    buffer: Buffer,
    /// Where the buffer begins in the output.
    offset: usize,
    /// Before this position the buffer contains text, and no call.
    scanned: usize,
    /// A line begins at the scanned position.
    line_start: bool,
    mode: Mode,
    context: CallContext,
    text_kind: TextKind,
    /// White space that is reported only if text follows.
    space: String,
    /// White space after something that is not text.
    gap: String,
    /// White space between the last content and the reasoning after it. Line breaks around reasoning are not framing.
    space_before_reasoning: Option<String>,
    /// White space is dropped until text comes.
    skip_space: bool,
    /// No text was reported since this kind of text began.
    fresh: bool,
    /// The character before the buffer, if it is text.
    last: Option<char>,
    /// The end of the content that was reported.
    recent: RecentText,
    /// The code fence that the content is in.
    fence: Option<Fence>,
    /// Only its own marker ends the reasoning, and no header.
    is_reasoning_enclosed: bool,
    /// There was reasoning.
    has_reasoned: bool,
    /// The words with which the model begins and ends its reasoning.
    reasoning_words: Option<&'static ReasoningWords>,
    /// A marker opened a section.
    is_in_section: bool,
    /// Whether the content is in a frame of its own.
    answer: AnswerFrame,
    /// Special tokens were stripped, so bare words name channels.
    stripped: bool,
    /// The message is addressed to the user, so calls in it are only shown.
    addressed: bool,
    /// The message is a call, and the request allows none, so all of it is text.
    shows_call: bool,
    /// Whether the output is the answer in JSON that the request asked for was already looked at.
    looked_for_answer: bool,
    /// The text mentions a marker that opens reasoning, and no reasoning began since.
    mentions_reasoning: bool,
    /// The number of opening markers that were dropped, and whose closing markers are not text.
    dropped_openers: usize,
    calls: usize,
    /// How many of them run.
    running_calls: usize,
    /// What was removed from the text, in the output.
    removed: Vec<std::ops::Range<usize>>,
    /// An element in the output that is text, because it is not known where its values end.
    doubtful: std::ops::Range<usize>,
    /// The last call after a marker, if no text came after it.
    last_call: Option<LastCall>,
    /// The first content after the last call.
    text_after_call: String,
    /// Calls inside reasoning that has not ended.
    reasoning_calls: Vec<Call>,
    /// The reasoning went on after the last of them.
    reasons_after_call: bool,
    attempts: Attempts,
    /// Where a run of tokens that only end an output was read, and where the text goes on after it.
    last_tokens: std::ops::Range<usize>,
    /// Where the ends of elements and messages are.
    next_marks: NextMarks,
    /// What follows a tag whose decoration never occurs in text.
    decorated_tags: DecoratedTags,
    delivery: Delivery,
    live: LiveCall,
    previews: Previews,
    finish: Finish,
    finished: bool,
    /// Only text is pending. This is the first question for most pieces, so the answer is kept.
    is_plain_text: bool,
    events: Vec<Event>,
}

/// The last bytes of calls, frames and values.
const ENDERS: &[u8] = b">}])`\n|";

/// Which calls without a marker may still be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inference {
    On,
    /// One was passed over as text, so only the form that was asked for may be.
    AskedFor,
    /// The calls of this output were taken back.
    Off,
}

/// What the next text is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    /// Content or reasoning, with markup in it.
    Text,
    /// Between the calls of one frame.
    BetweenCalls(Frames, Evidence),
    /// The body of a call whose message header was read.
    Body(String, Frames),
    /// The result of a tool, up to the tag that closes it or to the next markup that begins something.
    ToolResult(ResultBody),
    /// The turn of another speaker, up to the end of the output.
    OtherTurn,
}

/// What is known of the result of a tool in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ResultBody {
    /// A token began it, and not a tag.
    is_token: bool,
    /// Only a tool can know it.
    is_invented: bool,
    /// It is not empty.
    has_text: bool,
}

/// Where the output is with respect to the tags that some families put around their answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFrame {
    Outside,
    /// The reasoning has just ended, so the frame may begin here.
    Next,
    Inside,
}

/// The context in which the last call was read.
#[derive(Debug, Clone)]
enum CallContext {
    /// Inside these frames, with this name if a header gave it.
    Framed(Frames, Option<String>),
    Section,
    Inferred,
}

impl Mender {
    /// Splits a whole model output into content, reasoning and calls.
    ///
    /// `finish` says how the output ended. A call without its closing marker does not run with [`Finish::Length`].
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
        self.settle_answer(&mut turn, options, finish);
        turn
    }

    /// Starts to read an output piece by piece.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!([])).unwrap();
    /// let mut stream = mender.stream(&TurnOptions::new().model("openai/gpt-oss-20b"));
    /// let events = stream.push("<|channel|>analysis<|message|>That is easy.");
    /// assert_eq!(events, [toolmend::Event::Reasoning("That is easy.".to_owned())]);
    /// assert!(stream.finish(Finish::Stop).is_empty());
    /// ```
    pub fn stream(&self, options: &TurnOptions) -> Stream {
        Stream::new(self, options)
    }
}

impl Stream {
    fn new(mender: &Mender, options: &TurnOptions) -> Self {
        let judge = PaidJudge::new(mender);
        let (mender, verdict_fuel) = VerdictFuel::limit(mender);
        let mut events = Vec::new();
        let name = options.dialect.as_deref().filter(|name| *name != "auto");
        let custom = mender.dialects().clone();
        let requested = name.and_then(|name| custom.table().by_name(name));
        if let (Some(name), None) = (name, requested) {
            events.push(Event::Note(format!(
                "unknown dialect {name:?}: ignored, and the dialect is detected from the output"
            )));
        }
        let preset = mender.preset();
        let lowest = options.calls.unwrap_or_else(|| mender.lowest_evidence());
        let model = options.model.as_deref().unwrap_or_default();
        let model_dialect = custom.table().of_model(model);
        let custom_open = custom.table().opens_reasoning(model);
        // One family's prompt always opens a section. For the others an id is weak evidence: prompts that open the
        // reasoning, prompts that do not, and servers that remove it share their ids, and a wrong guess hides the whole
        // answer. So the text waits for the marker that closes the reasoning.
        let opened = options.reasoning_open.unwrap_or(custom_open)
            || model_dialect.is_some_and(|row| row.prompt_opens_reasoning);
        let assumed = !opened && options.reasoning_open.is_none() && models::opens_reasoning(model);
        let mut stream = Stream {
            verdict_fuel,
            judge,
            mender,
            custom,
            requested,
            model_dialect,
            eager: preset == Preset::Eager,
            off: preset == Preset::Off,
            request: options.request.clone(),
            lowest,
            inference: Inference::On,
            reads_calls_in_reasoning: true,
            held: None,
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
            space_before_reasoning: None,
            skip_space: opened,
            fresh: true,
            last: None,
            recent: RecentText::default(),
            fence: None,
            is_reasoning_enclosed: false,
            has_reasoned: opened,
            reasoning_words: models::reasoning_words(model),
            is_in_section: false,
            answer: AnswerFrame::Outside,
            stripped: false,
            addressed: false,
            shows_call: false,
            looked_for_answer: !options.request.structured_answer,
            mentions_reasoning: false,
            dropped_openers: 0,
            calls: 0,
            running_calls: 0,
            removed: Vec::new(),
            doubtful: 0..0,
            last_call: None,
            text_after_call: String::new(),
            reasoning_calls: Vec::new(),
            reasons_after_call: false,
            attempts: Attempts::default(),
            last_tokens: 0..0,
            next_marks: NextMarks::default(),
            decorated_tags: DecoratedTags::default(),
            delivery: options.delivery,
            live: LiveCall::default(),
            previews: Previews::new(options.previews),
            finish: Finish::Unknown,
            finished: false,
            is_plain_text: false,
            events,
        };
        if assumed && preset != Preset::Off {
            stream.assume_open_reasoning();
        }
        stream
    }

    /// Takes the next piece, which may end anywhere, also inside a character. Bytes that are not UTF-8 become
    /// replacement characters.
    ///
    /// ```
    /// use toolmend::{Event, Mender, TurnOptions};
    /// let mut stream = Mender::new(&serde_json::json!([])).unwrap().stream(&TurnOptions::new());
    /// assert!(stream.push([0xC3]).is_empty());
    /// assert_eq!(stream.push([0xA9]), [Event::Content("é".to_owned())]);
    /// ```
    pub fn push(&mut self, piece: impl AsRef<[u8]>) -> Vec<Event> {
        let mut events = Vec::new();
        self.push_to(piece, &mut events);
        events
    }

    /// Does the same as [`Stream::push`] for a listener. Text is passed on without a copy.
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
        // Otherwise the piece may continue half a character, which `append` handles.
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
        self.send_preview();
        self.hand_events_to(listener);
        self.is_plain_text = self.expects_plain_text();
    }

    /// Ends the output and reports everything that was held. Pushing afterwards does nothing.
    ///
    /// `finish` says how the output ended. It decides whether a call without its closing marker was truncated.
    ///
    /// ```
    /// use toolmend::{Event, Finish, Mender, TurnOptions};
    /// let mut stream = Mender::new(&serde_json::json!(["get_time"])).unwrap().stream(&TurnOptions::new());
    /// stream.push("<tool_call>{\"name\": \"get_time\", \"arguments\": {\"zone\": \"C");
    /// assert!(matches!(stream.finish(Finish::Length).as_slice(), [Event::CallCut { .. }]));
    /// ```
    pub fn finish(&mut self, finish: Finish) -> Vec<Event> {
        if !self.finished {
            // New text is first read as text that may continue, as it would be if everything came in one piece. What is
            // not a call then is not a truncated call either.
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
            while self.settle_held_output() {
                self.advance(true);
            }
            self.close_output();
        }
        for event in &self.events {
            self.mender.report_event(event);
        }
        std::mem::take(&mut self.events)
    }

    /// Notes whether a piece may end what is not decided.
    fn note_piece(&mut self, piece: &[u8]) {
        // A custom marker may end in any byte, and live delivery continues from one string to the next.
        self.attempts.may_have_ended |= piece.iter().any(|byte| ENDERS.contains(byte))
            || self.delivery == Delivery::Live
            || self.previews.is_on()
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
        self.verdict_fuel.fill(self.attempts.received);
        self.judge.fill(self.attempts.received);
        loop {
            let before = (self.offset, self.scanned, std::mem::discriminant(&self.mode));
            let on = match &self.mode {
                Mode::Text => self.advance_text(done),
                Mode::BetweenCalls(..) => self.advance_between_calls(done),
                Mode::Body(..) => self.advance_body(done),
                Mode::ToolResult(_) => self.advance_tool_result(done),
                Mode::OtherTurn => self.advance_turn_of_other(),
            };
            if !on || before == (self.offset, self.scanned, std::mem::discriminant(&self.mode)) {
                break;
            }
        }
    }

    /// The first answer of a reader to a growing window of the text, and what it cost.
    fn read_in_windows<T>(
        &self,
        at: usize,
        done: bool,
        read: impl Fn(Input<'_>) -> Step<T>,
    ) -> (Step<T>, Cost) {
        let (mut spent, asked) = (0, self.judge.work());
        let cost = |read| Cost { read, asked: self.judge.work() - asked };
        for input in self.attempts.windows(&self.buffer, at, done, self.custom.table()) {
            spent += input.text.len() - at;
            match read(input) {
                Step::More => {}
                answer => return (answer, cost(spent)),
            }
        }
        (Step::More, cost(spent))
    }

    /// Whether readers have read or asked so much that what looks like a call from here on is text.
    fn is_exhausted(&self) -> bool {
        self.attempts.is_exhausted() || self.judge.is_exhausted(self.attempts.received)
    }

    /// Waits for more text before deciding what begins at this position.
    fn wait_for_more(&mut self, at: usize) {
        let buffered = self.buffer.len();
        self.attempts.waiting = Some(Waiting { length: buffered - at, buffered });
        // After a possible end, any byte decides.
        self.attempts.may_have_ended =
            self.buffer.trim_end().ends_with(|ch| u8::try_from(ch).is_ok_and(|ch| ENDERS.contains(&ch)));
    }

    /// Ends the output. White space at its end belongs to text that nothing interrupted.
    fn close_output(&mut self) {
        self.settle_reasoning_calls();
        if !self.skip_space && !self.space.is_empty() {
            let space = std::mem::take(&mut self.space);
            self.emit_text(self.text_kind, space);
        }
        self.report_removed();
    }

    /// Decides what happens to calls inside reasoning. They are made if the reasoning was never closed and the model
    /// stopped by itself: then it was not reasoning. The preset `eager` makes them if nothing else was called.
    // Case: dialects/qwen3_xml/thought-open
    // Case: dialects/hostile/call-in-reasoning-eager
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

    /// Drops calls that the model only thought about. They stay visible in the reasoning.
    // Case: dialects/hostile/call-in-reasoning
    fn drop_reasoning_calls(&mut self) {
        let count = std::mem::take(&mut self.reasoning_calls).len();
        if count > 0 {
            self.events.push(Event::Note(format!("{count} call(s) inside the reasoning were ignored")));
        }
    }

    /// Whether the output is complete and the model stopped by itself.
    fn has_stopped(&self) -> bool {
        self.finished && self.finish == Finish::Stop
    }

    /// Drops the first bytes of the buffer.
    fn consume(&mut self, length: usize) {
        self.keep_held_text(length);
        self.buffer.drop_front(length);
        self.consumed(length);
    }

    fn consumed(&mut self, length: usize) {
        self.offset += length;
        self.scanned = self.scanned.saturating_sub(length);
        self.attempts.waiting = None;
    }

    /// Reports the first bytes of the buffer as text, and holds white space at their end.
    fn flush(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        self.keep_held_text(length);
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
        if let Some(before) = self.content_break(&gap) {
            out = before;
        } else if self.fresh && self.skip_space {
            out.clear();
        } else if !out.is_empty() && !out.contains('\n') && !gap.contains('\n') {
            // On one line, the blanks on both sides of a call are text. Line breaks around a call are framing.
            out.push_str(&gap);
        }
        out.push_str(body);
        self.space.push_str(&text[visible.len()..]);
        self.note_text();
        self.emit_text(self.text_kind, out);
    }

    /// The white space between content and the content after the reasoning in between.
    // Case: dialects/hostile/reasoning-between-lines
    fn content_break(&mut self, gap: &str) -> Option<String> {
        if self.text_kind != TextKind::Content {
            return None;
        }
        let mut before = self.space_before_reasoning.take()?;
        let breaks = |space: &str| space.matches('\n').count();
        if breaks(gap) > breaks(&before) {
            return Some(gap.to_owned());
        }
        if breaks(&before) == 0 {
            before.push_str(gap);
        }
        Some(before)
    }

    /// Notes that text was reported.
    fn note_text(&mut self) {
        self.gap.clear();
        self.last_call = None;
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
        self.note_text_after_call(kind, &text);
        if kind == TextKind::Content {
            self.recent.push(&text);
        } else {
            self.reasons_after_call |= !self.reasoning_calls.is_empty() && !text.trim().is_empty();
        }
        // What was there before is not held, so it must not grow.
        let is_first_held = self.is_first_held_event();
        match (self.events.last_mut().filter(|_| !is_first_held), kind) {
            (Some(Event::Content(last)), TextKind::Content)
            | (Some(Event::Reasoning(last)), TextKind::Reasoning) => {
                last.push_str(&text);
            }
            (_, TextKind::Content) => self.events.push(Event::Content(text)),
            (_, TextKind::Reasoning) => self.events.push(Event::Reasoning(text)),
        }
    }

    /// Notes that something other than text is here. White space around it is framing.
    fn note_interruption(&mut self) {
        self.last = None;
        self.gap.clear();
        self.skip_space = true;
        self.recent.interrupt();
    }

    fn enter_text(&mut self, kind: TextKind) {
        self.addressed = false;
        if self.text_kind == TextKind::Reasoning && kind == TextKind::Content {
            self.answer = AnswerFrame::Next;
        }
        if self.text_kind != kind {
            let space = std::mem::take(&mut self.space);
            let follows_content = self.text_kind == TextKind::Content && !self.fresh && !self.skip_space;
            if follows_content {
                self.space_before_reasoning = Some(space);
            }
            self.fresh = true;
        }
        self.has_reasoned |= kind == TextKind::Reasoning;
        self.mentions_reasoning &= kind == TextKind::Content;
        // Reasoning that begins inside other reasoning is part of it.
        self.reads_calls_in_reasoning |= kind == TextKind::Content;
        self.text_kind = kind;
        self.is_reasoning_enclosed &= kind == TextKind::Reasoning;
        self.note_interruption();
        self.line_start = true;
    }
}
