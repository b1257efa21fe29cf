//! A chat answer, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::translate::answer::{Answer, Aside, End, Meta, Said, Usage, count};
use crate::turn::{Arguments, Form, ReadyCall};
use crate::wire::doc::{View, array, quote};
use crate::wire::frame::{Frame, Framing};
use crate::wire::write::Object;

use super::{call_json, call_piece, reasoning};

pub(crate) fn read(root: View<'_>) -> Option<Answer> {
    let choice = root.get("choices")?.items().next()?;
    let message = choice.some("message")?;
    let mut answer = Answer::default();
    if let Some((_, text)) = reasoning(message) {
        answer.said.push(Said::Reasoning(text));
    }
    let texts = [message.get_text("content"), message.get_text("refusal")];
    answer.said.extend(
        texts.into_iter().flatten().filter(|text| !text.is_empty()).map(|text| Said::Text(text.into_owned())),
    );
    let calls = message.some("tool_calls").filter(|calls| calls.is_array());
    for call in calls.into_iter().flat_map(View::items) {
        answer.said.extend(call_of(call).map(Said::Call));
    }
    answer.meta.model = root.get_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = end(choice).unwrap_or_default();
    add_counts(root, &mut answer.usage);
    Some(answer)
}

fn call_of(call: View<'_>) -> Option<ReadyCall> {
    let id = call.get_text("id").unwrap_or_default().into_owned();
    if let Some(custom) = call.some("custom") {
        let name = custom.get_text("name")?.into_owned();
        let arguments = custom.get_text("input").unwrap_or_default().into_owned();
        return Some(ReadyCall { id, name, arguments, form: Form::Custom });
    }
    let piece = call_piece(call, true)?;
    let arguments = match piece.arguments {
        Some(Arguments::Piece(text) | Arguments::Whole(text)) => text,
        None => "{}".to_owned(),
    };
    Some(ReadyCall { id, name: piece.name?, arguments, form: Form::Function })
}

fn end(choice: View<'_>) -> Option<End> {
    let reason = choice.get_text("finish_reason").filter(|reason| !reason.is_empty())?;
    Some(match &*reason {
        "content_filter" => End::Filtered,
        // vLLM tells which text it was.
        "stop" => match choice.get_text("stop_reason") {
            Some(text) => End::StopText(Some(text.into_owned())),
            None => End::Done,
        },
        other => match super::stop(other) {
            crate::turn::Stop::Calls => End::Calls,
            crate::turn::Stop::Length => End::Length,
            _ => End::Done,
        },
    })
}

/// Adds what an answer or a chunk counts.
pub(crate) fn add_counts(root: View<'_>, usage: &mut Usage) {
    let Some(told) = root.some("usage") else { return };
    *usage = Usage {
        input: count(Some(told), "prompt_tokens"),
        cached: count(told.some("prompt_tokens_details"), "cached_tokens"),
        stored: 0,
        output: count(Some(told), "completion_tokens"),
        reasoning: count(told.some("completion_tokens_details"), "reasoning_tokens"),
    };
}

pub(crate) fn aside(root: View<'_>) -> Aside {
    let choice = root.get("choices").and_then(|choices| choices.items().next());
    let refusal = choice.and_then(|choice| choice.some("delta")?.get_text("refusal"));
    Aside {
        model: root.get_text("model").map(Cow::into_owned),
        end: choice.and_then(end),
        said: refusal
            .filter(|text| !text.is_empty())
            .map(|text| Said::Text(text.into_owned()))
            .into_iter()
            .collect(),
        instead: false,
    }
}

pub(crate) fn counts(usage: Usage) -> String {
    Object::new()
        .number("prompt_tokens", usage.input)
        .number("completion_tokens", usage.output)
        .number("total_tokens", usage.input + usage.output)
        .raw("prompt_tokens_details", format!(r#"{{"cached_tokens":{}}}"#, usage.cached))
        .raw("completion_tokens_details", format!(r#"{{"reasoning_tokens":{}}}"#, usage.reasoning))
        .end()
}

fn word(end: &End) -> &'static str {
    match end {
        End::Done | End::StopText(_) => "stop",
        End::Calls => "tool_calls",
        End::Length => "length",
        End::Filtered => "content_filter",
    }
}

pub(crate) fn write(answer: &Answer) -> String {
    let (text, thoughts) = (answer.text(), answer.reasoning());
    let calls: Vec<String> = answer.calls().map(|call| call_json(call, None)).collect();
    let content = if text.is_empty() && !calls.is_empty() { "null".to_owned() } else { quote(&text) };
    let message = Object::new()
        .text("role", "assistant")
        .raw("content", content)
        .raw("refusal", "null")
        .maybe_text("reasoning_content", Some(&thoughts).filter(|text| !text.is_empty()))
        .maybe("tool_calls", (!calls.is_empty()).then(|| array(&calls)));
    let choice = Object::new()
        .number("index", 0)
        .raw("message", message.end())
        .raw("logprobs", "null")
        .text("finish_reason", word(&answer.end));
    head(&answer.meta, "chat.completion")
        .raw("choices", array([choice.end()]))
        .raw("usage", counts(answer.usage))
        .end()
}

fn head(meta: &Meta, object: &str) -> Object {
    Object::new()
        .text("id", &meta.id)
        .text("object", object)
        .number("created", meta.created)
        .text("model", &meta.model)
}

fn chunk(meta: &Meta, choices: &str) -> Object {
    head(meta, "chat.completion.chunk").raw("choices", choices)
}

/// The first chunk.
pub(crate) fn begin(meta: &Meta) -> Frame {
    let choices =
        r#"[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#;
    Frame::new(Framing::Sse, None, &chunk(meta, choices).end())
}

/// The last chunks.
pub(crate) fn finish(meta: &Meta, end: &End, usage: Usage, wanted: bool) -> Vec<Frame> {
    let choices = format!(r#"[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"{}"}}]"#, word(end));
    let mut out = vec![chunk(meta, &choices).end()];
    if wanted {
        out.push(chunk(meta, "[]").raw("usage", counts(usage)).end());
    }
    out.iter().map(|data| Frame::new(Framing::Sse, None, data)).collect()
}
