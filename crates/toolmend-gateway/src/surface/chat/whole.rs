//! A chat completion that came as a whole.

use crate::mend::judge::Judge;
use crate::mend::lane::Lane;
use crate::surface::fields::{CallField, Field, Fields};
use crate::turn::{Part, Stop};
use crate::wire::doc::{Doc, View, array, quote};

use super::{REASONING, call_json, call_piece, is_known, reasoning, stop, stop_word};

pub(crate) fn mend(doc: &Doc, judge: &mut Judge) -> Option<String> {
    let root = doc.root();
    let choices = root.get("choices").filter(|choices| choices.is_array())?;
    let mut changed = false;
    let mended: Vec<String> = choices
        .items()
        .map(|choice| match mend_choice(choice, judge) {
            Some(new) => {
                changed = true;
                new
            }
            None => choice.raw().to_owned(),
        })
        .collect();
    changed.then(|| root.with(&[("choices", Some(array(mended)))]))
}

fn mend_choice(choice: View<'_>, judge: &mut Judge) -> Option<String> {
    let message = choice.some("message")?;
    let text = message.get_text("content").unwrap_or_default();
    let thoughts = reasoning(message);
    let listed: Vec<View<'_>> = message
        .some("tool_calls")
        .filter(|list| list.is_array())
        .map(View::items)
        .into_iter()
        .flatten()
        .collect();
    let older = message.some("function_call").filter(|_| listed.is_empty());
    let mut lane = Lane::new(judge);
    let mut outs = Vec::new();
    if let Some((_, text)) = &thoughts {
        outs.extend(lane.push(Field::Reasoning, 0, vec![Part::Reasoning(text.clone())], judge));
    }
    outs.extend(lane.push(Field::Text, 0, vec![Part::Text(text.to_string())], judge));
    for (at, call) in listed.iter().chain(&older).enumerate() {
        let part = match call_piece(*call, true) {
            Some(mut piece) => {
                piece.slot.index = Some(at as u64);
                piece.exact &= older.is_none();
                Part::Call(piece)
            }
            None => Part::Opaque,
        };
        outs.extend(lane.push(Field::Call(at), 0, vec![part], judge));
    }
    let reason = choice.get_text("finish_reason");
    let known = reason.as_deref().is_some_and(|reason| is_known(reason) || stop(reason) == Stop::Other);
    if let Some(reason) = reason.as_deref().filter(|reason| !reason.is_empty()) {
        outs.extend(lane.push(Field::Stop, 0, vec![Part::Stop(stop(reason))], judge));
    }
    outs.extend(lane.end(judge));
    let fields = Fields::collect(outs, &text, thoughts.as_ref().map_or("", |(_, text)| text));
    let twice = older.is_none() && message.get("function_call").is_some_and(|call| !call.is_null());
    let role = message.get_text("role").is_some();
    if !fields.changed && known && role && !twice {
        return None;
    }
    if !fields.changed {
        judge.report.rewired = true;
    }
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if !role {
        changes.push(("role", Some("\"assistant\"".to_owned())));
    }
    if let Some(text) = &fields.text {
        let empty = text.is_empty() && !fields.calls.is_empty();
        changes.push(("content", Some(if empty { "null".to_owned() } else { quote(text) })));
    }
    if let Some(text) = &fields.reasoning {
        let name = thoughts.as_ref().map_or(REASONING[0], |(name, _)| name);
        changes.push((name, Some(quote(text))));
    }
    let calls: Vec<String> = fields
        .calls
        .iter()
        .filter_map(|call| match call {
            CallField::Kept(at) => listed.get(*at).map(|view| view.raw().to_owned()),
            CallField::Made(call) => Some(call_json(call, None)),
        })
        .collect();
    changes.push(("tool_calls", (!calls.is_empty()).then(|| array(calls))));
    changes.push(("function_call", None));
    let mut outer = vec![("message", Some(message.with(&changes)))];
    let stop = fields.stop.or_else(|| reason.as_deref().map(stop));
    if let Some(stop) = stop.filter(|_| fields.stop.is_some() || !known) {
        outer.push(("finish_reason", Some(quote(stop_word(stop, reason.as_deref())))));
    }
    Some(choice.with(&outer))
}
