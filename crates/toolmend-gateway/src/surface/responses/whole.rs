//! A response that came as a whole.

use crate::mend::judge::Judge;
use crate::mend::lane::Lane;
use crate::mend::new_id;
use crate::turn::{Made, Out, Part, Stop};
use crate::wire::doc::{Doc, View, array, quote};

use super::{call_piece, items, stop, texts};

/// An item of the lane: a whole output item, one part of a message, or the status.
#[derive(Debug, Clone, Copy)]
enum Item {
    Output(usize),
    Part(usize, usize),
    Stop,
}

/// What is written at the moment.
#[derive(Default)]
struct Writer {
    done: Vec<String>,
    /// The message that is being put together: its item and its parts.
    message: Option<(usize, Vec<String>)>,
}

pub(crate) fn mend(doc: &Doc, judge: &mut Judge) -> Option<String> {
    let root = doc.root();
    let output: Vec<View<'_>> = root.get("output").filter(|output| output.is_array())?.items().collect();
    let mut lane = Lane::new(judge);
    let mut outs = Vec::new();
    let mut calls = 0;
    for (at, item) in output.iter().enumerate() {
        match item.get_text("type").as_deref() {
            Some("function_call") => {
                let piece = call_piece(*item, calls);
                calls += 1;
                outs.extend(lane.push(Item::Output(at), 0, vec![Part::Call(piece)], judge));
            }
            Some("message") => {
                for (number, (_, text)) in texts(*item).enumerate() {
                    let part = text.map_or(Part::Opaque, |text| Part::Text(text.into_owned()));
                    outs.extend(lane.push(Item::Part(at, number), 0, vec![part], judge));
                }
            }
            _ => outs.extend(lane.push(Item::Output(at), 0, vec![Part::Opaque], judge)),
        }
    }
    outs.extend(lane.push(Item::Stop, 0, vec![Part::Stop(stop(root))], judge));
    outs.extend(lane.end(judge));
    if outs.iter().all(|out| matches!(out, Out::Keep(_))) {
        return None;
    }
    let mut writer = Writer::default();
    let mut cut = false;
    for out in outs {
        match out {
            Out::Keep(Item::Output(at)) => {
                writer.flush(&output);
                writer.done.push(output[at].raw().to_owned());
            }
            Out::Keep(Item::Part(at, number)) => {
                let raw = texts(output[at]).nth(number).map_or("", |(part, _)| part.raw());
                writer.part(&output, Some(at), raw.to_owned());
            }
            Out::Keep(Item::Stop) => {}
            Out::Instead(item, made) => {
                let at = match item {
                    Some(Item::Part(at, _)) => Some(at),
                    _ => None,
                };
                for made in made {
                    match made {
                        Made::Text(text) if text.trim().is_empty() => {}
                        Made::Text(text) => writer.part(&output, at, items::part(&text)),
                        Made::Reasoning(text) => {
                            writer.flush(&output);
                            writer.done.push(items::reasoning(&new_id("rs_"), Some(&text), "completed"));
                        }
                        Made::Call(call) | Made::Rest(call, _) => {
                            writer.flush(&output);
                            writer.done.push(items::call(
                                &call,
                                &new_id("fc_"),
                                &call.arguments,
                                "completed",
                            ));
                        }
                        // What comes at once has no pieces.
                        Made::Begin(_) | Made::Piece(_) => {}
                        Made::Stop(stop) => cut = stop == Stop::Length,
                    }
                }
            }
        }
    }
    writer.flush(&output);
    let mut changes = vec![("output", Some(array(writer.done)))];
    if cut {
        changes.push(("status", Some(quote("incomplete"))));
        changes.push(("incomplete_details", Some(r#"{"reason":"max_output_tokens"}"#.to_owned())));
    }
    if root.get("output_text").is_some() {
        // A copy for convenience that would not be true any more.
        changes.push(("output_text", None));
    }
    Some(root.with(&changes))
}

impl Writer {
    /// Adds a part to the message that belongs here.
    fn part(&mut self, output: &[View<'_>], at: Option<usize>, part: String) {
        match &mut self.message {
            Some((open, parts)) if at.is_none_or(|at| at == *open) => parts.push(part),
            _ => {
                self.flush(output);
                self.message = Some((at.unwrap_or(usize::MAX), vec![part]));
            }
        }
    }

    fn flush(&mut self, output: &[View<'_>]) {
        let Some((at, parts)) = self.message.take() else { return };
        let content = array(parts);
        let used = self.done.iter().any(|done| output.get(at).is_some_and(|item| same_id(*item, done)));
        self.done.push(match output.get(at) {
            Some(item) if !used => item.with(&[("content", Some(content))]),
            _ => format!(
                r#"{{"id":{},"type":"message","status":"completed","role":"assistant","content":{}}}"#,
                quote(&new_id("msg_")),
                content
            ),
        });
    }
}

/// Whether an item that was written has the id of this one: a message that a call splits has one id only.
fn same_id(item: View<'_>, written: &str) -> bool {
    let id = item.get("id").map(View::raw).unwrap_or_default();
    !id.is_empty() && written.contains(&format!(r#""id":{id}"#))
}
