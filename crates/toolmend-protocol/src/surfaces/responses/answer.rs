//! Responses, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::adapter::ClosingFrames;
use crate::answer::{Answer, AnswerEnd, AnswerMeta, AnswerPart, FrameExtras, Usage, read_count};
use crate::frame::{Frame, FrameRole, Framing};
use crate::ids::new_id;
use crate::json::{Object, ValueRef, array};
use crate::turn::{CallForm, ReadyCall, StopReason};

use super::{items, message_parts, read_arguments, read_call_extras, read_stop};

pub(super) fn read_answer(root: ValueRef<'_>) -> Option<Answer> {
    let output = root.get("output").filter(|output| output.is_array())?;
    let mut answer = Answer::default();
    for item in output.items() {
        match item.get_lossy_text("type").as_deref() {
            Some("message") => {
                let refusals = item.get_non_null("content").filter(|content| content.is_array());
                let refusals = refusals.into_iter().flat_map(ValueRef::items);
                let refusals = refusals.filter_map(|part| part.get_lossy_text("refusal"));
                let texts = message_parts(item).filter_map(|(_, text)| text).chain(refusals);
                answer.parts.extend(texts.map(|text| AnswerPart::Text(text.into_owned())));
            }
            Some("reasoning") => {
                let text = read_reasoning(item);
                if !text.is_empty() {
                    answer.parts.push(AnswerPart::Reasoning(text));
                }
            }
            _ => answer.parts.extend(read_call(item).map(AnswerPart::Call)),
        }
    }
    answer.meta.model = root.get_lossy_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = read_end(root);
    add_usage(root, &mut answer.usage);
    Some(answer)
}

fn read_reasoning(item: ValueRef<'_>) -> String {
    let texts = |name: &str| -> Vec<String> {
        let parts =
            item.get_non_null(name).filter(|parts| parts.is_array()).into_iter().flat_map(ValueRef::items);
        parts.filter_map(|part| part.get_lossy_text("text").map(Cow::into_owned)).collect()
    };
    let content = texts("content");
    if content.is_empty() { texts("summary").join("\n\n") } else { content.concat() }
}

fn read_call(item: ValueRef<'_>) -> Option<ReadyCall> {
    let text = |name: &str| item.get_lossy_text(name).unwrap_or_default().into_owned();
    let (form, arguments) = match item.get_lossy_text("type").as_deref()? {
        "custom_tool_call" => (CallForm::Custom, text("input")),
        "function_call" => {
            let group = item.get_lossy_text("namespace").filter(|group| !group.is_empty());
            let form = group.map_or(CallForm::Function, |group| CallForm::Grouped(group.into_owned()));
            (form, read_arguments(item).0.unwrap_or_else(|| "{}".to_owned()))
        }
        _ => return None,
    };
    let extras = read_call_extras(item).into_portable();
    Some(ReadyCall { id: text("call_id"), name: text("name"), arguments, form, extras })
}

fn read_end(response: ValueRef<'_>) -> AnswerEnd {
    match read_stop(response) {
        StopReason::Length => AnswerEnd::Length,
        StopReason::Other => AnswerEnd::Filtered,
        _ => AnswerEnd::Done,
    }
}

/// Reads the token counts of a response, or of an event that holds one.
pub(super) fn add_usage(of: ValueRef<'_>, usage: &mut Usage) {
    let response = of.get_non_null("response").unwrap_or(of);
    let Some(counts) = response.get_non_null("usage") else { return };
    *usage = Usage {
        input: read_count(Some(counts), "input_tokens"),
        cached: read_count(counts.get_non_null("input_tokens_details"), "cached_tokens"),
        stored: 0,
        output: read_count(Some(counts), "output_tokens"),
        reasoning: read_count(counts.get_non_null("output_tokens_details"), "reasoning_tokens"),
    };
}

