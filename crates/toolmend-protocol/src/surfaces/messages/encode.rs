//! The stream of a message, encoded.

use std::collections::HashMap;

use bytes::Bytes;

use crate::frame::{Frame, FrameRole, Framing};
use crate::json::{Document, quote};
use crate::stream::{FrameEncoder, Replacement, summary_comment};
use crate::turn::{OutgoingPart, ReadyCall, StopReason};

use super::{STOP_WORDS, call_block, error_body};

/// What kind of block is open for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Encoder {
    /// The number of the next block.
    next: u64,
    open: Option<(u64, BlockKind)>,
    /// The client's number for each open block of the server.
    numbers: HashMap<u64, u64>,
    /// The start of a block that is still empty. If its text turns out to be a call, the start is never sent.
    pending_start: Option<Frame>,
    sent_stop: bool,
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, _choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        match frame.role {
            FrameRole::Open(_) => {
                self.send_pending_start(None, out);
                self.close_block(out);
                self.pending_start = Some(frame);
            }
            FrameRole::Inside(index) => {
                self.send_pending_start(None, out);
                if let Some(&number) = self.numbers.get(&index) {
                    out.push(renumber(&frame, index, number));
                } else if let Some(doc) = frame.doc()
                    && let Some(text) = doc.root().get("delta").and_then(|delta| delta.get_lossy_text("text"))
                {
                    // Its block had to be closed early.
                    self.add_text(BlockKind::Text, &text, out);
                }
            }
            FrameRole::Close(index) => {
                self.send_pending_start(None, out);
                if let Some(number) = self.numbers.remove(&index) {
                    if self.open.is_some_and(|(open, _)| open == number) {
                        self.open = None;
                    }
                    out.push(renumber(&frame, index, number));
                }
            }
            FrameRole::Stop => {
                self.send_pending_start(None, out);
                self.close_block(out);
                self.sent_stop = true;
                out.push(frame.raw);
            }
            FrameRole::Begin | FrameRole::Other | FrameRole::StartCalls(_) => out.push(frame.raw),
        }
    }

    fn write_parts(&mut self, Replacement { frame, parts, .. }: Replacement, out: &mut Vec<Bytes>) {
        for part in parts {
            match part {
                OutgoingPart::Text(text) => self.add_text(BlockKind::Text, &text, out),
                OutgoingPart::Reasoning(text) => self.add_text(BlockKind::Thinking, &text, out),
                OutgoingPart::Call(call) => self.write_call(&call, out),
                OutgoingPart::CallStart(call) => self.start_call(&call, out),
                OutgoingPart::CallArguments(text) => self.add_arguments(&text, out),
                OutgoingPart::CallEnd(_, rest) => {
                    self.add_arguments(&rest, out);
                    self.close_block(out);
                }
                OutgoingPart::Stop(stop) => self.write_stop(stop, frame.as_ref(), out),
            }
        }
    }

    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        if !self.sent_stop {
            self.write_stop(StopReason::End, None, out);
        }
        out.extend(summary.map(summary_comment));
        let raw = frame
            .map_or_else(|| event_frame("message_stop", r#"{"type":"message_stop"}"#), |frame| frame.raw);
        out.push(raw);
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        out.push(event_frame("error", &error_body("api_error", message)));
    }
}

