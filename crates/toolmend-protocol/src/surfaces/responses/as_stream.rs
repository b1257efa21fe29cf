//! A whole response, written as a stream. Nothing of it is lost: every item ends as the server wrote it.

use super::message_parts;
use crate::adapter::AnswerFrames;
use crate::fields::read_list;
use crate::frame::{Frame, Framing};
use crate::ids::new_id;
use crate::json::{Changes, Object, ValueRef, quote};

pub(super) fn write_frames(root: ValueRef<'_>, _wants_usage: bool) -> Option<AnswerFrames> {
    let output = root.get("output").filter(|output| output.is_array())?;
    let is_missing = root.get_lossy_text("id").is_none_or(|id| id.is_empty());
    let id = is_missing.then(|| new_id("resp_"));
    let id: Changes<'_> = id.into_iter().map(|id| ("id", Some(quote(&id)))).collect();
    let null = || Some("null".to_owned());
    let mut begun = id.clone();
    begun.extend([
        ("status", Some(quote("in_progress"))),
        ("output", Some("[]".to_owned())),
        ("usage", null()),
    ]);
    begun.push(("incomplete_details", null()));
    let begun = root.with(&begun);
    let mut events = EventList::default();
    for name in ["response.created", "response.in_progress"] {
        events.push(name, |event| event.raw("response", &begun));
    }
    for (index, item) in output.items().enumerate() {
        ItemEvents { events: &mut events, index: index as u64, id: item_id(item) }.write_item(item);
    }
    let status = match root.get_lossy_text("status").as_deref() {
        Some("incomplete") => "incomplete",
        Some("failed") => "failed",
        _ => "completed",
    };
    let ended = if id.is_empty() { root.raw().to_owned() } else { root.with(&id) };
    events.push(&format!("response.{status}"), |event| event.raw("response", ended));
    let end = events.0.pop()?;
    Some(AnswerFrames { frames: events.0, end })
}

fn item_id(item: ValueRef<'_>) -> String {
    item.get_lossy_text("id").unwrap_or_default().into_owned()
}

/// Events, numbered as they are added.
#[derive(Default)]
struct EventList(Vec<Frame>);

impl EventList {
    fn push(&mut self, name: &str, add_members: impl FnOnce(Object) -> Object) {
        let event = Object::new().text("type", name).number("sequence_number", self.0.len() as u64);
        self.0.push(Frame::new(Framing::Sse, Some(name), &add_members(event).end()));
    }
}

/// A text that is sent in pieces: the name of its events, and the member that holds all of it.
#[derive(Clone, Copy)]
struct ItemText<'n> {
    name: &'n str,
    member: &'n str,
}

const OUTPUT_TEXT: ItemText<'static> = ItemText { name: "output_text", member: "text" };
const REFUSAL: ItemText<'static> = ItemText { name: "refusal", member: "refusal" };
const REASONING_TEXT: ItemText<'static> = ItemText { name: "reasoning_text", member: "text" };
const SUMMARY_TEXT: ItemText<'static> = ItemText { name: "reasoning_summary_text", member: "text" };
const ARGUMENTS: ItemText<'static> = ItemText { name: "function_call_arguments", member: "arguments" };
const CUSTOM_INPUT: ItemText<'static> = ItemText { name: "custom_tool_call_input", member: "input" };

/// The position of a text in its item, if the item can have several.
type Place<'n> = Option<(&'n str, u64)>;

fn add_place(event: Object, place: Place<'_>) -> Object {
    match place {
        Some((name, number)) => event.number(name, number),
        None => event,
    }
}

/// The events of one item.
struct ItemEvents<'e> {
    events: &'e mut EventList,
    index: u64,
    id: String,
}

impl ItemEvents<'_> {
    fn write_item(&mut self, item: ValueRef<'_>) {
        let (empty, no_text) = (|| Some("[]".to_owned()), || Some(quote("")));
        let kind = item.get_lossy_text("type").unwrap_or_default();
        let mut begun: Changes<'_> = match &*kind {
            "message" => vec![("content", empty())],
            "reasoning" => vec![("summary", empty()), ("content", None), ("encrypted_content", None)],
            "function_call" => vec![("arguments", no_text())],
            "custom_tool_call" => vec![("input", no_text())],
            _ => Vec::new(),
        };
        if item.get_non_null("status").is_some() {
            begun.push(("status", Some(quote("in_progress"))));
        }
        let index = self.index;
        let write_item =
            |item: String| move |event: Object| event.number("output_index", index).raw("item", item);
        self.events.push("response.output_item.added", write_item(item.with(&begun)));
        match &*kind {
            "message" => self.write_content(item),
            "reasoning" => self.write_reasoning(item),
            "function_call" => self.write_text(ARGUMENTS, None, item),
            "custom_tool_call" => self.write_text(CUSTOM_INPUT, None, item),
            _ => {}
        }
        self.events.push("response.output_item.done", write_item(item.raw().to_owned()));
    }

    /// Adds an event about the item.
    fn push(&mut self, name: &str, add_members: impl FnOnce(Object) -> Object) {
        let (id, index) = (self.id.clone(), self.index);
        let name = format!("response.{name}");
        self.events.push(&name, |event| add_members(event.text("item_id", id).number("output_index", index)));
    }

    /// Adds the events of a text: one piece, and the end, which repeats the text.
    fn write_text(&mut self, text: ItemText<'_>, place: Place<'_>, of: ValueRef<'_>) {
        let Some(written) = of.get_non_null(text.member).map(ValueRef::raw) else { return };
        let add = |event: Object, member: &str| {
            let event = add_place(event, place).raw(member, written);
            if text.name == OUTPUT_TEXT.name { event.raw("logprobs", "[]") } else { event }
        };
        self.push(&format!("{}.delta", text.name), |event| add(event, "delta"));
        self.push(&format!("{}.done", text.name), |event| add(event, text.member));
    }

    /// Adds the events of a part of the item: its start, its text and its end.
    fn write_part(&mut self, name: &str, text: ItemText<'_>, place: Place<'_>, part: ValueRef<'_>) {
        let emptied = part.with(&[(text.member, Some(quote("")))]);
        self.push(&format!("{name}.added"), |event| add_place(event, place).raw("part", emptied));
        self.write_text(text, place, part);
        self.push(&format!("{name}.done"), |event| add_place(event, place).raw("part", part.raw()));
    }

    fn write_content(&mut self, item: ValueRef<'_>) {
        for (at, (part, _)) in message_parts(item).enumerate() {
            let is_refusal = part.get_lossy_text("type").as_deref() == Some("refusal");
            let text = if is_refusal { REFUSAL } else { OUTPUT_TEXT };
            self.write_part("content_part", text, Some(("content_index", at as u64)), part);
        }
    }

    fn write_reasoning(&mut self, item: ValueRef<'_>) {
        for (at, part) in read_list(item, "summary").enumerate() {
            let place = Some(("summary_index", at as u64));
            self.write_part("reasoning_summary_part", SUMMARY_TEXT, place, part);
        }
        for (at, part) in read_list(item, "content").enumerate() {
            self.write_text(REASONING_TEXT, Some(("content_index", at as u64)), part);
        }
    }
}
