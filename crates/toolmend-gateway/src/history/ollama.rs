//! The messages of Ollama's chat: arguments are objects, results follow their calls.

use super::{Fixer, NO_RESULT};
use crate::wire::doc::{Kind, View, array, quote};

pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let mut changed = false;
    let messages = list.is_array().then(|| list.items())?;
    let out: Vec<String> = messages
        .map(|message| {
            let mended = (message.get_text("role").as_deref() == Some("assistant"))
                .then(|| assistant(message, fixer))
                .flatten();
            changed |= mended.is_some();
            mended.unwrap_or_else(|| message.raw().to_owned())
        })
        .collect();
    changed.then(|| array(out))
}

fn assistant(message: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let mut changes = Vec::new();
    let calls = message.some("tool_calls").filter(|calls| calls.is_array());
    if let Some(calls) = calls {
        let mut touched = false;
        let new: Vec<String> = calls
            .items()
            .map(|call| {
                let mended = mend_call(call, fixer);
                touched |= mended.is_some();
                mended.unwrap_or_else(|| call.raw().to_owned())
            })
            .collect();
        if touched {
            changes.push(("tool_calls", Some(array(new))));
        }
    }
    if let Some(text) = message.get_text("content").and_then(|text| fixer.leaked(&text)) {
        changes.push(("content", Some(quote(if text.is_empty() { NO_RESULT } else { &text }))));
    }
    (!changes.is_empty()).then(|| message.with(&changes))
}

fn mend_call(call: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let function = call.some("function").filter(|function| function.is_object())?;
    let name = function.get_text("name").unwrap_or_default();
    let arguments = match function.get("arguments") {
        None => "{}".to_owned(),
        Some(view) if view.kind() == Kind::Object => return None,
        Some(view) => {
            let text = view.text().unwrap_or_else(|| view.raw().into());
            fixer.arguments(&name, &text).unwrap_or_else(|| text.into_owned())
        }
    };
    Some(call.with(&[("function", Some(function.with(&[("arguments", Some(arguments))])))]))
}
