//! Earlier turns in requests for chat completions. Results are messages after the call.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::history::{HistoryMender, MendedList, NO_RESULT, ResultMembers, user_message};
use crate::json::{ValueRef, quote};

const RESULT: ResultMembers =
    ResultMembers { id: "tool_call_id", content: "content", text_part: "text", write_orphan: user_message };

pub(super) fn repair_messages(list: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let messages = list.is_array().then(|| list.items())?;
    let mut out = MendedList::default();
    // Calls of the last assistant turn that have no result yet.
    let mut unanswered: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for message in messages {
        let role = message.get_lossy_text("role").unwrap_or_default();
        if role != "tool" {
            for id in unanswered.drain(..) {
                out.push_new(missing_result(&repair.replace_id(&id).unwrap_or(id)));
            }
        }
        let mended = match &*role {
            "assistant" => {
                let (mended, ids) = repair_assistant_turn(message, repair);
                known.extend(ids.iter().cloned());
                unanswered = ids;
                mended
            }
            "tool" => {
                let id = message.get_lossy_text("tool_call_id").unwrap_or_default();
                unanswered.retain(|unanswered| *unanswered != id);
                repair.mend_result(message, &id, known.contains(&*id), &RESULT)
            }
            _ => None,
        };
        out.push(message, mended);
    }
    // Calls at the very end are for the client to answer.
    out.into_json()
}

fn missing_result(id: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#, quote(id), quote(NO_RESULT))
}

/// Repairs a turn of the assistant. Returns it, and the ids of its calls as they arrived.
fn repair_assistant_turn(message: ValueRef<'_>, repair: &dyn HistoryMender) -> (Option<String>, Vec<String>) {
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    let mut ids = Vec::new();
    let calls = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
    if let Some(calls) = calls {
        ids.extend(calls.items().filter_map(|call| call.get_lossy_text("id")).map(Cow::into_owned));
        let mended = MendedList::of(calls.items(), |call| mend_call(call, repair));
        if mended.is_empty() {
            // Some servers reject an empty list of calls.
            changes.push(("tool_calls", None));
        } else if let Some(calls) = mended.into_json() {
            changes.push(("tool_calls", Some(calls)));
        }
    }
    if let Some(text) = repair.mend_text_member(message, "content") {
        changes.push(("content", Some(text)));
    }
    ((!changes.is_empty()).then(|| message.with(&changes)), ids)
}

fn mend_call(call: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let function = call.get_non_null("function").filter(|function| function.is_object())?;
    let mut changes = Vec::new();
    let name = function.get_lossy_text("name").unwrap_or_default();
    repair.see(call.get_lossy_text("id").as_deref(), &name, function.get("arguments"));
    let arguments = repair.mend_text_arguments(&name, function.get("arguments"));
    let arguments = arguments.map(|arguments| ("arguments", Some(quote(&arguments))));
    let name = repair.restore_name(&name).map(|name| ("name", Some(quote(&name))));
    let inner: Vec<_> = arguments.into_iter().chain(name).collect();
    if !inner.is_empty() {
        changes.push(("function", Some(function.with(&inner))));
    }
    if let Some(id) = call.get_lossy_text("id").and_then(|id| repair.replace_id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| call.with(&changes))
}