pub(super) fn read_frame_extras(root: ValueRef<'_>) -> FrameExtras {
    let kind = root.get_lossy_text("type").unwrap_or_default();
    let response = root.get_non_null("response");
    let mut extras = FrameExtras {
        model: response.and_then(|response| response.get_lossy_text("model")).map(Cow::into_owned),
        ..FrameExtras::default()
    };
    match &*kind {
        "response.completed" | "response.incomplete" | "response.done" => extras.end = response.map(read_end),
        "response.refusal.delta" => {
            extras.parts.extend(root.get_lossy_text("delta").map(|text| AnswerPart::Text(text.into_owned())));
        }
        "response.output_item.done" => {
            let call =
                root.get_non_null("item").and_then(read_call).filter(|call| call.form == CallForm::Custom);
            extras.parts.extend(call.map(AnswerPart::Call));
        }
        // The parts of a summary are separate texts: a blank line goes between them.
        "response.reasoning_summary_part.added" if read_count(Some(root), "summary_index") > 0 => {
            extras.parts.push(AnswerPart::Reasoning("\n\n".to_owned()));
        }
        _ => {}
    }
    extras
}

fn usage_json(usage: Usage) -> String {
    Object::new()
        .number("input_tokens", usage.input)
        .raw("input_tokens_details", format!(r#"{{"cached_tokens":{}}}"#, usage.cached))
        .number("output_tokens", usage.output)
        .raw("output_tokens_details", format!(r#"{{"reasoning_tokens":{}}}"#, usage.reasoning))
        .number("total_tokens", usage.input + usage.output)
        .end()
}

fn response_json(meta: &AnswerMeta, status: &str, details: &str, output: &str, usage: &str) -> String {
    Object::new()
        .text("id", &meta.id)
        .text("object", "response")
        .number("created_at", meta.created)
        .text("status", status)
        .raw("background", "false")
        .raw("error", "null")
        .raw("incomplete_details", details)
        .raw("instructions", "null")
        .raw("metadata", "{}")
        .text("model", &meta.model)
        .raw("output", output)
        .raw("parallel_tool_calls", "true")
        .raw("temperature", "null")
        .text("tool_choice", "auto")
        .raw("tools", "[]")
        .raw("top_p", "null")
        .raw("usage", usage)
        .end()
}

fn status_of(end: &AnswerEnd) -> (&'static str, &'static str) {
    match end {
        AnswerEnd::Length => ("incomplete", r#"{"reason":"max_output_tokens"}"#),
        AnswerEnd::Filtered => ("incomplete", r#"{"reason":"content_filter"}"#),
        _ => ("completed", "null"),
    }
}

pub(super) fn write_answer(answer: &Answer) -> String {
    let output = answer.parts.iter().map(|part| match part {
        AnswerPart::Text(text) => items::message(&new_id("msg_"), Some(text), "completed"),
        AnswerPart::Reasoning(text) => items::reasoning(&new_id("rs_"), Some(text), "completed"),
        AnswerPart::Call(call) => {
            let mut call = call.clone();
            let id = items::take_call_item_id(&mut call);
            items::call(&call, &id, &call.arguments, "completed")
        }
    });
    let (status, details) = status_of(&answer.end);
    response_json(&answer.meta, status, details, &array(output), &usage_json(answer.usage))
}

/// Returns the first events.
pub(super) fn first_events(meta: &AnswerMeta) -> Vec<Frame> {
    ["response.created", "response.in_progress"]
        .into_iter()
        .map(|name| {
            let response = response_json(meta, "in_progress", "null", "[]", "null");
            let data = Object::new().text("type", name).raw("response", response).end();
            Frame::new(Framing::Sse, Some(name), &data).with_role(FrameRole::Begin)
        })
        .collect()
}

/// Returns the last event. The encoder adds the output items.
pub(super) fn closing_frames(answer: &Answer, _wants_usage: bool) -> ClosingFrames {
    let (status, details) = status_of(&answer.end);
    let name = format!("response.{status}");
    let response = response_json(&answer.meta, status, details, "[]", &usage_json(answer.usage));
    let data = Object::new().text("type", &name).raw("response", response).end();
    let frame = Frame::new(Framing::Sse, Some(&name), &data).with_role(FrameRole::Stop);
    ClosingFrames { frames: Vec::new(), end: Some(frame) }
}
