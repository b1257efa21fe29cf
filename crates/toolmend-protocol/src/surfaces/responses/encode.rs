//! The stream of a response, encoded.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use crate::frame::{Frame, FrameRole, Framing};
use crate::ids::new_id;
use crate::json::{Document, ValueRef, array, quote};
use crate::stream::{FrameEncoder, Replacement, summary_comment};
use crate::turn::{CallForm, OutgoingPart, ReadyCall, StopReason};

use super::{end_status, incomplete_details, items};

/// What kind of item is open for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Message,
    Reasoning,
    Other,
}

/// An item that is open for the client.
#[derive(Debug)]
struct OpenItem {
    number: usize,
    id: String,
    kind: ItemKind,
    text: String,
    /// The item as the server sent it, if it did.
    received: Option<String>,
    /// Whether its content part was started.
    part_started: bool,
    /// Whether its text differs from the server's, or the server never sent the item.
    rewritten: bool,
}

#[derive(Debug, Default)]
pub(super) struct Encoder {
    /// The id of the response, once it was sent.
    id: Option<String>,
    sequence: u64,
    /// Complete items; the text of an open one is empty.
    done: Vec<String>,
    /// Open items by the server's number; `None` is an item that the server never sent.
    open: HashMap<Option<u64>, OpenItem>,
    /// The start of a message that is still empty. If its text turns out to be a call, the start is never sent.
    pending_start: Vec<Frame>,
    stop: Option<StopReason>,
    /// The server's items of which something was rewritten.
    touched: HashSet<u64>,
    /// Whether anything differs from what the server sent.
    changed: bool,
}

impl FrameEncoder for Encoder {
    fn write_unchanged(&mut self, _choice: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        let Some(doc) = frame.doc() else {
            out.push(frame.raw);
            return;
        };
        let root = doc.root();
        match frame.role {
            FrameRole::Begin => self.write_lifecycle(&frame, root, None, out),
            FrameRole::Open(_) => {
                self.send_pending_start(None, out);
                let kind = root.get("item").and_then(|item| item.get_lossy_text("type"));
                if kind.as_deref() == Some("message") {
                    self.pending_start.push(frame);
                    return;
                }
                self.open_item(&frame, root, out);
            }
            FrameRole::Inside(index) => {
                let kind = root.get_lossy_text("type").unwrap_or_default();
                if kind == "response.content_part.added" && !self.pending_start.is_empty() {
                    self.pending_start.push(frame);
                    return;
                }
                self.send_pending_start(None, out);
                self.write_inside(&frame, root, index, &kind, out);
            }
            FrameRole::Close(index) => {
                self.send_pending_start(None, out);
                self.write_closed(&frame, root, index, out);
            }
            FrameRole::Stop => {}
            FrameRole::Other | FrameRole::StartCalls(_) => out.push(frame.raw),
        }
    }

    fn write_parts(&mut self, Replacement { frame, parts, .. }: Replacement, out: &mut Vec<Bytes>) {
        self.changed = true;
        let at = match frame.as_ref().map(|frame| frame.role) {
            Some(FrameRole::Open(index) | FrameRole::Inside(index) | FrameRole::Close(index)) => Some(index),
            _ => None,
        };
        self.touched.extend(at);
        // New text replaces a piece of text, so the item differs from the server's.
        if let Some(open) = self.open.get_mut(&at).filter(|open| open.kind != ItemKind::Other) {
            open.rewritten = true;
        }
        for part in parts {
            match part {
                OutgoingPart::Text(text) => self.add_text(ItemKind::Message, at, &text, out),
                OutgoingPart::Reasoning(text) => self.add_text(ItemKind::Reasoning, at, &text, out),
                OutgoingPart::Call(call) => self.write_call(&call, out),
                OutgoingPart::CallStart(call) => self.start_call(&call, out),
                OutgoingPart::CallArguments(text) => self.add_arguments(&CallForm::Function, &text, out),
                OutgoingPart::CallEnd(call, rest) => self.end_started_call(&call, &rest, out),
                OutgoingPart::Stop(stop) => self.stop = Some(stop),
            }
        }
        // A frame that closes an item ends it, whatever replaces the frame.
        if let Some(FrameRole::Close(_)) = frame.map(|frame| frame.role) {
            self.pending_start.clear();
        }
    }

