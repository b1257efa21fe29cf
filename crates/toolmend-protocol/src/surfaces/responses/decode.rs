//! The stream of a response, decoded.

use std::collections::HashMap;

use super::super::messages::with_event_name;
use crate::frame::{Frame, FrameRole};
use crate::json::ValueRef;
use crate::stream::{DecodedFrame, FrameDecoder};
use crate::turn::{Arguments, CallKey, CallPiece, Part, StopReason};

use super::{message_parts, read_arguments, read_call_piece, read_stop};

/// What is known about one item.
#[derive(Debug, Default)]
struct ItemState {
    /// Its number among the calls, if it is one.
    call: Option<u64>,
    text: String,
    /// Whether an event for the end of its arguments arrived.
    arguments_done: bool,
    done: bool,
}

#[derive(Debug, Default)]
pub(super) struct Decoder {
    items: HashMap<u64, ItemState>,
    /// The numbers of items by their ids, for servers that leave out the numbers.
    by_id: HashMap<String, u64>,
    last: Option<u64>,
    calls: u64,
    /// The length of all texts.
    memory: usize,
}

impl FrameDecoder for Decoder {
    fn decode_frame(&mut self, frame: Frame) -> Vec<DecodedFrame> {
        let Some(data) = &frame.data else { return vec![DecodedFrame::Other(frame)] };
        if data.trim_ascii().starts_with(b"[DONE]") {
            // The end marker of another protocol, which means nothing here.
            return Vec::new();
        }
        let Some(doc) = frame.doc() else { return vec![DecodedFrame::Other(frame.into_comment())] };
        let root = doc.root();
        let Some(kind) = root.get_lossy_text("type") else {
            return vec![DecodedFrame::Other(frame.into_comment())];
        };
        let frame = with_event_name(frame, &doc, &kind);
        match &*kind {
            "error" | "response.failed" => vec![DecodedFrame::Error(frame)],
            "response.completed" | "response.incomplete" | "response.done" => self.decode_end(frame, root),
            "response.created" | "response.in_progress" | "response.queued" => {
                vec![DecodedFrame::Item(0, frame.with_role(FrameRole::Begin), vec![Part::Opaque])]
            }
            "keepalive" => vec![DecodedFrame::Other(frame)],
            other if other.starts_with("response.") => {
                let other = other.to_owned();
                let (index, parts) = self.decode_event(&other, root);
                let mark = match other.as_str() {
                    "response.output_item.added" => FrameRole::Open(index),
                    "response.output_item.done" => FrameRole::Close(index),
                    _ => FrameRole::Inside(index),
                };
                vec![DecodedFrame::Item(0, frame.with_role(mark), parts)]
            }
            _ => vec![DecodedFrame::Other(frame.into_comment())],
        }
    }

    fn memory(&self) -> usize {
        self.memory
    }
}

impl Decoder {
    /// Adds text to an item, to compare it with what its end says.
    fn add_text(&mut self, index: u64, text: &str) -> &mut ItemState {
        self.memory += text.len();
        let item = self.items.entry(index).or_default();
        item.text.push_str(text);
        item
    }

    /// Returns the number of the item that an event is about.
    fn item_number(&mut self, root: ValueRef<'_>, begins: bool) -> u64 {
        let item = root.get("item");
        let id = root.get_lossy_text("item_id").or_else(|| item.and_then(|item| item.get_lossy_text("id")));
        let given = root.get("output_index").and_then(ValueRef::number);
        let known = id.as_ref().and_then(|id| self.by_id.get(&**id)).copied();
        let next = self.items.keys().max().map_or(0, |last| last + 1);
        let index = match (given, known) {
            (Some(index), _) | (None, Some(index)) => index,
            (None, None) if begins => next,
            (None, None) => match self.last {
                // The last item if it is still open, otherwise one whose start never arrived.
                Some(last) if self.items.get(&last).is_some_and(|item| !item.done) => last,
                _ => next,
            },
        };
        if let Some(id) = id {
            self.by_id.insert(id.into_owned(), index);
        }
        self.last = Some(index);
        index
    }

    fn decode_event(&mut self, kind: &str, root: ValueRef<'_>) -> (u64, Vec<Part>) {
        let begins = kind == "response.output_item.added";
        let index = self.item_number(root, begins);
        let delta = || root.get_lossy_text("delta").unwrap_or_default().into_owned();
        let part = match kind {
            "response.output_text.delta" => {
                let text = delta();
                self.add_text(index, &text);
                Part::Text(text)
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                Part::Reasoning(delta())
            }
            "response.function_call_arguments.delta" => {
                let json = root.get("delta").and_then(ValueRef::text_with_escapes);
                let text = json.unwrap_or_default().into_owned();
                let begun = self.add_text(index, &text).call.is_some();
                self.call_piece(index, Some(Arguments::Piece(text)), begun)
            }
            "response.function_call_arguments.done" => {
                let (text, is_text) = read_arguments(root);
                let begun = self.items.get(&index).is_some_and(|item| item.call.is_some());
                let (whole, same) = self.compare_whole(index, text);
                self.items.entry(index).or_default().arguments_done = true;
                self.call_piece(index, whole, is_text && same && begun)
            }
            "response.output_item.added" => self.open_item(index, root.get("item")),
            "response.output_item.done" => return (index, self.close_item(index, root.get("item"))),
            _ => Part::Opaque,
        };
        (index, vec![part])
    }

