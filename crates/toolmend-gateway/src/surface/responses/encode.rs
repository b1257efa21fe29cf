//! The stream of a response, written.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use crate::mend::new_id;
use crate::surface::{Encode, comment};
use crate::turn::{Form, Made, ReadyCall, Stop};
use crate::wire::doc::{Doc, View, array, quote};
use crate::wire::frame::{Frame, Framing, Mark};

use super::items;

/// What kind of item is open for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Other,
}

/// An item that is open for the client.
#[derive(Debug)]
struct Open {
    number: usize,
    id: String,
    kind: Kind,
    text: String,
    /// Whether its part was begun.
    part: bool,
    /// Whether its text is not the server's any more, or it was never the server's.
    ours: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// The id of the response, once it was told.
    id: Option<String>,
    sequence: u64,
    /// Items that are complete; an empty text is one that is still open.
    done: Vec<String>,
    /// Items that are open, by the server's number; those of our own stand under none.
    open: HashMap<Option<u64>, Open>,
    /// The beginning of an item that has said nothing yet.
    waiting: Vec<Frame>,
    stop: Option<Stop>,
    /// The server's items of which something was written anew.
    touched: HashSet<u64>,
    /// Whether anything is not as the server sent it.
    changed: bool,
}

impl Encode for Encoder {
    fn keep(&mut self, _lane: Option<u64>, frame: Frame, out: &mut Vec<Bytes>) {
        let Some(doc) = frame.doc() else {
            out.push(frame.raw);
            return;
        };
        let root = doc.root();
        match frame.mark {
            Mark::Begin => self.lifecycle(&frame, root, None, out),
            Mark::Open(_) => {
                self.begin(None, out);
                let kind = root.get("item").and_then(|item| item.get_text("type"));
                if kind.as_deref() == Some("message") {
                    self.waiting.push(frame);
                    return;
                }
                self.added(&frame, root, out);
            }
            Mark::Inside(index) => {
                let kind = root.get_text("type").unwrap_or_default();
                if kind == "response.content_part.added" && !self.waiting.is_empty() {
                    self.waiting.push(frame);
                    return;
                }
                self.begin(None, out);
                self.inside(&frame, root, index, &kind, out);
            }
            Mark::Close(index) => {
                self.begin(None, out);
                self.closed(&frame, root, index, out);
            }
            Mark::Stop => {}
            Mark::Other => out.push(frame.raw),
        }
    }

    fn instead(&mut self, _lane: u64, frame: Option<Frame>, made: Vec<Made>, out: &mut Vec<Bytes>) {
        self.changed = true;
        let at = match frame.as_ref().map(|frame| frame.mark) {
            Some(Mark::Open(index) | Mark::Inside(index) | Mark::Close(index)) => Some(index),
            _ => None,
        };
        self.touched.extend(at);
        // Text in the place of a piece of text: its item is not the server's any more.
        if let Some(open) = self.open.get_mut(&at).filter(|open| open.kind != Kind::Other) {
            open.ours = true;
        }
        for made in made {
            match made {
                Made::Text(text) => self.more(Kind::Message, at, &text, out),
                Made::Reasoning(text) => self.more(Kind::Reasoning, at, &text, out),
                Made::Call(call) => self.call(&call, out),
                Made::Begin(call) => self.begin_call(&call, out),
                Made::Piece(text) => self.arguments(&Form::Function, &text, out),
                Made::Rest(call, rest) => self.rest(&call, &rest, out),
                Made::Stop(stop) => self.stop = Some(stop),
            }
        }
        // The item that a piece closes is over, whatever became of the piece.
        if let Some(Mark::Close(_)) = frame.map(|frame| frame.mark) {
            self.waiting.clear();
        }
    }

    fn end(&mut self, frame: Option<Frame>, summary: Option<&str>, out: &mut Vec<Bytes>) {
        self.waiting.clear();
        self.close_all(out);
        out.extend(summary.map(comment));
        let doc = frame.as_ref().and_then(Frame::doc);
        if let (Some(frame), Some(doc)) = (&frame, &doc) {
            self.lifecycle(frame, doc.root(), self.stop, out);
            return;
        }
        let stopped = if self.stop == Some(Stop::Length) { "incomplete" } else { "completed" };
        self.created(out);
        let data = format!(
            r#"{{"type":"response.{stopped}","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"{stopped}","output":{},"usage":{USAGE}}}}}"#,
            quote(self.id.as_deref().unwrap_or_default()),
            array(&self.done)
        );
        self.event(&format!("response.{stopped}"), &data, out);
    }

