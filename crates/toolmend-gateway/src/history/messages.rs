//! The messages of the surface of that name.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Fixer, NO_RESULT, ResultNames, kept, lost};
use crate::wire::doc::{View, array, quote};

const RESULT: ResultNames = ResultNames { id: "tool_use_id", content: "content", part: "text" };

pub(super) fn mend(list: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let messages: Vec<View<'_>> = list.is_array().then(|| list.items().collect())?;
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(messages.len());
    let mut changed = false;
    let mut waiting: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let assistant = message.get_text("role").as_deref() == Some("assistant");
        let blocks = message.get("content").filter(|content| content.is_array());
        let mut new: Vec<Cow<'_, str>> = Vec::new();
        let mut touched = false;
        let mut answered: HashSet<String> = HashSet::new();
        let mut calls = Vec::new();
        for block in blocks.into_iter().flat_map(View::items) {
            let mended = match block.get_text("type").as_deref() {
                Some("tool_use") if assistant => {
                    calls.extend(block.get_text("id").map(Cow::into_owned));
                    mend_call(block, fixer)
                }
                Some("text") if assistant => {
                    fixer.text(block, "text").map(|text| block.with(&[("text", Some(text))]))
                }
                Some("tool_result") => {
                    let id = block.get_text("tool_use_id").unwrap_or_default().into_owned();
                    if waiting.contains(&id) {
                        let mended = fixer.result(block, &id, &RESULT);
                        answered.insert(id);
                        mended
                    } else {
                        Some(format!(r#"{{"type":"text","text":{}}}"#, lost(block.get("content"))))
                    }
                }
                _ => None,
            };
            touched |= mended.is_some();
            new.push(kept(mended, block));
        }
        let missing: Vec<String> = waiting
            .drain(..)
            .filter(|id| !answered.contains(id))
            .map(|id| no_result(&fixer.id(&id).unwrap_or(id)))
            .collect();
        if !missing.is_empty() {
            changed = true;
            if assistant || blocks.is_none() {
                out.push(format!(r#"{{"role":"user","content":{}}}"#, array(missing)).into());
            } else {
                // Results come before everything else.
                new.splice(0..0, missing.into_iter().map(Cow::Owned));
                touched = true;
            }
        }
        waiting = if at + 1 < messages.len() { calls } else { Vec::new() };
        changed |= touched;
        let mended = touched.then(|| message.with(&[("content", Some(array(new)))]));
        out.push(kept(mended, *message));
    }
    changed.then(|| array(out))
}

fn no_result(id: &str) -> String {
    format!(
        r#"{{"type":"tool_result","tool_use_id":{},"is_error":true,"content":{}}}"#,
        quote(id),
        quote(NO_RESULT)
    )
}

fn mend_call(block: View<'_>, fixer: &Fixer<'_>) -> Option<String> {
    let name = block.get_text("name").unwrap_or_default();
    let mut changes = Vec::new();
    let input = block.get("input");
    // What a client leaves of arguments that it could not parse.
    let unparsed = input.and_then(|input| input.get("__unparsedToolInput"));
    let raw = unparsed.and_then(|unparsed| unparsed.get_text("raw").or_else(|| unparsed.text()));
    let mended = match raw {
        Some(raw) => Some(fixer.arguments(&name, &raw).unwrap_or_else(|| raw.into_owned())),
        None => fixer.argument_object(&name, input),
    };
    if mended.is_some() {
        changes.push(("input", mended));
    }
    if let Some(id) = block.get_text("id").and_then(|id| fixer.id(&id)) {
        changes.push(("id", Some(quote(&id))));
    }
    (!changes.is_empty()).then(|| block.with(&changes))
}