impl Encoder {
    /// Sends the server's start of a block, now that the block has content of the wanted kind.
    fn send_pending_start(&mut self, wanted: Option<BlockKind>, out: &mut Vec<Bytes>) {
        let Some(frame) = self.pending_start.take() else { return };
        let FrameRole::Open(index) = frame.role else { return };
        let doc = frame.doc();
        let kind = doc.as_ref().and_then(|doc| doc.root().get("content_block")?.get_lossy_text("type"));
        let block = match kind.as_deref() {
            Some("text") => BlockKind::Text,
            Some("thinking") => BlockKind::Thinking,
            _ => BlockKind::Other,
        };
        if wanted.is_some_and(|wanted| wanted != block) {
            return;
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(index, number);
        self.open = Some((number, block));
        out.push(renumber(&frame, index, number));
    }

    fn close_block(&mut self, out: &mut Vec<Bytes>) {
        if let Some((number, _)) = self.open.take() {
            self.numbers.retain(|_, known| *known != number);
            out.push(event_frame(
                "content_block_stop",
                &format!(r#"{{"type":"content_block_stop","index":{number}}}"#),
            ));
        }
    }

    fn start_block(&mut self, block: BlockKind, content: &str, out: &mut Vec<Bytes>) -> u64 {
        self.close_block(out);
        let number = self.next;
        self.next += 1;
        self.open = Some((number, block));
        let data = format!(r#"{{"type":"content_block_start","index":{number},"content_block":{content}}}"#);
        out.push(event_frame("content_block_start", &data));
        number
    }

    fn add_text(&mut self, block: BlockKind, text: &str, out: &mut Vec<Bytes>) {
        if text.is_empty() {
            return;
        }
        self.send_pending_start(Some(block), out);
        let (content, kind, field) = match block {
            BlockKind::Text => (r#"{"type":"text","text":""}"#, "text_delta", "text"),
            _ => (r#"{"type":"thinking","thinking":"","signature":""}"#, "thinking_delta", "thinking"),
        };
        let number = match self.open {
            Some((number, open)) if open == block => number,
            _ => self.start_block(block, content, out),
        };
        Self::write_delta(number, &format!(r#"{{"type":"{kind}","{field}":{}}}"#, quote(text)), out);
    }

    fn write_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.start_call(call, out);
        self.close_block(out);
    }

    fn start_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.pending_start = None;
        let number = self.start_block(BlockKind::Other, &call_block(call, "{}"), out);
        Self::write_delta(number, &arguments_delta(&call.arguments), out);
    }

    /// Adds arguments to the open call.
    fn add_arguments(&mut self, text: &str, out: &mut Vec<Bytes>) {
        self.send_pending_start(None, out);
        if let Some((number, _)) = self.open.filter(|_| !text.is_empty()) {
            Self::write_delta(number, &arguments_delta(text), out);
        }
    }

    fn write_delta(number: u64, delta: &str, out: &mut Vec<Bytes>) {
        let data = format!(r#"{{"type":"content_block_delta","index":{number},"delta":{delta}}}"#);
        out.push(event_frame("content_block_delta", &data));
    }

    fn write_stop(&mut self, stop: StopReason, frame: Option<&Frame>, out: &mut Vec<Bytes>) {
        self.pending_start = None;
        self.close_block(out);
        self.sent_stop = true;
        let doc = frame.filter(|frame| frame.role == FrameRole::Stop).and_then(Frame::doc);
        let data = match doc.as_ref().map(Document::root) {
            Some(root) => {
                let delta = root.get("delta");
                let raw = delta.and_then(|delta| delta.get_lossy_text("stop_reason"));
                let word = Some(quote(STOP_WORDS.choose(stop, raw.as_deref())));
                let delta = delta.map(|delta| delta.with(&[("stop_reason", word)]));
                root.with(&[("delta", delta)])
            }
            None => format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}},"usage":{{"output_tokens":0}}}}"#,
                STOP_WORDS.choose(stop, None)
            ),
        };
        out.push(event_frame("message_delta", &data));
    }
}

fn arguments_delta(text: &str) -> String {
    format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quote(text))
}

fn event_frame(name: &str, data: &str) -> Bytes {
    Frame::new(Framing::Sse, Some(name), data).raw
}

/// Returns the frame with the client's block number.
fn renumber(frame: &Frame, index: u64, number: u64) -> Bytes {
    let doc = (index != number).then(|| frame.doc()).flatten();
    match doc {
        Some(doc) => frame.with_data(&doc.root().with(&[("index", Some(number.to_string()))])).raw,
        None => frame.raw.clone(),
    }
}