    fn error(&mut self, message: &str, out: &mut Vec<Bytes>) {
        self.created(out);
        let data = format!(
            r#"{{"type":"response.failed","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"failed","error":{{"code":"server_error","message":{}}},"output":{},"usage":null}}}}"#,
            quote(self.id.as_deref().unwrap_or_default()),
            quote(message),
            array(self.done.iter().filter(|item| !item.is_empty()))
        );
        self.event("response.failed", &data, out);
    }
}

const USAGE: &str = r#"{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}"#;

impl Encoder {
    /// Writes an event of our own, with its number.
    fn event(&mut self, name: &str, data: &str, out: &mut Vec<Bytes>) {
        let doc = Doc::parse(&Bytes::copy_from_slice(data.as_bytes()));
        if let Some(doc) = doc {
            let numbered = doc.root().with(&[("sequence_number", Some(self.sequence.to_string()))]);
            self.sequence += 1;
            out.push(Frame::new(Framing::Sse, Some(name), &numbered).raw);
        }
    }

    /// Writes an event of the server with these changes, as it is where there are none.
    fn patched(
        &mut self,
        frame: &Frame,
        root: View<'_>,
        mut changes: Vec<(&str, Option<String>)>,
        out: &mut Vec<Bytes>,
    ) {
        if root.get("sequence_number").and_then(View::number) != Some(self.sequence) {
            changes.push(("sequence_number", Some(self.sequence.to_string())));
        }
        self.sequence += 1;
        changes.retain(|(name, value)| root.get(name).map(View::raw) != value.as_deref());
        if changes.is_empty() {
            out.push(frame.raw.clone());
        } else {
            out.push(frame.with_data(&root.with(&changes)).raw);
        }
    }

    /// Tells that there is a response, where the server did not.
    fn created(&mut self, out: &mut Vec<Bytes>) {
        if self.id.is_some() {
            return;
        }
        let id = new_id("resp_");
        for name in ["response.created", "response.in_progress"] {
            let data = format!(
                r#"{{"type":"{name}","response":{{"id":{},"object":"response","created_at":0,"model":"","status":"in_progress","output":[]}}}}"#,
                quote(&id)
            );
            self.event(name, &data, out);
        }
        self.id = Some(id);
    }

