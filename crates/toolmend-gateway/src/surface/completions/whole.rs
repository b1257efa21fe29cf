//! A completion that came as a whole.

use crate::mend::judge::Judge;
use crate::mend::lane::Lane;
use crate::surface::fields::Field;
use crate::turn::{Made, Out, Part};
use crate::wire::doc::{Doc, View, array, quote};

use super::{call_json, stop, stop_word};

pub(crate) fn mend(doc: &Doc, judge: &mut Judge) -> Option<String> {
    let root = doc.root();
    let choices = root.get("choices").filter(|choices| choices.is_array())?;
    let mut changed = false;
    let mut mended = Vec::new();
    for choice in choices.items() {
        let new = mend_choice(choice, judge);
        changed |= new.is_some();
        mended.push(new.unwrap_or_else(|| choice.raw().to_owned()));
    }
    changed.then(|| root.with(&[("choices", Some(array(mended)))]))
}

fn mend_choice(choice: View<'_>, judge: &mut Judge) -> Option<String> {
    let text = choice.get_text("text")?;
    let mut lane = Lane::new(judge);
    let mut outs = lane.push(Field::Text, 0, vec![Part::Text(text.to_string())], judge);
    let reason = choice.get_text("finish_reason");
    if let Some(reason) = &reason {
        outs.extend(lane.push(Field::Stop, 0, vec![Part::Stop(stop(reason))], judge));
    }
    outs.extend(lane.end(judge));
    let (mut new, mut calls, mut told) = (String::new(), Vec::new(), None);
    let mut thoughts = String::new();
    for out in outs {
        match out {
            Out::Keep(Field::Text) => new.push_str(&text),
            Out::Keep(_) => {}
            Out::Instead(_, made) => {
                for made in made {
                    match made {
                        Made::Text(more) => new.push_str(&more),
                        Made::Reasoning(more) => {
                            thoughts.push_str(&more);
                            new.push_str(&more);
                        }
                        // Where calls are text, the text has it already.
                        Made::Call(call) | Made::Rest(call, _) => calls.push(call_json(&call)),
                        Made::Begin(_) | Made::Piece(_) => {}
                        Made::Stop(stop) => told = Some(stop),
                    }
                }
            }
        }
    }
    let stop = told.filter(|stop| reason.as_deref() != Some(stop_word(*stop, reason.as_deref())));
    if new == text && calls.is_empty() && stop.is_none() {
        return None;
    }
    let mut changes = vec![("text", Some(quote(&new)))];
    if !thoughts.is_empty() {
        // The surface has no place of its own for them.
        changes.push(("reasoning", Some(quote(&thoughts))));
    }
    if !calls.is_empty() {
        changes.push(("tool_calls", Some(array(calls))));
    }
    if let Some(stop) = stop {
        changes.push(("finish_reason", Some(quote(stop_word(stop, reason.as_deref())))));
    }
    Some(choice.with(&changes))
}
