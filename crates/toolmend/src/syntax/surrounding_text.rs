//! Text around a value: fences, template tokens, superfluous closers, prose.
//!
//! It says what surrounding text is and removes it by name. It never looks inside a value.

use std::ops::Range;

use super::token;
use crate::patch::{Edit, Patch};
use crate::repair::RepairKind;

/// The piece at the start of `rest` that is neither prose nor a value: its length and the repair that removes it.
// Case: syntax/fence-labelled
// Case: syntax/special-token
fn residue_at_start(rest: &str) -> Option<(usize, RepairKind)> {
    let bytes = rest.as_bytes();
    match bytes.first()? {
        b'`' | b'~' => {
            let fence = bytes.iter().take_while(|&&byte| byte == bytes[0]).count();
            (fence >= 3).then_some((fence, RepairKind::FenceRemoved))
        }
        b'<' => special_token_len(rest).map(|len| (len, RepairKind::SpecialTokenRemoved)),
        b'[' => BRACKET_TOKENS
            .iter()
            .find(|token| rest.starts_with(**token))
            .map(|token| (token.len(), RepairKind::SpecialTokenRemoved)),
        b'}' | b']' => Some((1, RepairKind::ExtraCloserRemoved)),
        b',' | b';' => Some((1, RepairKind::ExtraCommaRemoved)),
        0x80.. if rest.starts_with('｝') || rest.starts_with('］') => {
            Some((3, RepairKind::ExtraCloserRemoved))
        }
        _ => token::trivia_at(bytes, 0, bytes.len())
            .map(|(end, kind)| (end, kind.unwrap_or(RepairKind::ProseRemoved))),
    }
}

/// Template tokens in square brackets.
const BRACKET_TOKENS: &[&str] = &[
    "[TOOL_CALLS]",
    "[/TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "[INST]",
    "[/INST]",
    "[TOOL_CALL]",
    "[/TOOL_CALL]",
    "[END_TOOL_REQUEST]",
    "[TOOL_REQUEST]",
];

/// The length of `<|im_end|>`, `</tool_call>`, `<function=name>` or a similar token.
fn special_token_len(rest: &str) -> Option<usize> {
    let end = rest.char_indices().take(80).find(|&(_, ch)| ch == '>')?.0 + 1;
    let inner = &rest[1..end - 1];
    let bars = inner.starts_with(['|', '｜']) || inner.ends_with(['|', '｜']);
    let name = inner.trim_start_matches('/');
    let tag = name.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && name.chars().all(|ch| ch.is_ascii_alphanumeric() || "_-=.:\" ".contains(ch))
        && (inner.starts_with('/') || TAGS.iter().any(|known| name.starts_with(known)));
    (bars || tag).then_some(end)
}

/// Names that tags of templates start with.
const TAGS: &[&str] = &[
    "s",
    "tool",
    "function",
    "call",
    "json",
    "output",
    "arguments",
    "parameters",
    "think",
    "answer",
    "eos",
    "bos",
    "invoke",
];

/// The position after residue and trivia.
pub(super) fn skip_residue(text: &str, at: usize) -> usize {
    let mut at = at;
    while let Some((len, _)) = text.get(at..).and_then(residue_at_start) {
        at += len;
    }
    at
}

/// The text without the special tokens at both ends, and without the blanks beside them.
pub(super) fn without_template_tokens(text: &str) -> Range<usize> {
    let mut start = 0;
    while let Some((len, kind)) = residue_at_start(text[start..].trim_start()) {
        // A tag may be part of the notation; only what no notation has is a token.
        let token = text[start..].trim_start();
        if kind != RepairKind::SpecialTokenRemoved || !token[..len].contains(['|', '｜', '[']) {
            break;
        }
        start = text.len() - token.len() + len;
    }
    let mut end = text.len();
    while let Some(open) = last_token_start(text[start..end].trim_end()) {
        let open = start + open;
        if !text[open..end].contains(['|', '｜']) {
            break;
        }
        end = open;
    }
    if start == 0 { 0..end } else { start..end.max(start) }
}

/// Removes the CDATA section that a whole text is in.
// Case: syntax/cdata-section
pub(super) fn peel_cdata(text: &str) -> Option<Patch> {
    let inner = text.trim().strip_prefix("<![CDATA[")?.strip_suffix("]]>")?;
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    if inner.contains("]]>") {
        return None;
    }
    let kind = RepairKind::SpecialTokenRemoved;
    Some(Patch::new(vec![Edit::new(0..start + 9, "", kind), Edit::new(end - 3..text.len(), "", kind)]))
}

