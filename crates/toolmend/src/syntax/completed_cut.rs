//! Readings that complete a text which may have stopped inside a value.
//!
//! Brackets that are missing at the very end may be added only if the last value is known to be over. It is not if a comment,
//! a fence or the end of the text took the place of what ends it: `"<a href="#top` is a string that goes on.

use std::ops::Range;

use super::{Finish, MendedText};
use crate::json::tree::Tree;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// An edit of any layer, with its place in the whole text.
struct Placed<'a> {
    at: Range<usize>,
    edit: &'a Edit,
}

/// The pointer of the value that was cut off, if this reading completes one.
// Case: syntax/cut-after-a-quote-and-a-comment
// Case: syntax/cut-after-a-quote-and-a-fence
// Case: syntax/cut-after-a-comma-and-a-comment
// Case: syntax/cut-after-a-bare-line
// Case: syntax/cut-inside-three-quotes
pub(super) fn find_cut(text: &str, mended: &MendedText, finish: Finish) -> Option<String> {
    let closes = |edit: &Edit| {
        edit.kind == RepairKind::MissingCloserAdded
            || edit.kind == RepairKind::MarkCorrected && matches!(&*edit.with, "}" | "]")
    };
    let may_close = mended.layers.iter().flat_map(Patch::edits).any(closes);
    if !may_close && finish != Finish::Length {
        return None;
    }
    let edits: Vec<Placed<'_>> = place_edits(mended);
    let is_cut =
        may_close && goes_on(text, &edits) || finish == Finish::Length && ends_at_inner_quote(text, &edits);
    let tree = is_cut.then(|| Tree::of_strict(&mended.text))?;
    // Nothing is known of a member that was to follow.
    let is_member =
        text.trim_end().ends_with(',') || trailing_comment(text, &edits).is_some_and(|(_, mark)| mark == ',');
    Some(
        tree.nodes
            .len()
            .checked_sub(1)
            .filter(|_| !is_member)
            .map_or_else(String::new, |last| tree.pointer(last)),
    )
}

fn place_edits(mended: &MendedText) -> Vec<Placed<'_>> {
    let mut placed = Vec::new();
    for (layer, patch) in mended.layers.iter().enumerate() {
        let earlier = &mended.layers[..layer];
        placed.extend(patch.edits().iter().map(|edit| {
            let at =
                earlier.iter().rev().fold(edit.start..edit.end, |range, patch: &Patch| patch.origin(&range));
            Placed { at, edit }
        }));
    }
    placed
}

/// Whether the last value of a text without its closers may go on.
fn goes_on(text: &str, edits: &[Placed<'_>]) -> bool {
    let body = text.trim_end();
    let has = |kind| edits.iter().any(|placed| placed.edit.kind == kind);
    // A comment that follows a quote: both may be text of the string.
    trailing_comment(text, edits).is_some()
        || body.ends_with("\"\"")
            && (has(RepairKind::TripleQuotesReplaced) || has(RepairKind::InnerQuoteEscaped))
        || edits.iter().any(|Placed { at, edit }| match edit.kind {
            RepairKind::FenceRemoved => at.end >= body.len() && text[..at.start].ends_with('"'),
            // Text without quotes ends where a mark is. The end of the text is none.
            RepairKind::ValueQuoted => at.is_empty() && at.start >= body.len(),
            // The only quote of the last value may open a string inside it.
            RepairKind::MissingQuoteAdded => {
                let value = text.get(at.start..body.len()).unwrap_or_default();
                value.len() > 1 && value.find('"') == Some(value.len() - 1)
            }
            _ => false,
        })
}

/// Where the comments at the end of a text start, if a quote or a comma is before them, and that mark.
fn trailing_comment(text: &str, edits: &[Placed<'_>]) -> Option<(usize, char)> {
    let mut start = text.trim_end().len();
    let comments = edits.iter().filter(|placed| placed.edit.kind == RepairKind::CommentRemoved).rev();
    let end = start;
    for Placed { at, .. } in comments {
        if at.end < start && !text[at.end..start].trim().is_empty() {
            break;
        }
        start = at.start.min(start);
    }
    let mark = text[..start].trim_end().chars().next_back().filter(|mark| matches!(mark, '"' | ','));
    mark.filter(|_| start < end).map(|mark| (start, mark))
}

/// Whether a string of a text that is known to be cut off ends at one of several quotes.
// Case: syntax/cut-at-a-backtick
fn ends_at_inner_quote(text: &str, edits: &[Placed<'_>]) -> bool {
    let of = |kind| edits.iter().filter(move |placed| placed.edit.kind == kind);
    let backticks = of(RepairKind::QuotesReplaced).filter(|placed| text[placed.at.clone()] == *"`").count();
    of(RepairKind::InnerQuoteEscaped).next().is_some()
        || backticks > 0 && text.matches('`').count() > backticks
}
