//! The stream of a chat completion, encoded.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::super::chunk::{self, ChunkForm, Envelope};
use super::{REASONING, STOP_WORDS, call_json};
use crate::extras::{CallExtras, ExtraMembers};
use crate::frame::{Frame, FrameRole};
use crate::json::{Object, ValueRef, array, quote};
use crate::stream::{FrameEncoder, Replacement};
use crate::turn::{OutgoingPart, ReadyCall, StopReason};

/// The members of a delta that are written again. All others stay as they are.
const KNOWN_IN_DELTA: &[&str] =
    &["role", "content", "reasoning_content", "reasoning", "tool_calls", "function_call"];
/// The members of a choice that are written again. Probabilities no longer match what is written.
const KNOWN_IN_CHOICE: &[&str] = &["index", "delta", "logprobs", "finish_reason"];

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
        // A role that arrived with the replaced frame still has to be sent, and so does everything that only the server knows.
        let first = self.begun.insert(choice);
        let role = delta.filter(|_| replaces_frame && first).and_then(|delta| delta.get("role"));
        let mut head = Object::new().maybe("role", role.map(ValueRef::raw));
        let mut has_head = role.is_some();
        let mut tail = ExtraMembers::default();
        if let (true, Some(received)) = (replaces_frame, received) {
            let extras = delta.map(|delta| ExtraMembers::read(delta, KNOWN_IN_DELTA)).unwrap_or_default();
            has_head |= !extras.is_empty();
            head = extras.write_to(head);
            tail = ExtraMembers::read(received, KNOWN_IN_CHOICE);
        }
        let mut deltas = Vec::new();
        for part in parts {
            let mut reason = "null".to_owned();
            let delta = std::mem::take(&mut head);
            let delta = match part {
                OutgoingPart::Text(text) => delta.text("content", text),
                OutgoingPart::Reasoning(text) => delta.text(reasoning_member.unwrap_or(REASONING[0]), text),
                OutgoingPart::Call(call) | OutgoingPart::CallStart(call) => {
                    *calls += 1;
                    delta.raw("tool_calls", array([call_json(&call, Some(*calls - 1))]))
                }
                OutgoingPart::CallEnd(call, rest)
                    if rest.is_empty() && call.extras == CallExtras::default() =>
                {
                    head = delta;
                    continue;
                }
                OutgoingPart::CallEnd(ReadyCall { extras, .. }, rest) => {
                    delta.raw("tool_calls", array([rest_json(calls.saturating_sub(1), &rest, &extras)]))
                }
                OutgoingPart::CallArguments(rest) => {
                    let rest = rest_json(calls.saturating_sub(1), &rest, &CallExtras::default());
                    delta.raw("tool_calls", array([rest]))
                }
                OutgoingPart::Stop(stop) => {
                    let keeps_word = replaces_frame && stop == StopReason::Other;
                    reason = quote(STOP_WORDS.choose(stop, raw_reason.as_deref().filter(|_| keeps_word)));
                    delta
                }
            };
            has_head = false;
            deltas.push((delta.end(), reason));
        }
        if has_head {
            deltas.push((head.end(), "null".to_owned()));
        }
        let last = deltas.len().saturating_sub(1);
        let choices = deltas.into_iter().enumerate().map(|(at, (delta, reason))| {
            let object = Object::new()
                .number("index", choice)
                .raw("delta", delta)
                .raw("logprobs", "null")
                .raw("finish_reason", reason);
            if at == last { tail.write_to(object).end() } else { object.end() }
        });
        template.write_choices(choices.collect(), &CHUNK, out);
    }

    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        chunk::write_end(frame, summary, out);
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        chunk::write_error(message, out);
    }
}

/// Writes the rest of a call that was started.
fn rest_json(index: u64, rest: &str, extras: &CallExtras) -> String {
    let inner = extras.inner.write_to(Object::new().text("arguments", rest)).end();
    extras.outer.write_to(Object::new().number("index", index).raw("function", inner)).end()
}