    fn write_end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        self.pending_start.clear();
        self.close_all_items(out);
        out.extend(summary.map(summary_comment));
        let doc = frame.as_ref().and_then(Frame::doc);
        if let (Some(frame), Some(doc)) = (&frame, &doc) {
            self.write_lifecycle(frame, doc.root(), self.stop, out);
            return;
        }
        let status = if self.stop == Some(StopReason::Length) { "incomplete" } else { "completed" };
        self.ensure_created(out);
        let data = format!(
            r#"{{"type":"response.{status}","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"{status}","output":{},"usage":{NO_USAGE}}}}}"#,
            quote(self.id.as_deref().unwrap_or_default()),
            array(&self.done)
        );
        self.write_event(&format!("response.{status}"), &data, out);
    }

    fn write_error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        self.ensure_created(out);
        let data = format!(
            r#"{{"type":"response.failed","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"failed","error":{{"code":"server_error","message":{}}},"output":{},"usage":null}}}}"#,
            quote(self.id.as_deref().unwrap_or_default()),
            quote(message),
            array(self.done.iter().filter(|item| !item.is_empty()))
        );
        self.write_event("response.failed", &data, out);
    }

    fn memory(&self) -> usize {
        let open = |item: &OpenItem| item.text.len() + item.received.as_ref().map_or(0, String::len);
        self.done.iter().map(String::len).sum::<usize>() + self.open.values().map(open).sum::<usize>()
    }
}

/// Token counts for servers that send none.
const NO_USAGE: &str = r#"{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}"#;

impl Encoder {
    /// Writes a new event, with its sequence number.
    fn write_event(&mut self, name: &str, data: &str, out: &mut Vec<Bytes>) {
        let doc = Document::parse(&Bytes::copy_from_slice(data.as_bytes()));
        if let Some(doc) = doc {
            let numbered = doc.root().with(&[("sequence_number", Some(self.sequence.to_string()))]);
            self.sequence += 1;
            out.push(Frame::new(Framing::Sse, Some(name), &numbered).raw);
        }
    }

    /// Writes an event of the server with these changes; unchanged if there are none.
    fn write_patched(
        &mut self,
        frame: &Frame,
        root: ValueRef<'_>,
        mut changes: Vec<(&str, Option<String>)>,
        out: &mut Vec<Bytes>,
    ) {
        if root.get("sequence_number").and_then(ValueRef::number) != Some(self.sequence) {
            changes.push(("sequence_number", Some(self.sequence.to_string())));
        }
        self.sequence += 1;
        changes.retain(|(name, value)| root.get(name).map(ValueRef::raw) != value.as_deref());
        if changes.is_empty() {
            out.push(frame.raw.clone());
        } else {
            out.push(frame.with_data(&root.with(&changes)).raw);
        }
    }

    /// Announces the response if the server did not.
    fn ensure_created(&mut self, out: &mut Vec<Bytes>) {
        if self.id.is_some() {
            return;
        }
        let id = new_id("resp_");
        for name in ["response.created", "response.in_progress"] {
            let data = format!(
                r#"{{"type":"{name}","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"in_progress","output":[]}}}}"#,
                quote(&id)
            );
            self.write_event(name, &data, out);
        }
        self.id = Some(id);
    }

