//! The messages of a chat.

use std::collections::HashSet;

use super::{Fixer, LOST_CALL, NO_RESULT, noted};
use crate::wire::doc::{Kind, View, array, quote};

pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let messages: Vec<View<'_>> = list.is_array().then(|| list.items().collect())?;
    let mut out: Vec<String> = Vec::with_capacity(messages.len());
    let mut changed = false;
    // Calls of the last assistant turn that wait for their results.
    let mut waiting: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for message in &messages {
        let role = message.get_text("role").unwrap_or_default();
        if role != "tool" && !waiting.is_empty() {
            changed = true;
            out.extend(waiting.drain(..).map(|id| result(&id, NO_RESULT)));
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
                if known.contains(&*id) { tool(*message, &id, fixer) } else { Some(orphan(*message)) }
            }
            _ => None,
        };
        changed |= mended.is_some();
        out.push(mended.unwrap_or_else(|| message.raw().to_owned()));
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
        let mut touched = false;
        let new: Vec<String> = calls
            .items()
            .map(|call| {
                ids.extend(call.get_text("id").map(std::borrow::Cow::into_owned));
                let mended = mend_call(call, fixer);
                touched |= mended.is_some();
                mended.unwrap_or_else(|| call.raw().to_owned())
            })
            .collect();
        if new.is_empty() {
            // Some servers refuse a list of no calls.
            changes.push(("tool_calls", None));
        } else if touched {
            changes.push(("tool_calls", Some(array(new))));
        }
    }
    if let Some(text) = message.get_text("content").and_then(|text| fixer.leaked(&text)) {
        changes.push(("content", Some(quote(if text.is_empty() { NO_RESULT } else { &text }))));
    }
    ((!changes.is_empty()).then(|| message.with(&changes)), ids)
}

fn mend_call(call: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let function = call.some("function").filter(|function| function.is_object())?;
    let mut changes = Vec::new();
    let name = function.get_text("name").unwrap_or_default();
    let arguments = match function.get("arguments") {
        None => Some("{}".to_owned()),
        Some(view) => match view.kind() {
            Kind::String => view.text().and_then(|text| fixer.arguments(&name, &text)),
            Kind::Object => Some(view.raw().to_owned()),
            _ => fixer.arguments(&name, view.raw()),
        },
    };
    if let Some(arguments) = arguments {
        changes.push(("function", Some(function.with(&[("arguments", Some(quote(&arguments)))]))));
    }
    if let Some(id) = call.get_text("id").and_then(|id| fixer.id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| call.with(&changes))
}

fn tool(message: View<'_>, id: &str, fixer: &Fixer<'_>) -> Option<String> {
    let mut changes = Vec::new();
    if let Some(new) = fixer.id(id) {
        changes.push(("tool_call_id", Some(quote(&new))));
    }
    if let (Some(note), Some(content)) = (fixer.note(id), message.get("content"))
        && let Some(content) = noted(content, &note, "text")
    {
        changes.push(("content", Some(content)));
    }
    (!changes.is_empty()).then(|| message.with(&changes))
}

/// A result whose call is gone, as words of the user.
fn orphan(message: View<'_>) -> String {
    let content = message.get("content");
    let text = content.and_then(View::text);
    let raw = content.map(View::raw).unwrap_or_default();
    let text = text.map_or_else(|| format!("{LOST_CALL}{raw}"), |text| format!("{LOST_CALL}{text}"));
    format!(r#"{{"role":"user","content":{}}}"#, quote(&text))
}
