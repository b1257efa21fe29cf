//! A whole message, written as a stream. Nothing of it is lost: signatures, citations and blocks that only the vendor knows stay.

use crate::adapter::AnswerFrames;
use crate::frame::{Frame, Framing};
use crate::ids::new_id;
use crate::json::{Changes, Object, ValueRef, quote};

const NO_COUNTS: &str = r#"{"input_tokens":0,"output_tokens":0}"#;

pub(super) fn write_frames(root: ValueRef<'_>, _wants_usage: bool) -> Option<AnswerFrames> {
    let content = root.get("content").filter(|content| content.is_array())?;
    let mut frames = vec![event("message_start", |event| event.raw("message", begin_message(root)))];
    for (index, block) in content.items().enumerate() {
        write_block(index as u64, block, &mut frames);
    }
    let raw = |name: &str| root.get(name).map_or("null", ValueRef::raw);
    let delta =
        Object::new().raw("stop_reason", raw("stop_reason")).raw("stop_sequence", raw("stop_sequence")).end();
    let usage = root.get_non_null("usage").map_or(NO_COUNTS, ValueRef::raw);
    frames.push(event("message_delta", |event| event.raw("delta", delta).raw("usage", usage)));
    Some(AnswerFrames { frames, end: event("message_stop", |event| event) })
}

/// Returns the message as it is when it begins.
fn begin_message(root: ValueRef<'_>) -> String {
    let null = || Some("null".to_owned());
    let mut changes: Changes<'_> =
        vec![("content", Some("[]".to_owned())), ("stop_reason", null()), ("stop_sequence", null())];
    let defaults = [
        ("id", quote(&new_id("msg_"))),
        ("type", quote("message")),
        ("role", quote("assistant")),
        ("model", quote("")),
        ("usage", NO_COUNTS.to_owned()),
    ];
    let missing = defaults.into_iter().filter(|(name, _)| root.get_non_null(name).is_none());
    changes.extend(missing.map(|(name, value)| (name, Some(value))));
    root.with(&changes)
}

/// Writes a block: its start without what is sent in pieces, then the pieces.
fn write_block(index: u64, block: ValueRef<'_>, frames: &mut Vec<Frame>) {
    let raw = |name: &str| block.get_non_null(name).map(ValueRef::raw);
    let piece = |kind: &str, member: &str| {
        let value = raw(member).filter(|value| *value != "\"\"")?;
        Some(Object::new().text("type", kind).raw(member, value).end())
    };
    let empty = || Some(quote(""));
    let (start, pieces): (Changes<'_>, Vec<Option<String>>) =
        match (block.get_lossy_text("type").as_deref(), raw("input")) {
            (Some("text"), _) => (vec![("text", empty())], vec![piece("text_delta", "text")]),
            (Some("thinking"), _) => (
                vec![("thinking", empty()), ("signature", empty())],
                vec![piece("thinking_delta", "thinking"), piece("signature_delta", "signature")],
            ),
            (_, Some(input)) => {
                let delta = Object::new().text("type", "input_json_delta").text("partial_json", input);
                (vec![("input", Some("{}".to_owned()))], vec![Some(delta.end())])
            }
            _ => Default::default(),
        };
    frames.push(event("content_block_start", |event| {
        event.number("index", index).raw("content_block", block.with(&start))
    }));
    for delta in pieces.into_iter().flatten() {
        frames.push(event("content_block_delta", |event| event.number("index", index).raw("delta", delta)));
    }
    frames.push(event("content_block_stop", |event| event.number("index", index)));
}

fn event(name: &str, add_members: impl FnOnce(Object) -> Object) -> Frame {
    Frame::new(Framing::Sse, Some(name), &add_members(Object::new().text("type", name)).end())
}
