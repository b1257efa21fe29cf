//! The stream of a chat completion, read.

use std::collections::HashSet;

use crate::surface::{Decode, Heard, chunk};
use crate::turn::{Part, Stop};
use crate::wire::doc::{Doc, View, array};
use crate::wire::frame::{Frame, Mark};

use super::{call_piece, is_known, reasoning, stop};

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Choices that were heard of.
    begun: HashSet<u64>,
    /// Calls that were heard of, by choice and index.
    calls: HashSet<(u64, u64)>,
}

impl Decode for Decoder {
    fn decode(&mut self, frame: Frame) -> Vec<Heard> {
        let (frame, doc) = match chunk(frame) {
            Ok(chunk) => chunk,
            Err(heard) => return heard,
        };
        let choices: Vec<View<'_>> = doc.root().get("choices").into_iter().flat_map(View::items).collect();
        match choices.as_slice() {
            [only] => vec![self.choice(&doc, *only, Some(&frame))],
            several => several.iter().map(|choice| self.choice(&doc, *choice, None)).collect(),
        }
    }
}

impl Decoder {
    /// One choice as an item. Without a frame of its own it gets one.
    fn choice(&mut self, doc: &Doc, choice: View<'_>, frame: Option<&Frame>) -> Heard {
        let lane = choice.get("index").and_then(View::number).unwrap_or(0);
        let first = self.begun.insert(lane);
        let delta = choice.some("delta").filter(|delta| delta.is_object());
        let mut parts = Vec::new();
        let calls = self.calls.len() as u64;
        if let Some(delta) = delta {
            self.delta(lane, delta, &mut parts);
        }
        let mut changes: Vec<(&str, Option<String>)> = Vec::new();
        if let Some(reason) = choice.get_text("finish_reason").filter(|reason| !reason.is_empty()) {
            let stop = stop(&reason);
            if !is_known(&reason) && stop != Stop::Other {
                changes.push(("finish_reason", Some(format!("\"{}\"", super::stop_word(stop, None)))));
            }
            parts.push(Part::Stop(stop));
        }
        if parts.is_empty() {
            parts.push(Part::Opaque);
        }
        let begun = self.calls.len() as u64 - calls;
        let new_delta = delta_fixed(delta, first);
        if let Some(delta) = new_delta {
            changes.push(("delta", Some(delta)));
        }
        let frame = match frame {
            Some(frame) if changes.is_empty() => frame.clone(),
            _ => {
                let choice = choice.with(&changes);
                let data = doc.root().with(&[("choices", Some(array([choice])))]);
                Frame::new(crate::wire::frame::Framing::Sse, None, &data)
            }
        };
        Heard::Item(lane, frame.marked(if begun > 0 { Mark::Open(begun) } else { Mark::Other }), parts)
    }

    fn delta(&mut self, lane: u64, delta: View<'_>, parts: &mut Vec<Part>) {
        if let Some((_, text)) = reasoning(delta) {
            parts.push(Part::Reasoning(text));
        }
        if let Some(text) = delta.get_text("content") {
            parts.push(Part::Text(text.into_owned()));
        }
        let calls = delta.some("tool_calls").filter(|calls| calls.is_array());
        let before = parts.len();
        for call in calls.into_iter().flat_map(View::items) {
            let index = call.get("index").and_then(View::number);
            let first = index.is_none_or(|index| self.calls.insert((lane, index)));
            parts.push(call_piece(call, first).map_or(Part::Opaque, Part::Call));
        }
        if parts.len() == before
            && let Some(call) = delta.some("function_call")
            && let Some(piece) = call_piece(call, false)
        {
            // The older form, which is one call without an index.
            parts.push(Part::Call(crate::turn::CallPiece { exact: false, ..piece }));
        }
    }
}

/// The delta as clients want it: with a role at first, and without the older form of calls beside the newer.
fn delta_fixed(delta: Option<View<'_>>, first: bool) -> Option<String> {
    let Some(delta) = delta else {
        return first.then(|| r#"{"role":"assistant"}"#.to_owned());
    };
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if first && delta.get_text("role").is_none_or(|role| role.is_empty()) {
        changes.push(("role", Some("\"assistant\"".to_owned())));
    }
    if delta.some("tool_calls").is_some() && delta.get("function_call").is_some() {
        changes.push(("function_call", None));
    }
    (!changes.is_empty()).then(|| delta.with(&changes))
}
