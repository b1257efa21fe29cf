//! The stream of a chat completion, decoded.

use std::collections::HashSet;

use super::super::chunk::{Chunk, decode_choices};
use super::{STOP_WORDS, is_standard_stop_word, read_call_piece, read_reasoning, read_stop};
use crate::frame::{Frame, FrameRole};
use crate::json::{Changes, ValueRef};
use crate::stream::{DecodedFrame, FrameDecoder};
use crate::turn::{CallPiece, Part, StopReason};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The choices that have begun.
    choices: HashSet<u64>,
    /// The calls that have begun, by choice and index.
    calls: HashSet<(u64, u64)>,
}

impl FrameDecoder for Decoder {
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame> {
        decode_choices(frame, |chunk, choice, alone| self.decode_choice(chunk, choice, alone))
    }
}

impl Decoder {
    /// Decodes one choice. If it is not alone in its chunk, it gets a frame of its own.
    fn decode_choice(&mut self, chunk: &Chunk, choice: ValueRef<'_>, alone: bool) -> DecodedFrame {
        let number = choice.get("index").and_then(ValueRef::number).unwrap_or(0);
        let first = self.choices.insert(number);
        let delta = choice.get_non_null("delta").filter(|delta| delta.is_object());
        let mut parts = Vec::new();
        let calls_before = self.calls.len() as u64;
        if let Some(delta) = delta {
            self.decode_delta(number, delta, &mut parts);
        }
        let mut changes: Changes<'_> = Vec::new();
        if let Some(reason) = choice.get_lossy_text("finish_reason").filter(|reason| !reason.is_empty()) {
            let stop = read_stop(&reason);
            if !is_standard_stop_word(&reason) && stop != StopReason::Other {
                changes.push(("finish_reason", Some(format!("\"{}\"", STOP_WORDS.choose(stop, None)))));
            }
            parts.push(Part::Stop(stop));
        }
        if parts.is_empty() {
            parts.push(Part::Opaque);
        }
        let started = self.calls.len() as u64 - calls_before;
        if let Some(delta) = fix_delta(delta, first) {
            changes.push(("delta", Some(delta)));
        }
        let frame = if alone && changes.is_empty() {
            chunk.frame.clone()
        } else {
            chunk.frame_with_choice(&choice.with(&changes))
        };
        let role = if started > 0 { FrameRole::StartCalls(started) } else { FrameRole::Other };
        DecodedFrame::Item(number, frame.with_role(role), parts)
    }

    fn decode_delta(&mut self, choice: u64, delta: ValueRef<'_>, parts: &mut Vec<Part>) {
        if let Some((_, text)) = read_reasoning(delta) {
            parts.push(Part::Reasoning(text));
        }
        if let Some(text) = delta.get_lossy_text("content") {
            parts.push(Part::Text(text.into_owned()));
        }
        let calls = delta.get_non_null("tool_calls").filter(|calls| calls.is_array());
        let before = parts.len();
        for call in calls.into_iter().flat_map(ValueRef::items) {
            let index = call.get("index").and_then(ValueRef::number);
            let first = index.is_none_or(|index| self.calls.insert((choice, index)));
            parts.push(read_call_piece(call, first).map_or(Part::Opaque, Part::Call));
        }
        if parts.len() == before
            && let Some(call) = delta.get_non_null("function_call")
            && let Some(piece) = read_call_piece(call, false)
        {
            // The deprecated form: one call without an index.
            parts.push(Part::Call(CallPiece { exact: false, ..piece }));
        }
    }
}

/// Writes the delta as clients expect it: the first one with a role, and never with both forms of calls. `None`: it stays
/// as it is.
fn fix_delta(delta: Option<ValueRef<'_>>, first: bool) -> Option<String> {
    let Some(delta) = delta else {
        return first.then(|| r#"{"role":"assistant"}"#.to_owned());
    };
    let mut changes: Changes<'_> = Vec::new();
    if first && delta.get_lossy_text("role").is_none_or(|role| role.is_empty()) {
        changes.push(("role", Some("\"assistant\"".to_owned())));
    }
    if delta.get_non_null("tool_calls").is_some() && delta.get("function_call").is_some() {
        changes.push(("function_call", None));
    }
    (!changes.is_empty()).then(|| delta.with(&changes))
}
