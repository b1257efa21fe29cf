//! Output items, written.

use crate::ids::new_id;
use crate::json::{Object, quote};
use crate::turn::{CallForm, ReadyCall};

/// Returns an id for the item of a call.
pub(super) fn new_call_item_id(call: &ReadyCall) -> String {
    new_id(if call.form == CallForm::Custom { "ctc_" } else { "fc_" })
}

/// Writes a call.
pub(super) fn call(call: &ReadyCall, id: &str, arguments: &str, status: &str) -> String {
    let custom = call.form == CallForm::Custom;
    let item = Object::new()
        .text("id", id)
        .text("type", if custom { "custom_tool_call" } else { "function_call" })
        .text("status", status)
        .text("call_id", &call.id)
        .text("name", &call.name);
    let item = match &call.form {
        CallForm::Grouped(group) => item.text("namespace", group),
        _ => item,
    };
    item.text(if custom { "input" } else { "arguments" }, arguments).end()
}

/// Writes a message; without text it has no parts.
pub(super) fn message(id: &str, text: Option<&str>, status: &str) -> String {
    let part = text.map(text_part).unwrap_or_default();
    message_with_content(id, &format!("[{part}]"), status)
}

/// Writes a message with a list of parts.
pub(super) fn message_with_content(id: &str, content: &str, status: &str) -> String {
    format!(
        r#"{{"id":{},"type":"message","status":"{status}","role":"assistant","content":{content}}}"#,
        quote(id)
    )
}

/// Writes the part of a message that holds text.
pub(super) fn text_part(text: &str) -> String {
    format!(r#"{{"type":"output_text","text":{},"annotations":[],"logprobs":[]}}"#, quote(text))
}

/// Writes the part of an item that holds reasoning.
pub(super) fn reasoning_part(text: &str) -> String {
    format!(r#"{{"type":"reasoning_text","text":{}}}"#, quote(text))
}

/// Writes reasoning; without text it has no parts.
pub(super) fn reasoning(id: &str, text: Option<&str>, status: &str) -> String {
    let part = text.map(reasoning_part).unwrap_or_default();
    format!(
        r#"{{"id":{},"type":"reasoning","status":"{status}","summary":[],"content":[{part}]}}"#,
        quote(id)
    )
}
