//! Output items, written.

use bytes::Bytes;

use crate::extras::ExtraMembers;
use crate::ids::new_id;
use crate::json::{Document, Object, quote};
use crate::turn::{CallForm, ReadyCall};

/// Takes the id of a call's item out of what the call carries, so that it is written once. A call of another protocol gets a
/// new one.
pub(super) fn take_call_item_id(call: &mut ReadyCall) -> String {
    let given = call.extras.outer.take("id").and_then(|id| serde_json::from_str::<String>(&id).ok());
    let prefix = if call.form == CallForm::Custom { "ctc_" } else { "fc_" };
    given.filter(|id| !id.is_empty()).unwrap_or_else(|| new_id(prefix))
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
    call.extras.outer.write_to(item.text(if custom { "input" } else { "arguments" }, arguments)).end()
}

/// Returns an item with the members that only the server knows. `is_opaque`: nothing in it was rewritten.
pub(super) fn keep_received_members(received: Option<&str>, written: String, is_opaque: bool) -> String {
    let parse = |text: &str| Document::parse(&Bytes::copy_from_slice(text.as_bytes()));
    let (Some(received), Some(new)) = (received.and_then(parse), parse(&written)) else { return written };
    if is_opaque {
        return received.root().with(&[("id", new.root().get("id").map(|id| id.raw().to_owned()))]);
    }
    let known: Vec<String> = new.root().items().map(|item| item.key().into_owned()).collect();
    // A summary is written by the server alone.
    let known: Vec<&str> = known.iter().map(String::as_str).filter(|name| *name != "summary").collect();
    let extras = ExtraMembers::read(received.root(), &known);
    let written = new.root().items().filter(|item| extras.get(&item.key()).is_none());
    let item = written.fold(Object::new(), |item, member| item.raw(&member.key(), member.raw()));
    extras.write_to(item).end()
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
