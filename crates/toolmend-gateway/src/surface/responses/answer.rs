//! A response, read into neutral terms and written from them.

use std::borrow::Cow;

use crate::mend::new_id;
use crate::translate::answer::{Answer, Aside, End, Meta, Said, Usage, count};
use crate::turn::{Form, ReadyCall};
use crate::wire::doc::{View, array};
use crate::wire::frame::{Frame, Framing, Mark};
use crate::wire::write::Object;

use super::{items, texts};

pub(crate) fn read(root: View<'_>) -> Option<Answer> {
    let output = root.get("output").filter(|output| output.is_array())?;
    let mut answer = Answer::default();
    for item in output.items() {
        match item.get_text("type").as_deref() {
            Some("message") => {
                let refusals = item.some("content").filter(|content| content.is_array());
                let refusals = refusals.into_iter().flat_map(View::items);
                let refusals = refusals.filter_map(|part| part.get_text("refusal"));
                let texts = texts(item).filter_map(|(_, text)| text).chain(refusals);
                answer.said.extend(texts.map(|text| Said::Text(text.into_owned())));
            }
            Some("reasoning") => {
                let text = thoughts(item);
                if !text.is_empty() {
                    answer.said.push(Said::Reasoning(text));
                }
            }
            _ => answer.said.extend(call_of(item).map(Said::Call)),
        }
    }
    answer.meta.model = root.get_text("model").map(Cow::into_owned).unwrap_or_default();
    answer.end = end(root);
    add_counts(root, &mut answer.usage);
    Some(answer)
}

fn thoughts(item: View<'_>) -> String {
    let texts = |name: &str| -> Vec<String> {
        let parts = item.some(name).filter(|parts| parts.is_array()).into_iter().flat_map(View::items);
        parts.filter_map(|part| part.get_text("text").map(Cow::into_owned)).collect()
    };
    let content = texts("content");
    if content.is_empty() { texts("summary").join("\n\n") } else { content.concat() }
}

fn call_of(item: View<'_>) -> Option<ReadyCall> {
    let text = |name: &str| item.get_text(name).unwrap_or_default().into_owned();
    let (form, arguments) = match item.get_text("type").as_deref()? {
        "custom_tool_call" => (Form::Custom, text("input")),
        "function_call" => {
            let group = item.get_text("namespace").filter(|group| !group.is_empty());
            let form = group.map_or(Form::Function, |group| Form::Grouped(group.into_owned()));
            (form, super::arguments(item).0.unwrap_or_else(|| "{}".to_owned()))
        }
        _ => return None,
    };
    Some(ReadyCall { id: text("call_id"), name: text("name"), arguments, form })
}

fn end(response: View<'_>) -> End {
    match super::stop(response) {
        crate::turn::Stop::Length => End::Length,
        crate::turn::Stop::Other => End::Filtered,
        _ => End::Done,
    }
}

/// Adds what a response counts.
pub(crate) fn add_counts(of: View<'_>, usage: &mut Usage) {
    let response = of.some("response").unwrap_or(of);
    let Some(told) = response.some("usage") else { return };
    *usage = Usage {
        input: count(Some(told), "input_tokens"),
        cached: count(told.some("input_tokens_details"), "cached_tokens"),
        stored: 0,
        output: count(Some(told), "output_tokens"),
        reasoning: count(told.some("output_tokens_details"), "reasoning_tokens"),
    };
}

pub(crate) fn aside(root: View<'_>) -> Aside {
    let kind = root.get_text("type").unwrap_or_default();
    let response = root.some("response");
    let mut aside = Aside {
        model: response.and_then(|response| response.get_text("model")).map(Cow::into_owned),
        ..Aside::default()
    };
    match &*kind {
        "response.completed" | "response.incomplete" | "response.done" => aside.end = response.map(end),
        "response.refusal.delta" => {
            aside.said.extend(root.get_text("delta").map(|text| Said::Text(text.into_owned())));
        }
        "response.output_item.done" => {
            let call = root.some("item").and_then(call_of).filter(|call| call.form == Form::Custom);
            aside.said.extend(call.map(Said::Call));
        }
        // A blank line between the parts of a summary, which are texts of their own.
        "response.reasoning_summary_part.added" if count(Some(root), "summary_index") > 0 => {
            aside.said.push(Said::Reasoning("\n\n".to_owned()));
        }
        _ => {}
    }
    aside
}

fn counts(usage: Usage) -> String {
    Object::new()
        .number("input_tokens", usage.input)
        .raw("input_tokens_details", format!(r#"{{"cached_tokens":{}}}"#, usage.cached))
        .number("output_tokens", usage.output)
        .raw("output_tokens_details", format!(r#"{{"reasoning_tokens":{}}}"#, usage.reasoning))
        .number("total_tokens", usage.input + usage.output)
        .end()
}

fn response(meta: &Meta, status: &str, details: &str, output: &str, usage: &str) -> String {
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

fn ending(end: &End) -> (&'static str, &'static str) {
    match end {
        End::Length => ("incomplete", r#"{"reason":"max_output_tokens"}"#),
        End::Filtered => ("incomplete", r#"{"reason":"content_filter"}"#),
        _ => ("completed", "null"),
    }
}

pub(crate) fn write(answer: &Answer) -> String {
    let output = answer.said.iter().map(|said| match said {
        Said::Text(text) => items::message(&new_id("msg_"), Some(text), "completed"),
        Said::Reasoning(text) => items::reasoning(&new_id("rs_"), Some(text), "completed"),
        Said::Call(call) => items::call(call, &items::new_call_id(call), &call.arguments, "completed"),
    });
    let (status, details) = ending(&answer.end);
    response(&answer.meta, status, details, &array(output), &counts(answer.usage))
}

/// The first events.
pub(crate) fn begin(meta: &Meta) -> Vec<Frame> {
    ["response.created", "response.in_progress"]
        .into_iter()
        .map(|name| {
            let response = response(meta, "in_progress", "null", "[]", "null");
            let data = Object::new().text("type", name).raw("response", response).end();
            Frame::new(Framing::Sse, Some(name), &data).marked(Mark::Begin)
        })
        .collect()
}

/// The last event; the encoder fills in what was said.
pub(crate) fn finish(meta: &Meta, end: &End, usage: Usage) -> Frame {
    let (status, details) = ending(end);
    let name = format!("response.{status}");
    let response = response(meta, status, details, "[]", &counts(usage));
    let data = Object::new().text("type", &name).raw("response", response).end();
    Frame::new(Framing::Sse, Some(&name), &data).marked(Mark::Stop)
}