    /// Writes an event about the response as a whole.
    fn write_lifecycle(
        &mut self,
        frame: &Frame,
        root: ValueRef<'_>,
        stop: Option<StopReason>,
        out: &mut Vec<Bytes>,
    ) {
        let ends = frame.role == FrameRole::Stop;
        let Some(response) = root.get("response").filter(|response| response.is_object()) else {
            self.write_patched(frame, root, Vec::new(), out);
            return;
        };
        if ends {
            self.ensure_created(out);
        }
        let given =
            response.get_lossy_text("id").map(std::borrow::Cow::into_owned).filter(|id| !id.is_empty());
        let id = self.id.get_or_insert_with(|| given.clone().unwrap_or_else(|| new_id("resp_"))).clone();
        let mut inner: Vec<(&str, Option<String>)> = Vec::new();
        if given.as_ref() != Some(&id) {
            inner.push(("id", Some(quote(&id))));
        }
        let output = response.get("output").filter(|output| output.is_array());
        if ends {
            let listed = output.map_or(0, |output| output.items().count());
            if self.changed || listed != self.done.len() {
                inner.push(("output", Some(array(&self.done))));
            }
            if response.get_non_null("usage").is_none() {
                inner.push(("usage", Some(NO_USAGE.to_owned())));
            }
        } else if output.is_none() {
            inner.push(("output", Some("[]".to_owned())));
        }
        let mut changes = Vec::new();
        let new_status = stop.filter(|_| ends).and_then(|stop| end_status(stop, response));
        if let Some(status) = new_status {
            inner.push(("status", Some(quote(status))));
            inner.push(("incomplete_details", Some(incomplete_details(status))));
            changes.push(("type", Some(quote(&format!("response.{status}")))));
        }
        if !inner.is_empty() {
            changes.push(("response", Some(response.with(&inner))));
        }
        if let Some(status) = new_status {
            let data = root.with(&changes);
            self.write_event(&format!("response.{status}"), &data, out);
        } else {
            self.write_patched(frame, root, changes, out);
        }
    }

    /// Sends the server's start of a message, now that it has content. `wanted` is the kind of the content, if it is known.
    fn send_pending_start(&mut self, wanted: Option<ItemKind>, out: &mut Vec<Bytes>) {
        let pending = std::mem::take(&mut self.pending_start);
        if wanted.is_some_and(|wanted| wanted != ItemKind::Message) {
            return;
        }
        for frame in pending {
            let Some(doc) = frame.doc() else { continue };
            match frame.role {
                FrameRole::Open(_) => self.open_item(&frame, doc.root(), out),
                FrameRole::Inside(index) => {
                    let kind = doc.root().get_lossy_text("type").unwrap_or_default().into_owned();
                    self.write_inside(&frame, doc.root(), index, &kind, out);
                }
                _ => {}
            }
        }
    }

    fn open_item(&mut self, frame: &Frame, root: ValueRef<'_>, out: &mut Vec<Bytes>) {
        self.ensure_created(out);
        self.close_item(None, out);
        let FrameRole::Open(index) = frame.role else { return };
        let item = root.get("item");
        let kind = match item.and_then(|item| item.get_lossy_text("type")).as_deref() {
            Some("message") => ItemKind::Message,
            Some("reasoning") => ItemKind::Reasoning,
            _ => ItemKind::Other,
        };
        let given = item.and_then(|item| item.get_lossy_text("id")).filter(|id| !id.is_empty());
        let mut changes = vec![("output_index", Some(self.done.len().to_string()))];
        let id = given.as_ref().map_or_else(|| new_id("item_"), std::string::ToString::to_string);
        if let (None, Some(item)) = (&given, item) {
            changes.push(("item", Some(item.with(&[("id", Some(quote(&id)))]))));
        }
        // All of its text so far was removed, so what the server says about the whole text is wrong.
        let rewritten = kind != ItemKind::Other && self.touched.contains(&index);
        self.open.insert(
            Some(index),
            OpenItem {
                number: self.done.len(),
                id,
                kind,
                text: String::new(),
                received: item.map(|item| item.raw().to_owned()),
                part_started: false,
                rewritten,
            },
        );
        self.done.push(String::new());
        self.write_patched(frame, root, changes, out);
    }

