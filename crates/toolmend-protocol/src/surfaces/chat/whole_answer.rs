//! Whole chat completions.

use super::super::chunk::mend_choices;
use super::super::single_message::{MendedCall, ReceivedMessage};
use super::{
    REASONING, STOP_WORDS, call_json, is_standard_stop_word, read_call_piece, read_reasoning, read_stop,
};
use crate::adapter::TurnMender;
use crate::json::{Changes, ValueRef, array, quote};
use crate::turn::{Part, StopReason};

pub(super) fn mend_answer(root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    mend_choices(root, |choice| mend_choice(choice, mender))
}

fn mend_choice(choice: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    let message = choice.get_non_null("message")?;
    let text = message.get_lossy_text("content").unwrap_or_default();
    let reasoning = read_reasoning(message);
    let listed = message.get_non_null("tool_calls").filter(|list| list.is_array());
    let listed: Vec<ValueRef<'_>> = listed.into_iter().flat_map(ValueRef::items).collect();
    // The deprecated form of a call counts only without the current one.
    let deprecated = message.get_non_null("function_call").filter(|_| listed.is_empty());
    let call_part = |(at, call): (usize, &ValueRef<'_>)| match read_call_piece(*call, true) {
        Some(mut piece) => {
            piece.key.index = Some(at as u64);
            piece.exact &= deprecated.is_none();
            Part::Call(piece)
        }
        None => Part::Opaque,
    };
    let reason = choice.get_lossy_text("finish_reason");
    let is_standard = reason
        .as_deref()
        .is_some_and(|reason| is_standard_stop_word(reason) || read_stop(reason) == StopReason::Other);
    let received = ReceivedMessage {
        reasoning: reasoning.as_ref().map_or("", |(_, text)| text),
        text: &text,
        calls: listed.iter().chain(&deprecated).enumerate().map(call_part).collect(),
        stop: reason.as_deref().filter(|reason| !reason.is_empty()).map(read_stop),
    };
    let fixed = received.mend(mender);
    let has_both_forms =
        deprecated.is_none() && message.get("function_call").is_some_and(|call| !call.is_null());
    let has_role = message.get_lossy_text("role").is_some();
    if !fixed.changed && is_standard && has_role && !has_both_forms {
        return None;
    }
    if !fixed.changed {
        mender.record_form_fix();
    }
    let mut changes: Changes<'_> = Vec::new();
    if !has_role {
        changes.push(("role", Some("\"assistant\"".to_owned())));
    }
    if let Some(text) = &fixed.text {
        let only_calls = text.is_empty() && !fixed.calls.is_empty();
        changes.push(("content", Some(if only_calls { "null".to_owned() } else { quote(text) })));
    }
    if let Some(text) = &fixed.reasoning {
        let name = reasoning.as_ref().map_or(REASONING[0], |(name, _)| name);
        changes.push((name, Some(quote(text))));
    }
    let calls = fixed.calls.iter().filter_map(|call| match call {
        MendedCall::Unchanged(at) => listed.get(*at).map(|view| view.raw().to_owned()),
        MendedCall::Written(call) => Some(call_json(call, None)),
    });
    let calls: Vec<String> = calls.collect();
    changes.push(("tool_calls", (!calls.is_empty()).then(|| array(calls))));
    changes.push(("function_call", None));
    let mut outer = vec![("message", Some(message.with(&changes)))];
    let stop = fixed.stop.or_else(|| reason.as_deref().map(read_stop));
    if let Some(stop) = stop.filter(|_| fixed.stop.is_some() || !is_standard) {
        outer.push(("finish_reason", Some(quote(STOP_WORDS.choose(stop, reason.as_deref())))));
    }
    Some(choice.with(&outer))
}
