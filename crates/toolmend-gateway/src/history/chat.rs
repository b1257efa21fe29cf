//! The messages of a chat.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Fixer, NO_RESULT, ResultNames, each, kept, lost};
use crate::wire::doc::{View, array, quote};

const RESULT: ResultNames = ResultNames { id: "tool_call_id", content: "content", part: "text" };

pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let messages: Vec<View<'_>> = list.is_array().then(|| list.items().collect())?;
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(messages.len());
    let mut changed = false;
    // Calls of the last assistant turn that wait for their results.
    let mut waiting: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for message in &messages {
        let role = message.get_text("role").unwrap_or_default();
        if role != "tool" && !waiting.is_empty() {
            changed = true;
            out.extend(waiting.drain(..).map(|id| result(&fixer.id(&id).unwrap_or(id), NO_RESULT).into()));
        }
        let mended = match &*role {
            "assistant" => {
                let (mended, ids) = assistant(*message, fixer);
                known.extend(ids.iter().cloned());
                waiting = ids;
                mended
            }
            "tool" => {
                let id = message.get_text("tool_call_id").unwrap_or_default();
                waiting.retain(|waits| *waits != id);
                if known.contains(&*id) {
                    fixer.result(*message, &id, &RESULT)
                } else {
                    // As words of the user.
                    Some(format!(r#"{{"role":"user","content":{}}}"#, lost(message.get("content"))))
                }
            }
            _ => None,
        };
        changed |= mended.is_some();
        out.push(kept(mended, *message));
    }
    // Calls at the very end are for the client to answer, not for the server.
    changed.then(|| array(out))
}

fn result(id: &str, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#, quote(id), quote(text))
}

/// An assistant turn, and the ids of its calls as they came.
fn assistant(message: View<'_>, fixer: &Fixer<'_>) -> (Option<String>, Vec<String>) {
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    let mut ids = Vec::new();
    let calls = message.some("tool_calls").filter(|calls| calls.is_array());
    if let Some(calls) = calls {
        ids.extend(calls.items().filter_map(|call| call.get_text("id")).map(Cow::into_owned));
        let (new, touched) = each(calls.items(), |call| mend_call(call, fixer));
        if new.is_empty() {
            // Some servers refuse a list of no calls.
            changes.push(("tool_calls", None));
        } else if touched {
            changes.push(("tool_calls", Some(array(new))));
        }
    }
    if let Some(text) = fixer.text(message, "content") {
        changes.push(("content", Some(text)));
    }
    ((!changes.is_empty()).then(|| message.with(&changes)), ids)
}

fn mend_call(call: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let function = call.some("function").filter(|function| function.is_object())?;
    let mut changes = Vec::new();
    let name = function.get_text("name").unwrap_or_default();
    let arguments = fixer.argument_text(&name, function.get("arguments"));
    if let Some(arguments) = arguments {
        changes.push(("function", Some(function.with(&[("arguments", Some(quote(&arguments)))]))));
    }
    if let Some(id) = call.get_text("id").and_then(|id| fixer.id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| call.with(&changes))
}