    fn write_inside(
        &mut self,
        frame: &Frame,
        root: ValueRef<'_>,
        index: u64,
        kind: &str,
        out: &mut Vec<Bytes>,
    ) {
        let text = kind == "response.output_text.delta";
        let delta = root.get_lossy_text("delta").unwrap_or_default();
        match self.open.get(&Some(index)) {
            None if text => return self.add_text(ItemKind::Message, Some(index), &delta, out),
            // An event about an item that is already closed for the client.
            None => return,
            Some(open) if open.rewritten => {
                // What the server says about the whole text is wrong now.
                if text {
                    self.add_text(ItemKind::Message, Some(index), &delta, out);
                }
                return;
            }
            Some(open) if text && !open.part_started => self.start_part(Some(index), out),
            Some(_) => {}
        }
        let Some(open) = self.open.get_mut(&Some(index)) else { return };
        if text {
            open.text.push_str(&delta);
        }
        open.part_started |= kind == "response.content_part.added";
        let mut changes = vec![("output_index", Some(open.number.to_string()))];
        if root.get("item_id").is_none() || open.kind == ItemKind::Message {
            changes.push(("item_id", Some(quote(&open.id))));
        }
        let in_part = kind.starts_with("response.output_text")
            || kind.starts_with("response.content_part")
            || kind.starts_with("response.reasoning_text");
        if in_part && root.get("content_index").is_none() {
            changes.push(("content_index", Some("0".to_owned())));
        }
        self.write_patched(frame, root, changes, out);
    }

