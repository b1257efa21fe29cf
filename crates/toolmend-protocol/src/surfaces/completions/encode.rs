//! The stream of a text completion, encoded.

use bytes::Bytes;

use super::super::chunk;
use super::{call_json, stop_word};
use crate::frame::{Frame, Framing};
use crate::json::{Document, array, quote};
use crate::stream::FrameEncoder;
use crate::turn::OutgoingPart;

#[derive(Debug, Default)]
pub(super) struct Encoder {
    /// The server's last frame: new frames copy its envelope.
    envelope: Option<Frame>,
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, _choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        out.push(frame.raw.clone());
        if frame.data.is_some() {
            self.envelope = Some(frame);
        }
    }

    fn write_parts(
        &mut self,
        choice: u64,
        frame: Option<Frame>,
        parts: Vec<OutgoingPart>,
        out: &mut Vec<Bytes>,
    ) {
        let doc = frame.as_ref().or(self.envelope.as_ref()).and_then(Frame::doc);
        let root = doc.as_ref().map(Document::root);
        let received = root.and_then(|root| root.get("choices")?.items().next());
        let raw_reason = received.and_then(|received| received.get_text("finish_reason"));
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.into_iter().enumerate() {
            let (text, reason, more) = match part {
                OutgoingPart::Text(text) => (text, None, String::new()),
                OutgoingPart::Reasoning(text) => {
                    let more = format!(r#","reasoning":{}"#, quote(&text));
                    (text, None, more)
                }
                // The text already holds the call.
                OutgoingPart::Call(call) | OutgoingPart::CallEnd(call, _) => {
                    (String::new(), None, format!(r#","tool_calls":{}"#, array([call_json(&call)])))
                }
                // Calls are never sent in pieces here.
                OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => continue,
                OutgoingPart::Stop(stop) => {
                    (String::new(), Some(quote(stop_word(stop, raw_reason.as_deref()))), String::new())
                }
            };
            let reason = reason.unwrap_or_else(|| "null".to_owned());
            let choices = array([format!(
                r#"{{"index":{choice},"text":{},"logprobs":null,"finish_reason":{reason}{more}}}"#,
                quote(&text)
            )]);
            let data = match root {
                Some(root) if frame.is_some() && at == last => root.with(&[("choices", Some(choices))]),
                Some(root) => root.with(&[("choices", Some(choices)), ("usage", None)]),
                None => format!(r#"{{"object":"text_completion","choices":{choices}}}"#),
            };
            out.push(Frame::new(Framing::Sse, None, &data).raw);
        }
        if frame.is_some() {
            self.envelope = frame;
        }
    }

    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        chunk::write_end(frame, summary, out);
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        chunk::write_error(message, out);
    }
}
