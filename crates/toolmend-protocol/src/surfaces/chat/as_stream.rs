//! A whole chat completion, written as a stream. Nothing of it is lost: what only a vendor knows stays where it was.

use super::super::chunk::split_into_chunks;
use crate::adapter::AnswerFrames;
use crate::json::{Changes, ValueRef, array, quote};

pub(super) fn write_frames(root: ValueRef<'_>, wants_usage: bool) -> Option<AnswerFrames> {
    split_into_chunks(root, "chat.completion.chunk", wants_usage, split_choice)
}

/// Returns the choices of the chunks that a choice becomes: the message, its calls, and the reason.
fn split_choice(choice: ValueRef<'_>, at: usize) -> Option<Vec<String>> {
    let message = choice.get("message").filter(|message| message.is_object())?;
    let listed = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
    let calls: Vec<ValueRef<'_>> = listed.into_iter().flat_map(ValueRef::items).collect();
    let with_delta = |delta: String, more: Changes<'_>| {
        let mut changes: Changes<'_> = vec![("message", None), ("delta", Some(delta))];
        if choice.get("index").is_none() {
            changes.push(("index", Some(at.to_string())));
        }
        changes.extend(more);
        choice.with(&changes)
    };
    let mut changes: Changes<'_> = vec![("tool_calls", None)];
    if message.get_non_null("role").is_none() {
        changes.push(("role", Some(quote("assistant"))));
    }
    let null = || Some("null".to_owned());
    let mut out = vec![with_delta(message.with(&changes), vec![("finish_reason", null())])];
    if !calls.is_empty() {
        let numbered =
            calls.iter().enumerate().map(|(at, call)| call.with(&[("index", Some(at.to_string()))]));
        let delta = format!(r#"{{"tool_calls":{}}}"#, array(numbered));
        out.push(with_delta(delta, vec![("logprobs", null()), ("finish_reason", null())]));
    }
    let mut end: Changes<'_> = vec![("logprobs", null())];
    if choice.get_non_null("finish_reason").is_none() {
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
        end.push(("finish_reason", Some(quote(reason))));
    }
    out.push(with_delta("{}".to_owned(), end));
    Some(out)
}
