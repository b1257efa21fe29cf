//! What stands around a text in another notation: a code fence, and the tokens of a chat template.
//!
//! Prose is allowed only around a fence, because without one nothing says where the prose ends.

use std::ops::Range;

use crate::syntax::{surrounding_text, withdrawn_call};

/// The part of the text that a notation has to explain; `None` if the text has several fences, or words around one that
/// take it back.
// Case: syntax/yaml-in-fence
pub(super) fn find_body(text: &str) -> Option<Range<usize>> {
    let mut fences = text.match_indices("```").map(|(at, _)| at).filter(|&at| begins_line(text, at));
    let whole = match (fences.next(), fences.next(), fences.next()) {
        (Some(open), Some(close), None) => {
            let start = open + text[open..].find('\n')? + 1;
            let end = close.max(start);
            if withdrawn_call::find_cue(text, std::slice::from_ref(&(start..end))).is_some() {
                return None;
            }
            start..end
        }
        // Other fences are part of the text, if it has a notation.
        _ => surrounding_text::without_template_tokens(text),
    };
    (!text[whole.clone()].trim().is_empty()).then_some(whole)
}

/// Whether `at` begins a line. Fences inside a block of YAML are indented.
fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}
