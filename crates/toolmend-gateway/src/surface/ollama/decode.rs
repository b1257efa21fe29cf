//! A stream of lines, read.

use bytes::Bytes;

use crate::surface::{Decode, Heard};
use crate::turn::Part;
use crate::wire::doc::View;
use crate::wire::frame::{Frame, Mark};

use super::{Form, call_piece, stop};

#[derive(Debug)]
pub(crate) struct Decoder {
    form: Form,
    calls: u64,
}

impl Decoder {
    pub(crate) fn new(form: Form) -> Self {
        Decoder { form, calls: 0 }
    }
}

impl Decode for Decoder {
    fn decode(&mut self, frame: Frame) -> Vec<Heard> {
        let Some(doc) = frame.doc() else {
            // There are no comments on this surface; what is no JSON would make clients fail.
            return Vec::new();
        };
        let root = doc.root();
        if root.some("error").is_some() {
            return vec![Heard::Error(frame)];
        }
        let mut parts = Vec::new();
        if let Some(said) = self.form.said(root) {
            if let Some(text) = said.get_text("thinking") {
                parts.push(Part::Reasoning(text.into_owned()));
            }
            if let Some(text) = said.get_text(self.form.text()) {
                parts.push(Part::Text(text.into_owned()));
            }
            let calls = said.some("tool_calls").filter(|calls| calls.is_array());
            for call in calls.into_iter().flat_map(View::items) {
                parts.push(Part::Call(call_piece(call, self.calls)));
                self.calls += 1;
            }
        }
        if !root.get("done").is_some_and(View::is_true) {
            parts.push(Part::Opaque);
            return vec![Heard::Item(0, frame, parts)];
        }
        parts.push(Part::Stop(stop(root.get_text("done_reason").as_deref())));
        let end = Frame { raw: Bytes::new(), event: None, data: None, mark: Mark::Stop };
        vec![Heard::Item(0, frame.marked(Mark::Stop), parts), Heard::End(end)]
    }
}
