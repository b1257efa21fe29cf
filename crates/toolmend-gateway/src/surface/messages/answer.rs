//! A message, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::translate::answer::{Answer, Aside, End, Meta, Said, Usage, count};
use crate::turn::{Form, ReadyCall};
use crate::wire::doc::{View, array};
use crate::wire::frame::{Frame, Framing, Mark};
use crate::wire::write::Object;

use super::call_block;

pub(crate) fn read(root: View<'_>) -> Option<Answer> {
    let content = root.get("content").filter(|content| content.is_array())?;
    let mut answer = Answer::default();
    for block in content.items() {
        let text = |name| block.get_text(name).unwrap_or_default().into_owned();
        match block.get_text("type").as_deref() {
            Some("text") => answer.said.push(Said::Text(text("text"))),
            Some("thinking") => answer.said.push(Said::Reasoning(text("thinking"))),
            Some("tool_use") => answer.said.push(Said::Call(ReadyCall {
                id: text("id"),
                name: text("name"),
                arguments: block.some("input").map_or("{}", View::raw).to_owned(),
                form: Form::Function,
            })),
            _ => {}
        }
    }
    answer.meta.model = root.get_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = end(root).unwrap_or_default();
    add_counts(root.some("usage"), &mut answer.usage);
    Some(answer)
}

fn end(of: View<'_>) -> Option<End> {
    Some(match &*of.get_text("stop_reason")? {
        "stop_sequence" => End::StopText(of.get_text("stop_sequence").map(Cow::into_owned)),
        "tool_use" => End::Calls,
        "max_tokens" | "model_context_window_exceeded" => End::Length,
        "refusal" => End::Filtered,
        _ => End::Done,
    })
}

/// Adds what is counted. What was cached is counted beside the input here; the counts of a stream are totals.
pub(crate) fn add_counts(told: Option<View<'_>>, usage: &mut Usage) {
    let Some(told) = told else { return };
    if told.some("input_tokens").is_some() {
        usage.cached = count(Some(told), "cache_read_input_tokens");
        usage.stored = count(Some(told), "cache_creation_input_tokens");
        usage.input = count(Some(told), "input_tokens") + usage.cached + usage.stored;
    }
    if told.some("output_tokens").is_some() {
        usage.output = count(Some(told), "output_tokens");
    }
}

/// The counts of an event, wherever they stand.
pub(crate) fn add_event_counts(root: View<'_>, usage: &mut Usage) {
    let inner = root.some("message").unwrap_or(root);
    // A beginning that knows nothing yet must not hide what comes.
    add_counts(inner.some("usage"), usage);
}

pub(crate) fn aside(root: View<'_>) -> Aside {
    let model = root.some("message").and_then(|message| message.get_text("model"));
    Aside { model: model.map(Cow::into_owned), end: root.some("delta").and_then(end), ..Aside::default() }
}

fn counts(usage: Usage) -> String {
    let fresh = usage.input.saturating_sub(usage.cached + usage.stored);
    Object::new()
        .number("input_tokens", fresh)
        .number("cache_creation_input_tokens", usage.stored)
        .number("cache_read_input_tokens", usage.cached)
        .number("output_tokens", usage.output)
        .end()
}

fn word(end: &End) -> (&'static str, String) {
    let none = "null".to_owned();
    match end {
        End::Done | End::StopText(None) => ("end_turn", none),
        End::StopText(Some(text)) => ("stop_sequence", crate::wire::doc::quote(text)),
        End::Calls => ("tool_use", none),
        End::Length => ("max_tokens", none),
        End::Filtered => ("refusal", none),
    }
}

pub(crate) fn write(answer: &Answer) -> String {
    let blocks = answer.said.iter().map(|said| match said {
        Said::Text(text) => Object::new().text("type", "text").text("text", text).end(),
        Said::Reasoning(text) => {
            Object::new().text("type", "thinking").text("thinking", text).text("signature", "").end()
        }
        Said::Call(call) => call_block(call, &call.arguments),
    });
    let (reason, sequence) = word(&answer.end);
    message(&answer.meta, &array(blocks), &crate::wire::doc::quote(reason), &sequence, answer.usage)
}

fn message(meta: &Meta, content: &str, reason: &str, sequence: &str, usage: Usage) -> String {
    Object::new()
        .text("id", &meta.id)
        .text("type", "message")
        .text("role", "assistant")
        .text("model", &meta.model)
        .raw("content", content)
        .raw("stop_reason", reason)
        .raw("stop_sequence", sequence)
        .raw("usage", counts(usage))
        .end()
}

/// The first event.
pub(crate) fn begin(meta: &Meta, usage: Usage) -> Frame {
    let message = message(meta, "[]", "null", "null", Usage { output: 0, ..usage });
    let data = Object::new().text("type", "message_start").raw("message", message).end();
    Frame::new(Framing::Sse, Some("message_start"), &data).marked(Mark::Begin)
}

/// The event that tells why it ended.
pub(crate) fn finish(end: &End, usage: Usage) -> Frame {
    let (reason, sequence) = word(end);
    let delta = Object::new().text("stop_reason", reason).raw("stop_sequence", sequence).end();
    let data =
        Object::new().text("type", "message_delta").raw("delta", delta).raw("usage", counts(usage)).end();
    Frame::new(Framing::Sse, Some("message_delta"), &data).marked(Mark::Stop)
}
