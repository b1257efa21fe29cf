//! The stream of a response, read.

use std::collections::HashMap;

use crate::surface::{Decode, Heard};
use crate::turn::{Arguments, CallPiece, Part, Slot, Stop};
use crate::wire::doc::{Doc, View};
use crate::wire::frame::{Frame, Framing, Mark};

use super::{arguments, call_piece, stop, texts};

/// What was heard of one item.
#[derive(Debug, Default)]
struct Item {
    /// Its number among the calls, where it is one.
    call: Option<u64>,
    text: String,
    /// The end of its arguments was told.
    told_end: bool,
    done: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    items: HashMap<u64, Item>,
    /// The numbers of items by their ids, for servers that leave the numbers out.
    by_id: HashMap<String, u64>,
    last: Option<u64>,
    calls: u64,
}

impl Decode for Decoder {
    fn decode(&mut self, frame: Frame) -> Vec<Heard> {
        let Some(data) = &frame.data else { return vec![Heard::Aside(frame)] };
        if data.trim_ascii().starts_with(b"[DONE]") {
            // The end of another surface. Without the end of this one it means nothing.
            return Vec::new();
        }
        let Some(doc) = frame.doc() else { return vec![Heard::Aside(frame.into_comment())] };
        let root = doc.root();
        let Some(kind) = root.get_text("type") else { return vec![Heard::Aside(frame.into_comment())] };
        let frame = named(frame, &doc, &kind);
        match &*kind {
            "error" | "response.failed" => vec![Heard::Error(frame)],
            "response.completed" | "response.incomplete" | "response.done" => self.end(frame, root),
            "response.created" | "response.in_progress" | "response.queued" => {
                vec![Heard::Item(0, frame.marked(Mark::Begin), vec![Part::Opaque])]
            }
            "keepalive" => vec![Heard::Aside(frame)],
            other if other.starts_with("response.") => {
                let other = other.to_owned();
                let (index, parts) = self.event(&other, root);
                let mark = match other.as_str() {
                    "response.output_item.added" => Mark::Open(index),
                    "response.output_item.done" => Mark::Close(index),
                    _ => Mark::Inside(index),
                };
                vec![Heard::Item(0, frame.marked(mark), parts)]
            }
            _ => vec![Heard::Aside(frame.into_comment())],
        }
    }
}

