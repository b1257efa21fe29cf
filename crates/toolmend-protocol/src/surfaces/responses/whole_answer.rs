//! Whole responses.

use super::{end_status, incomplete_details, items, message_parts, read_call_piece, read_stop};
use crate::adapter::TurnMender;
use crate::ids::new_id;
use crate::json::{ValueRef, array, quote};
use crate::turn::{MendedItem, OutgoingPart, Part};

/// Where a part comes from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// A whole output item.
    Item(usize),
    /// One part of a message: the item, and the position in its content.
    MessagePart(usize, usize),
    /// The status of the response.
    Status,
}

/// Writes the new list of output items.
struct OutputWriter<'d> {
    received: &'d [ValueRef<'d>],
    written: Vec<String>,
    /// The message that is being assembled: the item it comes from, and its parts.
    message: Option<(Option<usize>, Vec<String>)>,
}

pub(super) fn mend_answer(root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    let output: Vec<ValueRef<'_>> = root.get("output").filter(|output| output.is_array())?.items().collect();
    let (origins, parts) = split_output(&output, root);
    let items = mender.mend_parts(parts);
    if items.iter().all(|item| matches!(item, MendedItem::Unchanged(_))) {
        return None;
    }
    let mut writer = OutputWriter { received: &output, written: Vec::new(), message: None };
    let mut new_stop = None;
    for item in items {
        match item {
            MendedItem::Unchanged(at) => match origins[at] {
                Origin::Item(at) => writer.add_item(output[at].raw().to_owned()),
                Origin::MessagePart(at, number) => {
                    let raw = message_parts(output[at]).nth(number).map_or("", |(part, _)| part.raw());
                    writer.add_message_part(Some(at), raw.to_owned());
                }
                Origin::Status => {}
            },
            MendedItem::Rewritten(item, parts) => {
                let message = match item.map(|at| origins[at]) {
                    Some(Origin::MessagePart(at, _)) => Some(at),
                    _ => None,
                };
                for part in parts {
                    match part {
                        OutgoingPart::Text(text) if text.trim().is_empty() => {}
                        OutgoingPart::Text(text) => writer.add_message_part(message, items::text_part(&text)),
                        OutgoingPart::Reasoning(text) => {
                            writer.add_item(items::reasoning(&new_id("rs_"), Some(&text), "completed"));
                        }
                        OutgoingPart::Call(mut call) | OutgoingPart::CallEnd(mut call, _) => {
                            let id = items::take_call_item_id(&mut call);
                            writer.add_item(items::call(&call, &id, &call.arguments, "completed"));
                        }
                        // Whole answers have no pieces of calls.
                        OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => {}
                        OutgoingPart::Stop(stop) => new_stop = Some(stop),
                    }
                }
            }
        }
    }
    writer.flush_message();
    let mut changes = vec![("output", Some(array(writer.written)))];
    if let Some(status) = new_stop.and_then(|stop| end_status(stop, root)) {
        changes.push(("status", Some(quote(status))));
        changes.push(("incomplete_details", Some(incomplete_details(status))));
    }
    if root.get("output_text").is_some() {
        // A convenience copy of the text, which would be wrong now.
        changes.push(("output_text", None));
    }
    Some(root.with(&changes))
}

/// Splits the output into parts, and remembers where each comes from.
fn split_output(output: &[ValueRef<'_>], root: ValueRef<'_>) -> (Vec<Origin>, Vec<Part>) {
    let (mut origins, mut parts) = (Vec::new(), Vec::new());
    let mut calls = 0;
    for (at, item) in output.iter().enumerate() {
        match item.get_lossy_text("type").as_deref() {
            Some("function_call") => {
                origins.push(Origin::Item(at));
                parts.push(Part::Call(read_call_piece(*item, calls)));
                calls += 1;
            }
            Some("message") => {
                for (number, (_, text)) in message_parts(*item).enumerate() {
                    origins.push(Origin::MessagePart(at, number));
                    parts.push(text.map_or(Part::Opaque, |text| Part::Text(text.into_owned())));
                }
            }
            _ => {
                origins.push(Origin::Item(at));
                parts.push(Part::Opaque);
            }
        }
    }
    origins.push(Origin::Status);
    parts.push(Part::Stop(read_stop(root)));
    (origins, parts)
}

impl OutputWriter<'_> {
    fn add_item(&mut self, item: String) {
        self.flush_message();
        self.written.push(item);
    }

    /// Adds a part to the message that it belongs to; without one, to the message that is being assembled.
    fn add_message_part(&mut self, item: Option<usize>, part: String) {
        match &mut self.message {
            Some((open, parts)) if item.is_none() || item == *open => parts.push(part),
            _ => {
                self.flush_message();
                self.message = Some((item, vec![part]));
            }
        }
    }

    fn flush_message(&mut self) {
        let Some((item, parts)) = self.message.take() else { return };
        let content = array(parts);
        let received = item.and_then(|at| self.received.get(at));
        // A call in the middle splits a message in two, and only one of them can keep the id.
        let received = received.filter(|item| !self.written.iter().any(|written| has_id_of(**item, written)));
        self.written.push(match received {
            Some(item) => item.with(&[("content", Some(content))]),
            None => items::message_with_content(&new_id("msg_"), &content, "completed"),
        });
    }
}

/// Whether a written item has the id of a received one.
fn has_id_of(item: ValueRef<'_>, written: &str) -> bool {
    let id = item.get("id").map(ValueRef::raw).unwrap_or_default();
    !id.is_empty() && written.contains(&format!(r#""id":{id}"#))
}
