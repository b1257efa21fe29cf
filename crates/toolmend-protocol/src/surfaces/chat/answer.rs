//! Answers of chat completions, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::adapter::ClosingFrames;
use crate::answer::{Answer, AnswerEnd, AnswerMeta, AnswerPart, FrameExtras, Usage, read_count};
use crate::frame::{Frame, Framing};
use crate::json::{Object, ValueRef, array, quote};
use crate::turn::{Arguments, CallForm, ReadyCall, StopReason};

use super::{call_json, read_call_extras, read_call_piece, read_reasoning, read_stop};

pub(super) fn read_answer(root: ValueRef<'_>) -> Option<Answer> {
    let choice = root.get("choices")?.items().next()?;
    let message = choice.get_non_null("message")?;
    let mut answer = Answer::default();
    if let Some((_, text)) = read_reasoning(message) {
        answer.parts.push(AnswerPart::Reasoning(text));
    }
    let texts = [message.get_lossy_text("content"), message.get_lossy_text("refusal")];
    answer.parts.extend(
        texts
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .map(|text| AnswerPart::Text(text.into_owned())),
    );
    let calls = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
    for call in calls.into_iter().flat_map(ValueRef::items) {
        answer.parts.extend(read_call(call).map(AnswerPart::Call));
    }
    answer.meta.model = root.get_lossy_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = read_end(choice).unwrap_or_default();
    add_usage(root, &mut answer.usage);
    Some(answer)
}

fn read_call(call: ValueRef<'_>) -> Option<ReadyCall> {
    let id = call.get_lossy_text("id").unwrap_or_default().into_owned();
    if let Some(custom) = call.get_non_null("custom") {
        let name = custom.get_lossy_text("name")?.into_owned();
        let arguments = custom.get_lossy_text("input").unwrap_or_default().into_owned();
        return Some(ReadyCall {
            id,
            name,
            arguments,
            form: CallForm::Custom,
            extras: read_call_extras(call),
        });
    }
    let piece = read_call_piece(call, true)?;
    let arguments = match piece.arguments {
        Some(Arguments::Piece(text) | Arguments::Whole(text)) => text,
        None => "{}".to_owned(),
    };
    Some(ReadyCall { id, name: piece.name?, arguments, form: CallForm::Function, extras: piece.extras })
}

fn read_end(choice: ValueRef<'_>) -> Option<AnswerEnd> {
    let reason = choice.get_lossy_text("finish_reason").filter(|reason| !reason.is_empty())?;
    Some(match &*reason {
        "content_filter" => AnswerEnd::Filtered,
        // vLLM says which text it was.
        "stop" => match choice.get_lossy_text("stop_reason") {
            Some(text) => AnswerEnd::StopText(Some(text.into_owned())),
            None => AnswerEnd::Done,
        },
        other => match read_stop(other) {
            StopReason::Calls => AnswerEnd::Calls,
            StopReason::Length => AnswerEnd::Length,
            _ => AnswerEnd::Done,
        },
    })
}

/// Reads the token counts of an answer or a chunk.
pub(in crate::surfaces) fn add_usage(root: ValueRef<'_>, usage: &mut Usage) {
    let Some(counts) = root.get_non_null("usage") else { return };
    *usage = Usage {
        input: read_count(Some(counts), "prompt_tokens"),
        cached: read_count(counts.get_non_null("prompt_tokens_details"), "cached_tokens"),
        stored: 0,
        output: read_count(Some(counts), "completion_tokens"),
        reasoning: read_count(counts.get_non_null("completion_tokens_details"), "reasoning_tokens"),
    };
}

pub(super) fn read_frame_extras(root: ValueRef<'_>) -> FrameExtras {
    let choice = root.get("choices").and_then(|choices| choices.items().next());
    let refusal = choice.and_then(|choice| choice.get_non_null("delta")?.get_lossy_text("refusal"));
    FrameExtras {
        model: root.get_lossy_text("model").map(Cow::into_owned),
        end: choice.and_then(read_end),
        parts: refusal
            .filter(|text| !text.is_empty())
            .map(|text| AnswerPart::Text(text.into_owned()))
            .into_iter()
            .collect(),
        replaces_parts: false,
    }
}

fn usage_json(usage: Usage) -> String {
    Object::new()
        .number("prompt_tokens", usage.input)
        .number("completion_tokens", usage.output)
        .number("total_tokens", usage.input + usage.output)
        .raw("prompt_tokens_details", format!(r#"{{"cached_tokens":{}}}"#, usage.cached))
        .raw("completion_tokens_details", format!(r#"{{"reasoning_tokens":{}}}"#, usage.reasoning))
        .end()
}

fn end_word(end: &AnswerEnd) -> &'static str {
    match end {
        AnswerEnd::Done | AnswerEnd::StopText(_) => "stop",
        AnswerEnd::Calls => "tool_calls",
        AnswerEnd::Length => "length",
        AnswerEnd::Filtered => "content_filter",
    }
}

pub(super) fn write_answer(answer: &Answer) -> String {
    let (text, reasoning) = (answer.text(), answer.reasoning());
    let calls: Vec<String> = answer.calls().map(|call| call_json(call, None)).collect();
    let content = if text.is_empty() && !calls.is_empty() { "null".to_owned() } else { quote(&text) };
    let message = Object::new()
        .text("role", "assistant")
        .raw("content", content)
        .raw("refusal", "null")
        .maybe_text("reasoning_content", Some(&reasoning).filter(|text| !text.is_empty()))
        .maybe("tool_calls", (!calls.is_empty()).then(|| array(&calls)));
    let choice = Object::new()
        .number("index", 0)
        .raw("message", message.end())
        .raw("logprobs", "null")
        .text("finish_reason", end_word(&answer.end));
    write_envelope(&answer.meta, "chat.completion")
        .raw("choices", array([choice.end()]))
        .raw("usage", usage_json(answer.usage))
        .end()
}

fn write_envelope(meta: &AnswerMeta, object: &str) -> Object {
    Object::new()
        .text("id", &meta.id)
        .text("object", object)
        .number("created", meta.created)
        .text("model", &meta.model)
}

fn write_chunk(meta: &AnswerMeta, choices: &str) -> Object {
    write_envelope(meta, "chat.completion.chunk").raw("choices", choices)
}

/// Returns the first chunk.
pub(super) fn first_chunk(meta: &AnswerMeta) -> Frame {
    let choices =
        r#"[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#;
    Frame::new(Framing::Sse, None, &write_chunk(meta, choices).end())
}

/// Returns the last chunks.
pub(super) fn closing_frames(answer: &Answer, wants_usage: bool) -> ClosingFrames {
    let Answer { meta, end, usage, .. } = answer;
    let choices =
        format!(r#"[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"{}"}}]"#, end_word(end));
    let mut out = vec![write_chunk(meta, &choices).end()];
    if wants_usage {
        out.push(write_chunk(meta, "[]").raw("usage", usage_json(*usage)).end());
    }
    let frames = out.iter().map(|data| Frame::new(Framing::Sse, None, data)).collect();
    ClosingFrames { frames, end: None }
}
