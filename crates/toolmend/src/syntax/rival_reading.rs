//! The other reading of a contested text: the same text with one mark put right, or with other quotes taken for text.
//!
//! A contest says that a lost, doubled or mistyped mark would explain the text as well. Here that mark is looked for, so
//! that both readings can be named. Only a text that is (nearly) JSON after the change counts.

use super::reading::Survivor;
use super::{ReadContext, near_strict};
use crate::json::text::compact_json;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// Longer texts are not searched: every try reads all of it.
const MAX_BYTES: usize = 1 << 14;
/// Marks that are tried, from the contested place on.
const MAX_MARKS: usize = 64;
/// Quotes of which every selection is tried as text.
const MAX_QUOTES: usize = 8;
/// What may be missing beside a mark.
const MARKS: [&str; 7] = ["\"", ",", ":", "}", "]", "{", "["];

/// Another value that the contested reading may have been meant as, on one line. `own` is the reading's own value.
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
    let is_mark = |byte: u8| b"\"',:;.=[]{}\\".contains(&byte);
    let from = at.saturating_sub(value.start + 2).min(whole.len());
    let marks = whole.as_bytes()[from..].iter().enumerate().filter(|(_, byte)| is_mark(**byte));
    let places: Vec<usize> = marks.map(|(offset, _)| from + offset).take(MAX_MARKS).collect();
    let read = |edits: Vec<Edit>| {
        let reading = compact_json(&near_strict::meaning(&Patch::new(edits).apply(whole), context)?);
        (reading != own).then_some(reading)
    };
    slipped(whole, &places).into_iter().find_map(|edit| read(vec![edit])).or_else(|| {
        let is_quote = |place: &usize| whole.as_bytes()[*place] == b'"';
        let quotes: Vec<usize> = places.into_iter().filter(is_quote).take(MAX_QUOTES).collect();
        let mut selections: Vec<u32> = (1..1 << quotes.len()).collect();
        selections.sort_by_key(|selection| selection.count_ones());
        let escaped = |selection: u32| {
            let chosen = quotes.iter().enumerate().filter(move |(index, _)| selection >> index & 1 == 1);
            chosen.map(|(_, &quote)| changed(quote, quote, "\\")).collect()
        };
        selections.into_iter().find_map(|selection| read(escaped(selection)))
    })
}

/// Every way in which one mark may have slipped: lost, typed for another, doubled, or changed places with the next.
fn slipped(text: &str, places: &[usize]) -> Vec<Edit> {
    let mut all = Vec::new();
    for &place in places {
        for with in MARKS {
            all.extend([changed(place, place, with), changed(place + 1, place + 1, with)]);
        }
    }
    for &place in places {
        all.extend(MARKS.map(|with| changed(place, place + 1, with)));
        all.push(changed(place, place + 1, ""));
        if places.contains(&(place + 1)) {
            let swapped: String = text[place..place + 2].chars().rev().collect();
            all.push(changed(place, place + 2, swapped));
        }
    }
    all
}

/// The kind does not matter: these edits are never made.
fn changed(start: usize, end: usize, with: impl Into<std::borrow::Cow<'static, str>>) -> Edit {
    Edit::new(start..end, with, RepairKind::InnerQuoteEscaped)
}
