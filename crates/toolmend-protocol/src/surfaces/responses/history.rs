//! Earlier turns in requests for responses: a flat list of input items.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::history::{HistoryMender, MendedList, NO_RESULT, ResultMembers, user_message};
use crate::json::{ValueRef, quote};

const RESULT: ResultMembers =
    ResultMembers { id: "call_id", content: "output", text_part: "input_text", write_orphan: user_message };

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
    let mut out = MendedList::default();
    for (at, item) in items.iter().enumerate() {
        let mended = match &*kind_of(item) {
            "function_call" => mend_call(*item, repair),
            "function_call_output" => {
                let id = call_id_of(item);
                repair.mend_result(*item, &id, !is_complete || calls.contains(&id), &RESULT)
            }
            "message" if item.get_lossy_text("role").as_deref() == Some("assistant") => {
                mend_text(*item, repair)
            }
            _ => None,
        };
        out.push(*item, mended);
        let followed = items.get(at + 1).is_some();
        if is_complete && followed && kind_of(item) == "function_call" && !results.contains(&call_id_of(item))
        {
            let id = repair.replace_id(&call_id_of(item)).unwrap_or_else(|| call_id_of(item));
            let (id, output) = (quote(&id), quote(NO_RESULT));
            out.push_new(format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#));
        }
    }
    out.into_json()
}

/// Returns the type of an item; messages may leave it out.
fn kind_of<'d>(item: &ValueRef<'d>) -> Cow<'d, str> {
    item.get_lossy_text("type").unwrap_or(Cow::Borrowed("message"))
}

fn call_id_of(item: &ValueRef<'_>) -> String {
    item.get_lossy_text("call_id").unwrap_or_default().into_owned()
}

fn mend_call(item: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let name = item.get_lossy_text("name").unwrap_or_default();
    let mut changes = Vec::new();
    repair.see(item.get_lossy_text("call_id").as_deref(), &name, item.get("arguments"));
    let arguments = repair.mend_text_arguments(&name, item.get("arguments"));
    if let Some(arguments) = arguments {
        changes.push(("arguments", Some(quote(&arguments))));
    }
    if let Some(name) = repair.restore_name(&name) {
        changes.push(("name", Some(quote(&name))));
    }
    if let Some(id) = item.get_lossy_text("call_id").and_then(|id| repair.replace_id(&id)) {
        changes.push(("call_id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| item.with(&changes))
}

fn mend_text(item: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let content = item.get("content").filter(|content| content.is_array())?;
    let parts = MendedList::of(content.items(), |part| {
        let text = repair.mend_text_member(part, "text")?;
        Some(part.with(&[("text", Some(text))]))
    });
    Some(item.with(&[("content", Some(parts.into_json()?))]))
}