/// Where the special tokens at the very end of the text begin, with the fence before them if one was opened before the
/// first bracket. Other markup may be text of a truncated string.
// Case: syntax/closer-missing-before-token
// Case: syntax/cut-in-string-after-backtick
pub(super) fn last_residue(text: &str) -> Option<usize> {
    let whole = text.trim_end().len();
    let mut end = whole;
    while let Some(open) = last_token_start(text[..end].trim_end()) {
        end = open;
    }
    let rest = text[..end].trim_end();
    let fenced =
        rest.split(['{', '[']).next().is_some_and(|lead| lead.contains("```") || lead.contains("~~~"));
    if fenced && (rest.ends_with("```") || rest.ends_with("~~~")) {
        end = rest.trim_end_matches(['`', '~']).len();
    }
    (end < whole).then(|| text[..end].trim_end().len())
}

/// Where the special token that ends this text begins.
fn last_token_start(text: &str) -> Option<usize> {
    let open = match text.as_bytes().last()? {
        b'>' => text.rfind('<')?,
        b']' => text.rfind('[')?,
        _ => return None,
    };
    let token = &text[open..];
    let template = token.contains(['|', '｜'])
        || token.starts_with('[')
        || TEMPLATE_TAGS.iter().any(|tag| token.trim_start_matches(['<', '/']).starts_with(tag));
    let ends =
        matches!(residue_at_start(token), Some((len, RepairKind::SpecialTokenRemoved)) if len == token.len());
    (template && ends).then_some(open)
}

/// Tags that only templates write.
const TEMPLATE_TAGS: &[&str] = &["tool_", "function", "arguments>", "parameters>", "invoke>", "s>", "eos>"];

/// Whether text after a value can be prose or another value: it does not go on as a string or a member would, and its
/// brackets are balanced.
pub(super) fn is_prose(rest: &str) -> bool {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or(' ');
    let full_stop = matches!(first, '.' | '?' | '!') && chars.next().is_none_or(char::is_whitespace);
    if !full_stop && matches!(first, '"' | ':' | '=' | '\\' | '+' | '.' | '?' | '|' | '*' | '%' | '&') {
        return false;
    }
    if first == '\'' && rest.len() < 3 {
        return false;
    }
    let mut depth = 0i32;
    for byte in rest.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Removes everything in `range`, with one edit for each kind of text in it. White space alone stays.
// Case: syntax/prose-both-sides
// Case: syntax/fence-without-closer
pub(super) fn remove_surroundings(text: &str, range: Range<usize>, edits: &mut Vec<Edit>) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let white = rest.len() - rest.trim_start().len();
        if white > 0 {
            at += white;
            continue;
        }
        let start = at;
        let kind = if let Some((len, kind)) = residue_at_start(rest) {
            at += len;
            if kind == RepairKind::FenceRemoved && start < range.end {
                // The label of a fence is removed with it.
                let rest = &text[at..range.end];
                let label = rest.len()
                    - rest.trim_start_matches(|ch: char| ch.is_alphanumeric() || "_-+.".contains(ch)).len();
                at += label;
            }
            kind
        } else {
            while at < range.end {
                let rest = &text[at..range.end];
                let mark = matches!(rest.as_bytes()[0], b'`' | b'~' | b'<' | b'[');
                if mark && residue_at_start(rest).is_some() {
                    break;
                }
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
            RepairKind::ProseRemoved
        };
        let trimmed = start + text[start..at].trim_end().len();
        match edits.last_mut() {
            Some(last) if last.end == start && last.kind == kind && last.with.is_empty() => {
                last.end = trimmed.max(start);
            }
            _ => edits.push(Edit::new(start..trimmed.max(start), "", kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn removed(text: &str, kinds: &[&str]) {
        let mut edits = Vec::new();
        remove_surroundings(text, 0..text.len(), &mut edits);
        assert_eq!(edits.iter().map(|edit| edit.kind.name()).collect::<Vec<_>>(), kinds, "{text:?}");
        let left = crate::patch::Patch::new(edits).apply(text);
        assert_eq!(left.trim(), "", "{text:?}");
    }

    #[test]
    fn pieces_are_named() {
        removed("```json\n", &["fence_removed"]);
        removed("\n```\nThat is all.", &["fence_removed", "prose_removed"]);
        removed("Here: ```json ", &["prose_removed", "fence_removed"]);
        removed("<|im_end|>\n</s>", &["special_token_removed", "special_token_removed"]);
        removed("}}", &["extra_closer_removed"]);
        removed("[TOOL_CALLS]", &["special_token_removed"]);
        removed("// done", &["comment_removed"]);
    }

    #[test]
    fn prose_is_not_the_rest_of_a_string() {
        assert!(is_prose("I hope this helps."));
        assert!(is_prose("(Note: \"f\" is idempotent.)"));
        assert!(is_prose("{\"b\": 2}"));
        assert!(!is_prose("\"}"));
        assert!(!is_prose("text \"more\"}"));
    }
}
