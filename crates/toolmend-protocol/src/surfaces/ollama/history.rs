//! Earlier turns in requests for Ollama's chat. Arguments are objects, and results follow their calls.

use crate::history::{HistoryMender, MendedList};
use crate::json::{ValueRef, quote};

pub(super) fn repair_messages(list: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let messages = list.is_array().then(|| list.items())?;
    let out = MendedList::of(messages, |message| {
        (message.get_lossy_text("role").as_deref() == Some("assistant"))
            .then(|| repair_assistant_turn(message, repair))
            .flatten()
    });
    out.into_json()
}

fn repair_assistant_turn(message: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let mut changes = Vec::new();
    if let Some(calls) = message.get_non_null("tool_calls").filter(|calls| calls.is_array()) {
        let mended = MendedList::of(calls.items(), |call| mend_call(call, repair));
        changes.extend(mended.into_json().map(|calls| ("tool_calls", Some(calls))));
    }
    if let Some(text) = repair.mend_text_member(message, "content") {
        changes.push(("content", Some(text)));
    }
    (!changes.is_empty()).then(|| message.with(&changes))
}

fn mend_call(call: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let function = call.get_non_null("function").filter(|function| function.is_object())?;
    let name = function.get_lossy_text("name").unwrap_or_default();
    let arguments = repair.mend_object_arguments(&name, function.get("arguments"));
    let arguments = arguments.map(|arguments| ("arguments", Some(arguments)));
    let name = repair.restore_name(&name).map(|name| ("name", Some(quote(&name))));
    let changes: Vec<_> = arguments.into_iter().chain(name).collect();
    (!changes.is_empty()).then(|| call.with(&[("function", Some(function.with(&changes)))]))
}
