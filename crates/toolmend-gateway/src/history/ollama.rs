//! The messages of Ollama's chat: arguments are objects, results follow their calls.

use super::{Fixer, each};
use crate::wire::doc::{View, array};

pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let messages = list.is_array().then(|| list.items())?;
    let (out, changed) = each(messages, |message| {
        (message.get_text("role").as_deref() == Some("assistant"))
            .then(|| assistant(message, fixer))
            .flatten()
    });
    changed.then(|| array(out))
}

fn assistant(message: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let mut changes = Vec::new();
    if let Some(calls) = message.some("tool_calls").filter(|calls| calls.is_array()) {
        let (new, touched) = each(calls.items(), |call| mend_call(call, fixer));
        if touched {
            changes.push(("tool_calls", Some(array(new))));
        }
    }
    if let Some(text) = fixer.text(message, "content") {
        changes.push(("content", Some(text)));
    }
    (!changes.is_empty()).then(|| message.with(&changes))
}

fn mend_call(call: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let function = call.some("function").filter(|function| function.is_object())?;
    let name = function.get_text("name").unwrap_or_default();
    let arguments = fixer.argument_object(&name, function.get("arguments"))?;
    Some(call.with(&[("function", Some(function.with(&[("arguments", Some(arguments))])))]))
}
