//! The stream of a message, written.

use std::collections::HashMap;

use bytes::Bytes;

use crate::surface::{Encode, Surface, comment};
use crate::turn::{Made, ReadyCall, Stop};
use crate::wire::doc::quote;
use crate::wire::frame::{Frame, Framing, Mark};

use super::{call_block, stop_word};

/// What kind of block is open for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Other,
}

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The number of the next block.
    next: u64,
    open: Option<(u64, Block)>,
    /// The client's number for each of the server's blocks that is open.
    numbers: HashMap<u64, u64>,
    /// The beginning of a block that has said nothing yet. If its text turns out to be a call, nobody needs it.
    waiting: Option<Frame>,
    told_stop: bool,
}

impl Encode for Encoder {
    fn keep(&mut self, _lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        match frame.mark {
            Mark::Open(_) => {
                self.begin_waiting(None, out);
                self.close(out);
                self.waiting = Some(frame);
            }
            Mark::Inside(index) => {
                self.begin_waiting(None, out);
                if let Some(&number) = self.numbers.get(&index) {
                    out.push(renumbered(&frame, index, number));
                } else if let Some(doc) = frame.doc()
                    && let Some(text) = doc.root().get("delta").and_then(|delta| delta.get_text("text"))
                {
                    // Its block had to be closed before its time.
                    self.more(Block::Text, &text, out);
                }
            }
            Mark::Close(index) => {
                self.begin_waiting(None, out);
                if let Some(number) = self.numbers.remove(&index) {
                    if self.open.is_some_and(|(open, _)| open == number) {
                        self.open = None;
                    }
                    out.push(renumbered(&frame, index, number));
                }
            }
            Mark::Stop => {
                self.begin_waiting(None, out);
                self.close(out);
                self.told_stop = true;
                out.push(frame.raw);
            }
            Mark::Begin | Mark::Other => out.push(frame.raw),
        }
    }

    fn instead(&mut self, _lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>) {
        for made in made {
            match made {
                Made::Text(text) => self.more(Block::Text, &text, out),
                Made::Reasoning(text) => self.more(Block::Thinking, &text, out),
                Made::Call(call) => self.call(&call, out),
                Made::Begin(call) => self.begin_call(&call, out),
                Made::Piece(text) => self.arguments(&text, out),
                Made::Rest(_, rest) => {
                    self.arguments(&rest, out);
                    self.close(out);
                }
                Made::Stop(stop) => self.stop(stop, frame.as_ref(), out),
            }
        }
    }

    fn end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        if !self.told_stop {
            self.stop(Stop::End, None, out);
        }
        out.extend(summary.map(comment));
        let raw =
            frame.map_or_else(|| event("message_stop", r#"{"type":"message_stop"}"#), |frame| frame.raw);
        out.push(raw);
    }

    fn error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        out.push(event("error", &Surface::Messages.error_body("api_error", message)));
    }
}

impl Encoder {
    /// The server's beginning of a block, now that the block says something.
    fn begin_waiting(&mut self, wanted: Option<Block>, out: &mut Vec<Bytes>) {
        let Some(frame) = self.waiting.take() else { return };
        let Mark::Open(index) = frame.mark else { return };
        let doc = frame.doc();
        let kind = doc.as_ref().and_then(|doc| doc.root().get("content_block")?.get_text("type"));
        let block = match kind.as_deref() {
            Some("text") => Block::Text,
            Some("thinking") => Block::Thinking,
            _ => Block::Other,
        };
        if wanted.is_some_and(|wanted| wanted != block) {
            return;
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(index, number);
        self.open = Some((number, block));
        out.push(renumbered(&frame, index, number));
    }

    fn close(&mut self, out: &mut Vec<Bytes>) {
        if let Some((number, _)) = self.open.take() {
            self.numbers.retain(|_, known| *known != number);
            out.push(event(
                "content_block_stop",
                &format!(r#"{{"type":"content_block_stop","index":{number}}}"#),
            ));
        }
    }

    fn start(&mut self, block: Block, content: &str, out: &mut Vec<Bytes>) -> u64 {
        self.close(out);
        let number = self.next;
        self.next += 1;
        self.open = Some((number, block));
        let data = format!(r#"{{"type":"content_block_start","index":{number},"content_block":{content}}}"#);
        out.push(event("content_block_start", &data));
        number
    }

    fn more(&mut self, block: Block, text: &str, out: &mut Vec<Bytes>) {
        if text.is_empty() {
            return;
        }
        self.begin_waiting(Some(block), out);
        let (content, kind, field) = match block {
            Block::Text => (r#"{"type":"text","text":""}"#, "text_delta", "text"),
            _ => (r#"{"type":"thinking","thinking":"","signature":""}"#, "thinking_delta", "thinking"),
        };
        let number = match self.open {
            Some((number, open)) if open == block => number,
            _ => self.start(block, content, out),
        };
        Self::delta(number, &format!(r#"{{"type":"{kind}","{field}":{}}}"#, quote(text)), out);
    }

    fn call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.begin_call(call, out);
        self.close(out);
    }

    fn begin_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.waiting = None;
        let number = self.start(Block::Other, &call_block(call, "{}"), out);
        Self::delta(number, &partial_json(&call.arguments), out);
    }

    /// More arguments of the call that is open.
    fn arguments(&mut self, text: &str, out: &mut Vec<Bytes>) {
        self.begin_waiting(None, out);
        if let Some((number, _)) = self.open.filter(|_| !text.is_empty()) {
            Self::delta(number, &partial_json(text), out);
        }
    }

    fn delta(number: u64, delta: &str, out: &mut Vec<Bytes>) {
        let data = format!(r#"{{"type":"content_block_delta","index":{number},"delta":{delta}}}"#);
        out.push(event("content_block_delta", &data));
    }

    fn stop(&mut self, stop: Stop, frame: Option<&Frame>, out: &mut Vec<Bytes>) {
        self.waiting = None;
        self.close(out);
        self.told_stop = true;
        let doc = frame.filter(|frame| frame.mark == Mark::Stop).and_then(Frame::doc);
        let data = match doc.as_ref().map(crate::wire::doc::Doc::root) {
            Some(root) => {
                let delta = root.get("delta");
                let raw = delta.and_then(|delta| delta.get_text("stop_reason"));
                let word = Some(quote(stop_word(stop, raw.as_deref())));
                let delta = delta.map(|delta| delta.with(&[("stop_reason", word)]));
                root.with(&[("delta", delta)])
            }
            None => format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}},"usage":{{"output_tokens":0}}}}"#,
                stop_word(stop, None)
            ),
        };
        out.push(event("message_delta", &data));
    }
}

fn partial_json(text: &str) -> String {
    format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quote(text))
}

fn event(name: &str, data: &str) -> Bytes {
    Frame::new(Framing::Sse, Some(name), data).raw
}

/// The frame under the client's number.
fn renumbered(frame: &Frame, index: u64, number: u64) -> Bytes {
    let doc = (index != number).then(|| frame.doc()).flatten();
    match doc {
        Some(doc) => frame.with_data(&doc.root().with(&[("index", Some(number.to_string()))])).raw,
        None => frame.raw.clone(),
    }
}
