//! The stream of a message, read.

use std::collections::HashMap;

use crate::surface::{Decode, Heard};
use crate::turn::{Arguments, CallPiece, Part, Slot};
use crate::wire::doc::{Doc, View, quote};
use crate::wire::frame::{Frame, Framing, Mark};

use super::{call_piece, stop};

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    begun: bool,
    /// The blocks that are open, and the number of the call where they are one.
    open: HashMap<u64, Option<u64>>,
    calls: u64,
}

impl Decode for Decoder {
    fn decode(&mut self, frame: Frame) -> Vec<Heard> {
        if frame.data.is_none() {
            return vec![Heard::Aside(frame)];
        }
        let Some(doc) = frame.doc() else { return vec![Heard::Aside(frame.into_comment())] };
        let root = doc.root();
        let Some(kind) = root.get_text("type") else { return vec![Heard::Aside(frame.into_comment())] };
        let frame = named(frame, &doc, &kind);
        let mut heard = Vec::new();
        if !self.begun && !matches!(&*kind, "message_start" | "ping" | "error") {
            self.begun = true;
            let data = format!(
                r#"{{"type":"message_start","message":{{"id":{},"type":"message","role":"assistant","model":"","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":0,"output_tokens":0}}}}}}"#,
                quote(&crate::mend::new_id("msg_"))
            );
            let frame = Frame::new(Framing::Sse, Some("message_start"), &data).marked(Mark::Begin);
            heard.push(Heard::Item(0, frame, vec![Part::Opaque]));
        }
        heard.push(self.event(frame, root, &kind));
        heard
    }
}

impl Decoder {
    fn event(&mut self, frame: Frame, root: View<'_>, kind: &str) -> Heard {
        let index = root.get("index").and_then(View::number).unwrap_or(0);
        match kind {
            "message_start" => {
                self.begun = true;
                Heard::Item(0, begin(frame, root).marked(Mark::Begin), vec![Part::Opaque])
            }
            "content_block_start" => {
                let parts = self.start(index, root.get("content_block"));
                Heard::Item(0, frame.marked(Mark::Open(index)), parts)
            }
            "content_block_delta" => {
                let part = root.get("delta").map_or(Part::Opaque, |delta| self.delta(index, delta));
                Heard::Item(0, frame.marked(Mark::Inside(index)), vec![part])
            }
            "content_block_stop" => {
                let part = match self.open.remove(&index) {
                    Some(Some(call)) => Part::Call(last(call, true)),
                    _ => Part::Opaque,
                };
                Heard::Item(0, frame.marked(Mark::Close(index)), vec![part])
            }
            "message_delta" => {
                let reason = root.get("delta").and_then(|delta| delta.get_text("stop_reason"));
                let mut parts = self.unclosed();
                parts.push(reason.map_or(Part::Opaque, |reason| Part::Stop(stop(&reason))));
                Heard::Item(0, told_usage(frame, root).marked(Mark::Stop), parts)
            }
            "message_stop" => Heard::End(frame),
            "error" => Heard::Error(frame),
            _ => Heard::Aside(frame),
        }
    }

    fn start(&mut self, index: u64, block: Option<View<'_>>) -> Vec<Part> {
        let Some(block) = block else { return vec![Part::Opaque] };
        // A block that begins inside another one is read by some clients only.
        let alone = self.open.values().all(Option::is_none);
        let mut parts = Vec::new();
        match block.get_text("type").as_deref() {
            Some("tool_use") => {
                if self.open.contains_key(&index) {
                    parts = self.unclosed();
                }
                let mut piece = call_piece(block, self.calls, true);
                piece.exact &= alone;
                self.open.insert(index, Some(self.calls));
                self.calls += 1;
                parts.push(Part::Call(piece));
            }
            kind => {
                self.open.insert(index, None);
                let text = |name| block.get_text(name).unwrap_or_default().into_owned();
                parts.push(match kind {
                    Some("text") => Part::Text(text("text")),
                    Some("thinking") => Part::Reasoning(text("thinking")),
                    _ => Part::Opaque,
                });
            }
        }
        parts
    }

    fn delta(&mut self, index: u64, delta: View<'_>) -> Part {
        let text = |name| delta.get_text(name).unwrap_or_default().into_owned();
        match delta.get_text("type").as_deref() {
            Some("text_delta") => Part::Text(text("text")),
            Some("thinking_delta") => Part::Reasoning(text("thinking")),
            Some("input_json_delta") => match self.open.get(&index) {
                Some(Some(call)) => {
                    let arguments = Some(Arguments::Piece(text("partial_json")));
                    let alone = self.open.values().filter(|call| call.is_some()).count() == 1;
                    let slot = Slot { index: Some(*call), id: None };
                    Part::Call(CallPiece { slot, arguments, exact: alone, ..CallPiece::default() })
                }
                _ => Part::Opaque,
            },
            _ => Part::Opaque,
        }
    }

    /// The ends that calls did not get.
    fn unclosed(&mut self) -> Vec<Part> {
        let mut calls: Vec<u64> = self.open.values().flatten().copied().collect();
        calls.sort_unstable();
        self.open.retain(|_, call| call.is_none());
        calls.into_iter().map(|call| Part::Call(last(call, false))).collect()
    }
}

fn last(call: u64, exact: bool) -> CallPiece {
    CallPiece { slot: Slot { index: Some(call), id: None }, exact, last: true, ..CallPiece::default() }
}

/// The frame with its name, without which some clients drop it.
fn named(frame: Frame, doc: &Doc, kind: &str) -> Frame {
    if frame.event.as_deref() == Some(kind.as_bytes()) {
        return frame;
    }
    Frame::new(Framing::Sse, Some(kind), doc.root().raw())
}

/// The first frame with all that clients look at.
fn begin(frame: Frame, root: View<'_>) -> Frame {
    let Some(message) = root.get("message").filter(|message| message.is_object()) else { return frame };
    let usage = message.some("usage");
    let whole = usage
        .is_some_and(|usage| usage.get("input_tokens").is_some() && usage.get("output_tokens").is_some());
    let content = message.get("content").is_some_and(View::is_array);
    if whole && content {
        return frame;
    }
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if !whole {
        let zero = || Some("0".to_owned());
        let usage = match usage {
            Some(usage) if usage.is_object() => {
                let missing =
                    ["input_tokens", "output_tokens"].into_iter().filter(|name| usage.get(name).is_none());
                usage.with(&missing.map(|name| (name, zero())).collect::<Vec<_>>())
            }
            _ => r#"{"input_tokens":0,"output_tokens":0}"#.to_owned(),
        };
        changes.push(("usage", Some(usage)));
    }
    if !content {
        changes.push(("content", Some("[]".to_owned())));
    }
    Frame::new(Framing::Sse, Some("message_start"), &root.with(&[("message", Some(message.with(&changes)))]))
}

/// The last frame but one with the counts that clients want.
fn told_usage(frame: Frame, root: View<'_>) -> Frame {
    if root.some("usage").is_some_and(|usage| usage.get("output_tokens").is_some()) {
        return frame;
    }
    let usage = match root.some("usage").filter(|usage| usage.is_object()) {
        Some(usage) => usage.with(&[("output_tokens", Some("0".to_owned()))]),
        None => r#"{"output_tokens":0}"#.to_owned(),
    };
    Frame::new(Framing::Sse, Some("message_delta"), &root.with(&[("usage", Some(usage))]))
}
