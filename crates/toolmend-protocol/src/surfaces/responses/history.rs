//! Earlier turns in requests for responses: a flat list of input items.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::history::{HistoryMender, NO_RESULT, ResultMembers, mend_each, mended_or_raw, orphan_result_text};
use crate::json::{ValueRef, array, quote};

const RESULT: ResultMembers = ResultMembers { id: "call_id", content: "output", text_part: "input_text" };

/// Repairs the items. `is_complete`: the request holds the whole conversation.
pub(super) fn repair_items(
    list: ValueRef<'_>,
    repair: &dyn HistoryMender,
    is_complete: bool,
) -> Option<String> {
    let items: Vec<ValueRef<'_>> = list.is_array().then(|| list.items().collect())?;
    let ids_of_kind = |wanted: &str| -> HashSet<String> {
        items.iter().filter(|item| kind_of(item) == wanted).map(call_id_of).collect()
    };
    let (calls, results) = (ids_of_kind("function_call"), ids_of_kind("function_call_output"));
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(items.len());
    let mut changed = false;
    for (at, item) in items.iter().enumerate() {
        let mended = match &*kind_of(item) {
            "function_call" => mend_call(*item, repair),
            "function_call_output" if is_complete && !calls.contains(&call_id_of(item)) => {
                Some(format!(r#"{{"role":"user","content":{}}}"#, orphan_result_text(item.get("output"))))
            }
            "function_call_output" => repair.mend_result(*item, &call_id_of(item), &RESULT),
            "message" if item.get_text("role").as_deref() == Some("assistant") => mend_text(*item, repair),
            _ => None,
        };
        changed |= mended.is_some();
        out.push(mended_or_raw(mended, *item));
        let followed = items.get(at + 1).is_some();
        if is_complete && followed && kind_of(item) == "function_call" && !results.contains(&call_id_of(item))
        {
            changed = true;
            let id = repair.replace_id(&call_id_of(item)).unwrap_or_else(|| call_id_of(item));
            let (id, output) = (quote(&id), quote(NO_RESULT));
            out.push(format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#).into());
        }
    }
    changed.then(|| array(out))
}

/// Returns the type of an item; messages may leave it out.
fn kind_of<'d>(item: &ValueRef<'d>) -> Cow<'d, str> {
    item.get_text("type").unwrap_or(Cow::Borrowed("message"))
}

fn call_id_of(item: &ValueRef<'_>) -> String {
    item.get_text("call_id").unwrap_or_default().into_owned()
}

fn mend_call(item: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let name = item.get_text("name").unwrap_or_default();
    let mut changes = Vec::new();
    let arguments = repair.mend_text_arguments(&name, item.get("arguments"));
    if let Some(arguments) = arguments {
        changes.push(("arguments", Some(quote(&arguments))));
    }
    if let Some(id) = item.get_text("call_id").and_then(|id| repair.replace_id(&id)) {
        changes.push(("call_id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| item.with(&changes))
}

fn mend_text(item: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let content = item.get("content").filter(|content| content.is_array())?;
    let (parts, touched) = mend_each(content.items(), |part| {
        let text = repair.mend_text_member(part, "text")?;
        Some(part.with(&[("text", Some(text))]))
    });
    touched.then(|| item.with(&[("content", Some(array(parts)))]))
}
