//! The input items of the Responses surface.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Fixer, NO_RESULT, ResultNames, each, kept, lost};
use crate::wire::doc::{View, array, quote};

const RESULT: ResultNames = ResultNames { id: "call_id", content: "output", part: "input_text" };

/// `alone`: the request holds the whole conversation.
pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>, alone: bool) -> Option<String> {
    let items: Vec<View<'_>> = list.is_array().then(|| list.items().collect())?;
    let of_kind = |wanted: &str| -> HashSet<String> {
        items.iter().filter(|item| kind(item) == wanted).map(id).collect()
    };
    let (calls, results) = (of_kind("function_call"), of_kind("function_call_output"));
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(items.len());
    let mut changed = false;
    for (at, item) in items.iter().enumerate() {
        let mended = match &*kind(item) {
            "function_call" => mend_call(*item, fixer),
            "function_call_output" if alone && !calls.contains(&id(item)) => {
                Some(format!(r#"{{"role":"user","content":{}}}"#, lost(item.get("output"))))
            }
            "function_call_output" => fixer.result(*item, &id(item), &RESULT),
            "message" if item.get_text("role").as_deref() == Some("assistant") => mend_text(*item, fixer),
            _ => None,
        };
        changed |= mended.is_some();
        out.push(kept(mended, *item));
        let followed = items.get(at + 1).is_some();
        if alone && followed && kind(item) == "function_call" && !results.contains(&id(item)) {
            changed = true;
            let id = fixer.id(&id(item)).unwrap_or_else(|| id(item));
            let (id, output) = (quote(&id), quote(NO_RESULT));
            out.push(format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#).into());
        }
    }
    changed.then(|| array(out))
}

/// What an item is; messages need not say so.
fn kind<'d>(item: &View<'d>) -> Cow<'d, str> {
    item.get_text("type").unwrap_or(Cow::Borrowed("message"))
}

fn id(item: &View<'_>) -> String {
    item.get_text("call_id").unwrap_or_default().into_owned()
}

fn mend_call(item: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let name = item.get_text("name").unwrap_or_default();
    let mut changes = Vec::new();
    let arguments = fixer.argument_text(&name, item.get("arguments"));
    if let Some(arguments) = arguments {
        changes.push(("arguments", Some(quote(&arguments))));
    }
    if let Some(id) = item.get_text("call_id").and_then(|id| fixer.id(&id)) {
        changes.push(("call_id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| item.with(&changes))
}

fn mend_text(item: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let content = item.get("content").filter(|content| content.is_array())?;
    let (parts, touched) = each(content.items(), |part| {
        let text = fixer.text(part, "text")?;
        Some(part.with(&[("text", Some(text))]))
    });
    touched.then(|| item.with(&[("content", Some(array(parts)))]))
}
