//! Nothing is lost: text that is dropped as prose must not read as a value.
//!
//! Every word of the input is in the value, or a named repair dropped it. Prose may be dropped. A member, an object or an
//! array beside the value is not prose but a second reading, and then nothing may be dropped at all.

use crate::patch::Patch;
use crate::repair::RepairKind;

/// The first piece of text that this patch drops as prose and that reads as a member, an object or an array.
// Case: syntax/member-beside-the-value
pub(super) fn dropped_value<'t>(text: &'t str, patch: &Patch) -> Option<&'t str> {
    if let Some(comment) = closing_comment(text, patch) {
        return Some(clip(comment));
    }
    let comments = patch.edits().iter().filter(|edit| edit.kind == RepairKind::CommentRemoved);
    if let Some(comment) = comments.map(|edit| &text[edit.start..edit.end]).find(|comment| is_value(comment))
    {
        return Some(clip(comment));
    }
    let prose = patch.edits().iter().filter(|edit| edit.kind == RepairKind::ProseRemoved);
    let mut prose = prose.map(|edit| &text[edit.start..edit.end]);
    prose.find_map(|prose| value_in_prose(prose).or_else(|| open_bracket(prose))).map(clip)
}

/// Whether a comment is a value after a sign: `#1`, `#"key": 1`.
// Case: syntax/sign-that-is-no-comment
fn is_value(comment: &str) -> bool {
    let is_start = |ch: char| ch.is_ascii_digit() || "\"'{[".contains(ch);
    comment.strip_prefix('#').is_some_and(|rest| rest.starts_with(is_start))
}

/// Where prose opens a bracket that it does not close, with words after it. What follows is inside that bracket: `{7, ["a"]}`.
// Case: syntax/list-inside-an-unreadable-object
fn open_bracket(prose: &str) -> Option<&str> {
    let mut open = Vec::new();
    for (at, byte) in prose.bytes().enumerate() {
        match byte {
            b'{' | b'[' => open.push(at),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    open.first()
        .map(|&at| &prose[at..])
        .filter(|rest| rest.contains(|ch: char| ch.is_alphanumeric() || ch == ':'))
}

/// A comment after the value that ends in a quote and closers. They may be those of the value, and the comment text of its last
/// string: `"content": "d = {"k": "v"}  # note"}`.
// Case: syntax/comment-or-end-of-a-string
fn closing_comment<'t>(text: &'t str, patch: &Patch) -> Option<&'t str> {
    let last = patch.edits().last().filter(|edit| edit.kind == RepairKind::CommentRemoved)?;
    let comment = &text[last.start..last.end];
    let body = comment.trim_end();
    let open = body.trim_end_matches(['}', ']', ')', ' ', '\n', '\r', '\t']);
    (open.len() < body.len() && open.ends_with(['"', '\'', '`'])).then_some(comment)
}

/// Where prose holds a quoted key with its colon and a value. The value may not be left out: `{"a": ...}` shows a form.
fn value_in_prose(prose: &str) -> Option<&str> {
    let bytes = prose.as_bytes();
    // Case: syntax/assignments-beside-the-value
    // Case: syntax/assignment-before-the-value
    let assigns = memchr::memchr2_iter(b'=', b':', bytes).find(|&at| {
        let is_equals = bytes[at] == b'=';
        let name = if is_equals { bytes[..at].trim_ascii_end() } else { &bytes[..at] };
        let name = name.strip_suffix(b":").unwrap_or(name).trim_ascii_end();
        let named = name.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let value = if is_equals { bytes[at + 1..].trim_ascii_start() } else { &bytes[at + 1..] };
        let is_glued = value.len() + at + 1 == bytes.len();
        let is_string = matches!(value.first(), Some(b'"' | b'\''));
        named && (is_string || is_equals && is_glued && value.first().is_some_and(u8::is_ascii_digit))
    });
    if let Some(at) = assigns {
        return Some(&prose[at..]);
    }
    for at in memchr::memchr_iter(b'"', bytes) {
        let colon = crate::json::strict::skip_whitespace(bytes, at + 1);
        let is_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let closes_key = bytes.get(colon) == Some(&b':') && is_word;
        let value = crate::json::strict::skip_whitespace(bytes, colon + 1);
        let has_value =
            matches!(bytes.get(value), Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'));
        if closes_key && has_value {
            return Some(&prose[at..]);
        }
    }
    None
}

/// The start of a text, for a message.
fn clip(text: &str) -> &str {
    let end = text.char_indices().nth(24).map_or(text.len(), |(end, _)| end);
    &text[..end]
}
