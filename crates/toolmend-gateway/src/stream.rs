//! A stream on its way from the server to the client.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::mend::judge::{Judge, Rules};
use crate::mend::lane::Lane;
use crate::mend::report::Report;
use crate::observe::Observer;
use crate::surface::{Decode, Encode, Heard, Surface};
use crate::turn::{Out, Part};
use crate::wire::frame::{Frame, Splitter};

/// Reads the server's bytes and writes the client's.
pub(crate) struct StreamMender {
    surface: Surface,
    splitter: Splitter,
    decoder: Box<dyn Decode>,
    encoder: Box<dyn Encode>,
    lanes: BTreeMap<u64, Lane<Frame>>,
    judge: Judge,
    out: Vec<Bytes>,
    state: State,
    /// Whether something had left before the last bytes came.
    spoken_before: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The end was written. What follows passes.
    Ended,
    /// An error was written. Nothing follows.
    Failed,
}

impl StreamMender {
    pub(crate) fn new(surface: Surface, rules: Rules, observer: Arc<Observer>) -> Self {
        StreamMender {
            surface,
            splitter: Splitter::new(surface.framing(), rules.held_bytes),
            decoder: surface.decoder(),
            encoder: surface.encoder(),
            lanes: BTreeMap::new(),
            judge: Judge::new(rules, observer),
            out: Vec::new(),
            state: State::Open,
            spoken_before: false,
        }
    }

    /// What was written since the last time.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn report(&self) -> &Report {
        &self.judge.report
    }

    pub(crate) fn report_mut(&mut self) -> &mut Report {
        &mut self.judge.report
    }

    /// Whether the client has seen something of the turn.
    pub(crate) fn has_spoken(&self) -> bool {
        self.lanes.values().any(|lane| lane.spoken)
    }

    /// Whether the client had seen something of the turn before its first call was refused.
    pub(crate) fn spoken_before_refusal(&self) -> bool {
        self.spoken_before
    }

    /// Whether something waits that the client has not seen.
    pub(crate) fn is_holding(&self) -> bool {
        self.state == State::Open && self.lanes.values().any(Lane::is_holding)
    }

    /// How many bytes wait.
    pub(crate) fn held(&self) -> usize {
        self.lanes.values().map(Lane::held).sum()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state != State::Open
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    pub(crate) fn surface(&self) -> Surface {
        self.surface
    }

    /// Takes the next bytes of the server.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.judge.report.refused.is_empty() {
            self.spoken_before = self.has_spoken();
        }
        self.splitter.push(bytes);
        loop {
            match self.splitter.next() {
                Ok(Some(frame)) => self.frame(frame),
                Ok(None) => break,
                Err(_) => {
                    self.fail("the server sent an event that is longer than the gateway holds");
                    break;
                }
            }
        }
        if let Some(why) = self.judge.report.stuck.take() {
            self.fail(&why);
        }
        if self.held() > self.judge.rules.held_bytes {
            self.fail("the server sent a call that is longer than the gateway holds");
        }
    }

    /// The server is done. A turn without an end is an error.
    pub(crate) fn finish(&mut self) {
        if let Some(frame) = self.splitter.rest().filter(|frame| !frame.is_comment()) {
            // A last frame without its blank line: if it is whole, it counts.
            let whole =
                frame.data.as_ref().is_some_and(|data| data.starts_with(b"[DONE]")) || frame.doc().is_some();
            if whole {
                let frame = terminated(&frame, self.surface);
                self.frame(frame);
            }
        }
        if self.state != State::Open {
            return;
        }
        let closed = !self.lanes.is_empty() && self.lanes.values().all(Lane::is_closed);
        if closed {
            self.end(None);
        } else {
            self.fail("the server's stream ended before the turn was complete");
        }
    }

    /// Ends the stream with an error. Calls that wait are not sent.
    pub(crate) fn fail(&mut self, message: &str) {
        if self.state == State::Open {
            self.give_up();
            self.encoder.error(message, &mut self.out);
        }
    }

    /// Sends the text that waits, and nothing else.
    fn give_up(&mut self) {
        self.state = State::Failed;
        let numbers: Vec<u64> = self.lanes.keys().copied().collect();
        for number in numbers {
            if let Some(lane) = self.lanes.get_mut(&number) {
                let outs = lane.give_up(&mut self.judge);
                self.write(number, outs);
            }
        }
    }

    /// Tells the client that the stream lives.
    pub(crate) fn keep_alive(&mut self) {
        self.encoder.keep_alive(&mut self.out);
    }

    fn frame(&mut self, frame: Frame) {
        match self.state {
            State::Open => {}
            State::Ended => {
                self.out.push(frame.raw);
                return;
            }
            State::Failed => return,
        }
        if frame.is_comment() {
            self.out.push(frame.raw);
            return;
        }
        for heard in self.decoder.decode(frame) {
            match heard {
                Heard::Item(number, frame, parts) => self.item(number, frame, parts),
                Heard::Aside(frame) if frame.is_comment() => self.out.push(frame.raw),
                Heard::Aside(frame) => {
                    let waiting =
                        self.lanes.iter().find(|(_, lane)| lane.is_holding()).map(|(number, _)| *number);
                    match waiting {
                        Some(number) => self.item(number, frame, vec![Part::Opaque]),
                        None => self.encoder.keep(None, frame, &mut self.out),
                    }
                }
                Heard::End(frame) => self.end(Some(frame)),
                Heard::Error(frame) => {
                    self.give_up();
                    self.out.push(frame.raw);
                }
            }
        }
    }

    fn item(&mut self, number: u64, frame: Frame, parts: Vec<Part>) {
        let judge = &mut self.judge;
        let lane = self.lanes.entry(number).or_insert_with(|| Lane::new(judge));
        let bytes = frame.raw.len();
        let outs = lane.push(frame, bytes, parts, judge);
        self.write(number, outs);
    }

    fn end(&mut self, frame: Option<Frame>) {
        let numbers: Vec<u64> = self.lanes.keys().copied().collect();
        for number in numbers {
            if let Some(lane) = self.lanes.get_mut(&number) {
                let outs = lane.end(&mut self.judge);
                self.write(number, outs);
            }
        }
        self.state = State::Ended;
        if let Some(why) = self.judge.report.stuck.take() {
            self.state = State::Failed;
            self.encoder.error(&why, &mut self.out);
            return;
        }
        let summary = (!self.judge.report.is_clean()).then(|| self.judge.report.summary());
        self.encoder.end(frame, summary.as_deref(), &mut self.out);
    }

    fn write(&mut self, number: u64, outs: Vec<Out<Frame>>) {
        for out in outs {
            match out {
                Out::Keep(frame) => self.encoder.keep(Some(number), frame, &mut self.out),
                Out::Instead(frame, made) => self.encoder.instead(number, frame, made, &mut self.out),
            }
        }
    }
}

/// The frame with the blank line that it lost.
fn terminated(frame: &Frame, surface: Surface) -> Frame {
    let event = frame.event.as_ref().and_then(|event| std::str::from_utf8(event).ok()).map(str::to_owned);
    let data = frame.data.as_ref().and_then(|data| std::str::from_utf8(data).ok()).unwrap_or_default();
    Frame::new(surface.framing(), event.as_deref(), data)
}
