//! A message that came as a whole.

use crate::mend::judge::Judge;
use crate::mend::lane::Lane;
use crate::turn::{Made, Out, Part};
use crate::wire::doc::{Doc, View, array, quote};

use super::{call_block, call_piece, stop, stop_word};

/// An item of the message: a block, or the reason to stop.
#[derive(Debug, Clone, Copy)]
enum Item {
    Block(usize),
    Stop,
}

pub(crate) fn mend(doc: &Doc, judge: &mut Judge) -> Option<String> {
    let root = doc.root();
    let content = root.get("content").filter(|content| content.is_array())?;
    let blocks: Vec<View<'_>> = content.items().collect();
    let mut lane = Lane::new(judge);
    let mut outs = Vec::new();
    let mut calls = 0;
    for (at, block) in blocks.iter().enumerate() {
        let text = |name| block.get_text(name).unwrap_or_default().into_owned();
        let part = match block.get_text("type").as_deref() {
            Some("text") => Part::Text(text("text")),
            Some("thinking") => Part::Reasoning(text("thinking")),
            Some("tool_use") => {
                let mut piece = call_piece(*block, calls, false);
                // Only the reason to stop tells whether the last one was cut off.
                piece.last = false;
                calls += 1;
                Part::Call(piece)
            }
            _ => Part::Opaque,
        };
        outs.extend(lane.push(Item::Block(at), 0, vec![part], judge));
    }
    let reason = root.get_text("stop_reason");
    if let Some(reason) = &reason {
        outs.extend(lane.push(Item::Stop, 0, vec![Part::Stop(stop(reason))], judge));
    }
    outs.extend(lane.end(judge));
    if outs.iter().all(|out| matches!(out, Out::Keep(_))) {
        return None;
    }
    let mut written: Vec<String> = Vec::new();
    let mut word = None;
    let mut text = String::new();
    for out in outs {
        match out {
            Out::Keep(Item::Block(at)) => {
                flush(&mut text, &mut written);
                written.push(blocks[at].raw().to_owned());
            }
            Out::Keep(Item::Stop) => {}
            Out::Instead(_, made) => {
                for made in made {
                    if !matches!(made, Made::Text(_)) {
                        flush(&mut text, &mut written);
                    }
                    match made {
                        Made::Text(more) => text.push_str(&more),
                        Made::Reasoning(more) => {
                            written.push(format!(
                                r#"{{"type":"thinking","thinking":{},"signature":""}}"#,
                                quote(&more)
                            ));
                        }
                        Made::Call(call) | Made::Rest(call, _) => {
                            written.push(call_block(&call, &call.arguments));
                        }
                        // What comes at once has no pieces.
                        Made::Begin(_) | Made::Piece(_) => {}
                        Made::Stop(stop) => word = Some(stop),
                    }
                }
            }
        }
    }
    flush(&mut text, &mut written);
    let mut changes = vec![("content", Some(array(written)))];
    if let Some(stop) = word {
        changes.push(("stop_reason", Some(quote(stop_word(stop, reason.as_deref())))));
    }
    Some(root.with(&changes))
}

/// Text that stands together is one block; blank text between calls is none.
fn flush(text: &mut String, written: &mut Vec<String>) {
    let text = std::mem::take(text);
    if !text.trim().is_empty() {
        written.push(format!(r#"{{"type":"text","text":{}}}"#, quote(&text)));
    }
}