impl Decoder {
    /// The number of the item that an event is about.
    fn index(&mut self, root: View<'_>, begins: bool) -> u64 {
        let item = root.get("item");
        let id = root.get_text("item_id").or_else(|| item.and_then(|item| item.get_text("id")));
        let told = root.get("output_index").and_then(View::number);
        let known = id.as_ref().and_then(|id| self.by_id.get(&**id)).copied();
        let next = self.items.keys().max().map_or(0, |last| last + 1);
        let index = match (told, known) {
            (Some(index), _) | (None, Some(index)) => index,
            (None, None) if begins => next,
            (None, None) => match self.last {
                // An item that is over and one that was never begun.
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

    fn event(&mut self, kind: &str, root: View<'_>) -> (u64, Vec<Part>) {
        let begins = kind == "response.output_item.added";
        let index = self.index(root, begins);
        let delta = || root.get_text("delta").unwrap_or_default().into_owned();
        let part = match kind {
            "response.output_text.delta" => {
                let text = delta();
                self.items.entry(index).or_default().text.push_str(&text);
                Part::Text(text)
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                Part::Reasoning(delta())
            }
            "response.function_call_arguments.delta" => {
                let text = delta();
                let item = self.items.entry(index).or_default();
                item.text.push_str(&text);
                let begun = item.call.is_some();
                self.piece(index, Some(Arguments::Piece(text)), begun)
            }
            "response.function_call_arguments.done" => {
                let (text, fits) = arguments(root);
                let begun = self.items.get(&index).is_some_and(|item| item.call.is_some());
                let (whole, same) = self.whole(index, text);
                self.items.entry(index).or_default().told_end = true;
                self.piece(index, whole, fits && same && begun)
            }
            "response.output_item.added" => self.added(index, root.get("item")),
            "response.output_item.done" => return (index, self.item_done(index, root.get("item"))),
            _ => Part::Opaque,
        };
        (index, vec![part])
    }

    fn added(&mut self, index: u64, item: Option<View<'_>>) -> Part {
        let call = item.filter(|item| item.get_text("type").as_deref() == Some("function_call"));
        let Some(call) = call else {
            self.items.insert(index, Item::default());
            return Part::Opaque;
        };
        let number = self.calls;
        self.calls += 1;
        let piece = call_piece(call, number);
        let mut text = String::new();
        if let Some(Arguments::Piece(first)) = &piece.arguments {
            text.clone_from(first);
        }
        let exact = piece.exact && text.is_empty();
        self.items.insert(index, Item { call: Some(number), text, ..Item::default() });
        Part::Call(CallPiece { exact, ..piece })
    }

    /// Arguments that are told as a whole: nothing new where the pieces told them already.
    fn whole(&self, index: u64, text: Option<String>) -> (Option<Arguments>, bool) {
        let known = self.items.get(&index).map_or("", |item| item.text.as_str());
        match text {
            Some(text) if text == known => (None, true),
            Some(text) if text.trim().is_empty() => (None, false),
            Some(text) => (Some(Arguments::Whole(text)), false),
            None => (None, true),
        }
    }

    fn piece(&mut self, index: u64, arguments: Option<Arguments>, exact: bool) -> Part {
        let calls = &mut self.calls;
        let item = self.items.entry(index).or_default();
        let number = *item.call.get_or_insert_with(|| {
            *calls += 1;
            *calls - 1
        });
        Part::Call(CallPiece {
            slot: Slot { index: Some(number), id: None },
            arguments,
            exact,
            ..CallPiece::default()
        })
    }

    fn item_done(&mut self, index: u64, item: Option<View<'_>>) -> Vec<Part> {
        let Some(item) = item else { return vec![Part::Opaque] };
        let known = self.items.get(&index);
        let begun = known.is_some();
        match item.get_text("type").as_deref() {
            Some("function_call") => {
                let told_end = known.is_some_and(|item| item.told_end);
                let number = known.and_then(|item| item.call).unwrap_or_else(|| {
                    self.calls += 1;
                    self.calls - 1
                });
                let mut piece = call_piece(item, number);
                let (text, fits) = arguments(item);
                let (whole, same) = self.whole(index, text);
                piece.arguments = whole;
                // The name was told when the item began; the same once more is as it should be.
                if begun {
                    piece.name = None;
                }
                piece.exact = begun && told_end && fits && same && piece.exact;
                piece.last = true;
                let entry = self.items.entry(index).or_default();
                entry.call = Some(number);
                entry.done = true;
                vec![Part::Call(piece)]
            }
            Some("message") => {
                let heard = known.is_some_and(|item| !item.text.is_empty());
                self.items.entry(index).or_default().done = true;
                if heard {
                    return vec![Part::Opaque];
                }
                let all = texts(item).filter_map(|(_, text)| text).map(|text| Part::Text(text.into_owned()));
                let all: Vec<Part> = all.collect();
                if all.is_empty() { vec![Part::Opaque] } else { all }
            }
            _ => {
                self.items.entry(index).or_default().done = true;
                vec![Part::Opaque]
            }
        }
    }

    /// The last event holds everything once more, and what no other event told.
    fn end(&mut self, frame: Frame, root: View<'_>) -> Vec<Heard> {
        let response = root.get("response");
        let mut parts = Vec::new();
        let output = response.and_then(|response| response.some("output")).filter(|output| output.is_array());
        for (at, item) in output.into_iter().flat_map(View::items).enumerate() {
            let id = item.get_text("id").and_then(|id| self.by_id.get(&*id).copied());
            let index = id.unwrap_or(at as u64);
            if self.items.get(&index).is_some_and(|item| item.done) {
                continue;
            }
            let open =
                self.items.get(&index).is_some_and(|item| item.call.is_some() || !item.text.is_empty());
            for part in self.item_done(index, Some(item)) {
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
            let slot = Slot { index: Some(number), id: None };
            parts.push(Part::Call(CallPiece { slot, last: true, ..CallPiece::default() }));
        }
        parts.push(Part::Stop(response.map_or(Stop::End, stop)));
        let frame = frame.marked(Mark::Stop);
        vec![Heard::Item(0, frame.clone(), parts), Heard::End(frame)]
    }
}

/// The frame with its name.
fn named(frame: Frame, doc: &Doc, kind: &str) -> Frame {
    if frame.event.as_deref() == Some(kind.as_bytes()) {
        return frame;
    }
    Frame::new(Framing::Sse, Some(kind), doc.root().raw())
}
