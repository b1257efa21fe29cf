//! An answer that came as a whole.

use crate::mend::judge::Judge;
use crate::mend::lane::Lane;
use crate::surface::fields::{CallField, Field, Fields};
use crate::turn::Part;
use crate::wire::doc::{Doc, View, array, quote};

use super::{Form, call_json, call_piece, stop, stop_word};

pub(crate) fn mend(form: Form, doc: &Doc, judge: &mut Judge) -> Option<String> {
    let root = doc.root();
    let said = form.said(root)?;
    let text = said.get_text(form.text()).unwrap_or_default();
    let thoughts = said.get_text("thinking").unwrap_or_default();
    let calls = said.some("tool_calls").filter(|calls| calls.is_array());
    let calls: Vec<View<'_>> = calls.into_iter().flat_map(View::items).collect();
    let mut lane = Lane::new(judge);
    let mut outs = lane.push(Field::Reasoning, 0, vec![Part::Reasoning(thoughts.to_string())], judge);
    outs.extend(lane.push(Field::Text, 0, vec![Part::Text(text.to_string())], judge));
    for (at, call) in calls.iter().enumerate() {
        outs.extend(lane.push(Field::Call(at), 0, vec![Part::Call(call_piece(*call, at as u64))], judge));
    }
    let reason = root.get_text("done_reason");
    outs.extend(lane.push(Field::Stop, 0, vec![Part::Stop(stop(reason.as_deref()))], judge));
    outs.extend(lane.end(judge));
    let fields = Fields::collect(outs, &text, &thoughts);
    if !fields.changed {
        return None;
    }
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    if let Some(text) = &fields.text {
        changes.push((form.text(), Some(quote(text))));
    }
    if let Some(text) = &fields.reasoning {
        changes.push(("thinking", Some(quote(text))));
    }
    let calls: Vec<String> = fields
        .calls
        .iter()
        .filter_map(|call| match call {
            CallField::Kept(at) => calls.get(*at).map(|call| call.raw().to_owned()),
            CallField::Made(call) => Some(call_json(call)),
        })
        .collect();
    changes.push(("tool_calls", (!calls.is_empty()).then(|| array(calls))));
    let mut outer: Vec<(&str, Option<String>)> = match form {
        Form::Chat => vec![("message", Some(said.with(&changes)))],
        Form::Generate => changes,
    };
    if let Some(stop) = fields.stop {
        outer.push(("done_reason", Some(quote(stop_word(stop, reason.as_deref())))));
    }
    Some(root.with(&outer))
}
