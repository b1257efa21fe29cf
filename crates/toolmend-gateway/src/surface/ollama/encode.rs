//! A stream of lines, written.

use std::fmt::Write;

use bytes::Bytes;

use crate::surface::{Encode, Surface};
use crate::turn::Made;
use crate::wire::doc::{Doc, quote};
use crate::wire::frame::{Frame, Framing, Mark};

use super::{Form, call_json, stop_word};

#[derive(Debug)]
pub(crate) struct Encoder {
    form: Form,
    /// What every line begins with: the model and the time.
    head: String,
    /// The last line, which waits for what is told about the stream.
    last: Option<Bytes>,
}

impl Encoder {
    pub(crate) fn new(form: Form) -> Self {
        Encoder { form, head: String::new(), last: None }
    }

    fn learn(&mut self, frame: &Frame) {
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

    /// A line with this text and these members.
    fn line(&self, text: &str, more: &str) -> Bytes {
        let head = &self.head;
        let data = match self.form {
            Form::Chat => format!(
                r#"{{{head}"message":{{"role":"assistant","content":{}{more}}},"done":false}}"#,
                quote(text)
            ),
            Form::Generate => format!(r#"{{{head}"response":{}{more},"done":false}}"#, quote(text)),
        };
        Frame::new(Framing::Lines, None, &data).raw
    }
}

impl Encode for Encoder {
    fn keep(&mut self, _lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        self.learn(&frame);
        if frame.mark == Mark::Stop {
            self.last = Some(frame.raw);
        } else {
            out.push(frame.raw);
        }
    }

    fn instead(&mut self, _lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>) {
        if let Some(frame) = &frame {
            self.learn(frame);
        }
        let mut stop = None;
        for made in made {
            match made {
                Made::Text(text) => out.push(self.line(&text, "")),
                Made::Reasoning(text) => out.push(self.line("", &format!(r#","thinking":{}"#, quote(&text)))),
                Made::Call(call) | Made::Rest(call, _) => {
                    out.push(self.line("", &format!(r#","tool_calls":[{}]"#, call_json(&call))));
                }
                // Calls are always whole here.
                Made::Begin(_) | Made::Piece(_) => {}
                Made::Stop(told) => stop = Some(told),
            }
        }
        let Some(frame) = frame.filter(|frame| frame.mark == Mark::Stop) else { return };
        let doc = frame.doc();
        let Some(root) = doc.as_ref().map(Doc::root) else { return };
        // The numbers in the last line stay; what it said was said.
        let raw = root.get_text("done_reason");
        let mut changes = Vec::new();
        if let Some(said) = self.form.said(root) {
            let empty = Some(quote(""));
            match self.form {
                Form::Chat => {
                    let said = said.with(&[("content", empty), ("thinking", None), ("tool_calls", None)]);
                    changes.push(("message", Some(said)));
                }
                Form::Generate => {
                    changes.extend([("response", empty), ("thinking", None), ("tool_calls", None)]);
                }
            }
        }
        if let Some(stop) = stop {
            changes.push(("done_reason", Some(quote(stop_word(stop, raw.as_deref())))));
        }
        self.last = Some(Frame::new(Framing::Lines, None, &root.with(&changes)).raw);
    }

    fn end(&mut self, _frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        let Some(last) = self.last.take() else { return };
        let doc = summary.and_then(|_| Doc::parse(&last));
        match (summary, doc) {
            (Some(summary), Some(doc)) => {
                let told = doc.root().with(&[("toolmend", Some(quote(summary)))]);
                out.push(Frame::new(Framing::Lines, None, &told).raw);
            }
            _ => out.push(last),
        }
    }

    fn error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        out.push(Frame::new(Framing::Lines, None, &Surface::Ollama(self.form).error_body("", message)).raw);
    }

    fn keep_alive(&mut self, out: &mut Vec<Bytes>) {
        if !self.head.is_empty() {
            out.push(self.line("", ""));
        }
    }
}
