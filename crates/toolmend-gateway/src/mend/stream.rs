//! A stream between server and client: bytes in, mended bytes out.
//!
//! Waiting, timeouts and asking again are the business of `proxy`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use toolmend_protocol::{
    DecodedFrame, Document, Frame, FrameDecoder, FrameEncoder, FrameSplitter, MendedItem, Part, Protocol,
    Replacement, SurrogateJoiner, TokenCounts,
};

use super::choice::ChoiceMender;
use super::judge::{CallJudge, TurnRules};
use super::report::ResponseReport;
use crate::config::RefusalMode;
use crate::observe::Observer;

/// Reads the server's bytes and writes the client's.
pub(crate) struct StreamMender {
    protocol: Protocol,
    splitter: FrameSplitter,
    joiner: SurrogateJoiner,
    decoder: Box<dyn FrameDecoder>,
    encoder: Box<dyn FrameEncoder>,
    choices: BTreeMap<u64, ChoiceMender<Frame>>,
    judge: CallJudge,
    out: Vec<Bytes>,
    state: StreamState,
    /// Whether the client had seen something of the turn before the last bytes arrived.
    had_spoken: bool,
    /// What the stream says that it cost, and what the generations before it cost. Only if the server may be asked again.
    tokens: TokenCounts,
    earlier_tokens: TokenCounts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Open,
    /// The end was written. Anything that follows passes through.
    Ended,
    /// An error was written. Nothing follows.
    Failed,
}

impl StreamMender {
    /// Returns a mender for one stream.
    pub(crate) fn new(protocol: Protocol, rules: TurnRules, observer: Arc<Observer>) -> Self {
        StreamMender {
            protocol,
            splitter: FrameSplitter::new(protocol.framing(), rules.held_bytes),
            joiner: SurrogateJoiner::default(),
            decoder: protocol.decoder(),
            encoder: protocol.encoder(),
            choices: BTreeMap::new(),
            judge: CallJudge::new(rules, observer),
            out: Vec::new(),
            state: StreamState::Open,
            had_spoken: false,
            tokens: TokenCounts::default(),
            earlier_tokens: TokenCounts::default(),
        }
    }

