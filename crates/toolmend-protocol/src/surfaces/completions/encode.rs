//! The stream of a text completion, encoded.

use bytes::Bytes;

use super::super::chunk::{self, ChunkForm, Envelope};
use super::{STOP_WORDS, call_json};
use crate::frame::Frame;
use crate::json::{array, quote};
use crate::stream::{FrameEncoder, Replacement};
use crate::turn::OutgoingPart;

const CHUNK: ChunkForm = ChunkForm { object: "text_completion", counts: &["usage"] };

#[derive(Debug, Default)]
pub(super) struct Encoder {
    envelope: Envelope,
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, _choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        out.push(frame.raw.clone());
        self.envelope.keep(frame);
    }

    fn write_parts(&mut self, Replacement { choice, frame, parts }: Replacement, out: &mut Vec<Bytes>) {
        let template = self.envelope.template(frame);
        let raw_reason = template.choice().and_then(|received| received.get_lossy_text("finish_reason"));
        let mut choices = Vec::with_capacity(parts.len());
        for part in parts {
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
                OutgoingPart::Stop(stop) => (
                    String::new(),
                    Some(quote(STOP_WORDS.choose(stop, raw_reason.as_deref()))),
                    String::new(),
                ),
            };
            let reason = reason.unwrap_or_else(|| "null".to_owned());
            choices.push(format!(
                r#"{{"index":{choice},"text":{},"logprobs":null,"finish_reason":{reason}{more}}}"#,
                quote(&text)
            ));
        }
        template.write_choices(choices, &CHUNK, out);
    }

    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        chunk::write_end(frame, summary, out);
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        chunk::write_error(message, out);
    }
}