    fn write_closed(&mut self, frame: &Frame, root: ValueRef<'_>, index: u64, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.get_mut(&Some(index)) else {
            // An item without a start arrives as a whole.
            if let Some(item) = root.get("item").filter(|_| !self.touched.contains(&index)) {
                self.write_whole_item(frame, root, item, out);
            }
            return;
        };
        if open.rewritten {
            // Only the server's end of the item has all of its members.
            open.received = root.get("item").map(|item| item.raw().to_owned()).or(open.received.take());
            self.close_item(Some(index), out);
            return;
        }
        let Some(open) = self.open.remove(&Some(index)) else { return };
        let item = root.get("item");
        let mut changes = vec![("output_index", Some(open.number.to_string()))];
        let has_id = item.and_then(|item| item.get_lossy_text("id")).is_some_and(|id| id == open.id);
        let item = item.map(|item| {
            if has_id { item.raw().to_owned() } else { item.with(&[("id", Some(quote(&open.id)))]) }
        });
        if let Some(item) = item {
            if !has_id {
                changes.push(("item", Some(item.clone())));
            }
            if let Some(done) = self.done.get_mut(open.number) {
                *done = item;
            }
        }
        self.write_patched(frame, root, changes, out);
    }

    fn write_whole_item(
        &mut self,
        frame: &Frame,
        root: ValueRef<'_>,
        item: ValueRef<'_>,
        out: &mut Vec<Bytes>,
    ) {
        self.ensure_created(out);
        let number = self.done.len();
        let data = format!(
            r#"{{"type":"response.output_item.added","output_index":{number},"item":{}}}"#,
            item.raw()
        );
        self.write_event("response.output_item.added", &data, out);
        self.done.push(item.raw().to_owned());
        self.write_patched(frame, root, vec![("output_index", Some(number.to_string()))], out);
    }

    /// Adds text to the item that it belongs to, or to a new item.
    fn add_text(&mut self, kind: ItemKind, at: Option<u64>, text: &str, out: &mut Vec<Bytes>) {
        if text.is_empty() {
            return;
        }
        self.ensure_created(out);
        self.send_pending_start(Some(kind), out);
        let is_of_kind = |open: &OpenItem| open.kind == kind;
        let key = [at, None].into_iter().find(|key| self.open.get(key).is_some_and(is_of_kind));
        let key = key.unwrap_or_else(|| {
            self.close_all_items(out);
            self.start_item(kind, at, out);
            at
        });
        if !self.open.get(&key).is_some_and(|open| open.part_started) {
            self.start_part(key, out);
        }
        let Some(open) = self.open.get_mut(&key) else { return };
        open.text.push_str(text);
        open.rewritten = true;
        let name = if kind == ItemKind::Message { "output_text" } else { "reasoning_text" };
        let logprobs = if kind == ItemKind::Message { r#","logprobs":[]"# } else { "" };
        let data = format!(
            r#"{{"type":"response.{name}.delta","item_id":{},"output_index":{},"content_index":0,"delta":{}{logprobs}}}"#,
            quote(&open.id),
            open.number,
            quote(text)
        );
        self.write_event(&format!("response.{name}.delta"), &data, out);
    }

    /// Starts an item that the server never sent.
    fn start_item(&mut self, kind: ItemKind, at: Option<u64>, out: &mut Vec<Bytes>) {
        let number = self.done.len();
        let id = new_id(if kind == ItemKind::Message { "msg_" } else { "rs_" });
        let item = match kind {
            ItemKind::Message => items::message(&id, None, "in_progress"),
            _ => items::reasoning(&id, None, "in_progress"),
        };
        self.done.push(String::new());
        let data =
            format!(r#"{{"type":"response.output_item.added","output_index":{number},"item":{item}}}"#);
        self.write_event("response.output_item.added", &data, out);
        self.changed = true;
        self.touched.extend(at);
        self.open.insert(
            at,
            OpenItem {
                number,
                id,
                kind,
                text: String::new(),
                received: None,
                part_started: false,
                rewritten: true,
            },
        );
    }

    fn start_part(&mut self, key: Option<u64>, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.get_mut(&key) else { return };
        open.part_started = true;
        let part =
            if open.kind == ItemKind::Message { items::text_part("") } else { items::reasoning_part("") };
        let data = format!(
            r#"{{"type":"response.content_part.added","item_id":{},"output_index":{},"content_index":0,"part":{}}}"#,
            quote(&open.id),
            open.number,
            part
        );
        self.write_event("response.content_part.added", &data, out);
    }

    /// Ends an item that the server does not end.
    fn close_item(&mut self, key: Option<u64>, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.remove(&key) else { return };
        let (id, number) = (quote(&open.id), open.number);
        let text = quote(&open.text);
        let written = match open.kind {
            ItemKind::Message => {
                if open.part_started {
                    let data = format!(
                        r#"{{"type":"response.output_text.done","item_id":{id},"output_index":{number},"content_index":0,"text":{text},"logprobs":[]}}"#
                    );
                    self.write_event("response.output_text.done", &data, out);
                    let part = items::text_part(&open.text);
                    let data = format!(
                        r#"{{"type":"response.content_part.done","item_id":{id},"output_index":{number},"content_index":0,"part":{part}}}"#
                    );
                    self.write_event("response.content_part.done", &data, out);
                }
                items::message(
                    &open.id,
                    Some(&open.text).filter(|_| open.part_started).map(String::as_str),
                    "completed",
                )
            }
            ItemKind::Reasoning => {
                let data = format!(
                    r#"{{"type":"response.reasoning_text.done","item_id":{id},"output_index":{number},"content_index":0,"text":{text}}}"#
                );
                self.write_event("response.reasoning_text.done", &data, out);
                let part = items::reasoning_part(&open.text);
                let data = format!(
                    r#"{{"type":"response.content_part.done","item_id":{id},"output_index":{number},"content_index":0,"part":{part}}}"#
                );
                self.write_event("response.content_part.done", &data, out);
                items::reasoning(&open.id, Some(&open.text), "completed")
            }
            // An item of an unknown kind that the server never ended.
            ItemKind::Other => format!(r#"{{"id":{id},"type":"unknown"}}"#),
        };
        let item =
            items::keep_received_members(open.received.as_deref(), written, open.kind == ItemKind::Other);
        let data = format!(r#"{{"type":"response.output_item.done","output_index":{number},"item":{item}}}"#);
        self.write_event("response.output_item.done", &data, out);
        if let Some(done) = self.done.get_mut(number) {
            *done = item;
        }
    }

    fn close_all_items(&mut self, out: &mut Vec<Bytes>) {
        let mut keys: Vec<(usize, Option<u64>)> =
            self.open.iter().map(|(key, open)| (open.number, *key)).collect();
        keys.sort_unstable();
        for (_, key) in keys {
            self.changed = true;
            self.close_item(key, out);
        }
    }

    /// Returns the key, number and id of the call that is open for the client.
    fn open_call(&self) -> Option<(Option<u64>, usize, String)> {
        let calls = self.open.iter().filter(|(_, open)| open.kind == ItemKind::Other);
        let (key, open) = calls.max_by_key(|(_, open)| open.number)?;
        Some((*key, open.number, open.id.clone()))
    }

    /// Ends a call whose start was sent.
    fn end_started_call(&mut self, call: &ReadyCall, rest: &str, out: &mut Vec<Bytes>) {
        let Some((key, number, id)) = self.open_call() else { return self.write_call(call, out) };
        self.add_arguments(&call.form, rest, out);
        self.open.remove(&key);
        self.touched.extend(key);
        self.write_call_end(call, &id, number, out);
    }

    /// Adds arguments to the open call.
    fn add_arguments(&mut self, form: &CallForm, text: &str, out: &mut Vec<Bytes>) {
        let Some((_, number, id)) = self.open_call().filter(|_| !text.is_empty()) else { return };
        let kind = arguments_event(form);
        let data = format!(
            r#"{{"type":"response.{kind}.delta","item_id":{},"output_index":{number},"delta":{}}}"#,
            quote(&id),
            quote(text)
        );
        self.write_event(&format!("response.{kind}.delta"), &data, out);
    }

    /// Writes the events that end the item of a call.
    fn write_call_end(&mut self, call: &ReadyCall, id: &str, number: usize, out: &mut Vec<Bytes>) {
        let head = format!(r#""item_id":{},"output_index":{number}"#, quote(id));
        let (name, text) = (quote(&call.name), quote(&call.arguments));
        let kind = arguments_event(&call.form);
        let content = match call.form {
            CallForm::Custom => format!(r#""input":{text}"#),
            _ => format!(r#""name":{name},"arguments":{text}"#),
        };
        let data = format!(r#"{{"type":"response.{kind}.done",{head},{content}}}"#);
        self.write_event(&format!("response.{kind}.done"), &data, out);
        let mut call = call.clone();
        // The item was opened under this id.
        items::take_call_item_id(&mut call);
        let item = items::call(&call, id, &call.arguments, "completed");
        let data = format!(r#"{{"type":"response.output_item.done","output_index":{number},"item":{item}}}"#);
        self.write_event("response.output_item.done", &data, out);
        if let Some(done) = self.done.get_mut(number) {
            *done = item;
        }
    }

    fn write_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.start_call(call, out);
        self.end_started_call(call, "", out);
    }

    /// Starts a call with the first piece of its arguments.
    fn start_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.pending_start.clear();
        self.ensure_created(out);
        self.close_all_items(out);
        let number = self.done.len();
        let mut call = call.clone();
        let id = items::take_call_item_id(&mut call);
        let begun = items::call(&call, &id, "", "in_progress");
        let data =
            format!(r#"{{"type":"response.output_item.added","output_index":{number},"item":{begun}}}"#);
        self.write_event("response.output_item.added", &data, out);
        self.done.push(String::new());
        let open = OpenItem {
            number,
            id,
            kind: ItemKind::Other,
            text: String::new(),
            received: None,
            part_started: false,
            rewritten: true,
        };
        self.open.insert(None, open);
        self.add_arguments(&call.form, &call.arguments, out);
    }
}

/// Returns the name of the events about the arguments of a call.
fn arguments_event(form: &CallForm) -> &'static str {
    if *form == CallForm::Custom { "custom_tool_call_input" } else { "function_call_arguments" }
}
