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
            if withdrawn_call::find_cue(text, &[start..end]).is_some() {
                return None;
            }
            start..end
        }
        (None, ..) => surrounding_text::without_template_tokens(text),
        _ => return None,
    };
    (!text[whole.clone()].trim().is_empty()).then_some(whole)
}

/// Whether only blanks precede `at` in its line.
fn begins_line(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|&byte| byte != b'\n').all(|byte| matches!(byte, b' ' | b'\t'))
}
