//! Whole text completions.

use super::super::chunk::mend_choices;
use super::{STOP_WORDS, call_json, read_stop};
use crate::adapter::TurnMender;
use crate::json::{ValueRef, array, quote};
use crate::turn::{MendedItem, OutgoingPart, Part};

/// The position of the text among the parts.
const TEXT: usize = 0;

pub(super) fn mend_answer(root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    mend_choices(root, |choice| mend_choice(choice, mender))
}

fn mend_choice(choice: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    let text = choice.get_lossy_text("text")?;
    let reason = choice.get_lossy_text("finish_reason");
    let mut parts = vec![Part::Text(text.to_string())];
    parts.extend(reason.as_deref().map(|reason| Part::Stop(read_stop(reason))));
    let (mut new_text, mut reasoning) = (String::new(), String::new());
    let (mut calls, mut new_stop) = (Vec::new(), None);
    for item in mender.mend_parts(parts) {
        match item {
            MendedItem::Unchanged(TEXT) => new_text.push_str(&text),
            MendedItem::Unchanged(_) => {}
            MendedItem::Rewritten(_, parts) => {
                for part in parts {
                    match part {
                        OutgoingPart::Text(more) => new_text.push_str(&more),
                        OutgoingPart::Reasoning(more) => {
                            reasoning.push_str(&more);
                            new_text.push_str(&more);
                        }
                        // The text already holds the call.
                        OutgoingPart::Call(call) | OutgoingPart::CallEnd(call, _) => {
                            calls.push(call_json(&call));
                        }
                        OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => {}
                        OutgoingPart::Stop(stop) => new_stop = Some(stop),
                    }
                }
            }
        }
    }
    let stop = new_stop.filter(|stop| reason.as_deref() != Some(STOP_WORDS.choose(*stop, reason.as_deref())));
    if new_text == text && calls.is_empty() && stop.is_none() {
        return None;
    }
    let mut changes = vec![("text", Some(quote(&new_text)))];
    if !reasoning.is_empty() {
        // The protocol itself has no member for it.
        changes.push(("reasoning", Some(quote(&reasoning))));
    }
    if !calls.is_empty() {
        changes.push(("tool_calls", Some(array(calls))));
    }
    if let Some(stop) = stop {
        changes.push(("finish_reason", Some(quote(STOP_WORDS.choose(stop, reason.as_deref())))));
    }
    Some(choice.with(&changes))
}
