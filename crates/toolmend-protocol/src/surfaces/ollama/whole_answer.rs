//! Whole answers of Ollama.

use super::super::single_message::{MendedCall, ReceivedMessage};
use super::{Endpoint, STOP_WORDS, call_json, read_call_piece, read_stop};
use crate::adapter::TurnMender;
use crate::json::{Changes, ValueRef, array, quote};
use crate::turn::Part;

pub(super) fn mend_answer(
    endpoint: Endpoint,
    root: ValueRef<'_>,
    mender: &mut dyn TurnMender,
) -> Option<String> {
    let message = endpoint.message(root)?;
    let text = message.get_lossy_text(endpoint.text_member()).unwrap_or_default();
    let reasoning = message.get_lossy_text("thinking").unwrap_or_default();
    let calls = message.get_non_null("tool_calls").filter(|calls| calls.is_array());
    let calls: Vec<ValueRef<'_>> = calls.into_iter().flat_map(ValueRef::items).collect();
    let reason = root.get_lossy_text("done_reason");
    let call_part = |(at, call): (usize, &ValueRef<'_>)| Part::Call(read_call_piece(*call, at as u64));
    let received = ReceivedMessage {
        reasoning: &reasoning,
        text: &text,
        calls: calls.iter().enumerate().map(call_part).collect(),
        stop: Some(read_stop(reason.as_deref())),
    };
    let fixed = received.mend(mender);
    if !fixed.changed {
        return None;
    }
    let mut changes: Changes<'_> = Vec::new();
    if let Some(text) = &fixed.text {
        changes.push((endpoint.text_member(), Some(quote(text))));
    }
    if let Some(text) = &fixed.reasoning {
        changes.push(("thinking", Some(quote(text))));
    }
    let calls = fixed.calls.iter().filter_map(|call| match call {
        MendedCall::Unchanged(at) => calls.get(*at).map(|call| call.raw().to_owned()),
        MendedCall::Written(call) => Some(call_json(call)),
    });
    let calls: Vec<String> = calls.collect();
    changes.push(("tool_calls", (!calls.is_empty()).then(|| array(calls))));
    let mut outer: Changes<'_> = match endpoint {
        Endpoint::Chat => vec![("message", Some(message.with(&changes)))],
        Endpoint::Generate => changes,
    };
    if let Some(stop) = fixed.stop {
        outer.push(("done_reason", Some(quote(STOP_WORDS.choose(stop, reason.as_deref())))));
    }
    Some(root.with(&outer))
}
