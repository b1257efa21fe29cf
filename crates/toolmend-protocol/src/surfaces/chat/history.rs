//! Earlier turns in requests for chat completions. Results are messages after the call.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::history::{HistoryMender, NO_RESULT, ResultMembers, mend_each, mended_or_raw, orphan_result_text};
use crate::json::{ValueRef, array, quote};

const RESULT: ResultMembers = ResultMembers { id: "tool_call_id", content: "content", text_part: "text" };

pub(super) fn repair_messages(list: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let messages: Vec<ValueRef<'_>> = list.is_array().then(|| list.items().collect())?;
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(messages.len());
    let mut changed = false;
    // Calls of the last assistant turn that have no result yet.
    let mut unanswered: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for message in &messages {
        let role = message.get_text("role").unwrap_or_default();
        if role != "tool" && !unanswered.is_empty() {
            changed = true;
            out.extend(
                unanswered.drain(..).map(|id| missing_result(&repair.replace_id(&id).unwrap_or(id)).into()),
            );
        }
        let mended = match &*role {
            "assistant" => {
                let (mended, ids) = repair_assistant_turn(*message, repair);
                known.extend(ids.iter().cloned());
                unanswered = ids;
                mended
            }
            "tool" => {
                let id = message.get_text("tool_call_id").unwrap_or_default();
                unanswered.retain(|unanswered| *unanswered != id);
                if known.contains(&*id) {
                    repair.mend_result(*message, &id, &RESULT)
                } else {
                    Some(format!(
                        r#"{{"role":"user","content":{}}}"#,
                        orphan_result_text(message.get("content"))
                    ))
                }
            }
            _ => None,
        };
        changed |= mended.is_some();
        out.push(mended_or_raw(mended, *message));
    }
    // Calls at the very end are for the client to answer.
    changed.then(|| array(out))
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
        ids.extend(calls.items().filter_map(|call| call.get_text("id")).map(Cow::into_owned));
        let (new, touched) = mend_each(calls.items(), |call| mend_call(call, repair));
        if new.is_empty() {
            // Some servers reject an empty list of calls.
            changes.push(("tool_calls", None));
        } else if touched {
            changes.push(("tool_calls", Some(array(new))));
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
    let name = function.get_text("name").unwrap_or_default();
    let arguments = repair.mend_text_arguments(&name, function.get("arguments"));
    if let Some(arguments) = arguments {
        changes.push(("function", Some(function.with(&[("arguments", Some(quote(&arguments)))]))));
    }
    if let Some(id) = call.get_text("id").and_then(|id| repair.replace_id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| call.with(&changes))
}
