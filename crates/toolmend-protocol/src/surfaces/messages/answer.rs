//! Messages, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::adapter::ClosingFrames;
use crate::answer::{Answer, AnswerEnd, AnswerMeta, AnswerPart, FrameExtras, Usage, read_count};
use crate::frame::{Frame, FrameRole, Framing};
use crate::json::{Object, ValueRef, array, quote};
use crate::turn::{CallForm, ReadyCall};

use super::{call_block, read_call_extras, text_block, thinking_block};

pub(super) fn read_answer(root: ValueRef<'_>) -> Option<Answer> {
    let content = root.get("content").filter(|content| content.is_array())?;
    let mut answer = Answer::default();
    for block in content.items() {
        let text = |name| block.get_lossy_text(name).unwrap_or_default().into_owned();
        match block.get_lossy_text("type").as_deref() {
            Some("text") => answer.parts.push(AnswerPart::Text(text("text"))),
            Some("thinking") => answer.parts.push(AnswerPart::Reasoning(text("thinking"))),
            Some("tool_use") => answer.parts.push(AnswerPart::Call(ReadyCall {
                id: text("id"),
                name: text("name"),
                arguments: block.get_non_null("input").map_or("{}", ValueRef::raw).to_owned(),
                form: CallForm::Function,
                extras: read_call_extras(block),
            })),
            _ => {}
        }
    }
    answer.meta.model = root.get_lossy_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = read_end(root).unwrap_or_default();
    add_usage(root.get_non_null("usage"), &mut answer.usage);
    Some(answer)
}

fn read_end(of: ValueRef<'_>) -> Option<AnswerEnd> {
    Some(match &*of.get_lossy_text("stop_reason")? {
        "stop_sequence" => AnswerEnd::StopText(of.get_lossy_text("stop_sequence").map(Cow::into_owned)),
        "tool_use" => AnswerEnd::Calls,
        "max_tokens" | "model_context_window_exceeded" => AnswerEnd::Length,
        "refusal" => AnswerEnd::Filtered,
        _ => AnswerEnd::Done,
    })
}

/// Reads token counts. Cached tokens are not part of the input here; the counts in a stream are totals.
fn add_usage(counts: Option<ValueRef<'_>>, usage: &mut Usage) {
    let Some(counts) = counts else { return };
    if counts.get_non_null("input_tokens").is_some() {
        usage.cached = read_count(Some(counts), "cache_read_input_tokens");
        usage.stored = read_count(Some(counts), "cache_creation_input_tokens");
        usage.input = read_count(Some(counts), "input_tokens") + usage.cached + usage.stored;
    }
    if counts.get_non_null("output_tokens").is_some() {
        usage.output = read_count(Some(counts), "output_tokens");
    }
}

/// Reads the token counts of an event, which are in its message or in the event itself.
pub(super) fn add_event_usage(root: ValueRef<'_>, usage: &mut Usage) {
    let inner = root.get_non_null("message").unwrap_or(root);
    add_usage(inner.get_non_null("usage"), usage);
}

pub(super) fn read_frame_extras(root: ValueRef<'_>) -> FrameExtras {
    let model = root.get_non_null("message").and_then(|message| message.get_lossy_text("model"));
    FrameExtras {
        model: model.map(Cow::into_owned),
        end: root.get_non_null("delta").and_then(read_end),
        ..FrameExtras::default()
    }
}

fn usage_json(usage: Usage) -> String {
    let fresh = usage.input.saturating_sub(usage.cached + usage.stored);
    Object::new()
        .number("input_tokens", fresh)
        .number("cache_creation_input_tokens", usage.stored)
        .number("cache_read_input_tokens", usage.cached)
        .number("output_tokens", usage.output)
        .end()
}

fn end_words(end: &AnswerEnd) -> (&'static str, String) {
    let none = "null".to_owned();
    match end {
        AnswerEnd::Done | AnswerEnd::StopText(None) => ("end_turn", none),
        AnswerEnd::StopText(Some(text)) => ("stop_sequence", quote(text)),
        AnswerEnd::Calls => ("tool_use", none),
        AnswerEnd::Length => ("max_tokens", none),
        AnswerEnd::Filtered => ("refusal", none),
    }
}

pub(super) fn write_answer(answer: &Answer) -> String {
    let blocks = answer.parts.iter().map(|part| match part {
        AnswerPart::Text(text) => text_block(text),
        AnswerPart::Reasoning(text) => thinking_block(text),
        AnswerPart::Call(call) => call_block(call, &call.arguments),
    });
    let (reason, sequence) = end_words(&answer.end);
    message_json(&answer.meta, &array(blocks), &quote(reason), &sequence, answer.usage)
}

fn message_json(meta: &AnswerMeta, content: &str, reason: &str, sequence: &str, usage: Usage) -> String {
    Object::new()
        .text("id", &meta.id)
        .text("type", "message")
        .text("role", "assistant")
        .text("model", &meta.model)
        .raw("content", content)
        .raw("stop_reason", reason)
        .raw("stop_sequence", sequence)
        .raw("usage", usage_json(usage))
        .end()
}

/// Returns the first event.
pub(super) fn first_event(meta: &AnswerMeta, usage: Usage) -> Frame {
    let message = message_json(meta, "[]", "null", "null", Usage { output: 0, ..usage });
    let data = Object::new().text("type", "message_start").raw("message", message).end();
    Frame::new(Framing::Sse, Some("message_start"), &data).with_role(FrameRole::Begin)
}

/// Returns the event that says why the turn ended.
pub(super) fn closing_frames(answer: &Answer, _wants_usage: bool) -> ClosingFrames {
    let (reason, sequence) = end_words(&answer.end);
    let delta = Object::new().text("stop_reason", reason).raw("stop_sequence", sequence).end();
    let usage = usage_json(answer.usage);
    let data = Object::new().text("type", "message_delta").raw("delta", delta).raw("usage", usage).end();
    let frame = Frame::new(Framing::Sse, Some("message_delta"), &data).with_role(FrameRole::Stop);
    ClosingFrames { frames: vec![frame], end: None }
}