    fn open_item(&mut self, index: u64, item: Option<ValueRef<'_>>) -> Part {
        let call = item.filter(|item| item.get_lossy_text("type").as_deref() == Some("function_call"));
        let Some(call) = call else {
            self.items.insert(index, ItemState::default());
            return Part::Opaque;
        };
        let number = self.calls;
        self.calls += 1;
        let piece = read_call_piece(call, number);
        let mut text = String::new();
        if let Some(Arguments::Piece(first)) = &piece.arguments {
            text.clone_from(first);
        }
        let exact = piece.exact && text.is_empty();
        self.items.insert(index, ItemState { call: Some(number), text, ..ItemState::default() });
        Part::Call(CallPiece { exact, ..piece })
    }

    /// Compares complete arguments with the pieces that arrived. Returns them if they differ, and whether they are equal.
    fn compare_whole(&self, index: u64, text: Option<String>) -> (Option<Arguments>, bool) {
        let known = self.items.get(&index).map_or("", |item| item.text.as_str());
        match text {
            Some(text) if text == known => (None, true),
            Some(text) if text.trim().is_empty() => (None, false),
            Some(text) => (Some(Arguments::Whole(text)), false),
            None => (None, true),
        }
    }

    fn call_piece(&mut self, index: u64, arguments: Option<Arguments>, exact: bool) -> Part {
        let calls = &mut self.calls;
        let item = self.items.entry(index).or_default();
        let number = *item.call.get_or_insert_with(|| {
            *calls += 1;
            *calls - 1
        });
        Part::Call(CallPiece {
            key: CallKey { index: Some(number), id: None },
            arguments,
            exact,
            ..CallPiece::default()
        })
    }

    fn close_item(&mut self, index: u64, item: Option<ValueRef<'_>>) -> Vec<Part> {
        let Some(item) = item else { return vec![Part::Opaque] };
        let known = self.items.get(&index);
        let begun = known.is_some();
        match item.get_lossy_text("type").as_deref() {
            Some("function_call") => {
                let arguments_done = known.is_some_and(|item| item.arguments_done);
                let number = known.and_then(|item| item.call).unwrap_or_else(|| {
                    self.calls += 1;
                    self.calls - 1
                });
                let mut piece = read_call_piece(item, number);
                let (text, is_text) = read_arguments(item);
                let (whole, same) = self.compare_whole(index, text);
                piece.arguments = whole;
                // The name arrived when the item began, and is repeated here as it should be.
                if begun {
                    piece.name = None;
                }
                piece.exact = begun && arguments_done && is_text && same && piece.exact;
                piece.last = true;
                let entry = self.items.entry(index).or_default();
                entry.call = Some(number);
                entry.done = true;
                vec![Part::Call(piece)]
            }
            Some("message") => {
                let has_text = known.is_some_and(|item| !item.text.is_empty());
                self.items.entry(index).or_default().done = true;
                if has_text {
                    return vec![Part::Opaque];
                }
                let all = message_parts(item)
                    .filter_map(|(_, text)| text)
                    .map(|text| Part::Text(text.into_owned()));
                let all: Vec<Part> = all.collect();
                if all.is_empty() { vec![Part::Opaque] } else { all }
            }
            _ => {
                self.items.entry(index).or_default().done = true;
                vec![Part::Opaque]
            }
        }
    }

    /// Decodes the last event, which repeats everything and may hold items that no other event had.
    fn decode_end(&mut self, frame: Frame, root: ValueRef<'_>) -> Vec<DecodedFrame> {
        let response = root.get("response");
        let mut parts = Vec::new();
        let output =
            response.and_then(|response| response.get_non_null("output")).filter(|output| output.is_array());
        for (at, item) in output.into_iter().flat_map(ValueRef::items).enumerate() {
            let id = item.get_lossy_text("id").and_then(|id| self.by_id.get(&*id).copied());
            let index = id.unwrap_or(at as u64);
            if self.items.get(&index).is_some_and(|item| item.done) {
                continue;
            }
            let open =
                self.items.get(&index).is_some_and(|item| item.call.is_some() || !item.text.is_empty());
            for part in self.close_item(index, Some(item)) {
                match part {
                    Part::Call(piece) => parts.push(Part::Call(CallPiece { exact: false, ..piece })),
                    Part::Text(text) if !open => parts.push(Part::Text(text)),
                    _ => {}
                }
            }
        }
        let mut open: Vec<u64> =
            self.items.values().filter(|item| !item.done).filter_map(|item| item.call).collect();
        open.sort_unstable();
        for number in open {
            let key = CallKey { index: Some(number), id: None };
            parts.push(Part::Call(CallPiece { key, last: true, ..CallPiece::default() }));
        }
        parts.push(Part::Stop(response.map_or(StopReason::End, read_stop)));
        let frame = frame.with_role(FrameRole::Stop);
        vec![DecodedFrame::Item(0, frame.clone(), parts), DecodedFrame::End(frame)]
    }
}
