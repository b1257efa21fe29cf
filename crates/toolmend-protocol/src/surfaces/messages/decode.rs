//! The stream of a message, decoded.

use std::collections::HashMap;

use crate::frame::{Frame, FrameRole, Framing};
use crate::ids::new_id;
use crate::json::{Changes, Document, ValueRef, quote};
use crate::stream::{DecodedFrame, FrameDecoder};
use crate::turn::{Arguments, CallKey, CallPiece, Part};

use super::{read_call_piece, read_stop};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    begun: bool,
    /// The blocks that are open, with the number of the call if they are one.
    open: HashMap<u64, Option<u64>>,
    calls: u64,
}

impl FrameDecoder for Decoder {
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame> {
        if frame.data.is_none() {
            return vec![DecodedFrame::Other(frame)];
        }
        let Some(doc) = frame.doc() else { return vec![DecodedFrame::Other(frame.into_comment())] };
        let root = doc.root();
        let Some(kind) = root.get_lossy_text("type") else {
            return vec![DecodedFrame::Other(frame.into_comment())];
        };
        let frame = with_event_name(frame, &doc, &kind);
        let mut decoded = Vec::new();
        if !self.begun && !matches!(&*kind, "message_start" | "ping" | "error") {
            self.begun = true;
            let data = format!(
                r#"{{"type":"message_start","message":{{"id":{},"type":"message","role":"assistant","model":"","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":0,"output_tokens":0}}}}}}"#,
                quote(&new_id("msg_"))
            );
            let frame = Frame::new(Framing::Sse, Some("message_start"), &data).with_role(FrameRole::Begin);
            decoded.push(DecodedFrame::Item(0, frame, vec![Part::Opaque]));
        }
        decoded.push(self.decode_event(frame, root, &kind));
        decoded
    }
}

impl Decoder {
    fn decode_event(&mut self, frame: Frame, root: ValueRef<'_>, kind: &str) -> DecodedFrame {
        let index = root.get("index").and_then(ValueRef::number).unwrap_or(0);
        match kind {
            "message_start" => {
                self.begun = true;
                DecodedFrame::Item(
                    0,
                    complete_message_start(frame, root).with_role(FrameRole::Begin),
                    vec![Part::Opaque],
                )
            }
            "content_block_start" => {
                let parts = self.open_block(index, root.get("content_block"));
                DecodedFrame::Item(0, frame.with_role(FrameRole::Open(index)), parts)
            }
            "content_block_delta" => {
                let part = root.get("delta").map_or(Part::Opaque, |delta| self.decode_delta(index, delta));
                DecodedFrame::Item(0, frame.with_role(FrameRole::Inside(index)), vec![part])
            }
            "content_block_stop" => {
                let part = match self.open.remove(&index) {
                    Some(Some(call)) => Part::Call(last_piece(call, true)),
                    _ => Part::Opaque,
                };
                DecodedFrame::Item(0, frame.with_role(FrameRole::Close(index)), vec![part])
            }
            "message_delta" => {
                let reason = root.get("delta").and_then(|delta| delta.get_lossy_text("stop_reason"));
                let mut parts = self.close_open_calls();
                parts.push(reason.map_or(Part::Opaque, |reason| Part::Stop(read_stop(&reason))));
                DecodedFrame::Item(0, complete_message_delta(frame, root).with_role(FrameRole::Stop), parts)
            }
            "message_stop" => DecodedFrame::End(frame),
            "error" => DecodedFrame::Error(frame),
            _ => DecodedFrame::Other(frame),
        }
    }

