//! The stream of a chat completion, encoded.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::super::chunk::{self, ChunkForm, Envelope};
use super::{REASONING, STOP_WORDS, call_json};
use crate::frame::{Frame, FrameRole};
use crate::json::{array, quote};
use crate::stream::{FrameEncoder, Replacement};
use crate::turn::{OutgoingPart, StopReason};

const CHUNK: ChunkForm = ChunkForm { object: "chat.completion.chunk", counts: &["usage", "timings"] };

#[derive(Debug, Default)]
pub(super) struct Encoder {
    envelope: Envelope,
    /// How many calls each choice has so far.
    calls: HashMap<u64, u64>,
    /// Choices whose role was sent.
    begun: HashSet<u64>,
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        out.push(frame.raw.clone());
        self.begun.extend(choice);
        if let (Some(choice), FrameRole::StartCalls(calls)) = (choice, frame.role) {
            *self.calls.entry(choice).or_default() += calls;
        }
        self.envelope.keep(frame);
    }

    fn write_parts(&mut self, Replacement { choice, frame, parts }: Replacement, out: &mut Vec<Bytes>) {
        let template = self.envelope.template(frame);
        let replaces_frame = template.replaces_frame;
        let received = template.choice();
        let delta = received.and_then(|received| received.get("delta"));
        let reasoning_member =
            delta.and_then(|delta| REASONING.into_iter().find(|name| delta.get(name).is_some()));
        let raw_reason = received.and_then(|received| received.get_lossy_text("finish_reason"));
        let calls = self.calls.entry(choice).or_default();
        let mut choices = Vec::new();
        // A role that arrived with the replaced frame still has to be sent.
        let first = self.begun.insert(choice);
        let role = delta.filter(|_| replaces_frame && first).and_then(|delta| delta.get("role"));
        let mut role = role.map(|role| format!(r#""role":{},"#, role.raw())).unwrap_or_default();
        let write_choice = |delta: &str, reason: &str| {
            format!(r#"{{"index":{choice},"delta":{delta},"logprobs":null,"finish_reason":{reason}}}"#)
        };
        for part in parts {
            let mut reason = "null".to_owned();
            let delta = match part {
                OutgoingPart::Text(text) => format!(r#"{{{role}"content":{}}}"#, quote(&text)),
                OutgoingPart::Reasoning(text) => {
                    format!(r#"{{{role}"{}":{}}}"#, reasoning_member.unwrap_or(REASONING[0]), quote(&text))
                }
                OutgoingPart::Call(call) | OutgoingPart::CallStart(call) => {
                    let call = array([call_json(&call, Some(*calls))]);
                    *calls += 1;
                    format!(r#"{{{role}"tool_calls":{call}}}"#)
                }
                OutgoingPart::CallEnd(_, rest) if rest.is_empty() => continue,
                OutgoingPart::CallEnd(_, rest) | OutgoingPart::CallArguments(rest) => {
                    let index = calls.saturating_sub(1);
                    let function = format!(r#"{{"arguments":{}}}"#, quote(&rest));
                    format!(r#"{{{role}"tool_calls":[{{"index":{index},"function":{function}}}]}}"#)
                }
                OutgoingPart::Stop(stop) => {
                    let keeps_word = replaces_frame && stop == StopReason::Other;
                    reason = quote(STOP_WORDS.choose(stop, raw_reason.as_deref().filter(|_| keeps_word)));
                    "{}".to_owned()
                }
            };
            role.clear();
            choices.push(write_choice(&delta, &reason));
        }
        if choices.is_empty() && !role.is_empty() {
            choices.push(write_choice(&format!("{{{}}}", role.trim_end_matches(',')), "null"));
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
