//! What is left of a marker that lost some of its bytes.
//!
//! A marker that is truncated or misspelt is no marker any more, so its bytes become part of the value next to it. A
//! value that lost its marker completely may be read; one that contains the remains of it has two readings. This module
//! looks only at values of which a marker is missing: in all others, brackets are text.
// `tests/markup.rs` damages every marker of every row.

use super::custom::CustomTable;
use super::input::Step;
use super::token;

/// Remains are not longer than this.
const LONGEST: usize = 48;

/// Whether a value whose closing marker is missing ends in the remains of one: a bracket without its partner, something in
/// brackets that is no tag, or a tag that closes nothing in the value.
// Case: dialects/hostile/lost-bracket-of-a-tag
// Case: dialects/hostile/half-a-closing-tag
pub(crate) fn ends_in(value: &str, custom: &CustomTable) -> bool {
    let text = value.trim_end();
    let Some(open) = text.rfind('<').filter(|open| text.len() - open <= LONGEST) else {
        return text.ends_with('>');
    };
    let tail = &text[open..];
    let closed = |word: &str| text[..open].contains(&format!("<{word}"));
    let after = |length: usize| tail.get(length..).unwrap_or_default();
    match token::read_tag(tail, true, custom) {
        Step::Got((tag, _)) if after(tag.len).contains(char::is_whitespace) => false,
        // Only markers have a value in place of attributes.
        Step::Got((tag, _)) if tag.equals.is_some() => after(tag.len).is_empty(),
        Step::Got((tag, _)) => tag.close && !closed(tag.word),
        _ if tail.starts_with("</") && !tail.contains('>') => true,
        _ => tail.ends_with(['>', '|']) || !tail.contains('>') && !tail.contains(char::is_whitespace),
    }
}

/// Whether a value whose opening marker is missing begins with the remains of one.
pub(crate) fn begins_in(value: &str) -> bool {
    let text = value.trim_start();
    let is_rest = |word: &str| word.len() <= LONGEST && !word.contains(char::is_whitespace);
    text.starts_with('<') || text.split_once('>').is_some_and(|(word, _)| is_rest(word))
}