    fn open_block(&mut self, index: u64, block: Option<ValueRef<'_>>) -> Vec<Part> {
        let Some(block) = block else { return vec![Part::Opaque] };
        // Only some clients read a block that begins inside another one.
        let alone = self.open.values().all(Option::is_none);
        let mut parts = Vec::new();
        match block.get_lossy_text("type").as_deref() {
            Some("tool_use") => {
                if self.open.contains_key(&index) {
                    parts = self.close_open_calls();
                }
                let mut piece = read_call_piece(block, self.calls, true);
                piece.exact &= alone;
                self.open.insert(index, Some(self.calls));
                self.calls += 1;
                parts.push(Part::Call(piece));
            }
            kind => {
                self.open.insert(index, None);
                let text = |name| block.get_lossy_text(name).unwrap_or_default().into_owned();
                parts.push(match kind {
                    Some("text") => Part::Text(text("text")),
                    Some("thinking") => Part::Reasoning(text("thinking")),
                    _ => Part::Opaque,
                });
            }
        }
        parts
    }

    fn decode_delta(&self, index: u64, delta: ValueRef<'_>) -> Part {
        let text = |name| delta.get_lossy_text(name).unwrap_or_default().into_owned();
        match delta.get_lossy_text("type").as_deref() {
            Some("text_delta") => Part::Text(text("text")),
            Some("thinking_delta") => Part::Reasoning(text("thinking")),
            Some("input_json_delta") => match self.open.get(&index) {
                Some(Some(call)) => {
                    let json = delta.get("partial_json").and_then(ValueRef::text_with_escapes);
                    let arguments = Some(Arguments::Piece(json.unwrap_or_default().into_owned()));
                    let alone = self.open.values().filter(|call| call.is_some()).count() == 1;
                    let key = CallKey { index: Some(*call), id: None };
                    Part::Call(CallPiece { key, arguments, exact: alone, ..CallPiece::default() })
                }
                _ => Part::Opaque,
            },
            _ => Part::Opaque,
        }
    }

    /// Returns the ends of calls whose blocks were never closed.
    fn close_open_calls(&mut self) -> Vec<Part> {
        let mut calls: Vec<u64> = self.open.values().flatten().copied().collect();
        calls.sort_unstable();
        self.open.retain(|_, call| call.is_none());
        calls.into_iter().map(|call| Part::Call(last_piece(call, false))).collect()
    }
}

fn last_piece(call: u64, exact: bool) -> CallPiece {
    CallPiece { key: CallKey { index: Some(call), id: None }, exact, last: true, ..CallPiece::default() }
}

/// Returns the frame with its event name, without which some clients drop it.
pub(in crate::surfaces) fn with_event_name(frame: Frame, doc: &Document, kind: &str) -> Frame {
    if frame.event.as_deref() == Some(kind.as_bytes()) {
        return frame;
    }
    Frame::new(Framing::Sse, Some(kind), doc.root().raw())
}

/// Adds the members of `message_start` that clients expect.
fn complete_message_start(frame: Frame, root: ValueRef<'_>) -> Frame {
    let Some(message) = root.get("message").filter(|message| message.is_object()) else { return frame };
    let usage = message.get_non_null("usage");
    let has_counts = usage
        .is_some_and(|usage| usage.get("input_tokens").is_some() && usage.get("output_tokens").is_some());
    let has_content = message.get("content").is_some_and(ValueRef::is_array);
    if has_counts && has_content {
        return frame;
    }
    let mut changes: Changes<'_> = Vec::new();
    if !has_counts {
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
    if !has_content {
        changes.push(("content", Some("[]".to_owned())));
    }
    Frame::new(Framing::Sse, Some("message_start"), &root.with(&[("message", Some(message.with(&changes)))]))
}

/// Adds the token counts of `message_delta` that clients expect.
fn complete_message_delta(frame: Frame, root: ValueRef<'_>) -> Frame {
    if root.get_non_null("usage").is_some_and(|usage| usage.get("output_tokens").is_some()) {
        return frame;
    }
    let usage = match root.get_non_null("usage").filter(|usage| usage.is_object()) {
        Some(usage) => usage.with(&[("output_tokens", Some("0".to_owned()))]),
        None => r#"{"output_tokens":0}"#.to_owned(),
    };
    Frame::new(Framing::Sse, Some("message_delta"), &root.with(&[("usage", Some(usage))]))
}
