//! The other reading of contested text: the same text with one character corrected, or with other quotes taken for text.
//!
//! A contest says that a lost, doubled or mistyped character would explain the text as well. This module looks for that
//! character, so that the refusal can name both readings (`ambiguous`). Without one, the refusal names the position
//! (`syntax`). Only text that is strict or near-strict after the change counts, and the other reading never runs.

use super::reading::Survivor;
use super::{ReadContext, near_strict};
use crate::json::text::compact_json;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// Longer text is not searched, because every attempt reads all of it.
const MAX_BYTES: usize = 1 << 14;
/// Punctuation characters that are tried, from the contested position on.
const MAX_POSITIONS: usize = 64;
/// What an attempt costs, and how many bytes before the edit cost a unit.
const ATTEMPT: usize = 32;
const BYTES_PER_UNIT: usize = 4;
/// Quotes of which every subset is tried as text.
const MAX_QUOTES: usize = 8;
/// What may be missing beside a punctuation character.
const PUNCTUATION: [&str; 7] = ["\"", ",", ":", "}", "]", "{", "["];

/// Another value that may have been meant, on one line. `own` is the contested reading's own value.
// Case: syntax/undeclared-key-raw-quotes
pub(super) fn other_reading(
    text: &str,
    value: &Survivor,
    at: usize,
    own: &str,
    context: &ReadContext<'_>,
) -> Option<String> {
    let whole = &text[value.start..value.end];
    if whole.len() > MAX_BYTES {
        return None;
    }
    let is_punctuation = |byte: u8| b"\"',:;.=[]{}\\".contains(&byte);
    let from = at.saturating_sub(value.start + 2).min(whole.len());
    let found = whole.as_bytes()[from..].iter().enumerate().filter(|(_, byte)| is_punctuation(**byte));
    let positions: Vec<usize> = found.map(|(offset, _)| from + offset).take(MAX_POSITIONS).collect();
    // The rival is only named, so half of the fuel is for those who look for the answer.
    let reserve = context.fuel.left() / 2;
    let read = |edits: Vec<Edit>| {
        // Up to the first edit nothing is wrong, so every attempt reads at least that much.
        let start = edits.first().map_or(0, |edit| edit.start);
        let cost = ATTEMPT + start / BYTES_PER_UNIT;
        if context.fuel.left() < reserve + cost {
            return None;
        }
        context.fuel.spend(cost);
        let reading = compact_json(&near_strict::to_strict(&Patch::new(edits).apply(whole), context)?);
        (reading != own).then_some(reading)
    };
    correct_slips(whole, &positions).into_iter().find_map(|edit| read(vec![edit])).or_else(|| {
        let is_quote = |position: &usize| whole.as_bytes()[*position] == b'"';
        let quotes: Vec<usize> = positions.into_iter().filter(is_quote).take(MAX_QUOTES).collect();
        let mut selections: Vec<u32> = (1..1 << quotes.len()).collect();
        selections.sort_by_key(|selection| selection.count_ones());
        let escaped = |selection: u32| {
            let chosen = quotes.iter().enumerate().filter(move |(index, _)| selection >> index & 1 == 1);
            chosen.map(|(_, &quote)| trial_edit(quote, quote, "\\")).collect()
        };
        selections.into_iter().find_map(|selection| read(escaped(selection)))
    })
}

/// Every edit that corrects one slip: a character that was lost, mistyped, doubled or swapped with the next.
fn correct_slips(text: &str, positions: &[usize]) -> Vec<Edit> {
    let mut all = Vec::new();
    for &position in positions {
        for with in PUNCTUATION {
            all.extend([trial_edit(position, position, with), trial_edit(position + 1, position + 1, with)]);
        }
    }
    for &position in positions {
        all.extend(PUNCTUATION.map(|with| trial_edit(position, position + 1, with)));
        all.push(trial_edit(position, position + 1, ""));
        if positions.contains(&(position + 1)) {
            let swapped: String = text[position..position + 2].chars().rev().collect();
            all.push(trial_edit(position, position + 2, swapped));
        }
    }
    all
}

/// An edit for a trial. Its kind does not matter, because it is never reported.
fn trial_edit(start: usize, end: usize, with: impl Into<std::borrow::Cow<'static, str>>) -> Edit {
    Edit::new(start..end, with, RepairKind::InnerQuoteEscaped)
}
