//! Whole messages.

use super::{STOP_WORDS, call_block, read_call_piece, read_stop, text_block, thinking_block};
use crate::adapter::TurnMender;
use crate::json::{ValueRef, array, quote};
use crate::turn::{MendedItem, OutgoingPart, Part};

pub(super) fn mend_answer(root: ValueRef<'_>, mender: &mut dyn TurnMender) -> Option<String> {
    let content = root.get("content").filter(|content| content.is_array())?;
    let blocks: Vec<ValueRef<'_>> = content.items().collect();
    let mut calls = 0;
    let mut parts: Vec<Part> = blocks.iter().map(|block| read_block(*block, &mut calls)).collect();
    let reason = root.get_lossy_text("stop_reason");
    parts.extend(reason.as_deref().map(|reason| Part::Stop(read_stop(reason))));
    let items = mender.mend_parts(parts);
    if items.iter().all(|item| matches!(item, MendedItem::Unchanged(_))) {
        return None;
    }
    let mut written: Vec<String> = Vec::new();
    let mut new_stop = None;
    let mut text = RewrittenText::default();
    for item in items {
        match item {
            // The stop reason follows the blocks, so it has no block.
            MendedItem::Unchanged(at) => {
                if let Some(block) = blocks.get(at) {
                    text.flush(&mut written);
                    written.push(block.raw().to_owned());
                }
            }
            MendedItem::Rewritten(at, parts) => {
                for part in parts {
                    if !matches!(part, OutgoingPart::Text(_)) {
                        text.flush(&mut written);
                    }
                    match part {
                        OutgoingPart::Text(more) => {
                            text.text.push_str(&more);
                            text.block = text.block.or_else(|| at.and_then(|at| blocks.get(at)).copied());
                        }
                        OutgoingPart::Reasoning(more) => written.push(thinking_block(&more)),
                        OutgoingPart::Call(call) | OutgoingPart::CallEnd(call, _) => {
                            written.push(call_block(&call, &call.arguments));
                        }
                        // Whole answers have no pieces of calls.
                        OutgoingPart::CallStart(_) | OutgoingPart::CallArguments(_) => {}
                        OutgoingPart::Stop(stop) => new_stop = Some(stop),
                    }
                }
            }
        }
    }
    text.flush(&mut written);
    let mut changes = vec![("content", Some(array(written)))];
    if let Some(stop) = new_stop {
        changes.push(("stop_reason", Some(quote(STOP_WORDS.choose(stop, reason.as_deref())))));
    }
    Some(root.with(&changes))
}

fn read_block(block: ValueRef<'_>, calls: &mut u64) -> Part {
    let text = |name| block.get_lossy_text(name).unwrap_or_default().into_owned();
    match block.get_lossy_text("type").as_deref() {
        Some("text") => Part::Text(text("text")),
        Some("thinking") => Part::Reasoning(text("thinking")),
        Some("tool_use") => {
            let mut piece = read_call_piece(block, *calls, false);
            // Only the stop reason says whether the last call was truncated.
            piece.last = false;
            *calls += 1;
            Part::Call(piece)
        }
        _ => Part::Opaque,
    }
}

/// Adjacent text, which is one block.
#[derive(Default)]
struct RewrittenText<'d> {
    text: String,
    /// The block that it replaces.
    block: Option<ValueRef<'d>>,
}

impl RewrittenText<'_> {
    /// Writes the block with the members that only the server knows. Blank text between calls is dropped.
    fn flush(&mut self, written: &mut Vec<String>) {
        let RewrittenText { text, block } = std::mem::take(self);
        if !text.trim().is_empty() {
            let block = block.filter(|block| block.get("text").is_some());
            written.push(
                block.map_or_else(|| text_block(&text), |block| block.with(&[("text", Some(quote(&text)))])),
            );
        }
    }
}
