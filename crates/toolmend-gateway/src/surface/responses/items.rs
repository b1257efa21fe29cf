//! The items of a response, written.

use crate::turn::ReadyCall;
use crate::wire::doc::quote;

/// A call as an item.
pub(crate) fn call(call: &ReadyCall, id: &str, arguments: &str, status: &str) -> String {
    format!(
        r#"{{"id":{},"type":"function_call","status":"{status}","call_id":{},"name":{},"arguments":{}}}"#,
        quote(id),
        quote(&call.id),
        quote(&call.name),
        quote(arguments)
    )
}

/// A message as an item; without text it has no parts.
pub(crate) fn message(id: &str, text: Option<&str>, status: &str) -> String {
    let part = text.map(part).unwrap_or_default();
    format!(
        r#"{{"id":{},"type":"message","status":"{status}","role":"assistant","content":[{part}]}}"#,
        quote(id)
    )
}

/// The part of a message that holds its text.
pub(crate) fn part(text: &str) -> String {
    format!(r#"{{"type":"output_text","text":{},"annotations":[],"logprobs":[]}}"#, quote(text))
}

/// Thoughts as an item.
pub(crate) fn reasoning(id: &str, text: Option<&str>, status: &str) -> String {
    let part =
        text.map(|text| format!(r#"{{"type":"reasoning_text","text":{}}}"#, quote(text))).unwrap_or_default();
    format!(
        r#"{{"id":{},"type":"reasoning","status":"{status}","summary":[],"content":[{part}]}}"#,
        quote(id)
    )
}
