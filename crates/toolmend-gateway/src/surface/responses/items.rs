//! The items of a response, written.

use crate::mend::new_id;
use crate::turn::{Form, ReadyCall};
use crate::wire::doc::quote;
use crate::wire::write::Object;

/// An id for the item of a call.
pub(crate) fn new_call_id(call: &ReadyCall) -> String {
    new_id(if call.form == Form::Custom { "ctc_" } else { "fc_" })
}

/// A call as an item.
pub(crate) fn call(call: &ReadyCall, id: &str, arguments: &str, status: &str) -> String {
    let custom = call.form == Form::Custom;
    let item = Object::new()
        .text("id", id)
        .text("type", if custom { "custom_tool_call" } else { "function_call" })
        .text("status", status)
        .text("call_id", &call.id)
        .text("name", &call.name);
    let item = match &call.form {
        Form::Grouped(group) => item.text("namespace", group),
        _ => item,
    };
    item.text(if custom { "input" } else { "arguments" }, arguments).end()
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

/// The part of an item that holds thoughts.
pub(crate) fn thought(text: &str) -> String {
    format!(r#"{{"type":"reasoning_text","text":{}}}"#, quote(text))
}

/// Thoughts as an item.
pub(crate) fn reasoning(id: &str, text: Option<&str>, status: &str) -> String {
    let part = text.map(thought).unwrap_or_default();
    format!(
        r#"{{"id":{},"type":"reasoning","status":"{status}","summary":[],"content":[{part}]}}"#,
        quote(id)
    )
}