    /// An event about the response as a whole.
    fn lifecycle(&mut self, frame: &Frame, root: View<'_>, stop: Option<Stop>, out: &mut Vec<Bytes>) {
        let ends = frame.mark == Mark::Stop;
        let Some(response) = root.get("response").filter(|response| response.is_object()) else {
            self.patched(frame, root, Vec::new(), out);
            return;
        };
        if ends {
            self.created(out);
        }
        let told = response.get_text("id").map(std::borrow::Cow::into_owned).filter(|id| !id.is_empty());
        let id = self.id.get_or_insert_with(|| told.clone().unwrap_or_else(|| new_id("resp_"))).clone();
        let mut inner: Vec<(&str, Option<String>)> = Vec::new();
        if told.as_ref() != Some(&id) {
            inner.push(("id", Some(quote(&id))));
        }
        let output = response.get("output").filter(|output| output.is_array());
        if ends {
            let listed = output.map_or(0, |output| output.items().count());
            if self.changed || listed != self.done.len() {
                inner.push(("output", Some(array(&self.done))));
            }
            if response.some("usage").is_none() {
                inner.push(("usage", Some(USAGE.to_owned())));
            }
        } else if output.is_none() {
            inner.push(("output", Some("[]".to_owned())));
        }
        let mut changes = Vec::new();
        if stop == Some(Stop::Length) {
            inner.push(("status", Some(quote("incomplete"))));
            inner.push(("incomplete_details", Some(r#"{"reason":"max_output_tokens"}"#.to_owned())));
            changes.push(("type", Some(quote("response.incomplete"))));
        }
        if !inner.is_empty() {
            changes.push(("response", Some(response.with(&inner))));
        }
        if changes.iter().any(|(name, _)| *name == "type") {
            let data = root.with(&changes);
            self.event("response.incomplete", &data, out);
        } else {
            self.patched(frame, root, changes, out);
        }
    }

    /// The server's beginning of an item, now that the item says something. `None` is for anything it says.
    fn begin(&mut self, wanted: Option<Kind>, out: &mut Vec<Bytes>) {
        let waiting = std::mem::take(&mut self.waiting);
        if wanted.is_some_and(|wanted| wanted != Kind::Message) {
            return;
        }
        for frame in waiting {
            let Some(doc) = frame.doc() else { continue };
            match frame.mark {
                Mark::Open(_) => self.added(&frame, doc.root(), out),
                Mark::Inside(index) => {
                    let kind = doc.root().get_text("type").unwrap_or_default().into_owned();
                    self.inside(&frame, doc.root(), index, &kind, out);
                }
                _ => {}
            }
        }
    }

    fn added(&mut self, frame: &Frame, root: View<'_>, out: &mut Vec<Bytes>) {
        self.created(out);
        self.close(None, out);
        let Mark::Open(index) = frame.mark else { return };
        let item = root.get("item");
        let kind = match item.and_then(|item| item.get_text("type")).as_deref() {
            Some("message") => Kind::Message,
            Some("reasoning") => Kind::Reasoning,
            _ => Kind::Other,
        };
        let told = item.and_then(|item| item.get_text("id")).filter(|id| !id.is_empty());
        let mut changes = vec![("output_index", Some(self.done.len().to_string()))];
        let id = told.as_ref().map_or_else(|| new_id("item_"), std::string::ToString::to_string);
        if let (None, Some(item)) = (&told, item) {
            changes.push(("item", Some(item.with(&[("id", Some(quote(&id)))]))));
        }
        // All of its text so far was taken out, so what the server says about the whole is not true.
        let ours = kind != Kind::Other && self.touched.contains(&index);
        self.open.insert(
            Some(index),
            Open { number: self.done.len(), id, kind, text: String::new(), part: false, ours },
        );
        self.done.push(String::new());
        self.patched(frame, root, changes, out);
    }

    fn inside(&mut self, frame: &Frame, root: View<'_>, index: u64, kind: &str, out: &mut Vec<Bytes>) {
        let text = kind == "response.output_text.delta";
        let delta = root.get_text("delta").unwrap_or_default();
        match self.open.get(&Some(index)) {
            None if text => return self.more(Kind::Message, Some(index), &delta, out),
            // The end of an item that is over for the client.
            None => return,
            Some(open) if open.ours => {
                // What the server says about the whole of the text is not true any more.
                if text {
                    self.more(Kind::Message, Some(index), &delta, out);
                }
                return;
            }
            Some(open) if text && !open.part => self.begin_part(Some(index), out),
            Some(_) => {}
        }
        let Some(open) = self.open.get_mut(&Some(index)) else { return };
        if text {
            open.text.push_str(&delta);
        }
        open.part |= kind == "response.content_part.added";
        let mut changes = vec![("output_index", Some(open.number.to_string()))];
        if root.get("item_id").is_none() || open.kind == Kind::Message {
            changes.push(("item_id", Some(quote(&open.id))));
        }
        let in_part = kind.starts_with("response.output_text")
            || kind.starts_with("response.content_part")
            || kind.starts_with("response.reasoning_text");
        if in_part && root.get("content_index").is_none() {
            changes.push(("content_index", Some("0".to_owned())));
        }
        self.patched(frame, root, changes, out);
    }

    fn closed(&mut self, frame: &Frame, root: View<'_>, index: u64, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.get(&Some(index)) else {
            // An item that was never begun comes as a whole.
            if let Some(item) = root.get("item").filter(|_| !self.touched.contains(&index)) {
                self.whole_item(frame, root, item, out);
            }
            return;
        };
        if open.ours {
            self.close(Some(index), out);
            return;
        }
        let Some(open) = self.open.remove(&Some(index)) else { return };
        let item = root.get("item");
        let mut changes = vec![("output_index", Some(open.number.to_string()))];
        let told = item.and_then(|item| item.get_text("id")).is_some_and(|id| id == open.id);
        let item =
            item.map(
                |item| if told { item.raw().to_owned() } else { item.with(&[("id", Some(quote(&open.id)))]) },
            );
        if let Some(item) = item {
            if !told {
                changes.push(("item", Some(item.clone())));
            }
            if let Some(done) = self.done.get_mut(open.number) {
                *done = item;
            }
        }
        self.patched(frame, root, changes, out);
    }

    fn whole_item(&mut self, frame: &Frame, root: View<'_>, item: View<'_>, out: &mut Vec<Bytes>) {
        self.created(out);
        let number = self.done.len();
        let data = format!(
            r#"{{"type":"response.output_item.added","output_index":{number},"item":{}}}"#,
            item.raw()
        );
        self.event("response.output_item.added", &data, out);
        self.done.push(item.raw().to_owned());
        self.patched(frame, root, vec![("output_index", Some(number.to_string()))], out);
    }

    /// Adds text to the item that it belongs to, or to a new one.
    fn more(&mut self, kind: Kind, at: Option<u64>, text: &str, out: &mut Vec<Bytes>) {
        if text.is_empty() {
            return;
        }
        self.created(out);
        self.begin(Some(kind), out);
        let fits = |open: &Open| open.kind == kind;
        let key = [at, None].into_iter().find(|key| self.open.get(key).is_some_and(fits));
        let key = key.unwrap_or_else(|| {
            self.close_all(out);
            self.start(kind, at, out);
            at
        });
        if !self.open.get(&key).is_some_and(|open| open.part) {
            self.begin_part(key, out);
        }
        let Some(open) = self.open.get_mut(&key) else { return };
        open.text.push_str(text);
        open.ours = true;
        let name = if kind == Kind::Message { "output_text" } else { "reasoning_text" };
        let logprobs = if kind == Kind::Message { r#","logprobs":[]"# } else { "" };
        let data = format!(
            r#"{{"type":"response.{name}.delta","item_id":{},"output_index":{},"content_index":0,"delta":{}{logprobs}}}"#,
            quote(&open.id),
            open.number,
            quote(text)
        );
        self.event(&format!("response.{name}.delta"), &data, out);
    }

    /// Begins an item of our own.
    fn start(&mut self, kind: Kind, at: Option<u64>, out: &mut Vec<Bytes>) {
        let number = self.done.len();
        let id = new_id(if kind == Kind::Message { "msg_" } else { "rs_" });
        let item = match kind {
            Kind::Message => items::message(&id, None, "in_progress"),
            _ => items::reasoning(&id, None, "in_progress"),
        };
        self.done.push(String::new());
        let data =
            format!(r#"{{"type":"response.output_item.added","output_index":{number},"item":{item}}}"#);
        self.event("response.output_item.added", &data, out);
        self.changed = true;
        self.touched.extend(at);
        self.open.insert(at, Open { number, id, kind, text: String::new(), part: false, ours: true });
    }

    fn begin_part(&mut self, key: Option<u64>, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.get_mut(&key) else { return };
        open.part = true;
        let part = if open.kind == Kind::Message { items::part("") } else { items::thought("") };
        let data = format!(
            r#"{{"type":"response.content_part.added","item_id":{},"output_index":{},"content_index":0,"part":{}}}"#,
            quote(&open.id),
            open.number,
            part
        );
        self.event("response.content_part.added", &data, out);
    }

    /// Ends an item that the server does not end any more.
    fn close(&mut self, key: Option<u64>, out: &mut Vec<Bytes>) {
        let Some(open) = self.open.remove(&key) else { return };
        let (id, number) = (quote(&open.id), open.number);
        let text = quote(&open.text);
        let item = match open.kind {
            Kind::Message => {
                if open.part {
                    let data = format!(
                        r#"{{"type":"response.output_text.done","item_id":{id},"output_index":{number},"content_index":0,"text":{text},"logprobs":[]}}"#
                    );
                    self.event("response.output_text.done", &data, out);
                    let part = items::part(&open.text);
                    let data = format!(
                        r#"{{"type":"response.content_part.done","item_id":{id},"output_index":{number},"content_index":0,"part":{part}}}"#
                    );
                    self.event("response.content_part.done", &data, out);
                }
                items::message(
                    &open.id,
                    Some(&open.text).filter(|_| open.part).map(String::as_str),
                    "completed",
                )
            }
            Kind::Reasoning => {
                let data = format!(
                    r#"{{"type":"response.reasoning_text.done","item_id":{id},"output_index":{number},"content_index":0,"text":{text}}}"#
                );
                self.event("response.reasoning_text.done", &data, out);
                let part = items::thought(&open.text);
                let data = format!(
                    r#"{{"type":"response.content_part.done","item_id":{id},"output_index":{number},"content_index":0,"part":{part}}}"#
                );
                self.event("response.content_part.done", &data, out);
                items::reasoning(&open.id, Some(&open.text), "completed")
            }
            // Something that only the server knows, and never ended.
            Kind::Other => format!(r#"{{"id":{id},"type":"unknown"}}"#),
        };
        let data = format!(r#"{{"type":"response.output_item.done","output_index":{number},"item":{item}}}"#);
        self.event("response.output_item.done", &data, out);
        if let Some(done) = self.done.get_mut(number) {
            *done = item;
        }
    }

    fn close_all(&mut self, out: &mut Vec<Bytes>) {
        let mut keys: Vec<(usize, Option<u64>)> =
            self.open.iter().map(|(key, open)| (open.number, *key)).collect();
        keys.sort_unstable();
        for (_, key) in keys {
            self.changed = true;
            self.close(key, out);
        }
    }

    /// The call that is open for the client.
    fn open_call(&self) -> Option<(Option<u64>, usize, String)> {
        let calls = self.open.iter().filter(|(_, open)| open.kind == Kind::Other);
        let (key, open) = calls.max_by_key(|(_, open)| open.number)?;
        Some((*key, open.number, open.id.clone()))
    }

    /// The end of a call whose beginning was sent.
    fn rest(&mut self, call: &ReadyCall, rest: &str, out: &mut Vec<Bytes>) {
        let Some((key, number, id)) = self.open_call() else { return self.call(call, out) };
        self.arguments(&call.form, rest, out);
        self.open.remove(&key);
        self.touched.extend(key);
        self.end_call(call, &id, number, out);
    }

    /// More arguments of the call that is open.
    fn arguments(&mut self, form: &Form, text: &str, out: &mut Vec<Bytes>) {
        let Some((_, number, id)) = self.open_call().filter(|_| !text.is_empty()) else { return };
        let kind = stream_name(form);
        let data = format!(
            r#"{{"type":"response.{kind}.delta","item_id":{},"output_index":{number},"delta":{}}}"#,
            quote(&id),
            quote(text)
        );
        self.event(&format!("response.{kind}.delta"), &data, out);
    }

    /// The end of the item of a call.
    fn end_call(&mut self, call: &ReadyCall, id: &str, number: usize, out: &mut Vec<Bytes>) {
        let head = format!(r#""item_id":{},"output_index":{number}"#, quote(id));
        let (name, text) = (quote(&call.name), quote(&call.arguments));
        let kind = stream_name(&call.form);
        let told = match call.form {
            Form::Custom => format!(r#""input":{text}"#),
            _ => format!(r#""name":{name},"arguments":{text}"#),
        };
        let data = format!(r#"{{"type":"response.{kind}.done",{head},{told}}}"#);
        self.event(&format!("response.{kind}.done"), &data, out);
        let item = items::call(call, id, &call.arguments, "completed");
        let data = format!(r#"{{"type":"response.output_item.done","output_index":{number},"item":{item}}}"#);
        self.event("response.output_item.done", &data, out);
        if let Some(done) = self.done.get_mut(number) {
            *done = item;
        }
    }

    fn call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.begin_call(call, out);
        self.rest(call, "", out);
    }

    /// The beginning of a call, with the first of its arguments.
    fn begin_call(&mut self, call: &ReadyCall, out: &mut Vec<Bytes>) {
        self.waiting.clear();
        self.created(out);
        self.close_all(out);
        let number = self.done.len();
        let id = items::new_call_id(call);
        let begun = items::call(call, &id, "", "in_progress");
        let data =
            format!(r#"{{"type":"response.output_item.added","output_index":{number},"item":{begun}}}"#);
        self.event("response.output_item.added", &data, out);
        self.done.push(String::new());
        let open = Open { number, id, kind: Kind::Other, text: String::new(), part: false, ours: true };
        self.open.insert(None, open);
        self.arguments(&call.form, &call.arguments, out);
    }
}

/// What the events about the arguments of a call are called.
fn stream_name(form: &Form) -> &'static str {
    if *form == Form::Custom { "custom_tool_call_input" } else { "function_call_arguments" }
}
