//! Ollama's stream of lines, decoded.

use bytes::Bytes;

use super::{Endpoint, read_call_piece, read_stop};
use crate::frame::{Frame, FrameRole};
use crate::json::ValueRef;
use crate::stream::{DecodedFrame, FrameDecoder};
use crate::turn::Part;

#[derive(Debug)]
pub(super) struct Decoder {
    endpoint: Endpoint,
    calls: u64,
}

impl Decoder {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Decoder { endpoint, calls: 0 }
    }
}

impl FrameDecoder for Decoder {
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame> {
        let Some(doc) = frame.doc() else {
            // Lines of JSON have no comments, and anything else would make clients fail.
            return Vec::new();
        };
        let root = doc.root();
        if root.get_non_null("error").is_some() {
            return vec![DecodedFrame::Error(frame)];
        }
        let mut parts = Vec::new();
        if let Some(message) = self.endpoint.message(root) {
            if let Some(text) = message.get_lossy_text("thinking") {
                parts.push(Part::Reasoning(text.into_owned()));
            }
            if let Some(text) = message.get_lossy_text(self.endpoint.text_member()) {
                parts.push(Part::Text(text.into_owned()));
            }
            let calls = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
            for call in calls.into_iter().flat_map(ValueRef::items) {
                parts.push(Part::Call(read_call_piece(call, self.calls)));
                self.calls += 1;
            }
        }
        if !root.get("done").is_some_and(ValueRef::is_true) {
            parts.push(Part::Opaque);
            return vec![DecodedFrame::Item(0, frame, parts)];
        }
        parts.push(Part::Stop(read_stop(root.get_lossy_text("done_reason").as_deref())));
        let end = Frame { raw: Bytes::new(), event: None, data: None, role: FrameRole::Stop };
        vec![DecodedFrame::Item(0, frame.with_role(FrameRole::Stop), parts), DecodedFrame::End(end)]
    }
}