    /// Takes what was written since the last time.
    pub(crate) fn take_output(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.out)
    }

    /// Returns what was mended so far.
    pub(crate) fn report(&self) -> &ResponseReport {
        &self.judge.report
    }

    /// Returns what was mended so far, to log it.
    pub(crate) fn report_mut(&mut self) -> &mut ResponseReport {
        &mut self.judge.report
    }

    /// Continues with another generation for the same request.
    pub(crate) fn continue_from(&mut self, earlier: &ResponseReport, tokens: TokenCounts) {
        self.judge.report.continue_from(earlier);
        self.earlier_tokens = tokens;
    }

    /// Records that the server gave no better answer.
    pub(crate) fn record_failed_reprompt(&mut self, report: &ResponseReport) {
        self.judge.report.continue_from(report);
    }

    /// Returns what the stream says that it cost.
    pub(crate) fn tokens(&self) -> &TokenCounts {
        &self.tokens
    }

    /// Whether the client has seen something of the turn.
    pub(crate) fn has_spoken(&self) -> bool {
        self.choices.values().any(ChoiceMender::has_spoken)
    }

    /// Whether the client had seen something of the turn before its first call was refused.
    pub(crate) fn had_spoken_before_refusal(&self) -> bool {
        self.had_spoken
    }

    /// Whether something is held back.
    pub(crate) fn is_holding(&self) -> bool {
        self.state == StreamState::Open && self.choices.values().any(ChoiceMender::is_holding)
    }

    /// Returns the number of bytes that are held back.
    pub(crate) fn held_bytes(&self) -> usize {
        self.choices.values().map(ChoiceMender::held_bytes).sum()
    }

    /// Returns about how much memory the stream takes.
    pub(crate) fn memory(&self) -> usize {
        let choices: usize = self.choices.values().map(ChoiceMender::memory).sum();
        self.splitter.pending_bytes() + choices + self.decoder.memory() + self.encoder.memory()
    }

    /// Whether the end or an error was written.
    pub(crate) fn has_ended(&self) -> bool {
        self.state != StreamState::Open
    }

    /// Whether an error was written.
    pub(crate) fn has_failed(&self) -> bool {
        self.state == StreamState::Failed
    }

    /// Returns the protocol of the stream.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Adds the next bytes of the server.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.judge.report.has_refused() {
            self.had_spoken = self.has_spoken();
        }
        self.splitter.push(bytes);
        loop {
            match self.splitter.next_frame() {
                Ok(Some(frame)) => self.add_frame(frame),
                Ok(None) => break,
                Err(error) => {
                    self.fail(&error.to_string());
                    break;
                }
            }
        }
        if let Some(error) = self.judge.report.fatal_error.take() {
            self.fail(&error);
        }
    }

    /// Ends the stream. A turn without an end and without a call is an error.
    pub(crate) fn finish(&mut self) {
        if let Some(frame) = self.splitter.take_rest().filter(|frame| !frame.is_comment()) {
            // A last frame without its blank line counts if its payload is complete.
            let is_complete =
                frame.data.as_ref().is_some_and(|data| data.starts_with(b"[DONE]")) || frame.doc().is_some();
            if is_complete {
                let frame = terminate_frame(&frame, self.protocol);
                self.add_frame(frame);
            }
        }
        if self.state != StreamState::Open {
            return;
        }
        let judge = &mut self.judge;
        let all_closed = !self.choices.is_empty()
            && self.choices.values_mut().all(|choice| choice.is_closed() || choice.end_without_stop(judge));
        if all_closed {
            self.write_end(None);
        } else {
            self.fail(&retry_message("the server's stream ended before the turn was complete"));
        }
    }

    /// Ends the stream with an error. Held text is sent, held calls are not.
    pub(crate) fn fail(&mut self, message: &str) {
        if self.state == StreamState::Open {
            self.give_up();
            self.encoder.write_error(message, &mut self.out);
        }
    }

    /// Ends the stream because the connection to the server broke. Held text is sent, held calls are not.
    pub(crate) fn break_off(&mut self) {
        if self.state == StreamState::Open {
            self.give_up();
        }
    }

    /// Sends held text, and nothing else.
    fn give_up(&mut self) {
        self.state = StreamState::Failed;
        let numbers: Vec<u64> = self.choices.keys().copied().collect();
        for number in numbers {
            if let Some(choice) = self.choices.get_mut(&number) {
                let items = choice.give_up(&mut self.judge);
                self.write_items(number, items);
            }
        }
    }

    /// Writes something that keeps the connection alive.
    pub(crate) fn write_keep_alive(&mut self) {
        self.encoder.write_keep_alive(&mut self.out);
    }

    fn add_frame(&mut self, frame: Frame) {
        match self.state {
            StreamState::Open => {}
            StreamState::Ended => {
                self.out.push(frame.raw);
                return;
            }
            StreamState::Failed => return,
        }
        if frame.is_comment() {
            self.out.push(frame.raw);
            return;
        }
        let length = frame.raw.len();
        let frame = self.joiner.join(frame);
        self.judge.report.fix_form(frame.raw.len() != length);
        let frame = self.count_tokens(frame);
        let data = frame.data.clone();
        for decoded in self.decoder.decode_frame(frame) {
            if let DecodedFrame::Other(_) = decoded {
                self.judge.report.is_unread |= data.as_ref().is_some_and(is_unreadable);
            }
            match decoded {
                DecodedFrame::Item(number, frame, parts) => self.add_item(number, frame, parts),
                DecodedFrame::Other(frame) if frame.is_comment() => self.out.push(frame.raw),
                DecodedFrame::Other(frame) => {
                    let holding = self
                        .choices
                        .iter()
                        .find(|(_, choice)| choice.is_holding())
                        .map(|(number, _)| *number);
                    match holding {
                        Some(number) => self.add_item(number, frame, vec![Part::Opaque]),
                        None => self.encoder.write_unchanged(None, frame, &mut self.out),
                    }
                }
                DecodedFrame::End(frame) => self.write_end(Some(frame)),
                DecodedFrame::Error(frame) => {
                    self.give_up();
                    self.out.push(frame.raw);
                }
            }
        }
    }

    /// Reads the token counts of a frame, and adds those of earlier generations to them.
    fn count_tokens(&mut self, frame: Frame) -> Frame {
        let may_have = frame.data.as_ref().is_some_and(|data| TokenCounts::may_be_in(data));
        if self.judge.rules.refusal != RefusalMode::Reprompt || !may_have {
            return frame;
        }
        let Some(doc) = frame.doc() else { return frame };
        self.tokens.read(doc.root());
        match self.earlier_tokens.add_to(doc.root()) {
            Some(text) => frame.with_data(&text),
            None => frame,
        }
    }

    fn add_item(&mut self, number: u64, frame: Frame, parts: Vec<Part>) {
        let judge = &mut self.judge;
        let choice = self.choices.entry(number).or_insert_with(|| ChoiceMender::new(judge));
        let bytes = frame.raw.len();
        let items = choice.push(frame, bytes, parts, judge);
        self.write_items(number, items);
    }

    fn write_end(&mut self, frame: Option<Frame>) {
        let numbers: Vec<u64> = self.choices.keys().copied().collect();
        for number in numbers {
            if let Some(choice) = self.choices.get_mut(&number) {
                let items = choice.end(&mut self.judge);
                self.write_items(number, items);
            }
        }
        self.state = StreamState::Ended;
        if let Some(error) = self.judge.report.fatal_error.take() {
            self.state = StreamState::Failed;
            self.encoder.write_error(&error, &mut self.out);
            return;
        }
        self.judge.finish_report();
        let summary = self.judge.report.summary();
        let summary = (summary != toolmend::Outcome::Clean.name()).then_some(summary);
        self.encoder.write_end(frame, summary.as_deref(), &mut self.out);
    }

    fn write_items(&mut self, number: u64, items: Vec<MendedItem<Frame>>) {
        for item in items {
            match item {
                MendedItem::Unchanged(frame) => {
                    self.encoder.write_unchanged(Some(number), frame, &mut self.out);
                }
                MendedItem::Rewritten(frame, parts) => {
                    let replacement = Replacement { choice: number, frame, parts };
                    self.encoder.write_parts(replacement, &mut self.out);
                }
            }
        }
    }
}

/// Whether the payload of a frame is not JSON. Nobody can see whether it holds a call.
fn is_unreadable(data: &Bytes) -> bool {
    let data = data.trim_ascii();
    !data.is_empty()
        && !data.starts_with(b"[DONE]")
        && Document::parse(&Bytes::copy_from_slice(data)).is_none()
}

/// Returns the error for a stream that broke although nothing is wrong with the request. Several clients decide by these words
/// whether they ask again, which they do on their own when a connection breaks.
pub(crate) fn retry_message(what: &str) -> String {
    format!("server_error: {what}; try your request again")
}

/// Returns the frame with its missing blank line.
fn terminate_frame(frame: &Frame, protocol: Protocol) -> Frame {
    let event = frame.event.as_ref().and_then(|event| std::str::from_utf8(event).ok()).map(str::to_owned);
    let data = frame.data.as_ref().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or_default();
    Frame::new(protocol.framing(), event.as_deref(), data)
}
