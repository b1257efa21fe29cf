//! Earlier turns in requests for messages. Results are blocks of the user's message after the call.

use std::borrow::Cow;
use std::collections::HashSet;

use super::text_block;
use crate::history::{HistoryMender, MendedList, NO_RESULT, ResultMembers};
use crate::json::{ValueRef, array, quote};

const RESULT: ResultMembers =
    ResultMembers { id: "tool_use_id", content: "content", text_part: "text", write_orphan: text_block };

pub(super) fn repair_messages(list: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let messages: Vec<ValueRef<'_>> = list.is_array().then(|| list.items().collect())?;
    let mut out = MendedList::default();
    let mut unanswered: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let assistant = message.get_lossy_text("role").as_deref() == Some("assistant");
        let blocks = message.get("content").filter(|content| content.is_array());
        let mut content = MendedList::default();
        let mut answered: HashSet<String> = HashSet::new();
        let mut calls = Vec::new();
        for block in blocks.into_iter().flat_map(ValueRef::items) {
            let mended = match block.get_lossy_text("type").as_deref() {
                Some("tool_use") if assistant => {
                    calls.extend(block.get_lossy_text("id").map(Cow::into_owned));
                    mend_call(block, repair)
                }
                Some("text") if assistant => {
                    repair.mend_text_member(block, "text").map(|text| block.with(&[("text", Some(text))]))
                }
                Some("tool_result") => {
                    let id = block.get_lossy_text("tool_use_id").unwrap_or_default().into_owned();
                    let mended = repair.mend_result(block, &id, unanswered.contains(&id), &RESULT);
                    answered.insert(id);
                    mended
                }
                _ => None,
            };
            content.push(block, mended);
        }
        let missing: Vec<String> = unanswered
            .drain(..)
            .filter(|id| !answered.contains(id))
            .map(|id| missing_result(&repair.replace_id(&id).unwrap_or(id)))
            .collect();
        if !assistant && blocks.is_some() {
            // Results come first in a message.
            content.prepend_new(missing);
        } else if !missing.is_empty() {
            out.push_new(format!(r#"{{"role":"user","content":{}}}"#, array(missing)));
        }
        unanswered = if at + 1 < messages.len() { calls } else { Vec::new() };
        let mended = content.into_json().map(|content| message.with(&[("content", Some(content))]));
        out.push(*message, mended);
    }
    out.into_json()
}

fn missing_result(id: &str) -> String {
    format!(
        r#"{{"type":"tool_result","tool_use_id":{},"is_error":true,"content":{}}}"#,
        quote(id),
        quote(NO_RESULT)
    )
}

fn mend_call(block: ValueRef<'_>, repair: &dyn HistoryMender) -> Option<String> {
    let name = block.get_lossy_text("name").unwrap_or_default();
    let mut changes = Vec::new();
    repair.see(block.get_lossy_text("id").as_deref(), &name, block.get("input"));
    let mended = repair.mend_object_arguments(&name, block.get("input"));
    if mended.is_some() {
        changes.push(("input", mended));
    }
    if let Some(name) = repair.restore_name(&name) {
        changes.push(("name", Some(quote(&name))));
    }
    if let Some(id) = block.get_lossy_text("id").and_then(|id| repair.replace_id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| block.with(&changes))
}
