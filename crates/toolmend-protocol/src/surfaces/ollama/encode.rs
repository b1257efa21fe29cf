//! Ollama's stream of lines, encoded.

use std::fmt::Write;

use bytes::Bytes;

use super::{Endpoint, STOP_WORDS, call_json, error_body};
use crate::frame::{Frame, FrameRole, Framing};
use crate::json::{Document, quote};
use crate::stream::{FrameEncoder, Replacement};
use crate::turn::OutgoingPart;

#[derive(Debug)]
pub(super) struct Encoder {
    endpoint: Endpoint,
    /// The members that every line begins with: model and time.
    head: String,
    /// The last line, which is held until the summary of the stream is known.
    last: Option<Bytes>,
}

impl Encoder {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Encoder { endpoint, head: String::new(), last: None }
    }

    /// Copies model and time from the first line.
    fn learn_head(&mut self, frame: &Frame) {
        if !self.head.is_empty() {
            return;
        }
        if let Some(doc) = frame.doc() {
            let root = doc.root();
            for name in ["model", "created_at"] {
                if let Some(value) = root.get(name) {
                    let _ = write!(self.head, r#""{name}":{},"#, value.raw());
                }
            }
        }
    }

    /// Returns a line with this text and more members.
    fn write_line(&self, text: &str, more: &str) -> Bytes {
        self.write_line_with_end(text, more, r#""done":false"#)
    }

    /// Returns the line that says why the turn ended.
    fn write_last_line(&self, reason: &str) -> Bytes {
        self.write_line_with_end("", "", &format!(r#""done":true,"done_reason":{}"#, quote(reason)))
    }

    fn write_line_with_end(&self, text: &str, more: &str, end: &str) -> Bytes {
        let (head, text) = (&self.head, quote(text));
        let data = match self.endpoint {
            Endpoint::Chat => {
                format!(r#"{{{head}"message":{{"role":"assistant","content":{text}{more}}},{end}}}"#)
            }
            Endpoint::Generate => format!(r#"{{{head}"response":{text}{more},{end}}}"#),
        };
        Frame::new(Framing::Lines, None, &data).raw
    }
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, _choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        self.learn_head(&frame);
        if frame.role == FrameRole::Stop {
            self.last = Some(frame.raw);
        } else {
            out.push(frame.raw);
        }
    }

    fn write_parts(&mut self, Replacement { frame, parts, .. }: Replacement, out: &mut Vec<Bytes>) {
        if let Some(frame) = &frame {
            self.learn_head(frame);
        }
        let mut new_stop = None;
        for part in parts {
            match part {
                OutgoingPart::Text(text) => out.push(self.write_line(&text, "")),
                OutgoingPart::Reasoning(text) => {
                    out.push(self.write_line("", &format!(r#","thinking":{}"#, quote(&text))));
                }
                OutgoingPart::Call(call) | OutgoingPart::CallEnd(call, _) => {
                    out.push(self.write_line("", &format!(r#","tool_calls":[{}]"#, call_json(&call))));
                }
                // Calls are always complete here.
                OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => {}
                OutgoingPart::Stop(stop) => new_stop = Some(stop),
            }
        }
        let Some(frame) = frame.filter(|frame| frame.role == FrameRole::Stop) else {
            // The server forgot its last line.
            if let Some(stop) = new_stop {
                self.last = Some(self.write_last_line(STOP_WORDS.choose(stop, None)));
            }
            return;
        };
        let doc = frame.doc();
        let Some(root) = doc.as_ref().map(Document::root) else { return };
        // The counts in the last line stay. Its text and calls were written above.
        let raw = root.get_lossy_text("done_reason");
        let mut changes = Vec::new();
        if let Some(message) = self.endpoint.message(root) {
            let cleared =
                [(self.endpoint.text_member(), Some(quote(""))), ("thinking", None), ("tool_calls", None)];
            match self.endpoint {
                Endpoint::Chat => changes.push(("message", Some(message.with(&cleared)))),
                Endpoint::Generate => changes.extend(cleared),
            }
        }
        if let Some(stop) = new_stop {
            changes.push(("done_reason", Some(quote(STOP_WORDS.choose(stop, raw.as_deref())))));
        }
        self.last = Some(Frame::new(Framing::Lines, None, &root.with(&changes)).raw);
    }

    fn write_end(&mut self, _frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        let Some(last) = self.last.take() else { return };
        let doc = summary.and_then(|_| Document::parse(&last));
        match (summary, doc) {
            // There are no comments, so the summary is a member of the last line.
            (Some(summary), Some(doc)) => {
                let line = doc.root().with(&[("toolmend", Some(quote(summary)))]);
                out.push(Frame::new(Framing::Lines, None, &line).raw);
            }
            _ => out.push(last),
        }
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        out.push(Frame::new(Framing::Lines, None, &error_body(message)).raw);
    }

    fn write_keep_alive(&mut self, out: &mut Vec<Bytes>) {
        if !self.head.is_empty() {
            out.push(self.write_line("", ""));
        }
    }
}
